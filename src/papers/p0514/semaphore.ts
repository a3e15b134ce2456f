/**
 * What BinarySemaphore and CountingSemaphore share: everything except their names and `signal`. The algorithm is in
 * core/kinds/counter/counter.ts.
 *
 * The shared object has two parts: the value, with the number of units that counted waiters still want, and the queue
 * of a Semaphore. The library object has a Semaphore (`#queue`) over the same shared object.
 *
 *     wait(n)    value >= n: takes n, and is through
 *                otherwise:  is counted as waiting for n, and acquires n permits of the queue
 *     signal(n)  raises the value. What waiters want of it is handed on: it leaves the value, and is released to the
 *                queue as permits
 *
 * The calls of the counter (countDown, countUp) also begin the release of the permits that are handed on. If waiters may
 * have to be woken, the answer of the call says so, and this class finishes the release by a call of the core.
 */

import type { Arena } from '../../arena/arena.js';
import type { Algorithms } from '../../border/algorithms.js';
import type { Kind } from '../../border/kinds.js';
import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_OVER_MAX,
  CLOSED_OBJECT,
  GIVE_BACK,
  HANDED_LATE,
  PARKING as IN_QUEUE,
  INTERRUPTED,
  LIMIT,
  MORE,
  MOST_WAITING,
  QUEUED,
} from '../../border/numbers.js';
import type { Properties, WaitOptions } from '../../objects/options.js';
import type { Reference } from '../../objects/reference.js';
import { close, detach, disposedError, forget, isOver, reference, SharedObject } from '../../objects/shared-object.js';
import { setTimeout } from '../../runtime/clock.js';
import {
  badInteger,
  checkInteger,
  checkOptions,
  DisposedError,
  mayNotBlock,
  TimeoutError,
} from '../../runtime/errors.js';
import type { Membership } from '../../runtime/membership.js';
import { ADAPTIVE, LONGEST } from '../../runtime/numbers.js';
import { closed, DONE, type Promises } from '../../runtime/promises.js';
import { Semaphore } from '../../semaphore/semaphore.js';
import { algorithmsOf } from '../algorithms/compiled.js';
import { budget, PARKING, type ParkingOptions, USUAL } from '../policies.js';
import { checkDuration, INSTEAD, untilThen } from './deadline.js';
import { type Notify, notifyNumber } from './notify.js';

/** The options of a new `BinarySemaphore` or `CountingSemaphore`. */
export interface SemaphoreOptions extends ParkingOptions {
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** How many milliseconds a request sleeps between two looks for a permit that has not come to the queue yet. */
const BRIEF = 1;
const nap = (): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BRIEF);
};
const brief = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, BRIEF));

/** @internal Checks the arguments of a new semaphore. */
export function counterProperties(what: string, desired: unknown, max: number, options: SemaphoreOptions): Properties {
  checkOptions(what, options, USUAL);
  return {
    permits: checkInteger(`${what}: desired`, desired, 0, max),
    max: LIMIT,
    spin: budget(what, options, ADAPTIVE, PARKING),
    threshold: max,
  };
}

/** @internal */
export const raise = Symbol();

/** The base class of BinarySemaphore and CountingSemaphore. */
export abstract class CounterSemaphore<K extends Kind> extends SharedObject<K> {
  readonly #kind: K;
  readonly #membership: Membership;
  readonly #counter: Algorithms;
  readonly #queue: Semaphore;
  readonly #promises: Promises;
  readonly #max: number;
  /** The address of the shared object, or of the closed object when this thread knows that it has been disposed of. */
  #at = 0;
  /** The number of promises that wait. They may have to look at the shared object, so it must stay attached. */
  #pending = 0;

  /** @internal */
  protected constructor(kind: K, max: number, reference: Reference) {
    // This object holds the reference, and so does its queue. The queue releases its hold as soon as it finds that the
    // semaphore is closed.
    super(kind, reference);
    this.#kind = kind;
    this.#membership = reference.membership;
    this.#max = max;
    this.#counter = algorithmsOf(this.#membership);
    this.#queue = new Semaphore(0, reference);
    this.#promises = reference.shared.promises;
    this.#at = reference.address;
  }

  /** The value now; 0 after `dispose`. It may be out of date at once: use it only for diagnostics. P0514R1 lacks it. */
  get value(): number {
    return this.#value;
  }

