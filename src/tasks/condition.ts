/**
 * Condition, for the tasks of one thread. A wait has these steps:
 *
 *     enter the queue ──► unlock the mutex ──► wait ──► lock the mutex again
 *
 * The promise enters the queue before it unlocks, so no notification after the unlock is missed. It locks the mutex
 * again however the wait has ended.
 */
import { badType, CancelledError, checkInteger, checkType } from '../common/errors.js';
import { refusePromise } from '../common/refuse-promise.js';
import type { WaitOptions } from '../common/waits.js';
import { giveBack } from './guards.js';
import type { Limits } from './limits.js';
import { isLocked, lock, Mutex } from './mutex.js';
import { Queue } from './queue.js';
import { type QueueStats, statsOf } from './stats.js';
import { begin, checkOpen, isOver, QueueObject, queue, state } from './task-object.js';

/** The answer of `Condition.inspect`. */
export type ConditionStats = QueueStats;

const KIND = 'Condition';

/**
 * Lets the owner of a mutex wait until another task says that something has changed. The waiters are notified in the
 * order in which they began to wait. If nobody waits, a notification is lost. There are no spurious wake-ups:
 * `waitAsync` answers true only after a notification.
 *
 * Source: Hoare, Monitors (1974).
 *
 * @example
 * ```ts
 * import { Condition, Mutex } from 'taketurns/tasks';
 *
 * const mutex = new Mutex();
 * const notEmpty = new Condition(mutex);
 * const items: string[] = [];
 *
 * async function take(): Promise<string | undefined> {
 *   using held = await mutex.holdAsync();
 *   await notEmpty.waitForAsync(() => items.length > 0); // the mutex is free meanwhile
 *   return items.shift();
 * }
 *
 * async function put(item: string): Promise<void> {
 *   using held = await mutex.holdAsync();
 *   items.push(item);
 *   notEmpty.notify();
 * }
 *
 * console.log(await Promise.all([take(), put('a letter')]));
 * ```
 * @since 0.3.0
 */
export class Condition extends QueueObject {
  readonly #mutex: Mutex;
  /** @internal */
  protected readonly [queue] = new Queue();

  /**
   * Makes a condition that belongs to this mutex and to no other. Never blocks.
   * @throws {TypeError} if `mutex` is not a Mutex of `taketurns/tasks`.
   */
  constructor(mutex: Mutex) {
    super(KIND);
    if (!(mutex instanceof Mutex)) throw badType(`${KIND}: mutex`, 'a Mutex of taketurns/tasks', mutex);
    this.#mutex = mutex;
  }

  /** The mutex whose owner may wait. */
  get mutex(): Mutex {
    return this.#mutex;
  }

  /**
   * Unlocks the mutex, waits until it is notified, and locks the mutex again. When the promise is settled, the task is
   * the owner again, unless the mutex has been disposed of. `cancelAll` of the mutex does not end the wait for the
   * mutex. Never blocks.
   *
   * When the promise is fulfilled, the change that the task waited for may be undone again: another task may have been
   * the owner before. So use `waitForAsync`, which looks again.
   * @param options a time-out and a signal. The time-out limits only the wait for a notification.
   * @returns a promise of true if the task was notified, of false if the time-out came first. It rejects with an Error
   * if nobody owns the mutex, with the reason of the signal when that is aborted, and with DisposedError if the
   * condition or the mutex has been or is being disposed of.
   * @example while (items.length === 0) await notEmpty.waitAsync({ signal });
   */
  async waitAsync(options?: WaitOptions): Promise<boolean> {
    return this.#wait(this[begin]('waitAsync', options), 'waitAsync');
  }

  async #wait(limits: Limits | undefined, method: string): Promise<boolean> {
    this.#check(method);
    const waited = this[queue].wait<boolean>(1, limits, () => this.#mutex[giveBack]());
    try {
      return await waited;
    } finally {
      await this.#lockAgain();
    }
  }

  async #lockAgain(): Promise<void> {
    while (true) {
      try {
        await this.#mutex[lock]('lockAsync', undefined);
        return;
      } catch (error) {
        if (!(error instanceof CancelledError)) throw error;
      }
    }
  }

  #check(method: string): void {
    this[checkOpen]();
    this.#mutex[checkOpen]();
    if (!this.#mutex[isLocked])
      throw new Error(`${KIND}.${method}: nobody is the owner of the mutex, so lock it first`);
  }

  /**
   * Waits by `waitAsync` until a function answers true. It asks the function first, and again after each notification.
   * Never blocks.
   *
   *     await notEmpty.waitForAsync(() => items.length > 0, { timeout: 50 });
   * @param ready tells whether the wait is over. The task is the owner of the mutex while `ready` runs. It must not
   * return a promise.
   * @param options a time-out for all waits together, and a signal.
   * @returns a promise of the last answer of `ready`: false if the time-out came first. It rejects as that of
   * `waitAsync`, with TypeError if `ready` is not a function or returns a promise, and with what `ready` throws.
   */
  async waitForAsync(ready: () => boolean, options?: WaitOptions): Promise<boolean> {
    const what = `${KIND}.waitForAsync: ready`;
    checkType(what, ready, 'function', 'a function');
    const limits = this[begin]('waitForAsync', options);
    this.#check('waitForAsync');
    for (let goesOn = true; ; ) {
      const answer: unknown = ready();
      refusePromise(
        answer,
        `${what} must not return a promise: find the answer before, and let the function look at it`,
      );
      if (answer || !goesOn) return Boolean(answer);
      goesOn = await this.#wait(limits, 'waitForAsync');
    }
  }

  /**
   * Notifies the waiters that have waited longest. Call it as the owner of the mutex, after the change for which the
   * waiters wait. Never blocks. If nobody waits, the call does nothing, and later waiters do not learn of it.
   * @param count how many waiters to notify at most, 1 (the default) to 2,147,483,647, or Infinity.
   * @returns how many waiters it has notified.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {DisposedError} if the condition has been disposed of.
   * @example notEmpty.notify();
   */
  notify(count = 1): number {
    return this.#notify(count);
  }

  #notify(most: number): number {
    if (most !== Infinity) checkInteger(`${KIND}.notify: count`, most, 1, 2 ** 31 - 1);
    this[checkOpen]();
    const notified = Math.min(most, this[queue].count);
    for (let i = 0; i < notified; i++) this[queue].settle(true);
    return notified;
  }

  /**
   * Notifies all waiters. Never blocks.
   * @returns how many waiters it has notified.
   * @throws {DisposedError} if the condition has been disposed of.
   * @example notEmpty.notifyAll();
   */
  notifyAll(): number {
    return this.#notify(Infinity);
  }

  /**
   * Describes the condition by a plain object. Never blocks.
   * @throws {DisposedError} if it has been disposed of.
   * @example console.log(notEmpty.inspect().waiters);
   */
  inspect(): ConditionStats {
    this[checkOpen]();
    return statsOf(this[queue]);
  }

  /** Returns, for example, `Condition(2 waiting)`. Never blocks, throws nothing. */
  override toString(): string {
    return this[isOver] ? super.toString() : `${KIND}(${this[state]})`;
  }

  /** @internal */
  protected get [state](): string {
    return `${this[queue].count} waiting`;
  }
}
