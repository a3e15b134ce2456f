/**
 * This file holds all that BinarySemaphore and CountingSemaphore share, which is everything but their names. It is the
 * public face of core/primitives/counter.ts, where the algorithm is.
 *
 * A wait that finds the value 0 continues in the queue of a Semaphore over the same shared object.
 */
import { type Algorithms, algorithmsOf } from '../algorithms/compiled.js';
import { make } from '../algorithms/objects.js';
import type { Arena } from '../arena.js';
import { badInteger, checkInteger, checkOptions, DisposedError, mayNotBlock, TimeoutError } from '../errors.js';
import { ADAPTIVE, budget, LONGEST, PARKING, type ParkingOptions, type WaitOptions } from '../options.js';
import type { Reference } from '../reference.js';
import type { Attachment } from '../runtime/attachment.js';
import { ADMITTED, ANSWER_CLOSED, ANSWER_OVER_MAX, CLOSED_OBJECT, LIMIT } from '../runtime/core.js';
import type { Kind } from '../runtime/kinds.js';
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
/** The milliseconds to wait for a permit that is on its way, before a look whether it still is. */
const BRIEF = 1;
const nap = (): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BRIEF);
};
const brief = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, BRIEF));

/** Makes the shared object of a new semaphore. */
export function makeCounter(kind: Kind, desired: unknown, max: number, options: SemaphoreOptions): Reference {
  checkOptions(kind, options);
  const properties = {
    permits: checkInteger(`${kind}: desired`, desired, 0, max),
    max: LIMIT,
    spin: budget(kind, options, ADAPTIVE, PARKING),
    threshold: max,
    robust: false,
    firstTicket: 0n,
  };
  return make(kind, properties, options.arena);
}

export abstract class CounterSemaphore<K extends Kind> extends SharedObject<K> {
  readonly #kind: K;
  readonly #attachment: Attachment;
  readonly #counter: Algorithms;
  readonly #queue: Semaphore;
  readonly #max: number;
  /** The address of the shared object, or of the closed one once this object knows that it has been disposed of. */
  #at = 0;
  /** The number of waiting promises, which may have to look at the shared object. */
  #pending = 0;

  /** @internal */
  protected constructor(kind: K, max: number, reference: Reference) {
    // This object holds the reference besides its queue, which releases it as soon as it finds itself closed.
    super(kind, reference, 'semaphore');
    this.#kind = kind;
    this.#attachment = reference.attachment;
    this.#max = max;
    this.#counter = algorithmsOf(this.#attachment);
    this.#queue = new Semaphore(0, reference);
    this.#at = reference.address;
  }

  /** The value now, or 0 once the semaphore is disposed of. It is racy, and meant for diagnostics. P0514R1 lacks it. */
  get value(): number {
    return this.#counter.counted(this.#at);
  }

  /** Whether it has been disposed of, as far as this object has noticed. */
  get disposed(): boolean {
    return this.#at === CLOSED_OBJECT;
  }

  /** @internal Adds `count` to the value, and unblocks waiters. */
  protected raise(count: number, notify: Notify): void {
    const number = notify === 'all' ? 0 : notifyNumber(`${this.#kind}.signal`, notify);
    if (count !== 1 && !this.#valid(count))
      throw badInteger(`${this.#kind}.signal: count`, count, 1, this.#max, ' (its max)');
    const handed = this.#counter.countUp(this.#at, count, number);
    if (handed > 0) this.#queue.release(handed);
    else if (handed === ANSWER_OVER_MAX)
      throw new RangeError(
        `${this.#kind}.signal: ${count} more would make the value greater than ${this.#max} (its max); it is ` +
          `${this.value}. Nothing was signalled`,
      );
  }

  #valid(count: number): boolean {
    return typeof count === 'number' && (count | 0) === count && count >= 1 && count <= this.#max;
  }

  /**
   * Takes 1 from the value, and blocks the thread while the value is 0. Waiters are served in the order in which they
   * joined the queue. Nobody overtakes them there, unless signals of `one` or `none` leave a value while threads sleep.
   * @throws {TypeError} on a thread that must not block, such as a browser's main thread.
   * @throws {DisposedError} if the semaphore has been or is being disposed of.
   */
  wait(): void {
    this.#mayBlock();
    const answer = this.#counter.countDown(this.#at);
    if (answer !== 0) this.#queueUp(answer);
  }

  #mayBlock(): void {
    if (!this.#attachment.mayBlock) throw mayNotBlock(INSTEAD);
  }

  /** Continues when countDown has taken nothing. Throws an error of the queue, or a TimeoutError after the time-out. */
  #queueUp(answer: number, options?: WaitOptions): void {
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    try {
      this.#queue.acquire(1, options);
    } catch (reason) {
      for (let error = reason; !this.#refused(error, reason); nap()) {
        const looked = this.#look();
        if (looked === true) return;
        error = looked;
      }
    }
  }

