/**
 * The rates of threads. A RateLimiter lets at most so many permits begin in any window of so many milliseconds, and never
 * one more, in all threads together; requests wait in one queue. A KeyedRateLimiter does the same for each key, and nobody
 * waits. What the limiters of tasks have too lies in src/common/: `schedule.ts` and `rate-cells.ts`.
 *
 *                     requests wait                     nobody waits, many keys
 *
 *     of the user     rate-limiter.ts                   keyed-rate-limiter.ts
 *                        │ parts.ts: one a thread          │
 *     of a thread     queue.ts: who sleeps until when      │
 *                        │                                 │
 *     in the arena    memory.ts: lock, journal          keyed-memory.ts: lock, note
 *                        │      └──────────┬───────────────┘     │
 *                        │      lock.ts, first-page.ts, pages.ts │
 *     who goes when   common/schedule.ts                       common/rate-cells.ts
 *
 * A request in its thread. `schedule.ts` has the states of its cell:
 *
 *     take, takeAsync, limit ──► sleeps until its planned date ──► looks ──► begins
 *                                    ▲                              │
 *                                    └── not yet, or too late ◄─────┘──► has left: time-out, signal, cancelAll, resize
 *
 * Invariants:
 *
 *     1  Only the thread whose number is in the lock changes what the lock protects. It runs no code of the user
 *        meanwhile, and waits for nothing.
 *     2  What a thread has changed and not committed is taken back by the next thread that gets the lock, if the first one
 *        was cut or has died.
 *     3  A request that is to go earlier than its thread was told is told so before the lock is free: by the pause, if its
 *        thread sleeps; by a microtask, if it is of the thread that has the lock.
 *     4  Nobody serves the others: whoever looks at the schedule brings it up to date for all. So a thread that blocks, is
 *        busy or dies stops nobody, and a thread may block while a promise of it waits.
 */

import type { Arena } from '../arena/arena.js';
import { KIND_RATE_LIMITER, LIMIT, O_INITIAL, O_MAX, O_SPIN } from '../border/numbers.js';
import { timedOut } from '../common/errors.js';
import type { Limited } from '../common/limiting.js';
import {
  checkPause,
  checkRate,
  checkResize,
  checkSpent,
  limitedByRate,
  MOST_WAITERS,
  type Rate,
  type RateLimiting,
  type RateOptions,
  type RateRequest,
  type RateWaiterStats,
  tooMany,
} from '../common/rate.js';
import { requestOf } from '../common/waits.js';
import { checkWaitOptions, type Properties, type WaitOptions } from '../objects/options.js';
import { type Definition, differing, find, type Handle, make, open } from '../objects/reference.js';
import { close, disposedError, forget, isOver, named, reference, SharedObject } from '../objects/shared-object.js';
import { threadIdOf } from '../objects/thread-text.js';
import {
  ArenaFullError,
  CancelledError,
  checkInteger,
  checkOptions,
  described,
  refuseName,
  type TimeoutError,
} from '../runtime/errors.js';
import { closed, DONE } from '../runtime/promises.js';
import { queueOf } from './parts.js';
import type { Limits, RateQueue, Texts } from './queue.js';

/** The options of a new `RateLimiter`. */
export interface RateLimiterOptions extends RateOptions {
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** A plain, structured-cloneable value to send to another thread, for `RateLimiter.from` there. */
export type RateLimiterHandle = Handle<'RateLimiter'>;

/** A request that waits for a rate, of a thread. */
export interface RateRequestStats extends RateWaiterStats {
  /** The number of the thread in the arena, as in `ThreadHandle`. */
  readonly thread: number;
  /** The `threadId` of the thread in `worker_threads`; undefined in web workers. */
  readonly threadId: number | undefined;
}

/** The answer of `RateLimiter.inspect`. */
export interface RateLimiterStats extends Rate {
  /**
   * The number of permits that count in the window that ends now, those of calls `until: 'end'` that run too. With more
   * than 90 permits it may be too high.
   */
  readonly taken: number;
  /** The number of requests that wait, blocked threads and promises alike. */
  readonly waiting: number;
  /** The number of requests that ended by a time-out, a signal or `cancelAll`. */
  readonly timeouts: number;
  /** The requests that wait, in the order of the queue: the first 100. */
  readonly waiters: readonly RateRequestStats[];
}

const KIND = 'RateLimiter';

const DEFINITION: Definition<typeof KIND, [number, number, RateLimiterOptions]> = {
  kind: KIND,
  number: KIND_RATE_LIMITER,
  properties,
};
const FOR_EVER: Limits = { timeout: Infinity };
const nothing = (): undefined => undefined;
const CALL = { stays: false, begins: false };
const STAYING = { stays: true, begins: false };
const PROMISE = { stays: false, begins: true };

export interface RateLimiter extends RateLimiting<RateRequest> {}

/**
 * Lets at most so many permits begin in any window of so many milliseconds, never one more, in all threads together, in
 * the order of the calls. Threads block, and promises wait, in one queue. A request for n permits gets them all at once,
 * in its turn. A thread that comes late to its turn does not stop those behind it.
 *
 * Source: a log of the window, which keeps the promise, beside the generic cell rate algorithm (ITU-T I.371), which
 * spreads the permits. That any thread serves the head is this library's own.
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
 * @since 0.3.0
 */
export class RateLimiter extends SharedObject<typeof KIND> implements RateLimiting<RateRequest> {
  readonly #core = this[reference].membership.core;
  readonly #at = this[reference].address;
  readonly #texts: Texts = {
    wanted: (permits) => this.#wanted(permits),
    late: (permits, timeout) => this.#late(permits, timeout),
    disposed: () => this[disposedError](),
    cancelled: (reason) => new CancelledError(reason),
    tooMany: (permits) => tooMany(KIND, permits, this.#queue.permits),
    full: noPage,
  };
  readonly #queue: RateQueue = this.#attach();

