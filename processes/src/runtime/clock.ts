/**
 * The clock and the timers of the runtime, as they are when the package is loaded. A test may replace the global clock
 * and timers by fake ones that stand still, later or before (src/common/real-clock.ts). Fake timers must not stop the
 * beats, because the server's time goes on.
 */
import { realNow, realTimers } from '../../../src/common/real-clock.js';

/** A timer that has been started. */
export type Timer = unknown;

/** Monotonic time in milliseconds, and timers. */
export interface Clock {
  now(): number;
  /** Calls `run` after `ms` milliseconds. `keepsAlive`: the process does not end before the call. */
  after(ms: number, run: () => void, keepsAlive: boolean): Timer;
  stop(timer: Timer): void;
}

const { setTimeout: start, clearTimeout: stop } = realTimers(globalThis.setTimeout, globalThis.clearTimeout);
const now = realNow(performance, globalThis.setTimeout);

export const clock: Clock = {
  now,
  after(ms, run, keepsAlive) {
    const timer = start(run, ms);
    if (!keepsAlive) (timer as { unref?(): void }).unref?.();
    return timer;
  },
  stop: (timer) => stop(timer as ReturnType<typeof setTimeout>),
};