  /** Returns whether the permit that was on its way has come, or the error of a closed queue. */
  #look(): unknown {
    try {
      return this.#queue.tryAcquire();
    } catch (error) {
      return error;
    }
  }

  /**
   * Ends the wait of a request that the queue did not admit, because it was cancelled for a reason or the queue is
   * closed. True: the request is through, since the queue is closed and had handed it a permit. False: it has been
   * handed a permit, which is there or on its way, or which a later waiter took that is now counted as waiting; so it
   * must look again. Throws if the request holds nothing.
   */
  #refused(error: unknown, reason: unknown): boolean {
    const isOut = this.#counter.cancelWaiting(this[reference].address) !== ADMITTED;
    const isClosed = error instanceof DisposedError;
    if (isClosed) this[closed]();
    if (isOut) throw isClosed ? error : reason;
    return isClosed;
  }

  /**
   * Takes 1 from the value if that is not 0. Never blocks, and fails only when the value is 0.
   * @returns whether it has taken it.
   * @throws {DisposedError} if the semaphore has been disposed of.
   */
  tryWait(): boolean {
    const answer = this.#counter.tryCountDown(this.#at);
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    return answer === ADMITTED;
  }

  /**
   * As `wait`, for a limited time.
   * @param ms milliseconds, 0 (as `tryWait`) to 2,147,483,647, or Infinity.
   * @returns whether it has taken 1 from the value. It returns false only when the time has passed.
   * @throws {RangeError | TypeError} for a bad time.
   * @throws {TypeError} on a thread that must not block.
   * @throws {DisposedError} if the semaphore has been or is being disposed of.
   */
  tryWaitFor(ms: number): boolean {
    return this.#waitFor(checkDuration(`${this.#kind}.tryWaitFor`, ms));
  }

  #waitFor(timeout: number): boolean {
    if (timeout === 0) return this.tryWait();
    this.#mayBlock();
    const answer = this.#counter.countDown(this.#at);
    if (answer === ADMITTED) return true;
    try {
      this.#queueUp(answer, { timeout });
      return true;
    } catch (error) {
      if (error instanceof TimeoutError) return false;
      throw error;
    }
  }

  /**
   * As `wait`, until a point of the system clock at most.
   * @param epochMs milliseconds since 1970, as in `Date.now()`. If that point has passed, the call acts as `tryWait`.
   * @returns whether it has taken 1 from the value. It returns false only after that point, by the clock at the call.
   * @throws as `tryWaitFor`.
   */
  tryWaitUntil(epochMs: number): boolean {
    while (true) {
      const left = untilThen(`${this.#kind}.tryWaitUntil`, epochMs);
      if (this.#waitFor(left)) return true;
      if (left < LONGEST) return false;
    }
  }

  /**
   * As `wait`, without blocking the thread: the promise is fulfilled when 1 has been taken. The process stays alive
   * until then. The promise stands in one queue with blocked threads.
   * @returns a promise; it rejects with DisposedError if the semaphore has been or is being disposed of, and with
   * ArenaFullError if the arena has no room for another waiter.
   */
  waitAsync(): Promise<void> {
    const answer = this.#counter.countDown(this.#at);
    return answer === ADMITTED ? DONE : this.#queueUpAsync(answer);
  }

  async #queueUpAsync(answer: number, options?: WaitOptions): Promise<void> {
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    this.#pending++;
    try {
      await this.#queue.acquireAsync(1, options);
    } catch (reason) {
      // The request may be unable to queue again, for want of room or because the thread ends. So it looks.
      for (let error = reason; !this.#refused(error, reason); await brief()) {
        const looked = this.#look();
        if (looked === true) return;
        error = looked;
      }
    } finally {
      if (--this.#pending === 0 && this.disposed) super[detach]();
    }
  }

  /**
   * As `tryWaitFor`, without blocking the thread.
   * @returns a promise of whether it has taken 1 from the value. It rejects for a bad time, and as that of `waitAsync`.
   */
  async tryWaitForAsync(ms: number): Promise<boolean> {
    return this.#waitForAsync(checkDuration(`${this.#kind}.tryWaitForAsync`, ms));
  }

  async #waitForAsync(timeout: number): Promise<boolean> {
    if (timeout === 0) return this.tryWait();
    const answer = this.#counter.countDown(this.#at);
    if (answer === ADMITTED) return true;
    try {
      await this.#queueUpAsync(answer, { timeout });
      return true;
    } catch (error) {
      if (error instanceof TimeoutError) return false;
      throw error;
    }
  }

  /**
   * As `tryWaitUntil`, without blocking the thread.
   * @returns as `tryWaitForAsync`.
   */
  async tryWaitUntilAsync(epochMs: number): Promise<boolean> {
    while (true) {
      const left = untilThen(`${this.#kind}.tryWaitUntilAsync`, epochMs);
      if (await this.#waitForAsync(left)) return true;
      if (left < LONGEST) return false;
    }
  }

  /**
   * Closes the semaphore in every thread. All present and later waiters get a DisposedError. A waiter that has been
   * unblocked by then has its 1, even if its wait has not returned yet. The memory is reused once every thread has
   * released the semaphore. Never blocks, throws nothing.
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
