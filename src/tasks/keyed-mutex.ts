/** KeyedMutex is a mutex for each key: a table of keyed.ts with one permit a key. */
import { checkRun, type Key } from '../common/keys.js';
import { type KeyedMutexRuns, type Limited, limited } from '../common/limiting.js';
import type { WaitOptions } from '../common/waits.js';
import { giveBack, type HeldLock, LockGuard } from './guards.js';
import { entryOf, Keyed } from './keyed.js';
import { begin, refuseOptions } from './task-object.js';

export interface KeyedMutex extends KeyedMutexRuns {}

/**
 * A mutex for each key, for the tasks of one thread: tasks with the same key exclude one another, first come, first
 * served. A key needs no set-up. Of the keys that nobody holds or waits for, an entry is left only of the last 256.
 *
 * The algorithm is this library's own.
 *
 * @example
 * ```ts
 * import { KeyedMutex } from 'taketurns/tasks';
 *
 * const accounts = new KeyedMutex();
 * await accounts.runExclusive('Ann', async () => {}); // one task at a time for Ann
 * {
 *   using held = await accounts.holdAsync('Bob', { timeout: 50 });
 * }
 * using both = await accounts.holdAllAsync(['Ann', 'Bob']);
 * ```
 * @since 0.3.0
 */
export class KeyedMutex extends Keyed implements KeyedMutexRuns {
  /**
   * Makes a table without keys.
   * @throws {TypeError} for an argument: tasks need neither a name nor options.
   */
  constructor();
  constructor(...none: readonly unknown[]) {
    super('KeyedMutex', 1);
    refuseOptions('KeyedMutex', none);
  }

  /**
   * Locks a key: the promise is fulfilled with a guard that unlocks when it is its turn. Never blocks.
   *
   *     using held = await accounts.holdAsync(id, { timeout: 50 });
   * @param options a time-out and a signal; without them the promise may wait for ever.
   * @returns a promise. It rejects with TimeoutError when the time-out has passed, with the reason of the signal when
   * that is aborted, with RangeError or TypeError for a bad key or option, with CancelledError if `cancelAll` has
   * cancelled it, and with DisposedError if the object has been or is being disposed of.
   */
  async holdAsync(key: Key, options?: WaitOptions): Promise<HeldLock> {
    const limits = this[begin]('holdAsync', options);
    const entry = this[entryOf]('holdAsync', key, 1);
    await entry.acquire(1, limits);
    return new LockGuard(entry, 1);
  }

  /**
   * Locks a key if nobody holds it. Never blocks.
   * @returns a guard, or undefined: `using held = accounts.tryHold(id); if (held) work()`.
   * @throws {RangeError | TypeError} for a bad key.
   * @throws {DisposedError} if the object has been disposed of.
   */
  tryHold(key: Key): HeldLock | undefined {
    const entry = this[entryOf]('tryHold', key, 1);
    return entry.take(1) ? new LockGuard(entry, 1) : undefined;
  }

  runExclusive<T>(key: Key, run: () => T | PromiseLike<T>, options?: WaitOptions): Promise<T> {
    return this.#run(key, run, options);
  }

  async #run<T>(key: Key, run: () => T | PromiseLike<T>, options: WaitOptions | undefined): Promise<T> {
    checkRun('KeyedMutex', key, run);
    const limits = this[begin]('runExclusive', options);
    const entry = this[entryOf]('runExclusive', key, 1);
    await entry.acquire(1, limits);
    try {
      return await run();
    } finally {
      entry[giveBack](1);
    }
  }

  limit<This, K extends Key, Arguments extends unknown[], T>(
    run: (this: This, key: K, ...args: Arguments) => T,
    options?: WaitOptions,
  ): Limited<This, [key: K, ...args: Arguments], T> {
    return limited('KeyedMutex', run, options, (call, wait, [key]) => this.#run(key, call, wait));
  }
}
