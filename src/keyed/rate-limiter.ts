/**
 * RateLimiter gives so many permits in any window of so many milliseconds, and never one more, to all threads together.
 *
 *     take ──► the turn, a semaphore with one permit: requests of all threads stand in its queue, in order
 *                 │
 *                 ▼ one thread or promise has the turn
 *              the log (rate-log.ts) says how long it must wait until its permits may go
 *                 │        └──► it sleeps, with the turn, in the queue of a second semaphore, which has no permit
 *                 ▼
 *              it notes its permits in the log, and gives the turn back
 *
 * So requests go in the order of their arrival, and a heavy request holds lighter ones back. Both semaphores belong to
 * the limiter, by names that are made of its own (key-names.ts). A time-out, a signal, `cancelAll` and `dispose` end the
 * wait in either queue as they end any wait for a semaphore. The turn is robust: if a thread dies with it, the next
 * request has it. Permits are never given back, so a dead thread has nothing that others miss.
 *
 * A thread that blocks while a promise of it has the turn or waits for it would wait for itself: the promise could not
 * go on. So that is an error.
 */

import type { Arena } from '../arena/arena.js';
import { GRANT, KIND_RATE_LIMITER, O_INITIAL, O_MAX, O_SPIN, O_TIMEOUTS, R_WAITS, TICKET } from '../border/numbers.js';
import { timedOut } from '../common/errors.js';
import { type Limited, limited } from '../common/limiting.js';
import { checkRate, type Rate, type RateLimiting, type RateOptions } from '../common/rate.js';
import { reasonOf } from '../common/signals.js';
import { type PermitsRequest, requestOf } from '../common/waits.js';
import { checkWaitOptions, isOptions, type Properties, type Signal, type WaitOptions } from '../objects/options.js';
import { type Definition, differing, find, type Handle, make, open } from '../objects/reference.js';
import { close, disposedError, forget, isOver, named, reference, SharedObject } from '../objects/shared-object.js';
import { isTimeout } from '../runtime/cancellation.js';
import {
  ArenaFullError,
  CancelledError,
  checkInteger,
  checkOptions,
  DisposedError,
  described,
  mayNotBlock,
  refuseName,
  SelfDeadlockError,
  TimeoutError,
} from '../runtime/errors.js';
import { countdown } from '../runtime/parking.js';
import { closed, DONE } from '../runtime/promises.js';
import { clock } from './rate-clock.js';
import { type Parts, partsOf } from './rate-parts.js';

/** The options of a new `RateLimiter`. */
export interface RateLimiterOptions extends RateOptions {
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** A plain, structured-cloneable value to send to another thread, for `RateLimiter.from` there. */
export type RateLimiterHandle = Handle<'RateLimiter'>;

/** The answer of `RateLimiter.inspect`. */
export interface RateLimiterStats extends Rate {
  /** The number of permits that were given in the window that ends now. With more than 90 permits it may be too high. */
  readonly taken: number;
  /** The number of requests that wait, blocked threads and promises alike. */
  readonly waiting: number;
  /** The number of requests that ended by a time-out, a signal or `cancelAll`. */
  readonly timeouts: number;
}

const KIND = 'RateLimiter';

const DEFINITION: Definition<typeof KIND, [number, number, RateLimiterOptions]> = {
  kind: KIND,
  number: KIND_RATE_LIMITER,
  properties,
};
const LIMIT = 2 ** 31 - 1;
/** How often `tryTake` tries to get the turn from a thread that has it for a moment. */
const TRIES = 10_000;
/**
 * If the arena has had more waiters at a time, the error of a time-out does not count the waiters: thousands may time
 * out at once, and each count looks at all of them.
 */
const MANY = 1024;

export interface RateLimiter extends RateLimiting {}

/**
 * Gives so many permits in any window of so many milliseconds, never one more, to all threads together, in the order of
 * the calls. Threads block, and promises wait, in one queue. A request for n permits gets them all at once, in its turn.
 *
 * Source: the generic cell rate algorithm (ITU-T I.371), beside a log of the window, which keeps the promise.
 *
 * @example
 * ```ts
 * import { RateLimiter } from 'taketurns/keyed';
 *
 * // By its name: one in all threads. 100 in any minute, at most 10 at once.
 * const requests = RateLimiter.open('requests', 100, 60_000, { burst: 10 });
 * requests.take(2); // blocks
 * const get = requests.limit((address: string) => fetch(address)); // where the thread may not block
 * ```
 */
export class RateLimiter extends SharedObject<typeof KIND> implements RateLimiting {
  readonly #core = this[reference].membership.core;
  readonly #words = new Int32Array(this[reference].membership.memory.buffer);
  readonly #at = this[reference].address;
  readonly #parts = this.#attach();
  readonly #rate: Rate = this.#parts.log.rate;

