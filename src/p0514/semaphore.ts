/**
 * This file holds all that BinarySemaphore and CountingSemaphore share, which is everything but their names. It is the
 * public face of core/kinds/counter/counter.ts, where the algorithm is.
 *
 * A wait that finds the value 0 continues in the queue of a Semaphore over the same shared object.
 */
import { algorithmsOf } from '../algorithms/compiled.js';
import { make } from '../algorithms/objects.js';
import type { Arena } from '../arena.js';
import type { Algorithms } from '../border/algorithms.js';
import type { Kind } from '../border/kinds.js';
import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_OVER_MAX,
  CLOSED_OBJECT,
  GIVE_BACK,
  LIMIT,
  MOST_WAITING,
  QUEUED,
} from '../border/numbers.js';
import { badInteger, checkInteger, checkOptions, DisposedError, mayNotBlock, TimeoutError } from '../errors.js';
import { budget, PARKING, type ParkingOptions, USUAL, type WaitOptions } from '../options.js';
import type { Reference } from '../reference.js';
import { setTimeout } from '../runtime/clock.js';
import type { Membership } from '../runtime/membership.js';
import { ADAPTIVE, LONGEST } from '../runtime/numbers.js';
import { closed } from '../runtime/promises.js';
import { Semaphore } from '../semaphore.js';
import { close, detach, disposedError, forget, reference, SharedObject } from '../shared-object.js';
import { checkDuration, INSTEAD, untilThen } from './deadline.js';
import { type Notify, notifyNumber } from './notify.js';

/** The options of a new `BinarySemaphore` or `CountingSemaphore`. */
export interface SemaphoreOptions extends ParkingOptions {
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
}

const DONE = Promise.resolve();
/** How many milliseconds to wait for a permit that is on its way, before a look whether it is still on its way. */
const BRIEF = 1;
const nap = (): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BRIEF);
};
const brief = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, BRIEF));

/** @internal Makes the shared object of a new semaphore. */
export function makeCounter(kind: Kind, desired: unknown, max: number, options: SemaphoreOptions): Reference {
  checkOptions(kind, options, USUAL);
  const properties = {
    permits: checkInteger(`${kind}: desired`, desired, 0, max),
    max: LIMIT,
    spin: budget(kind, options, ADAPTIVE, PARKING),
    threshold: max,
    robust: false,
  };
  return make(kind, properties, options.arena);
}

export abstract class CounterSemaphore<K extends Kind> extends SharedObject<K> {
  readonly #kind: K;
  readonly #membership: Membership;
  readonly #counter: Algorithms;
  readonly #queue: Semaphore;
  readonly #max: number;
  /** The address of the shared object, or of the closed object once this object knows that it has been disposed of. */
  #at = 0;
  /** The number of waiting promises, which may have to look at the shared object. */
  #pending = 0;

  /** @internal */
  protected constructor(kind: K, max: number, reference: Reference) {
    // This object holds the reference beside its queue. The queue releases the reference as soon as it finds itself
    // closed.
    super(kind, reference, 'semaphore');
    this.#kind = kind;
    this.#membership = reference.membership;
    this.#max = max;
    this.#counter = algorithmsOf(this.#membership);
    this.#queue = new Semaphore(0, reference);
    this.#at = reference.address;
  }

  /** The value now, or 0 once the semaphore is disposed of. It is racy, and meant for diagnostics. P0514R1 lacks it. */
  get value(): number {
    return this.#counter.counted(this.#at) >>> 0;
  }

  /** @internal Adds `count` to the value, and unblocks waiters. */
  protected raise(count: number, notify: Notify): void {
    const number = notify === 'all' ? 0 : notifyNumber(`${this.#kind}.signal`, notify);
    if (count !== 1) this.#check('signal', count, 0);
    this.#raised(this.#counter.countUp(this.#at, count, number), count);
  }

