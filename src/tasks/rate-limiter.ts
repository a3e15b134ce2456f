/**
 * RateLimiter gives so many permits in any window of so many milliseconds, and never one more.
 *
 *     the log     the permits of the last window:  [time, permits] ──► [time, permits] ──► ... ──► newest
 *                 n more may go if those of the window and n are at most `permits`
 *     the cell    common/rate.ts: spreads the permits over the window, so that they do not all go at its beginning
 *
 * The log keeps the promise for every window, whatever the cell does. Proof: a permit leaves the log `per` milliseconds
 * after it was given, and no permit is given that would make more than `permits` in the log.
 *
 * The log has at most about 1,000 entries: permits that are given within a thousandth of the window share an entry,
 * with the time of the last of them. So none of them leaves the log too early.
 */
import { checkInteger, checkOptions } from '../common/errors.js';
import { type Limited, limited } from '../common/limiting.js';
import { checkRate, dueAfter, type Rate, type RateLimiting, type RateOptions, tooEarly } from '../common/rate.js';
import { type PermitsRequest, requestOf, type WaitOptions } from '../common/waits.js';
import { clearTimeout, now, setTimeout } from './clock.js';
import { Queue } from './queue.js';
import { type QueueStats, statsOf } from './stats.js';
import { begin, checkOpen, close, DONE, QueueObject, queue, state } from './task-object.js';

/** The options of a new `RateLimiter`. */
export type RateLimiterOptions = RateOptions;

/** The answer of `RateLimiter.inspect`. */
export interface RateLimiterStats extends Rate, QueueStats {
  /** The number of permits that were given in the window that ends now. */
  readonly taken: number;
}

/** Permits that were given at nearly the same time. */
interface Given {
  readonly begun: number;
  /** The time of the last of them. */
  time: number;
  permits: number;
  next: Given | undefined;
}

const KIND = 'RateLimiter';

export interface RateLimiter extends RateLimiting {}

/**
 * Gives so many permits in any window of so many milliseconds, never one more, in the order of the calls. A request for
 * n permits gets them all at once, in its turn.
 *
 * Source: the generic cell rate algorithm (ITU-T I.371), beside a log of the window, which keeps the promise.
 *
 * @example
 * ```ts
 * import { RateLimiter } from 'taketurns/tasks';
 *
 * const requests = new RateLimiter(100, 60_000, { burst: 10 }); // 100 in any minute, at most 10 at once
 * await requests.takeAsync();
 * const get = requests.limit((address: string) => fetch(address));
 * ```
 */
export class RateLimiter extends QueueObject implements RateLimiting {
  readonly #rate: Rate;
  #oldest: Given | undefined;
  #newest: Given | undefined;
  /** The sum of the log. */
  #taken = 0;
  /** When the next permit would be due if all came evenly. */
  #next = 0;
  #timer: unknown;
  /** @internal */
  protected readonly [queue]: Queue = new Queue(
    (width) => `${width} permit${width > 1 ? 's' : ''} of the RateLimiter (${this[queue].count} waiting)`,
    () => this.#moveUp(),
  );

  /**
   * @param permits the most permits in a window, 1 to 2,147,483,647.
   * @param per the length of a window, 1 to 2,147,483,647 milliseconds.
   * @throws {RangeError | TypeError} for a bad number or option.
   */
  constructor(permits: number, per: number, options: RateLimiterOptions = {}) {
    super(KIND);
    checkOptions(KIND, options, ['burst']);
    this.#rate = checkRate(KIND, permits, per, options);
  }

  get permits(): number {
    return this.#rate.permits;
  }

  get per(): number {
    return this.#rate.per;
  }

  get burst(): number {
    return this.#rate.burst;
  }

  /**
   * Takes permits: the promise is fulfilled when they may go. Never blocks. Permits are never given back.
   * @param permits 1 (the default) to `permits` of the constructor. The options may stand in its place.
   * @param options a time-out and a signal; without them the promise waits as long as it takes.
   * @returns a promise. It rejects with TimeoutError when the time-out has passed, with the reason of the signal when
   * that is aborted, with RangeError or TypeError for a bad number or option, with CancelledError if `cancelAll` has
   * cancelled it, and with DisposedError if the limiter has been or is being disposed of. The request has taken nothing
   * then, and those behind it move up.
   * @example await requests.takeAsync({ timeout: 1000 });
   */
  takeAsync(permits?: number, options?: WaitOptions): Promise<void>;
  takeAsync(options: WaitOptions): Promise<void>;
  takeAsync(permits: number | WaitOptions = 1, options?: WaitOptions): Promise<void> {
    return this.#takeAsync(permits, options);
  }

