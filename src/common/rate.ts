/**
 * A rate: so many permits in any window of so many milliseconds. What the limiters of tasks and of threads have in common
 * is the cell of the generic cell rate algorithm (GCRA), which spreads the permits over the window. `next` is when the
 * next permit would be due if all came evenly, one each `per / permits`. A request may come earlier by as much as `burst`
 * allows. How a limiter keeps its promise for every window is told where its log is: tasks/rate-limiter.ts and
 * keyed/rate-log.ts.
 */
import { checkInteger } from './errors.js';
import type { Limited } from './limiting.js';
import type { PermitsRequest } from './waits.js';

/** The options of a rate. */
export interface RateOptions {
  /**
   * How many permits may go at once after a pause, 1 (the default: they go evenly) to `permits` (all at once, and then
   * none until the window is over).
   */
  readonly burst?: number;
}

/** The numbers of a rate. */
export interface Rate {
  /** The most permits in a window. */
  readonly permits: number;
  /** The length of a window, in milliseconds. */
  readonly per: number;
  /** How many permits may go at once after a pause. */
  readonly burst: number;
}

/** What a `RateLimiter` of tasks and one of threads have in common. */
export interface RateLimiting extends Rate {
  /**
   * Returns a function that takes permits by `takeAsync` and then calls `run`, with its arguments and `this`. Neither
   * `limit` nor the returned function blocks the thread. The calls may overlap: to limit how many are under way at a
   * time, use a `Semaphore`.
   *
   *     const get = requests.limit((address: string) => fetch(address));
   * @param request the number of permits that each call takes, 1 (the default) to `permits` of the constructor; and a
   * time-out and a signal for the wait of each call. Each may be left out. Time-out and signal do not end a call that
   * runs. `cancelAll` also ends the calls that still wait.
   * @throws {RangeError | TypeError} for a bad number or option, or if `run` is not a function.
   */
  limit<This, Arguments extends unknown[], T>(
    run: (this: This, ...args: Arguments) => T,
    ...request: PermitsRequest
  ): Limited<This, Arguments, T>;
}

const LIMIT = 2 ** 31 - 1;
/** Permits that are due within so many milliseconds may go together, because no timer is finer. */
const TICK = 5;

/** @internal Checks the numbers of a rate, and returns them. */
export function checkRate(what: string, permits: number, per: number, { burst = 1 }: RateOptions): Rate {
  return {
    permits: checkInteger(`${what}: permits`, permits, 1, LIMIT),
    per: checkInteger(`${what}: per`, per, 1, LIMIT),
    burst: checkInteger(`${what}: burst`, burst, 1, permits, ' (its permits)'),
  };
}

/** @internal Returns how many milliseconds it is too early for a request; at most 0 if it may go. */
export function tooEarly(rate: Rate, next: number, permits: number, time: number): number {
  const { burst } = rate;
  return next - Math.max((burst - Math.min(permits, burst)) * intervalOf(rate), TICK) - time;
}

/** @internal Returns when the next permit would be due after these. */
export function dueAfter(rate: Rate, next: number, permits: number, time: number): number {
  return Math.max(next, time) + permits * intervalOf(rate);
}

const intervalOf = ({ permits, per }: Rate): number => per / permits;