  /**
   * @param permits the most permits in a window, 1 to 2,147,483,647.
   * @param per the length of a window, 1 to 2,147,483,647 milliseconds.
   * @throws {RangeError | TypeError} for a bad number or option.
   * @throws {ArenaFullError} if the arena has no room for another object, or no page for its schedule.
   */
  constructor(permits: number, per: number, options: RateLimiterOptions = {}) {
    super(KIND, make(DEFINITION, permits, per, options));
  }

  /** The most permits in a window. */
  get permits(): number {
    return this.#queue.permits;
  }

  /** The length of a window, in milliseconds. */
  get per(): number {
    return this.#queue.rateInPassing.per;
  }

  /** How many permits may go at once after a pause. */
  get burst(): number {
    return this.#queue.rateInPassing.burst;
  }

  /** Attaches the thread to the schedule. If there is no room for it, lets go of the limiter too. */
  #attach(): RateQueue {
    const { membership, shared } = this[reference];
    try {
      return queueOf(membership, shared, noPage);
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
   * limiter was made with other numbers. What `resize` has changed since then does not count here.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment, or no page for its schedule.
   * @example const requests = RateLimiter.open('requests', 100, 60_000);
   */
  static open(name: string, permits: number, per: number, options: RateLimiterOptions = {}): RateLimiter {
    const found = open(DEFINITION, name, permits, per, options);
    return new RateLimiter(permits, per, found as RateLimiterOptions);
  }

  /**
   * Takes permits, and blocks the thread until they may go. They count from then on. Promises of the thread may wait
   * meanwhile: they stop nobody, and go on when the thread has returned to its event loop.
   * @param permits 1 (the default) to `permits` of the constructor. The options may stand in its place.
   * @param options a time-out and a signal; without them the call takes as long as it takes.
   * @throws {TimeoutError} when the time-out has passed. The request has taken nothing, and those behind it move up.
   * @throws {CancelledError} if `cancelAll` has cancelled the request.
   * @throws the reason of a signal that is aborted already.
   * @throws {RangeError} if `resize` leaves fewer permits than it waits for.
   * @throws {RangeError | TypeError} for a bad number or option.
   * @throws {TypeError} on a thread that must not block, such as a browser's main thread, if it would have to.
   * @throws {ArenaFullError} if the arena has no room for another waiter or request.
   * @throws {DisposedError} if the limiter has been or is being disposed of.
   * @example requests.take({ timeout: 1000 });
   */
  take(permits?: number, options?: WaitOptions): void;
  take(options: WaitOptions): void;
  take(permits: number | WaitOptions = 1, options?: WaitOptions): void {
    const [wanted, more] = requestOf([permits, options]);
    const { timeout } = this.#check('take', wanted, more);
    this.#queue.take(wanted, timeout, this.#texts);
  }

  /**
   * Takes permits without blocking: the promise is fulfilled when they may go. The process stays alive until then. The
   * permits count from the moment at which the promise is fulfilled. The code behind `await` runs a microtask later, or
   * after the rest of the code that runs now, and the limiter cannot know when: `limit` dates exactly.
   * @param permits 1 (the default) to `permits` of the constructor. The options may stand in its place.
   * @param options a time-out and a signal; without them the promise waits as long as it takes.
   * @returns a promise. It rejects with TimeoutError when the time-out has passed, with the reason of the signal when
   * that is aborted, with RangeError or TypeError for a bad number or option, with CancelledError if `cancelAll` has
   * cancelled it, with RangeError if `resize` leaves fewer permits than it asks for, with DisposedError if the limiter has
   * been or is being disposed of, and with ArenaFullError if the arena has no room for another waiter or request. The request has taken nothing then, and those behind it move up.
   * @example await requests.takeAsync({ timeout: 1000 });
   */
  takeAsync(permits?: number, options?: WaitOptions): Promise<void>;
  takeAsync(options: WaitOptions): Promise<void>;
  takeAsync(permits: number | WaitOptions = 1, options?: WaitOptions): Promise<void> {
    try {
      const [wanted, more] = requestOf([permits, options]);
      const limits = this.#check('takeAsync', wanted, more);
      const begun = this.#queue.run(wanted, limits, PROMISE, this.#texts, nothing);
      return begun ?? DONE;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Takes permits if they may go now and no request waits. Never blocks for long: if another thread is in the midst of a
   * call of the limiter and does not go on for 50 ms, the answer is false, although permits may be free. The system has
   * taken the processor from the other thread then, or the thread has died and nobody knows yet.
   * (The same goes for `take` and `takeAsync` with a time-out of 0.)
   * @param permits 1 (the default) to `permits` of the constructor.
   * @returns whether it has taken them.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {ArenaFullError} if the arena has no room to note them.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @example if (!requests.tryTake()) console.log('too many requests');
   */
  tryTake(permits = 1): boolean {
    this.#checkPermits('tryTake', permits);
    this.#checkOpen();
    return this.#queue.tryTake(permits, this.#texts);
  }

  #checkPermits(method: string, permits: number): void {
    // Another limiter may have the memory of one that this thread has let go of.
    const most = this[isOver] ? LIMIT : this.#queue.permits;
    checkInteger(`${KIND}.${method}: permits`, permits, 1, most, ' (its permits)');
  }

  #checkOpen(): void {
    if (this[isOver] || this.#core.isDisposed(this.#at)) throw this[disposedError]();
  }

  #check(method: string, permits: number, options: WaitOptions | undefined): Limits {
    this.#checkPermits(method, permits);
    const limits = options === undefined ? FOR_EVER : limitsOf(method, options);
    // The options may have getters in which the thread disposes of the limiter, or leaves the arena.
    this.#checkOpen();
    return limits;
  }

  #wanted(permits: number): string {
    return `${permits} permit${permits > 1 ? 's' : ''} of ${this[described]()} (${this.#waiting} waiting)`;
  }