  /**
   * @param permits the most permits in a window, 1 to 2,147,483,647.
   * @param per the length of a window, 1 to 2,147,483,647 milliseconds.
   * @throws {RangeError | TypeError} for a bad number or option.
   * @throws {ArenaFullError} if the arena has no room for the 11 objects that a limiter takes at most.
   */
  constructor(permits: number, per: number, options: RateLimiterOptions = {}) {
    super(KIND, make(DEFINITION, permits, per, options));
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

  /** Attaches the thread to what belongs to the limiter. If there is no room for it, lets go of the limiter too. */
  #attach(): Parts {
    const { membership, shared } = this[reference];
    try {
      return partsOf(membership, shared);
    } catch (error) {
      this[closed]();
      throw error;
    }
  }

  /**
   * Attaches to the limiter of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a RateLimiter.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const requests = RateLimiter.from(workerData.requests); // its `handle`, sent by the other thread
   */
  static from(handle: RateLimiterHandle): RateLimiter {
    return new RateLimiter(1, 1, find(DEFINITION, handle) as RateLimiterOptions);
  }

  /**
   * Attaches to the limiter of this name in the arena. Creates it if there is none. Threads that open a name at the same
   * time get one limiter. The limiter goes when every thread that had it open has ended, or its library objects were
   * collected and the permits that it has given do not count any more: so a collection never gives permits too early.
   * A limiter whose handle was taken stays until it is disposed of. Never blocks.
   * @param name 1 to 116 bytes of UTF-8, well-formed.
   * @param permits the most permits in a window, 1 to 2,147,483,647.
   * @param per the length of a window, 1 to 2,147,483,647 milliseconds.
   * @throws {RangeError | TypeError} for a bad argument, if the name belongs to another kind of object, or if the
   * limiter exists with other numbers.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment.
   * @example const requests = RateLimiter.open('requests', 100, 60_000);
   */
  static open(name: string, permits: number, per: number, options: RateLimiterOptions = {}): RateLimiter {
    const found = open(DEFINITION, name, permits, per, options);
    return new RateLimiter(permits, per, found as RateLimiterOptions);
  }

  /**
   * The value to send to another thread, for `from` there.
   * @throws {DisposedError} if the limiter has been disposed of.
   */
  override get handle(): RateLimiterHandle {
    const { turn, sleep, objects } = this.#parts;
    // What belongs to the limiter stays as the limiter does, while the handle is on its way.
    if (!this[isOver]) for (const object of [turn, sleep, ...objects]) object.handle;
    return super.handle;
  }

  /**
   * Takes permits, and blocks the thread until they may go. Permits are never given back.
   * @param permits 1 (the default) to `permits` of the constructor. The options may stand in its place.
   * @param options a time-out and a signal; without them the call takes as long as it takes.
   * @throws {TimeoutError} when the time-out has passed. The request has taken nothing, and those behind it move up.
   * @throws {CancelledError} if `cancelAll` has cancelled the request.
   * @throws the reason of a signal that is aborted already.
   * @throws {SelfDeadlockError} if a promise of this thread waits: the thread would wait for itself.
   * @throws {RangeError | TypeError} for a bad number or option.
   * @throws {TypeError} on a thread that must not block, such as a browser's main thread, if it would have to.
   * @throws {ArenaFullError} if the arena has no room for another waiter.
   * @throws {DisposedError} if the limiter has been or is being disposed of.
   * @example requests.take({ timeout: 1000 });
   */
  take(permits?: number, options?: WaitOptions): void;
  take(options: WaitOptions): void;
  take(permits: number | WaitOptions = 1, options?: WaitOptions): void {
    if (isOptions(permits, options)) this.#take(1, permits);
    else this.#take(permits, options);
  }

