/** Semaphore, for the tasks of one thread: permits.ts with its options, its guards and what it tells. */

import { checkInteger, checkOptions, checkType } from '../common/errors.js';
import type { SemaphoreGuards } from '../common/guarding.js';
import { type Limited, limited, type SemaphoreRuns } from '../common/limiting.js';
import { ofMax, usualMax } from '../common/max.js';
import { type PermitsRequest, requestOf, type WaitOptions } from '../common/waits.js';
import { giveBack, type HeldPermits, PermitsGuard } from './guards.js';
import { Permits } from './permits.js';
import { type QueueStats, statsOf } from './stats.js';
import { begin, checkOpen, isOver, QueueObject, queue, state } from './task-object.js';

/** The options of a new `Semaphore`. */
export interface SemaphoreOptions {
  /**
   * The greatest number of available permits, 1 to 2,147,483,647. It is also the most that one request can ask for: a
   * request for more is a `RangeError`. By default it is the number of permits at first, so a release too many is an
   * error. A semaphore that begins with 0 permits has no max by default. A pool that grows needs a greater one.
   */
  readonly max?: number;
}

/** The answer of `Semaphore.inspect`. */
export interface SemaphoreStats extends QueueStats {
  /** The number of permits at first. */
  readonly permits: number;
  /** The number of permits that `add` has made, less those that `reduce` has taken away. */
  readonly added: number;
  /** The greatest number of available permits. */
  readonly max: number;
  /** The number of permits that `tryAcquire` could take. */
  readonly available: number;
  /** The number of permits that requests have taken and not given back; below 0 if more were released than taken. */
  readonly out: number;
  /** The most permits that one waiting request asks for; 0 if no request waits. */
  readonly widest: number;
}

const KIND = 'Semaphore';
const LIMIT = 2 ** 31 - 1;

export interface Semaphore extends SemaphoreRuns, SemaphoreGuards<HeldPermits> {}

/**
 * A counting semaphore for the tasks of one thread, first come, first served.
 *
 * Requests are admitted in the order of their calls. A request for n permits gets them all at once, in its turn;
 * lighter requests behind it wait. Any task may release.
 *
 * The algorithm is this library's own. It serves in the order of the `Semaphore` of `taketurns`.
 *
 * @example
 * ```ts
 * import { Semaphore } from 'taketurns/tasks';
 *
 * const pool = new Semaphore(4);
 * await pool.acquireAsync(2, { timeout: 50 });
 * try {
 *   // at most 4 permits are out
 * } finally {
 *   pool.release(2);
 * }
 * await pool.runExclusive(async () => {});
 * ```
 * @since 0.3.0
 */
export class Semaphore extends QueueObject implements SemaphoreRuns, SemaphoreGuards<HeldPermits> {
  readonly #max: number;
  readonly #permits: number;
  #added = 0;
  /** @internal */
  protected readonly [queue]: Permits;

  /**
   * @param permits the number available at first, 0 to `max`.
   * @throws {RangeError | TypeError} for an argument out of its range.
   */
  constructor(permits: number, options: SemaphoreOptions = {}) {
    super(KIND);
    checkOptions(KIND, options, ['max']);
    const { max = usualMax(permits) } = options;
    this.#max = checkInteger(`${KIND}: max`, max, 1, LIMIT);
    this.#permits = checkInteger(`${KIND}: permits`, permits, 0, max);
    this[queue] = new Permits(
      permits,
      (width) =>
        `${width} permit${width > 1 ? 's' : ''} of the Semaphore (${this.#available} available, ${this[queue].count} waiting)`,
    );
  }

  /** The greatest number of available permits. */
  get max(): number {
    return this.#max;
  }

  /** The number of permits that `tryAcquire` could take now. */
  get available(): number {
    return this.#available;
  }