  /** Makes the error of a request whose time has passed, and counts it. */
  #late(permits: number, timeout: number): TimeoutError {
    const error = timedOut(this.#wanted(permits), timeout);
    this.#queue.count();
    return error;
  }

  limit<This, Arguments extends unknown[], T>(
    run: (this: This, ...args: Arguments) => T,
    ...request: RateRequest
  ): Limited<This, Arguments, T> {
    return limitedByRate(KIND, run, request, this.#queue.permits, (call, { permits, stays }, wait) => {
      const limits = this.#check('limit', permits, wait);
      return this.#queue.run(permits, limits, stays ? STAYING : CALL, this.#texts, call);
    });
  }

  /**
   * Returns in how many milliseconds permits could go if they were asked for now, and all who wait go on time: what a
   * server says in `Retry-After`. 0: now. `Infinity`: nobody knows, because calls `until: 'end'` run. It looks at
   * every request that waits. Blocks for a moment if another thread is in the midst of a call, and for a second or a little
   * more if that thread has stopped.
   * @param permits 1 (the default) to `permits` of the constructor.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @throws {Error} if another thread has stopped in the midst of a call, and is not known to be dead.
   * @example response.setHeader('Retry-After', Math.ceil(requests.dueIn() / 1000));
   */
  dueIn(permits = 1): number {
    this.#checkPermits('dueIn', permits);
    this.#checkOpen();
    return this.#queue.dueIn(permits);
  }

  /**
   * Lets nobody go, in any thread, before so many milliseconds have passed, as a server wishes that answers 429 with `Retry-After`. A
   * pause that ends later stays. Calls that have begun go on. Blocks as `dueIn` does.
   * @param milliseconds 0 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @throws {Error} if another thread has stopped in the midst of a call, and is not known to be dead.
   * @example requests.pause(1000 * Number(response.headers.get('Retry-After')));
   */
  pause(milliseconds: number): void {
    checkPause(KIND, milliseconds);
    this.#checkOpen();
    this.#queue.pause(milliseconds);
  }