  #take(permits: number, options: WaitOptions | undefined): void {
    const { timeout } = this.#check('take', permits, options);
    const { turn, sleep, promises } = this.#parts;
    const asks = this.#asks;
    const { mayBlock } = this[reference].membership;
    let due = this.#try(permits, timeout > 0 && mayBlock);
    if (due <= 0) return;
    const left = countdown(timeout);
    if (timeout === 0) throw this.#late(permits, 0);
    if (!mayBlock) throw mayNotBlock('takeAsync or tryTake');
    const hasTurn = due < Infinity;
    if (!hasTurn) {
      if (promises > 0)
        throw new SelfDeadlockError(
          `${KIND}.take: a promise of this thread waits for ${this[described]()}, so this thread would wait for itself: ` +
            'await takeAsync()',
        );
      try {
        turn.acquire({ timeout });
      } catch (error) {
        throw this.#failed(error, permits, timeout);
      }
    }
    try {
      if (!hasTurn) due = this.#log(permits);
      for (; due > 0; due = this.#log(permits)) {
        const pause = this.#pause(due, left(), asks, permits, timeout);
        try {
          sleep.acquire({ timeout: pause });
        } catch (error) {
          if (!(error instanceof TimeoutError)) throw this.#failed(error, permits, timeout);
        }
      }
    } finally {
      this.#giveTurn();
    }
  }