  get #available(): number {
    return this[isOver] ? 0 : Math.max(this[queue].balance, 0);
  }

  /**
   * Takes permits: the promise is fulfilled when it is their turn. If there are fewer permits than `max`, a request for
   * more than there are waits, and so does every request behind it. Never blocks.
   *
   *     await pool.acquireAsync(2, { timeout: 50 });
   *     await pool.acquireAsync({ timeout: 50 }); // one permit
   * @param permits 1 (the default) to `max`. The options may stand in its place.
   * @param options a time-out and a signal; without them the promise may wait for ever.
   * @returns a promise. It rejects with TimeoutError when the time-out has passed, and with the reason of the signal
   * when that is aborted; the request has then left the queue, and holds nothing. It rejects with RangeError or
   * TypeError for a bad number, with CancelledError if `cancelAll` has cancelled it, and with DisposedError if the
   * semaphore has been or is being disposed of.
   */
  acquireAsync(permits?: number, options?: WaitOptions): Promise<void>;
  acquireAsync(options: WaitOptions): Promise<void>;
  acquireAsync(permits: number | WaitOptions = 1, options?: WaitOptions): Promise<void> {
    return this.#acquire('acquireAsync', permits, options);
  }

  #acquire(method: string, permits: number | WaitOptions, options: WaitOptions | undefined): Promise<void> {
    // The common call is fast.
    if (permits === 1 && options === undefined && !this[isOver]) return this[queue].acquire(1);
    try {
      const [wanted, more] = requestOf([permits, options]);
      this.#check(method, wanted);
      return this[queue].acquire(wanted, this[begin](method, more));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #check(method: string, permits: number): void {
    checkInteger(`${KIND}.${method}: permits`, permits, 1, this.#max, ofMax(method));
  }

  tryAcquire(permits = 1): boolean {
    return this.#try('tryAcquire', permits);
  }

  #try(method: string, permits: number): boolean {
    if (permits !== 1) this.#check(method, permits);
    this[checkOpen]();
    return this[queue].take(permits);
  }

  tryHold(permits = 1): HeldPermits | undefined {
    return this.#try('tryHold', permits) ? new PermitsGuard(this, permits) : undefined;
  }

  drain(): number {
    this[checkOpen]();
    const taken = this.#available;
    this[queue].balance -= taken;
    return taken;
  }

  /**
   * Makes more permits, such as for a pool that grows, and lets each waiter go on whose turn has come.
   * `inspect().added` shows them. Never blocks. On a disposed semaphore it does nothing.
   * @param permits 1 (the default) to `max`.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {RangeError} if more than `max` would be available. Then nothing has changed.
   * @example pool.add(2);
   */
  add(permits = 1): void {
    if (this.#return('add', permits)) this.#added += permits;
  }

  /**
   * Takes permits away for good, such as from a pool that shrinks. Free permits go at once. The rest go in their turn:
   * when the present waiters have been served and enough permits have been given back. Later requests wait until then.
   * Never blocks. `inspect().added` counts the permits that were added, less those that were taken away.
   *
   *     const pool = new Semaphore(4, { max: 8 });
   *     pool.add(2); // 6 from now on
   *     pool.reduce(3); // 3, once the others have come back
   * @param permits 1 (the default) to `max`.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {DisposedError} if the semaphore has been disposed of.
   */
  reduce(permits = 1): void {
    this.#check('reduce', permits);
    this[checkOpen]();
    this[queue].reduce(permits);
    this.#added -= permits;
  }

  /**
   * Gives permits back, and lets each waiter go on whose turn has come. Any task may release, whether it took the
   * permits or not. Never blocks. On a disposed semaphore it does nothing.
   * @param permits 1 (the default) to `max`.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {RangeError} if more than `max` would be available. Then nothing has changed.
   * @example pool.release(2);
   */
  release(permits = 1): void {
    this.#return('release', permits);
  }

  #return(method: string, permits: number): boolean {
    if (permits !== 1) this.#check(method, permits);
    if (this[isOver]) return false;
    if (this[queue].balance + permits > this.#max) {
      throw new RangeError(
        `${KIND}.${method}: ${permits} more would make more than ${this.#max} (its max) available; ${this.#available} are: ` +
          (method === 'add' ? 'make it with a greater max' : 'give back as many as were taken'),
      );
    }
    this[queue].give(permits);
    return true;
  }

  /** @internal */
  [giveBack](permits: number): void {
    this.#return('release', permits);
  }

  /**
   * Rejects all requests that wait now, with a CancelledError. The semaphore goes on: no permit is lost or made, and
   * later requests are not touched. Never blocks, throws nothing.
   *
   *     pool.cancelAll(new Error('the server shuts down'));
   * @param reason the `cause` of the errors.
   */
  cancelAll(reason?: unknown): void {
    this[queue].cancelAll(reason);
  }

  async holdAsync(...request: PermitsRequest): Promise<HeldPermits> {
    const [permits, options] = requestOf(request);
    await this.#acquire('holdAsync', permits, options);
    return new PermitsGuard(this, permits);
  }

  runExclusive<T>(run: () => T | PromiseLike<T>, ...request: PermitsRequest): Promise<T> {
    return this.#run(run, ...requestOf(request));
  }

  async #run<T>(run: () => T | PromiseLike<T>, permits: number, options: WaitOptions | undefined): Promise<T> {
    checkType('Semaphore.runExclusive: run', run, 'function', 'a function');
    await this.#acquire('runExclusive', permits, options);
    try {
      return await run();
    } finally {
      this.#return('release', permits);
    }
  }

  limit<This, Arguments extends unknown[], T>(
    run: (this: This, ...args: Arguments) => T,
    ...request: PermitsRequest
  ): Limited<This, Arguments, T> {
    const [permits, options] = requestOf(request);
    const get = limited(KIND, run, options, (call, wait) => this.#run(call, permits, wait));
    this.#check('limit', permits);
    return get;
  }

  /**
   * Describes the semaphore by a plain object. It looks at every waiter. Never blocks.
   * @throws {DisposedError} if it has been disposed of.
   * @example console.log(pool.inspect().waiters);
   */
  inspect(): SemaphoreStats {
    this[checkOpen]();
    let widest = 0;
    let asked = 0;
    for (let waiter = this[queue].first; waiter; waiter = waiter.next) {
      widest = Math.max(widest, waiter.width);
      asked += waiter.width;
    }
    return {
      permits: this.#permits,
      added: this.#added,
      max: this.#max,
      available: this.#available,
      out: this.#permits + this.#added - this[queue].balance - asked,
      widest,
      ...statsOf(this[queue]),
    };
  }

  /** @internal */
  protected get [state](): string {
    return `${this.#available} available`;
  }
}