  /**
   * Counts permits that have been used, without waiting, also more than there are: those who wait go later. A number
   * below 0 gives back permits that were taken and not used, as far as they still count. So a limiter of the tokens of a
   * language model takes an estimate before a call, and spends the difference after it. Blocks as `dueIn` does.
   * @param permits -2,147,483,647 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @throws {Error} if another thread has stopped in the midst of a call, and is not known to be dead.
   * @example tokens.spend(answer.usage.total - estimate);
   */
  spend(permits: number): void {
    checkSpent(KIND, permits);
    this.#checkOpen();
    this.#queue.spend(permits, this.#texts);
  }

  /**
   * Changes the numbers of the limiter, for all threads. The promise holds by the new numbers for each window that begins after the call;
   * permits that went before count as long as they would have counted. A request that waits for more than `permits`
   * ends with a RangeError. Blocks as `dueIn` does.
   * @param permits the most permits in a window, 1 to 2,147,483,647.
   * @param per the length of a window, 1 to 2,147,483,647 milliseconds. Default: as before.
   * @param options `burst`; default: as before, but `permits` at most.
   * @throws {RangeError | TypeError} for a bad number or option.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @throws {Error} if another thread has stopped in the midst of a call, and is not known to be dead.
   * @example requests.resize(50, 60_000);
   */
  resize(permits: number, per?: number, options: RateOptions = {}): void {
    this.#checkOpen();
    const before = this.#queue.rate;
    const rate = checkResize(KIND, permits, per === undefined ? before.per : per, options, before);
    // The options may have getters in which the thread disposes of the limiter.
    this.#checkOpen();
    this.#queue.resize(rate);
  }

  /** The number of requests that wait, blocked threads and promises alike. Those of dead threads do not count. */
  get waiting(): number {
    return this[isOver] ? 0 : this.#queue.countWaiting();
  }

  get #waiting(): number {
    return this[isOver] ? 0 : this.#queue.waiting;
  }

  /**
   * Asks all requests that wait now, in every thread, to leave. They end with a CancelledError. Later requests are not
   * touched. Blocks as `dueIn` does.
   * @param reason the `cause` of the errors in this thread. The errors in other threads have none.
   * @throws {Error} if another thread has stopped in the midst of a call, and is not known to be dead.
   * @example requests.cancelAll(new Error('the server shuts down'));
   */
  cancelAll(reason?: unknown): void {
    if (!this[isOver]) this.#queue.cancelAll(reason);
  }

  /**
   * Describes the limiter by a plain object. Blocks as `dueIn` does.
   * @throws {DisposedError} if it has been disposed of.
   * @throws {Error} if another thread has stopped in the midst of a call, and is not known to be dead.
   * @example console.log(requests.inspect().taken);
   */
  inspect(): RateLimiterStats {
    if (this[isOver]) throw this[disposedError]();
    return {
      ...this.#queue.rate,
      taken: this.#queue.taken,
      waiting: this.#queue.countWaiting(),
      timeouts: this.#core.timeouts(this.#at),
      waiters: this.#queue.waiters(MOST_WAITERS).map(({ thread, permits, left }) => ({
        thread,
        threadId: threadIdOf(this.#core, thread),
        permits,
        left,
      })),
    };
  }

  /**
   * Returns, for example, `RateLimiter("requests", 100 in 60000 ms, 2 waiting)`. Never blocks, throws
   * nothing.
   */
  override toString(): string {
    const { permits, per } = this.#queue.rateInPassing;
    const state = this[isOver] ? 'disposed' : `${permits} in ${per} ms, ${this.#queue.countWaiting()} waiting`;
    return `RateLimiter(${this[named](', ')}${state})`;
  }

  /** @internal */
  protected override [close](): void {
    this.#core.dispose(this.#at);
    this.#queue.dispose();
  }

  /** @internal */
  protected override [forget](): void {}
}

function limitsOf(method: string, options: WaitOptions): Limits {
  const timeout = checkWaitOptions(`${KIND}.${method}`, options);
  const { signal } = options;
  return signal ? { timeout, signal } : { timeout };
}

/** The error of an arena whose pages are all in use. */
function noPage(): ArenaFullError {
  return new ArenaFullError(
    'the arena has no page of 4096 bytes for the schedule of another RateLimiter or its requests: let some go, or make an ' +
      'arena with more `bytes`',
  );
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