  /**
   * Takes permits from the log, in the turn of this thread. Returns how many milliseconds are left until they may go; at
   * most 0 if it has. A promise may have got the turn before the thread has left the arena or has disposed of the
   * limiter, and go on after that. Then the memory of the log is another object's.
   */
  #log(permits: number): number {
    if (this[isOver]) throw this[disposedError]();
    return this.#parts.log.take(permits, clock());
  }

  /** Returns how long a request with the turn sleeps until it looks again. Throws if it must not wait on. */
  #pause(due: number, left: number, asks: number, permits: number, timeout: number): number {
    if (left <= 0) throw this.#late(permits, timeout);
    // It may have had the turn, and not slept yet, when all were asked to leave.
    if (asks !== this.#asks) {
      const { cancelled } = this.#parts;
      const isOurs = cancelled && ((cancelled.asks - asks) | 0) > 0;
      throw this.#failed(new CancelledError(isOurs ? cancelled.reason : undefined), permits, timeout);
    }
    Atomics.store(this.#words, (this.#at + R_WAITS) >> 2, 1);
    return Math.min(due, left, LIMIT);
  }

  /** How often all requests have been asked to leave. */
  get #asks(): number {
    return this.#core.asks(this.#parts.turnAt);
  }

  /**
   * Takes permits without blocking: the promise is fulfilled when they may go. The process stays alive until then.
   * @param permits 1 (the default) to `permits` of the constructor. The options may stand in its place.
   * @param options a time-out and a signal; without them the promise waits as long as it takes.
   * @returns a promise. It rejects with TimeoutError when the time-out has passed, with the reason of the signal when
   * that is aborted, with RangeError or TypeError for a bad number or option, with CancelledError if `cancelAll` has
   * cancelled it, with DisposedError if the limiter has been or is being disposed of, and with ArenaFullError if the
   * arena has no room for another waiter. The request has taken nothing then, and those behind it move up.
   * @example await requests.takeAsync({ timeout: 1000 });
   */
  takeAsync(permits?: number, options?: WaitOptions): Promise<void>;
  takeAsync(options: WaitOptions): Promise<void>;
  takeAsync(permits: number | WaitOptions = 1, options?: WaitOptions): Promise<void> {
    const nothing = (): Promise<void> => DONE;
    try {
      return isOptions(permits, options) ? this.#begin(1, permits, nothing) : this.#begin(permits, options, nothing);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Calls a function when permits have been taken. Nothing comes between: so its begin is the date of the permits. */
  #begin<T>(permits: number, options: WaitOptions | undefined, call: () => T): T | Promise<Awaited<T>> {
    const limits = this.#check('takeAsync', permits, options);
    const due = this.#try(permits, limits.timeout > 0);
    if (due <= 0) return call();
    if (limits.timeout === 0) throw this.#late(permits, 0);
    return this.#takeAsync(permits, limits, due, call);
  }

  /** @param due how long the request must wait, which has the turn; Infinity if it does not have the turn yet. */
  async #takeAsync<T>(permits: number, limits: Limits, due: number, call: () => T): Promise<Awaited<T>> {
    const parts = this.#parts;
    const { turn, sleep } = parts;
    const { timeout, signal } = limits;
    const left = countdown(timeout);
    const asks = this.#asks;
    const failed = (error: unknown): never => {
      throw this.#failed(error, permits, timeout, signal);
    };
    parts.promises++;
    try {
      if (due === Infinity) await turn.acquireAsync(limits).catch(failed);
      try {
        for (let rest = due < Infinity ? due : this.#log(permits); rest > 0; rest = this.#log(permits)) {
          const pause = this.#pause(rest, left(), asks, permits, timeout);
          await sleep.acquireAsync({ ...limits, timeout: pause }).catch((error) => {
            // The pause is over if it has timed out. But a signal may have been aborted since, or with a TimeoutError.
            if (!isTimeout(error, signal)) failed(error);
            if (signal?.aborted) failed(reasonOf(signal));
          });
        }
      } finally {
        this.#giveTurn();
      }
    } finally {
      parts.promises--;
    }
    return await call();
  }

  /**
   * Takes permits if they may go now and no request waits. Never blocks. One thread or promise at a time asks the
   * limiter. If another one is in the midst of that and does not go on for a moment, the answer is false, although
   * permits may be free: the system has taken the processor from the other thread, or the thread has died.
   * (The same goes for `take` and `takeAsync` with a time-out of 0.)
   * @param permits 1 (the default) to `permits` of the constructor.
   * @returns whether it has taken them.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @example if (!requests.tryTake()) console.log('too many requests');
   */
  tryTake(permits = 1): boolean {
    this.#check('tryTake', permits, undefined);
    return this.#try(permits, false) <= 0;
  }

  /**
   * Takes permits if they may go now and no request waits. Returns at most 0 if it has. Returns Infinity if it does not
   * have the turn. Otherwise returns how many milliseconds are left until the permits may go, and `keeps` the turn if
   * the request is to wait. Another thread may have the turn for a moment, so it tries again.
   */
  #try(permits: number, keeps: boolean): number {
    const { turn, turnAt, promises } = this.#parts;
    for (let tries = 0; promises === 0 && tries < TRIES; tries++) {
      if (turn.tryAcquire()) {
        let due = Infinity;
        try {
          due = this.#log(permits);
        } finally {
          if (due <= 0 || due === Infinity || !keeps) this.#giveTurn();
        }
        return due;
      }
      const load = (address: number): number => Atomics.load(this.#words, address >> 2);
      if (load(this.#at + R_WAITS) !== 0 || ((load(turnAt + GRANT) - load(turnAt + TICKET)) | 0) < 0) break;
    }
    return Infinity;
  }

  #giveTurn(): void {
    if (this[isOver]) return;
    Atomics.store(this.#words, (this.#at + R_WAITS) >> 2, 0);
    this.#parts.turn.release();
  }

  #check(method: string, permits: number, options: WaitOptions | undefined): Limits {
    checkInteger(`${KIND}.${method}: permits`, permits, 1, this.#rate.permits, ' (its permits)');
    if (this[isOver] || this.#core.isDisposed(this.#at)) throw this[disposedError]();
    if (options === undefined) return { timeout: Infinity };
    const timeout = checkWaitOptions(`${KIND}.${method}`, options);
    const { signal } = options;
    return signal ? { timeout, signal } : { timeout };
  }

  #late(permits: number, timeout: number): TimeoutError {
    this.#count();
    const waiting = this.#core.usedElements() > MANY ? '' : ` (${this.#waiting} waiting)`;
    return timedOut(`${permits} permit${permits > 1 ? 's' : ''} of ${this[described]()}${waiting}`, timeout);
  }

  /** Returns the error of a request that has left a queue for this reason. */
  #failed(error: unknown, permits: number, timeout: number, signal?: Signal): unknown {
    const isReason = signal?.aborted && error === signal.reason;
    if (!isReason && error instanceof DisposedError) return this[disposedError]();
    if (!isReason && error instanceof TimeoutError) return this.#late(permits, timeout);
    if (isReason || !(error instanceof ArenaFullError)) this.#count();
    return error;
  }

  /** Counts a request that was cut short. */
  #count(): void {
    if (!this[isOver]) Atomics.add(this.#words, (this.#at + O_TIMEOUTS) >> 2, 1);
  }

  limit<This, Arguments extends unknown[], T>(
    run: (this: This, ...args: Arguments) => T,
    ...request: PermitsRequest
  ): Limited<This, Arguments, T> {
    const [permits, options] = requestOf(request);
    const get = limited(KIND, run, options, async (call, wait) => await this.#begin(permits, wait, call));
    checkInteger(`${KIND}.limit: permits`, permits, 1, this.#rate.permits, ' (its permits)');
    return get;
  }

  /** The number of requests that wait, blocked threads and promises alike. It looks at every waiter of the arena. */
  get waiting(): number {
    return this.#waiting;
  }

  get #waiting(): number {
    if (this[isOver]) return 0;
    return this.#parts.turn.waiting + Atomics.load(this.#words, (this.#at + R_WAITS) >> 2);
  }

  /**
   * Asks all requests that wait now, in every thread, to leave. They end with a CancelledError. Later requests are not
   * touched. Never blocks, throws nothing.
   * @param reason the `cause` of the errors in this thread. The errors in other threads have none.
   * @example requests.cancelAll(new Error('the server shuts down'));
   */
  cancelAll(reason?: unknown): void {
    if (this[isOver]) return;
    const { turn, sleep } = this.#parts;
    // In this order, so that no request gets the turn of one that leaves.
    turn.cancelAll(reason);
    sleep.cancelAll(reason);
    this.#parts.cancelled = { asks: this.#asks, reason };
  }

  /**
   * Describes the limiter by a plain object. It looks at every waiter of the arena and is racy, so it is meant for
   * diagnostics. Never blocks.
   * @throws {DisposedError} if it has been disposed of.
   * @example console.log(requests.inspect().taken);
   */
  inspect(): RateLimiterStats {
    if (this[isOver]) throw this[disposedError]();
    return {
      ...this.#rate,
      taken: this.#parts.log.taken(clock()),
      waiting: this.#waiting,
      timeouts: this.#core.timeouts(this.#at),
    };
  }

  /**
   * Returns, for example, `RateLimiter("requests", 100 in 60000 ms, 2 waiting)`. It looks at every waiter of the arena
   * and is racy, so it is meant for diagnostics. Never blocks, throws nothing.
   */
  override toString(): string {
    const state = this[isOver] ? 'disposed' : `${this.#rate.permits} in ${this.#rate.per} ms, ${this.#waiting} waiting`;
    return `RateLimiter(${this[named](', ')}${state})`;
  }

  /** @internal */
  protected override [close](): void {
    const { turn, sleep, objects } = this.#parts;
    this.#core.dispose(this.#at);
    for (const object of [turn, sleep, ...objects]) object.dispose();
  }

  /** @internal */
  protected override [forget](): void {}
}

interface Limits {
  readonly timeout: number;
  readonly signal?: Signal;
}

function properties(what: string, permits: number, per: number, options: RateLimiterOptions): Properties {
  refuseName(what, KIND, 'permits', permits, 'an integer', ', permits, per');
  checkOptions(what, options, ['burst', 'arena']);
  const { burst } = checkRate(what, permits, per, options);
  return {
    permits,
    max: per,
    spin: burst,
    differences: (has) =>
      differing(
        ['permits', has[O_INITIAL / 4], permits],
        ['per', has[O_MAX / 4], per],
        ['burst', has[O_SPIN / 4], burst],
      ),
  };
}
