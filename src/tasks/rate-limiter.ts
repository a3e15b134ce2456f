/**
 * RateLimiter lets at most so many permits begin in any window of so many milliseconds, and never one more. What it
 * promises, and why it keeps the promise, is told in common/schedule.ts; its promises wait in rate-queue.ts.
 */
import { checkInteger, checkOptions } from '../common/errors.js';
import type { Limited } from '../common/limiting.js';
import {
  checkPause,
  checkRate,
  checkResize,
  checkSpent,
  limitedByRate,
  type Rate,
  type RateLimiting,
  type RateOptions,
  type RateRequest,
  type RateWaiterStats,
  tooMany,
} from '../common/rate.js';
import { requestOf, type WaitOptions } from '../common/waits.js';
import { RateQueue } from './rate-queue.js';
import type { QueueStats } from './stats.js';
import { begin, checkOpen, close, count, DONE, state, TaskObject } from './task-object.js';

/** The options of a new `RateLimiter`. */
export type RateLimiterOptions = RateOptions;

/** The answer of `RateLimiter.inspect`. */
export interface RateLimiterStats extends Rate, QueueStats {
  /** The number of permits that count in the window that ends now, those of calls `until: 'end'` that run too. */
  readonly taken: number;
  /** The promises that wait, in the order of the queue: the first 100. */
  readonly waiters: readonly RateWaiterStats[];
}

const KIND = 'RateLimiter';
/** Begins the errors of `tryTake`. A text that each call makes anew takes a tenth of its time. */
const TRY_TAKE = `${KIND}.tryTake: permits`;

export interface RateLimiter extends RateLimiting<RateRequest> {}

/**
 * Lets at most so many permits begin in any window of so many milliseconds, never one more, in the order of the calls. A
 * request for n permits gets them all at once, in its turn.
 *
 * Source: a log of the window, which keeps the promise, beside the generic cell rate algorithm (ITU-T I.371), which
 * spreads the permits.
 *
 * @example
 * ```ts
 * import { RateLimiter } from 'taketurns/tasks';
 *
 * const requests = new RateLimiter(100, 60_000, { burst: 10 }); // 100 in any minute, at most 10 at once
 * await requests.takeAsync();
 * const get = requests.limit((address: string) => fetch(address));
 * ```
 * @since 0.3.0
 */
export class RateLimiter extends TaskObject implements RateLimiting<RateRequest> {
  readonly #queue: RateQueue;

  /**
   * @param permits the most permits in a window, 1 to 2,147,483,647.
   * @param per the length of a window, 1 to 2,147,483,647 milliseconds.
   * @throws {RangeError | TypeError} for a bad number or option.
   */
  constructor(permits: number, per: number, options: RateLimiterOptions = {}) {
    super(KIND);
    checkOptions(KIND, options, ['burst']);
    this.#queue = new RateQueue(checkRate(KIND, permits, per, options), `the ${KIND}`);
  }

  /** The most permits in a window. */
  get permits(): number {
    return this.#queue.rate.permits;
  }

  /** The length of a window, in milliseconds. */
  get per(): number {
    return this.#queue.rate.per;
  }

  /** How many permits may go at once after a pause. */
  get burst(): number {
    return this.#queue.rate.burst;
  }