  /** Hands on what countUp has answered. */
  #raised(handed: number, count: number): void {
    if (handed > 0) this.#queue.release(handed);
    else if (handed === ANSWER_OVER_MAX)
      throw new RangeError(
        `${this.#kind}.signal: ${count} more would make the value greater than ${this.#max} (its max); it is ` +
          `${this.value}. Nothing was signalled`,
      );
  }

  #check(method: string, count: number, least = 1): void {
    if (typeof count !== 'number' || (count | 0) !== count || count < least || count > this.#max)
      throw badInteger(`${this.#kind}.${method}: count`, count, least, this.#max, ' (its max)');
  }

  /**
   * Takes `count` from the value, all at once, and blocks the thread while the value is less. Waiters are served in
   * the order in which they joined the queue. A waiter for several holds up the waiters behind it, and what is
   * signalled is put by for it. Nobody overtakes the waiters in the queue, unless signals of `one` or `none` leave a
   * value while threads sleep.
   * @param count 1 (the default) to `max`. All waiters together may wait for 536,870,911 at a time.
   * @throws `RangeError` or `TypeError` for a bad count.
   * @throws `RangeError` if more than that would be waited for; then nothing has changed.
   * @throws `TypeError` on a thread that must not block, such as a browser's main thread.
   * @throws {@link DisposedError} if the semaphore has been or is being disposed of.
   */
  wait(count = 1): void {
    if (count !== 1) this.#check('wait', count);
    this.#mayBlock();
    const answer = this.#counter.countDown(this.#at, count);
    if (answer !== 0) this.#queueUp(answer, count);
  }

  #mayBlock(): void {
    if (!this.#membership.mayBlock) throw mayNotBlock(INSTEAD);
  }

  /** Continues when countDown has taken nothing. Throws an error of the queue, or a TimeoutError after the time-out. */
  #queueUp(answer: number, count: number, options?: WaitOptions): void {
    this.#joins(answer, count);
    try {
      this.#queue.acquire(count, options);
    } catch (reason) {
      for (const _ of this.#leaving(count, reason)) nap();
    }
  }

  /** Hands on what countDown has handed on for a taker that is to wait, or throws if it is not to wait. */
  #joins(answer: number, count: number): void {
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    if (answer === ANSWER_OVER_MAX)
      throw new RangeError(
        `${this.#kind}: the value does not suffice for ${count}, and with ${count} more, more than ${MOST_WAITING} ` +
          'would be waited for. Nothing was taken',
      );
    if (answer > QUEUED) this.#queue.release(answer - QUEUED);
  }

  /**
   * Ends the wait of a request that the queue did not admit, because it was cancelled for a reason or the queue is
   * closed. What it wants is no longer waited for, as far as that has not been handed on. The rest is in the queue or
   * on its way there, unless a later waiter takes it that is now counted as waiting. So the request looks again and
   * again, and yields before each time. It returns if it is through after all. Otherwise it gives back what it has, and
   * throws.
   */
  *#leaving(count: number, reason: unknown): Generator<void, void> {
    const counter = this.#counter;
    const at = this[reference].address;
    let error = reason;
    let held = 0;
    for (let wanted = count; ; ) {
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
    if (held > 0) this.#raised(counter.countUp(at, held, GIVE_BACK), held);
    throw reason;
  }

  /** Takes a permit of the queue. Returns whether one was there, or the error of a closed queue. */
  #look(): unknown {
    try {
      return this.#queue.tryAcquire();
    } catch (error) {
      return error;
    }
  }

  /**
   * Takes `count` from the value, all at once, if the value suffices. Never blocks, and fails only if it does not.
   * @param count 1 (the default) to `max`.
   * @returns whether it has taken it.
   * @throws `RangeError` or `TypeError` for a bad count.
   * @throws {@link DisposedError} if the semaphore has been disposed of.
   */
  tryWait(count = 1): boolean {
    if (count !== 1) this.#check('tryWait', count);
    const answer = this.#counter.tryCountDown(this.#at, count);
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    return answer === ADMITTED;
  }

  /**
   * As `wait`, for a limited time.
   * @param ms milliseconds, 0 (as `tryWait`) to 2,147,483,647, or Infinity.
   * @param count 1 (the default) to `max`, as `wait` has it.
   * @returns whether it has taken `count` from the value. It returns false only when the time has passed; then it has
   * taken nothing.
   * @throws `RangeError` or `TypeError` for a bad time or count, and as `wait`.
   * @throws `TypeError` on a thread that must not block.
   * @throws {@link DisposedError} if the semaphore has been or is being disposed of.
   */
  tryWaitFor(ms: number, count = 1): boolean {
    const timeout = checkDuration(`${this.#kind}.tryWaitFor`, ms);
    this.#check('tryWaitFor', count);
    return this.#waitFor(timeout, count);
  }

  #waitFor(timeout: number, count: number): boolean {
    if (timeout === 0) return this.tryWait(count);
    this.#mayBlock();
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
   * As `wait`, until a point of the system clock at most.
   * @param epochMs milliseconds since 1970, as in `Date.now()`. If that point has passed, the call acts as `tryWait`.
   * @param count 1 (the default) to `max`, as `wait` has it.
   * @returns whether it has taken `count` from the value. It returns false only after that point, by the clock at the
   * call.
   * @throws as `tryWaitFor`.
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
   * As `wait`, without blocking the thread: the promise is fulfilled when `count` has been taken. The process stays
   * alive until then. The promise stands in one queue with blocked threads.
   * @param count 1 (the default) to `max`, as `wait` has it.
   * @returns a promise; it rejects with RangeError or TypeError as `wait` throws them, with DisposedError if the
   * semaphore has been or is being disposed of, and with ArenaFullError if the arena has no room for another waiter.
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
      // The request may be unable to queue again, for want of room or because the thread ends. So it looks.
      for (const _ of this.#leaving(count, reason)) await brief();
    } finally {
      if (--this.#pending === 0 && this.disposed) super[detach]();
    }
  }

  /**
   * As `tryWaitFor`, without blocking the thread.
   * @param count 1 (the default) to `max`, as `wait` has it.
   * @returns a promise of whether it has taken `count` from the value. It rejects for a bad time or count, and as that
   * of `waitAsync`.
   */
  async tryWaitForAsync(ms: number, count = 1): Promise<boolean> {
    const timeout = checkDuration(`${this.#kind}.tryWaitForAsync`, ms);
    this.#check('tryWaitForAsync', count);
    return this.#waitForAsync(timeout, count);
  }

  async #waitForAsync(timeout: number, count: number): Promise<boolean> {
    if (timeout === 0) return this.tryWait(count);
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
   * As `tryWaitUntil`, without blocking the thread.
   * @param count 1 (the default) to `max`, as `wait` has it.
   * @returns as `tryWaitForAsync`.
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

  /** @internal Keeps the shared object while promises wait, since these may have to look at it. */
  protected override [detach](): void {
    this.#queue.dispose();
    if (this.#pending === 0) super[detach]();
  }
}
