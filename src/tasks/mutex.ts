/** Mutex, for the tasks of one thread: one permit of permits.ts. */

import { checkType } from '../common/errors.js';
import type { MutexGuards } from '../common/guarding.js';
import { type Limited, limited, type MutexLimit } from '../common/limiting.js';
import type { WaitOptions } from '../common/waits.js';
import { giveBack, type HeldLock, LockGuard } from './guards.js';
import { Permits } from './permits.js';
import { type QueueStats, statsOf } from './stats.js';
import { begin, checkOpen, isOver, QueueObject, queue, refuseOptions, state } from './task-object.js';

/** The answer of `Mutex.inspect`. */
export interface MutexStats extends QueueStats {
  /** Whether a task has the lock. */
  readonly locked: boolean;
}

/** @internal For a Condition. */
export const lock = Symbol();
/** @internal For a Condition. */
export const isLocked = Symbol();

const KIND = 'Mutex';

export interface Mutex extends MutexLimit, MutexGuards<HeldLock> {}

/**
 * A lock for the tasks of one thread, first come, first served. One task at a time is the owner.
 *
 * The lock does not know which task calls it. So any task may unlock, and a task that locks again waits for itself.
 *
 * The algorithm is this library's own.
 *
 * @example
 * ```ts
 * import { Mutex } from 'taketurns/tasks';
 *
 * const mutex = new Mutex();
 * await mutex.lockAsync({ timeout: 50 });
 * try {
 *   // one task at a time
 * } finally {
 *   mutex.unlock();
 * }
 * await mutex.runExclusive(async () => {});
 * ```
 * @since 0.3.0
 */
export class Mutex extends QueueObject implements MutexLimit, MutexGuards<HeldLock> {
  /** @internal */
  protected readonly [queue]: Permits = new Permits(1, () => `the Mutex (${this[queue].count} waiting)`);

  /**
   * Makes a lock that is free.
   * @throws {TypeError} for an argument: tasks need neither a name nor options.
   */
  constructor();
  constructor(...none: readonly unknown[]) {
    super(KIND);
    refuseOptions(KIND, none);
  }

  /** Whether a task is the owner. */
  get locked(): boolean {
    return this[isLocked];
  }

  /** @internal */
  get [isLocked](): boolean {
    return this[queue].balance < 1 && !this[isOver];
  }

  /**
   * Makes the task the owner: the promise is fulfilled when it is. Never blocks.
   * @param options a time-out and a signal; without them the promise may wait for ever.
   * @returns a promise. It rejects with TimeoutError when the time-out has passed, with the reason of the signal when
   * that is aborted, with RangeError or TypeError for a bad time-out, with CancelledError if `cancelAll` has cancelled
   * it, and with DisposedError if the mutex has been or is being disposed of.
   * @example await mutex.lockAsync({ timeout: 50 });
   */
  lockAsync(options?: WaitOptions): Promise<void> {
    return this[lock]('lockAsync', options);
  }

  /** @internal */
  [lock](method: string, options: WaitOptions | undefined): Promise<void> {
    try {
      return this[queue].acquire(1, this[begin](method, options));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Makes the task the owner if the lock is free. Never blocks.
   * @returns whether it has become the owner.
   * @throws {DisposedError} if the mutex has been disposed of.
   * @example if (mutex.tryLock()) mutex.unlock();
   */
  tryLock(): boolean {
    return this.#try();
  }

  #try(): boolean {
    this[checkOpen]();
    return this[queue].take(1);
  }

  tryHold(): HeldLock | undefined {
    return this.#try() ? new LockGuard(this, 0) : undefined;
  }

  /**
   * Gives the lock back; the first of those who wait is the owner then. Never blocks. On a disposed mutex it does
   * nothing.
   * @throws {Error} if nobody is the owner.
   * @example mutex.unlock();
   */
  unlock(): void {
    this[giveBack]();
  }

  /** @internal */
  [giveBack](): void {
    if (this[isOver]) return;
    if (!this[isLocked]) throw new Error(`${KIND}.unlock: nobody is the owner of the Mutex`);
    this[queue].give(1);
  }

  async holdAsync(options?: WaitOptions): Promise<HeldLock> {
    await this[lock]('holdAsync', options);
    return new LockGuard(this, 0);
  }

  /**
   * Locks by `lockAsync`, calls a function, and unlocks when the result of the function is settled. Never blocks. The
   * function must not wait for the same mutex: it would wait for itself.
   * @returns a promise of the result. It rejects with the error of the function or of `lockAsync`.
   * @example const answer = await mutex.runExclusive(() => fetch(address), { timeout: 50 });
   */
  runExclusive<T>(run: () => T | PromiseLike<T>, options?: WaitOptions): Promise<T> {
    return this.#run(run, options);
  }

  async #run<T>(run: () => T | PromiseLike<T>, options: WaitOptions | undefined): Promise<T> {
    checkType('Mutex.runExclusive: run', run, 'function', 'a function');
    await this[lock]('runExclusive', options);
    try {
      return await run();
    } finally {
      this[giveBack]();
    }
  }

  limit<This, Arguments extends unknown[], T>(
    run: (this: This, ...args: Arguments) => T,
    options?: WaitOptions,
  ): Limited<This, Arguments, T> {
    return limited(KIND, run, options, (call, wait) => this.#run(call, wait));
  }

  /**
   * Waits as `lockAsync` does until the lock is free, and does not keep the lock. Never blocks.
   *
   *     await mutex.waitForUnlockAsync(); // whoever had the lock when this was called has given it back
   * @returns a promise. It rejects as that of `lockAsync` does.
   */
  async waitForUnlockAsync(options?: WaitOptions): Promise<void> {
    const limits = this[begin]('waitForUnlockAsync', options);
    if (!this[isLocked]) return;
    await this[queue].acquire(1, limits);
    // A wrong call may have unlocked before this promise goes on.
    if (this[isLocked]) this[giveBack]();
  }

  /**
   * Rejects all requests that wait now, with a CancelledError. The owner stays the owner, and later requests are not
   * touched. Never blocks, throws nothing. A promise whose wait on a `Condition` is over must become the owner again:
   * it queues up once more.
   *
   *     mutex.cancelAll(new Error('the server shuts down'));
   * @param reason the `cause` of the errors.
   */
  cancelAll(reason?: unknown): void {
    this[queue].cancelAll(reason);
  }

  /**
   * Describes the mutex by a plain object. Never blocks.
   * @throws {DisposedError} if it has been disposed of.
   * @example console.log(mutex.inspect().waiters);
   */
  inspect(): MutexStats {
    this[checkOpen]();
    return { locked: this[isLocked], ...statsOf(this[queue]) };
  }

  /** @internal */
  protected get [state](): string {
    return this[isLocked] ? 'locked' : 'unlocked';
  }
}