  /**
   * Takes permits: the promise is fulfilled when they may go. Never blocks. Permits are never given back. They count from
   * the moment at which the promise is fulfilled. The code behind `await` runs a microtask later, or after the rest of
   * the code that runs now, and the limiter cannot know when: `limit` dates exactly.
   * @param permits 1 (the default) to `permits` of the constructor. The options may stand in its place.
   * @param options a time-out and a signal; without them the promise waits as long as it takes.
   * @returns a promise. It rejects with TimeoutError when the time-out has passed, with the reason of the signal when
   * that is aborted, with RangeError or TypeError for a bad number or option, with CancelledError if `cancelAll` has
   * cancelled it, with RangeError if `resize` leaves fewer permits than it asks for, and with DisposedError if the
   * limiter has been or is being disposed of. The request has taken nothing then, and those behind it move up.
   * @example await requests.takeAsync({ timeout: 1000 });
   */
  takeAsync(permits?: number, options?: WaitOptions): Promise<void>;
  takeAsync(options: WaitOptions): Promise<void>;
  takeAsync(permits: number | WaitOptions = 1, options?: WaitOptions): Promise<void> {
    try {
      const [wanted, more] = requestOf([permits, options]);
      this.#check('takeAsync', wanted);
      const limits = this[begin]('takeAsync', more);
      return this.#queue.tryTake(wanted) ? DONE : this.#queue.take(wanted, limits);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Takes permits if they may go now and no request waits. Never blocks.
   * @param permits 1 (the default) to `permits` of the constructor.
   * @returns whether it has taken them.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @example if (!requests.tryTake()) console.log('too many requests');
   */
  tryTake(permits = 1): boolean {
    checkInteger(TRY_TAKE, permits, 1, this.#queue.permits, ' (its permits)');
    this[checkOpen]();
    return this.#queue.tryTake(permits);
  }

  #check(method: string, permits: number): void {
    checkInteger(`${KIND}.${method}: permits`, permits, 1, this.#queue.permits, ' (its permits)');
  }

  limit<This, Arguments extends unknown[], T>(
    run: (this: This, ...args: Arguments) => T,
    ...request: RateRequest
  ): Limited<This, Arguments, T> {
    return limitedByRate(KIND, run, request, this.#queue.permits, (call, { permits, stays }, wait) => {
      this.#check('limit', permits);
      return this.#queue.run(permits, this[begin]('limit', wait), stays, call);
    });
  }

  /**
   * Returns in how many milliseconds permits could go if they were asked for now, and all who wait go on time: what a
   * server says in `Retry-After`. 0: now. `Infinity`: nobody knows, because calls `until: 'end'` run. Never blocks. It
   * looks at every request that waits.
   * @param permits 1 (the default) to `permits` of the constructor.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @example response.setHeader('Retry-After', Math.ceil(requests.dueIn() / 1000));
   */
  dueIn(permits = 1): number {
    this.#check('dueIn', permits);
    this[checkOpen]();
    return this.#queue.dueIn(permits);
  }

  /**
   * Lets nobody go before so many milliseconds have passed, as a server wishes that answers 429 with `Retry-After`. A
   * pause that ends later stays. Calls that have begun go on. Never blocks.
   * @param milliseconds 0 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @example requests.pause(1000 * Number(response.headers.get('Retry-After')));
   */
  pause(milliseconds: number): void {
    checkPause(KIND, milliseconds);
    this[checkOpen]();
    this.#queue.pause(milliseconds);
  }

  /**
   * Counts permits that have been used, without waiting, also more than there are: those who wait go later. A number
   * below 0 gives back permits that were taken and not used, as far as they still count. So a limiter of the tokens of a
   * language model takes an estimate before a call, and spends the difference after it. Never blocks.
   * @param permits -2,147,483,647 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @example tokens.spend(answer.usage.total - estimate);
   */
  spend(permits: number): void {
    checkSpent(KIND, permits);
    this[checkOpen]();
    this.#queue.spend(permits);
  }

  /**
   * Changes the numbers of the limiter. The promise holds by the new numbers for each window that begins after the call;
   * permits that went before count as long as they would have counted. A request that waits for more than `permits` is
   * rejected with a RangeError. Never blocks.
   * @param permits the most permits in a window, 1 to 2,147,483,647.
   * @param per the length of a window, 1 to 2,147,483,647 milliseconds. Default: as before.
   * @param options `burst`; default: as before, but `permits` at most.
   * @throws {RangeError | TypeError} for a bad number or option.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @example requests.resize(50, 60_000);
   */
  resize(permits: number, per = this.#queue.rate.per, options: RateLimiterOptions = {}): void {
    const rate = checkResize(KIND, permits, per, options, this.#queue.rate);
    this[checkOpen]();
    this.#queue.resize(rate, (wanted) => tooMany(KIND, wanted, permits));
  }

  /**
   * Rejects all requests that wait now, with a CancelledError. Later requests are not touched. Never blocks, throws
   * nothing.
   * @param reason the `cause` of the errors.
   * @example requests.cancelAll(new Error('the server shuts down'));
   */
  cancelAll(reason?: unknown): void {
    this.#queue.cancelAll(reason);
  }

  /**
   * Describes the limiter by a plain object. Never blocks.
   * @throws {DisposedError} if it has been disposed of.
   * @example console.log(requests.inspect().taken);
   */
  inspect(): RateLimiterStats {
    this[checkOpen]();
    const { rate, taken, count: waiting, timeouts, waiters } = this.#queue;
    return { ...rate, taken, waiting, timeouts, waiters };
  }

  /** @internal */
  protected get [count](): number {
    return this.#queue.count;
  }

  /** @internal */
  protected get [state](): string {
    const { permits, per } = this.#queue.rate;
    return `${permits} in ${per} ms`;
  }

  /** @internal */
  protected [close](error: Error): void {
    this.#queue.close(error);
  }
}
