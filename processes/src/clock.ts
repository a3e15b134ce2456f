/**
 * The clock and the timers of the runtime, as they are when the package is loaded. A test may later replace the global
 * clock and timers by fake ones that stand still. Fake timers must not stop the beats, because the server's time goes
 * on.
 */

/** A timer that has been started. */
export type Timer = unknown;

/** Monotonic time in milliseconds, and timers. */
export interface Clock {
  now(): number;
  /** Calls `run` after `ms` milliseconds. `keepsAlive`: the process does not end before the call. */
  after(ms: number, run: () => void, keepsAlive: boolean): Timer;
  stop(timer: Timer): void;
}

const { setTimeout: start, clearTimeout: stop } = globalThis;
const now = performance.now.bind(performance);

export const clock: Clock = {
  now,
  after(ms, run, keepsAlive) {
    const timer = start(run, ms);
    if (!keepsAlive) (timer as { unref?(): void }).unref?.();
    return timer;
  },
  stop: (timer) => stop(timer as ReturnType<typeof setTimeout>),
};
