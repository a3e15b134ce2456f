/** What surrounds the library if it was loaded as for a browser. */
import { isFake, realNow, realTimers } from '../common/real-clock.js';

interface Modules {
  readonly timers: typeof import('node:timers');
  readonly worker_threads: typeof import('node:worker_threads');
}

/**
 * Returns a module of Node; undefined in a browser, in Node before 20.16 and 22.3, and in Deno, whose web workers
 * claim to be the first thread. The module is Node's own, whatever a test runner has put in the place of the globals.
 */
function builtin<K extends keyof Modules>(name: K): Modules[K] | undefined {
  const { Deno, process } = globalThis as { Deno?: unknown; process?: { getBuiltinModule?(name: string): unknown } };
  return (Deno ? undefined : process?.getBuiltinModule?.(name)) as Modules[K] | undefined;
}

// These are taken at load, because a test may replace the global ones by false ones that stand still, or has already
// replaced them.
const timers = builtin('timers') ?? globalThis;
export const { setTimeout, clearTimeout } = realTimers(timers.setTimeout, timers.clearTimeout);
export const setInterval = isFake(timers.setInterval) ? setTimeout : timers.setInterval;
// The thread of the audio in a page (AudioWorkletGlobalScope) has no such clock.
export const now = realNow(globalThis.performance, timers.setTimeout);
export const threads = builtin('worker_threads');
