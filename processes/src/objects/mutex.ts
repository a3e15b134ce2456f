/**
 * A mutex of a space. A process that holds the mutex passes it on to its own waiters without the server, so waiters of
 * other processes are overtaken, but each at most `bypass` times.
 */

import { type Limited, limited, type MutexLimit } from '../../../src/common/limiting.js';
import { checkType } from '../errors.js';
import type { WaitOptions } from './acquire.js';
import { ask, askAtOnce, during, Handle } from './handle.js';
import { HeldLock } from './hold.js';

export interface Mutex extends MutexLimit<WaitOptions> {}

/**
 * A mutex that all processes of a space share. No waiter is overtaken more than `bypass` times. `Space.mutex` opens it.
 */
export class Mutex extends Handle implements MutexLimit<WaitOptions> {
  /** How often a waiter may be overtaken at most. */
  get bypass(): number {
    return this.object.settings.bypass;
  }

  /**
   * Locks the mutex. Never blocks the thread.
   *
   *     await using held = await mutex.holdAsync({ timeout: 500 });
   *     await write(row, held.token);
   * @throws (rejects) as `Semaphore.holdAsync`.
   */
  async holdAsync(options?: WaitOptions): Promise<HeldLock> {
    return this[ask]('holdAsync', 1, HeldLock, options);
  }

  /**
   * Locks the mutex if it is free and nobody waits. Takes one round trip. Never blocks the thread.
   * @returns (resolves to) undefined if the mutex is not free or somebody waits.
   * @throws (rejects) as `Semaphore.holdAsync`, but never for a time-out.
   * @example await using held = await mutex.tryHold();
   */
  tryHold(): Promise<HeldLock | undefined>;
  async tryHold(...none: readonly unknown[]): Promise<HeldLock | undefined> {
    return this[askAtOnce]('tryHold', 1, HeldLock, none);
  }

  /**
   * Holds the mutex while a function runs and its promise is pending. The function must not wait for the same mutex.
   * Never blocks the thread.
   * @returns a promise of the result. It rejects as the promise of `Semaphore.runExclusive` does.
   * @example await mutex.runExclusive(({ signal }) => fetch(address, { signal }));
   */
  async runExclusive<T>(run: (held: HeldLock) => T | PromiseLike<T>, options?: WaitOptions): Promise<T> {
    checkType('Mutex.runExclusive: run', run, 'function', 'a function');
    return this[during](this[ask]('runExclusive', 1, HeldLock, options), run);
  }

  limit<This, Arguments extends unknown[], T>(
    run: (this: This, ...args: Arguments) => T,
    options?: WaitOptions,
  ): Limited<This, Arguments, T> {
    return limited('Mutex', run, options, (call, wait) => this.runExclusive(call, wait));
  }

  /** `Mutex`. */
  get [Symbol.toStringTag](): string {
    return 'Mutex';
  }
}