  #takeAsync(permits: number | WaitOptions, options: WaitOptions | undefined): Promise<void> {
    try {
      const [wanted, more] = requestOf([permits, options]);
      this.#check('takeAsync', wanted);
      const limits = this[begin]('takeAsync', more);
      if (this.#try(wanted)) return DONE;
      return this[queue].wait(wanted, limits, () => this.#moveUp());
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
    this.#check('tryTake', permits);
    this[checkOpen]();
    return this.#try(permits);
  }

  #check(method: string, permits: number): void {
    checkInteger(`${KIND}.${method}: permits`, permits, 1, this.#rate.permits, ' (its permits)');
  }

  #try(permits: number): boolean {
    return this[queue].count === 0 && this.#take(permits) <= 0;
  }

  /** Takes permits if they may go now. Returns how many milliseconds are left until they may; at most 0 if it has. */
  #take(permits: number): number {
    const time = now();
    this.#forget(time);
    const rate = this.#rate;
    let left = tooEarly(rate, this.#next, permits, time);
    // Those that must leave the log first.
    let taken = this.#taken + permits;
    for (let given = this.#oldest; given && taken > this.#rate.permits; given = given.next) {
      taken -= given.permits;
      left = Math.max(left, rate.per - (time - given.time));
    }
    if (left <= 0) {
      this.#next = dueAfter(rate, this.#next, permits, time);
      this.#note(time, permits);
    }
    return left;
  }

  #forget(time: number): void {
    while (this.#oldest && time - this.#oldest.time >= this.#rate.per) {
      this.#taken -= this.#oldest.permits;
      this.#oldest = this.#oldest.next;
    }
  }

  #note(time: number, permits: number): void {
    this.#taken += permits;
    const newest = this.#oldest && this.#newest;
    if (newest && (time - newest.begun) * 1000 < this.#rate.per) {
      newest.time = time;
      newest.permits += permits;
      return;
    }
    const given: Given = { begun: time, time, permits, next: undefined };
    if (newest) newest.next = given;
    else this.#oldest = given;
    this.#newest = given;
  }

  /** Lets all go on that may, and sets the timer for the first of the others. */
  #moveUp(): void {
    clearTimeout(this.#timer as never);
    const waits = this[queue];
    while (waits.first) {
      const left = this.#take(waits.first.width);
      if (left > 0) {
        // A timer may fire early, and then finds that some time is left.
        this.#timer = setTimeout(() => this.#moveUp(), Math.ceil(left));
        return;
      }
      waits.settle();
    }
  }

  limit<This, Arguments extends unknown[], T>(
    run: (this: This, ...args: Arguments) => T,
    ...request: PermitsRequest
  ): Limited<This, Arguments, T> {
    const [permits, options] = requestOf(request);
    const get = limited(KIND, run, options, async (call, wait) => {
      await this.#takeAsync(permits, wait);
      return await call();
    });
    this.#check('limit', permits);
    return get;
  }

  /**
   * Rejects all requests that wait now, with a CancelledError. Later requests are not touched. Never blocks, throws
   * nothing.
   * @param reason the `cause` of the errors.
   * @example requests.cancelAll(new Error('the server shuts down'));
   */
  cancelAll(reason?: unknown): void {
    this[queue].cancelAll(reason);
  }

  /**
   * Describes the limiter by a plain object. Never blocks.
   * @throws {DisposedError} if it has been disposed of.
   * @example console.log(requests.inspect().taken);
   */
  inspect(): RateLimiterStats {
    this[checkOpen]();
    this.#forget(now());
    return {
      ...this.#rate,
      taken: this.#taken,
      ...statsOf(this[queue]),
    };
  }

  /** @internal */
  protected get [state](): string {
    return `${this.#rate.permits} in ${this.#rate.per} ms`;
  }

  /** @internal */
  protected override [close](error: Error): unknown {
    clearTimeout(this.#timer as never);
    return super[close](error);
  }
}
