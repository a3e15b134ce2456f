/** KeyedSemaphore is a semaphore for each key: a table of keyed.ts with n permits a key. */
import { checkInteger } from '../common/errors.js';
import { checkRun, type Key } from '../common/keys.js';
import { type KeyedSemaphoreRuns, type Limited, limited } from '../common/limiting.js';
import { type PermitsRequest, requestOf, type WaitOptions } from '../common/waits.js';
import { giveBack, type HeldPermits, PermitsGuard } from './guards.js';
import { entryOf, Keyed } from './keyed.js';
import { begin } from './task-object.js';

const KIND = 'KeyedSemaphore';

export interface KeyedSemaphore extends KeyedSemaphoreRuns {}

/**
 * A semaphore for each key, for the tasks of one thread: at most `permits` permits of a key are out at a time, first
 * come, first served. A key needs no set-up. Of the keys that nobody holds or waits for, an entry is left only of the
 * last 256.
 *
 * The algorithm is this library's own.
 *
 * @example
 * ```ts
 * import { KeyedSemaphore } from 'taketurns/tasks';
 *
 * const hosts = new KeyedSemaphore(4);
 * const page = await hosts.runExclusive('example.org', async () => 'at most 4 at a time from one host');
 * using held = await hosts.holdAsync('example.org', 2, { timeout: 50 });
 * ```
 * @since 0.3.0
 */
export class KeyedSemaphore extends Keyed implements KeyedSemaphoreRuns {
  readonly #permits: number;

  /**
   * @param permits the number of permits of each key, 1 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad number.
   */
  constructor(permits: number) {
    super(KIND, checkInteger(`${KIND}: permits`, permits, 1, 2 ** 31 - 1));
    this.#permits = permits;
  }

  /** The number of permits of each key. */
  get permits(): number {
    return this.#permits;
  }

  /**
   * Takes permits of a key: the promise is fulfilled with a guard that gives them back when it is its turn. Never
   * blocks.
   * @param permits 1 (the default) to `permits` of the constructor. The options may stand in its place.
   * @param options a time-out and a signal; without them the promise may wait for ever.
   * @returns a promise. It rejects with TimeoutError when the time-out has passed, with the reason of the signal when
   * that is aborted, with RangeError or TypeError for a bad key, number or option, with CancelledError if `cancelAll`
   * has cancelled it, and with DisposedError if the object has been or is being disposed of.
   * @example using held = await hosts.holdAsync('example.org', 2, { timeout: 50 });
   */
  holdAsync(key: Key, permits?: number, options?: WaitOptions): Promise<HeldPermits>;
  holdAsync(key: Key, options: WaitOptions): Promise<HeldPermits>;
  async holdAsync(key: Key, permits: number | WaitOptions = 1, options?: WaitOptions): Promise<HeldPermits> {
    const [wanted, more] = requestOf([permits, options]);
    const limits = this[begin]('holdAsync', more);
    const entry = this[entryOf]('holdAsync', key, wanted);
    await entry.acquire(wanted, limits);
    return new PermitsGuard(entry, wanted);
  }

  /**
   * Takes permits of a key if they are free and nobody waits for the key. Never blocks.
   * @param permits 1 (the default) to `permits` of the constructor.
   * @returns a guard, or undefined: `using held = hosts.tryHold(name); if (held) work()`.
   * @throws {RangeError | TypeError} for a bad key or number.
   * @throws {DisposedError} if the object has been disposed of.
   */
  tryHold(key: Key, permits = 1): HeldPermits | undefined {
    const entry = this[entryOf]('tryHold', key, permits);
    return entry.take(permits) ? new PermitsGuard(entry, permits) : undefined;
  }

  runExclusive<T>(key: Key, run: () => T | PromiseLike<T>, ...request: PermitsRequest): Promise<T> {
    return this.#run(key, run, ...requestOf(request));
  }

  async #run<T>(
    key: Key,
    run: () => T | PromiseLike<T>,
    permits: number,
    options: WaitOptions | undefined,
  ): Promise<T> {
    checkRun('KeyedSemaphore', key, run);
    const limits = this[begin]('runExclusive', options);
    const entry = this[entryOf]('runExclusive', key, permits);
    await entry.acquire(permits, limits);
    try {
      return await run();
    } finally {
      entry[giveBack](permits);
    }
  }

  limit<This, K extends Key, Arguments extends unknown[], T>(
    run: (this: This, key: K, ...args: Arguments) => T,
    ...request: PermitsRequest
  ): Limited<This, [key: K, ...args: Arguments], T> {
    const [permits, options] = requestOf(request);
    const get = limited(KIND, run, options, (call, wait, [key]) => this.#run(key, call, permits, wait));
    checkInteger(`${KIND}.limit: permits`, permits, 1, this.#permits, ' (its permits)');
    return get;
  }
}
