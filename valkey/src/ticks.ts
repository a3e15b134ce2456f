/** When things are done: after the promises that are settled now, after the timers that have expired, after all events. */

const { nextTick } = globalThis.process ?? {};
const { setImmediate: immediate, setTimeout: start } = globalThis as typeof globalThis & {
  setImmediate?: (run: () => void) => unknown;
};

/** Calls `run` once the promises that are settled now have been served: what they ask for goes in the same call. */
export const soon: (run: () => void) => void = nextTick
  ? (run) => queueMicrotask(() => nextTick(run))
  : (run) => queueMicrotask(() => queueMicrotask(run));

/** Calls `run` once all timers that have expired have run. Node serves promises after each of them. */
export const later: typeof soon = (run) => void (immediate ?? start)(run);

/** Resolves when all has been read that has come by now: the first step may come in the midst of reading. */
export function eventsHandled(): Promise<void> {
  return new Promise((resolve) => later(() => later(resolve)));
}