  get #value(): number {
    return this.#counter.counted(this.#at) >>> 0;
  }

  /** @internal Adds `count` to the value, and unblocks waiters. */
  protected [raise](count: number, notify: Notify): void {
    const number = notify === 'all' ? 0 : notifyNumber(`${this.#kind}.signal`, notify);
    if (count !== 1) this.#check('signal', count, 0);
    this.#promises.planRest();
    this.#raised(this.#counter.countUp(this.#at, count, number), count);
  }

  /** Acts on the answer of countUp: finishes the release of what has been handed on, or throws. */
  #raised(answer: number, count: number): void {
    if (answer > 0) this.#finishRelease(answer);
    else if (answer === ANSWER_OVER_MAX)
      throw new RangeError(
        `${this.#kind}.signal: ${count} more would make the value greater than ${this.#max} (its max); it is ` +
          `${this.#value}. Nothing was signalled`,
      );
  }

  /** Wakes the waiters that a call of the counter has made due. `handed` is what handOn (counter.ts) has answered. */
  #finishRelease(handed: number): void {
    if (handed <= MOST_WAITING) return;
    const answered = handed < HANDED_LATE ? MORE : INTERRUPTED;
    this.#promises.finishRelease(this.#at, handed & MOST_WAITING, answered);
  }

  #check(method: string, count: number, least = 1): void {
    if (typeof count !== 'number' || (count | 0) !== count || count < least || count > this.#max)
      throw badInteger(`${this.#kind}.${method}: count`, count, least, this.#max, ' (its max)');
  }

  /**
   * Takes `count` from the value, all at once, and blocks the thread while the value is less. Waiters are served in the
   * order in which they joined the queue. If the first waiter wants more than the value has, what is signalled is put
   * aside for this waiter, and the waiters behind it wait. Nobody overtakes the waiters in the queue, unless signals
   * with `one` or `none` leave a value while threads sleep.
   * @param count 1 (the default) to `max`. All waiters together may wait for at most 536,870,911.
   * @throws {RangeError | TypeError} for a bad count.
   * @throws {RangeError} if all waiters together would wait for more than that. Then nothing has changed.
   * @throws {TypeError} if the value does not suffice, on a thread that must not block, such as a browser's main
   * thread.
   * @throws {DisposedError} if the semaphore has been or is being disposed of.
   * @example semaphore.wait();
   */
  wait(count = 1): void {
    if (count !== 1) this.#check('wait', count);
    if (!this.#membership.mayBlock) {
      this.#tries(count);
      return;
    }
    const answer = this.#counter.countDown(this.#at, count);
    if (answer !== 0) this.#queueUp(answer, count);
  }

  /** What a wait does on a thread that must not block: it tries, and throws if it would have to wait. */
  #tries(count: number): void {
    if (!this.#tryWait(count)) throw mayNotBlock(INSTEAD);
  }

  /** Waits in the queue after countDown has taken nothing. Throws the error of the queue, or a TimeoutError. */
  #queueUp(answer: number, count: number, options?: WaitOptions): void {
    this.#joins(answer, count);
    const { core } = this.#membership;
    try {
      this.#queue.acquire(count, options);
    } catch (reason) {
      if (reason instanceof RangeError && core.pending.value === IN_QUEUE) {
        // The stack is exhausted, and the request stands in the queue. The core cancels it, and counts it no more.
        core.finishPendingCall();
        throw reason;
      }
      for (const _ of this.#leaving(count, reason)) nap();
    }
  }

  /** Acts on the answer of countDown to a request that must wait: throws, or finishes the release that it has begun. */
  #joins(answer: number, count: number): void {
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    if (answer === ANSWER_OVER_MAX)
      throw new RangeError(
        `${this.#kind}: the value does not suffice for ${count}, and with ${count} more, more than ${MOST_WAITING} ` +
          'would be waited for. Nothing was taken',
      );
    this.#finishRelease(answer - QUEUED);
  }

  /**
   * Ends the wait of a request that the queue did not admit, because the request was cancelled for a reason or the
   * queue is closed. The request has left the queue, but it is still counted as waiting.
   *
   * First the request subtracts what it wants from the count of waiting units. It can subtract only what signals have
   * not handed on yet. The rest has been handed on: these permits are in the queue, or a signaller is between the two
   * steps by which it hands them on. A later waiter may take them from the queue. Then that later waiter is still
   * counted, so the request can subtract the rest after all. So the request tries in turn to subtract and to take a
   * permit of the queue, and yields before each new attempt. If in the end it holds all that it wanted, it returns.
   * Otherwise it tries once more to take what it lacks from the value (clauses 18.5 and 19). If the value does not
   * suffice, it gives back what it holds, and throws the reason.
   *
   * If the queue is closed, no permit comes any more. Then the request returns if all that it wanted has been handed on
   * or is held by it. Otherwise it throws.
   */
  *#leaving(count: number, reason: unknown): Generator<void, void> {
    const counter = this.#counter;
    const at = this[reference].address;
    let error = reason;
    let held = 0;
    for (let wanted = count; ; ) {
      // The thread has left the arena, and the memory may be that of another object.
      if (this.#membership.isOver) throw reason;
      const left = counter.cancelWaiting(at, wanted);
      const isThrough = left + held === count;
      if (error instanceof DisposedError) {
        this[closed]();
        if (isThrough) return;
        throw error;
      }
      if (left === 0) break;
      wanted = left;
      error = this.#look();
      if (error === true) {
        held++;
        wanted--;
      } else if (error === false) yield;
    }
    if (held === count) return;
    if (counter.tryCountDown(at, count - held) === ADMITTED) return;
    if (held > 0) this.#raised(counter.countUp(at, held, GIVE_BACK), held);
    throw reason;
  }

  /** Tries to take a permit of the queue. Returns whether it has one, or the error of a closed queue. */
  #look(): unknown {
    try {
      return this.#queue.tryAcquire();
    } catch (error) {
      return error;
    }
  }

  /**
   * Takes `count` from the value, all at once, if the value suffices. Never blocks.
   * @param count 1 (the default) to `max`.
   * @returns whether it has taken `count`. It returns false only if the value was less.
   * @throws {RangeError | TypeError} for a bad count.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @example if (semaphore.tryWait()) semaphore.signal();
   */
  tryWait(count = 1): boolean {
    return this.#tryWait(count);
  }

  #tryWait(count: number): boolean {
    if (count !== 1) this.#check('tryWait', count);
    const answer = this.#counter.tryCountDown(this.#at, count);
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    return answer === ADMITTED;
  }

  /**
   * Does what `wait` does, for a limited time.
   * @param ms milliseconds, up to 2,147,483,647, or Infinity. With 0 or less the call acts as `tryWait`.
   * @param count 1 (the default) to `max`, as for `wait`.
   * @returns whether it has taken `count` from the value. It returns false only when the time has passed, and then it
   * has taken nothing.
   * @throws {RangeError | TypeError} for a bad time or count, and as `wait`.
   * @throws {TypeError} if the value does not suffice, on a thread that must not block.
   * @throws {DisposedError} if the semaphore has been or is being disposed of.
   * @example if (semaphore.tryWaitFor(50)) semaphore.signal();
   */
  tryWaitFor(ms: number, count = 1): boolean {
    const timeout = checkDuration(`${this.#kind}.tryWaitFor`, ms);
    this.#check('tryWaitFor', count);
    return this.#waitFor(timeout, count);
  }

  #waitFor(timeout: number, count: number): boolean {
    if (timeout === 0) return this.#tryWait(count);
    if (!this.#membership.mayBlock) {
      this.#tries(count);
      return true;
    }
    const answer = this.#counter.countDown(this.#at, count);
    if (answer === ADMITTED) return true;
    try {
      this.#queueUp(answer, count, { timeout });
      return true;
    } catch (error) {
      if (error instanceof TimeoutError) return false;
      throw error;
    }
  }

  /**
   * Does what `wait` does, until a point of the system clock at most. Blocks the thread until then.
   * @param epochMs milliseconds since 1970, as in `Date.now()`. If that point has passed, the call acts as `tryWait`.
   * @param count 1 (the default) to `max`, as for `wait`.
   * @returns whether it has taken `count` from the value. It returns false only after that point, as the clock was at
   * the call.
   * @throws as `tryWaitFor`.
   * @example if (semaphore.tryWaitUntil(Date.now() + 50)) semaphore.signal();
   */
  tryWaitUntil(epochMs: number, count = 1): boolean {
    this.#check('tryWaitUntil', count);
    while (true) {
      const left = untilThen(`${this.#kind}.tryWaitUntil`, epochMs);
      if (this.#waitFor(left, count)) return true;
      if (left < LONGEST) return false;
    }
  }

  /**
   * Does what `wait` does, but does not block the thread: the promise is fulfilled when `count` has been taken. The
   * process stays alive until then. Promises and blocked threads stand in the same queue.
   * @param count 1 (the default) to `max`, as for `wait`.
   * @returns a promise. It rejects with a RangeError or TypeError when `wait` would throw one, with a DisposedError if
   * the semaphore has been or is being disposed of, and with an ArenaFullError if the arena has no room for another
   * waiter.
   * @example await semaphore.waitAsync();
   */
  waitAsync(count = 1): Promise<void> {
    try {
      if (count !== 1) this.#check('waitAsync', count);
    } catch (error) {
      return Promise.reject(error);
    }
    const answer = this.#counter.countDown(this.#at, count);
    return answer === ADMITTED ? DONE : this.#queueUpAsync(answer, count);
  }

  async #queueUpAsync(answer: number, count: number, options?: WaitOptions): Promise<void> {
    this.#joins(answer, count);
    this.#pending++;
    try {
      await this.#queue.acquireAsync(count, options);
    } catch (reason) {
      // The request cannot join the queue again: there may be no room, or the thread may end. So it looks again and
      // again.
      for (const _ of this.#leaving(count, reason)) await brief();
    } finally {
      if (--this.#pending === 0 && this[isOver]) super[detach]();
    }
  }

  /**
   * Does what `tryWaitFor` does, but does not block the thread.
   * @param count 1 (the default) to `max`, as for `wait`.
   * @returns a promise. It is fulfilled with whether `count` has been taken from the value. It rejects for a bad time
   * or count, and as the promise of `waitAsync`.
   * @example if (await semaphore.tryWaitForAsync(50)) semaphore.signal();
   */
  async tryWaitForAsync(ms: number, count = 1): Promise<boolean> {
    const timeout = checkDuration(`${this.#kind}.tryWaitForAsync`, ms);
    this.#check('tryWaitForAsync', count);
    return this.#waitForAsync(timeout, count);
  }

  async #waitForAsync(timeout: number, count: number): Promise<boolean> {
    if (timeout === 0) return this.#tryWait(count);
    const answer = this.#counter.countDown(this.#at, count);
    if (answer === ADMITTED) return true;
    try {
      await this.#queueUpAsync(answer, count, { timeout });
      return true;
    } catch (error) {
      if (error instanceof TimeoutError) return false;
      throw error;
    }
  }

  /**
   * Does what `tryWaitUntil` does, but does not block the thread. The promise rejects as that of `tryWaitForAsync`
   * does.
   * @param count 1 (the default) to `max`, as for `wait`.
   * @returns as `tryWaitForAsync`.
   * @example if (await semaphore.tryWaitUntilAsync(Date.now() + 50)) semaphore.signal();
   */
  async tryWaitUntilAsync(epochMs: number, count = 1): Promise<boolean> {
    this.#check('tryWaitUntilAsync', count);
    while (true) {
      const left = untilThen(`${this.#kind}.tryWaitUntilAsync`, epochMs);
      if (await this.#waitForAsync(left, count)) return true;
      if (left < LONGEST) return false;
    }
  }

  /**
   * Closes the semaphore in every thread. All present and later waiters get a DisposedError. A waiter that has been
   * unblocked by then has what it waited for, even if its wait has not returned yet. The memory is reused once every
   * thread has released the semaphore. Never blocks, throws nothing.
   * @example semaphore.dispose();
   */
  override dispose(): void {
    super.dispose();
  }

  /** @internal */
  protected override [close](): void {
    this.#counter.closeCounter(this.#at);
  }

  /** @internal */
  protected override [forget](): void {
    this.#at = CLOSED_OBJECT;
  }

  /** @internal Keeps the shared object while promises wait, because they may have to look at it. */
  protected override [detach](): void {
    this.#queue.dispose();
    if (this.#pending === 0) super[detach]();
  }
}
