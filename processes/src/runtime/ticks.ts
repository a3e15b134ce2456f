/**
 * Three points in time soon after the present one: `soon`, after the promises that are settled now; `later`, after the
 * timers that have expired; and `eventsHandled`, after all that has come from the network is read.
 *
 * As in clock.ts, the functions of the runtime are taken when the package is loaded. What a test has replaced before is
 * not used.
 */
import { isFake, realTimers } from '../../../src/common/real-clock.js';

const real = <F>(given: F): F | undefined => (isFake(given) ? undefined : given);

const nextTick = real(globalThis.process?.nextTick);
const immediate = real((globalThis as { setImmediate?: (run: () => void) => unknown }).setImmediate);
const { setTimeout: start } = realTimers(globalThis.setTimeout, globalThis.clearTimeout);
const resolved = Promise.resolve();

/** Calls `run` after the code that runs now. */
export const microtask = real(globalThis.queueMicrotask) ?? ((run: () => void) => void resolved.then(run));

/**
 * Calls `run` after the callbacks of all promises that are settled now. If `run` calls the script of the server, this
 * one call also carries the operations that these callbacks ask for (session/calls.ts).
 */
export const soon: (run: () => void) => void = nextTick
  ? (run) => microtask(() => nextTick(run))
  : (run) => microtask(() => microtask(run));

/**
 * Calls `run` after all timers that have expired. `soon` would not wait for them: Node serves promises between timers.
 */
export const later: typeof soon = (run) => void (immediate ?? start)(run);

/** Resolves when all that has come by now is read. One `later` may run in the middle of reading, so there are two. */
export function eventsHandled(): Promise<void> {
  return new Promise((resolve) => later(() => later(resolve)));
}
