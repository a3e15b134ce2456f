/**
 * Semaphore is the public face of core/queue/queue.ts, where the algorithm and its proof are.
 *
 * This file checks arguments, and turns answers into errors and promises. `acquire` and `release` leave the rare cases
 * to private methods, so that the common case stays small enough for V8 to inline into its caller. They compare with a
 * literal 0, which is ADMITTED, because V8 would load and check an imported constant each time.
 */

import type { Core } from '../border/core.js';
import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_NOT_HELD,
  ANSWER_OVER_MAX,
  CLOSED_OBJECT,
  KIND_SEMAPHORE,
  LEAVE,
  LIMIT,
  QUEUED,
  REFUSED,
} from '../border/numbers.js';
import { timedOut } from '../common/errors.js';
import type { SemaphoreGuards } from '../common/guarding.js';
import { type Limited, limited, type SemaphoreRuns } from '../common/limiting.js';
import { type PermitsRequest, permitsOf, requestOf } from '../common/waits.js';
import { giveBack, type HeldPermits, NO_PERMITS, noted, PermitsGuard } from '../objects/held-permits.js';
import { checkWaitOptions, isOptions, type WaitOptions } from '../objects/options.js';
import { tellOwnerDied } from '../objects/owner-deaths.js';
import { type Definition, find, type Handle, make, open, openKnown, type Reference } from '../objects/reference.js';
import { runHolding } from '../objects/running.js';
import {
  back,
  close,
  disposedError,
  forget,
  isOver,
  named,
  reference,
  SharedObject,
} from '../objects/shared-object.js';
import { type SemaphoreStats, semaphoreStats } from '../objects/stats.js';
import { timestamp } from '../runtime/clock.js';
import { checkWaitAsync, isNative } from '../runtime/doorbell.js';
import { CancelledError, noRoom } from '../runtime/errors.js';
import { balanceOf } from '../runtime/membership.js';
import { CHECK_OWNER_DEATHS } from '../runtime/numbers.js';
import { countdown, forEver, LEFT_AS_ASKED, leaveQueue, type Parked, parkUntilDue } from '../runtime/parking.js';
import { type Cancellable, DONE, granting, newPromise, type Promises, resolveOfNew } from '../runtime/promises.js';
import { available, checkPermits, notServed, refused, wanted } from './errors.js';
import { KIND, properties, type SemaphoreOptions } from './options.js';

const DEFINITION: Definition<typeof KIND, [number, SemaphoreOptions]> = {
  kind: KIND,
  number: KIND_SEMAPHORE,
  properties,
};

/** @internal */
export const release = Symbol();
/** @internal For a select. */
export const acquireNow = Symbol();

export type { SemaphoreOptions };

/** A plain, structured-cloneable value to send to another thread, for `Semaphore.from` there. */
export type SemaphoreHandle = Handle<'Semaphore'>;

export interface Semaphore extends SemaphoreRuns, SemaphoreGuards<HeldPermits> {}

/**
 * A counting semaphore shared by threads, first come, first served.
 *
 * Requests are admitted in the order of their tickets. Blocked threads and promises stand in one queue. A request for n
 * permits gets them all at once, in its turn; lighter requests behind it wait. Any thread may release, but of a robust
 * semaphore only the thread that holds the permits may release them.
 *
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, Listings 1 and 2. This library has its own way to
 * wait and wake.
 *
 * @example
 * ```ts
 * import { Semaphore } from 'taketurns';
 *
 * const pool = Semaphore.open('connections', 4); // by its name: one semaphore in all threads
 * pool.acquire(2, { timeout: 50 });
 * try {
 *   // at most 4 permits are out
 * } finally {
 *   pool.release(2);
 * }
 * await pool.runExclusive(async () => {}); // where the thread may not block
 * ```
 */
export class Semaphore extends SharedObject<typeof KIND> implements SemaphoreRuns, SemaphoreGuards<HeldPermits> {
  readonly #core = this[reference].membership.core;
  readonly #pollTime = this[reference].membership.pollTime;
  readonly #shared = this[reference].shared;
  /** This thread's waiting promises on the shared object. */
  readonly #promises: Promises = this.#shared.promises;
  /** The address of the shared object, or of the closed one if this object has let go or been evicted; see `back`. */
  #at = this[reference].address;
  /** The attachment that counts the permits of this thread; 0 if the semaphore is not robust. */
  readonly #countedBy = this.#shared.countedBy;
  readonly #robust = this.#countedBy !== 0;
  readonly #acquire = acquireOf(this.#core, this.#countedBy);
  readonly #acquireOne = this.#robust ? (at: number) => this.#acquire(at, 1) : this.#core.acquireOne;
  readonly #max = this.#core.maxOf(this.#at);
  readonly #release = releaseOf(this.#core, this.#countedBy, this.#max);
  readonly #releaseOne = releaseOneOf(this.#core, this.#countedBy, this.#max);
  /** Whether the last acquire of a robust semaphore has learned of a death. */
  #ownerDied = false;

  /**
   * A callback for a thread that has just acquired permits of a robust semaphore, if owners have died. The library
   * calls it before `acquire` returns. It gets the number of owners that have died and of whose death no owner has been
   * told yet. (`ownerDied` of a guard tells the same.) The data that the permits guard may then be half-written. If the
   * callback throws, the permits are given back, `acquire` throws (`acquireAsync` rejects with) the same error, and the
   * next owner is told of these deaths again.
   */
  onOwnerDied: ((deaths: number) => void) | undefined;

  /**
   * @param permits the number available at first, 0 to `max`.
   * @throws {RangeError | TypeError} for an argument out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(permits: number, options: SemaphoreOptions = {}) {
    super(KIND, make(DEFINITION, permits, options));
  }

  /**
   * Attaches to the semaphore of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a Semaphore.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const pool = Semaphore.from(workerData.pool); // its `handle`, sent by the other thread
   */
  static from(handle: SemaphoreHandle): Semaphore {
    return attached(find(DEFINITION, handle));
  }

  /**
   * Attaches to the semaphore of this name in the arena. Creates it if there is none. Threads that open a name at the
   * same time get one semaphore. The name and its semaphore go when no thread has the semaphore open any more: every
   * thread that had it open has ended, or the garbage collector has taken its library objects while all permits were
   * there. A semaphore whose handle was taken stays until it is disposed of. Never blocks.
   * @param name 1 to 116 bytes of UTF-8, well-formed.
   * @param permits the number available at first, 0 to `max`. Without it the semaphore must exist.
   * @throws {RangeError | TypeError} for a bad argument, or if the name belongs to another kind of object.
   * @throws {RangeError} if it exists with other permits, another max or another `robust`.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment.
   * @throws {Error} if it does not exist and no permits are given.
   * @example const pool = Semaphore.open('connections', 4);
   */
  static open(name: string, permits?: number, options: SemaphoreOptions = {}): Semaphore {
    if (permits !== undefined) return attached(open(DEFINITION, name, permits, options));
    properties(`${KIND}.open`, 1, options);
    return attached(openKnown(DEFINITION, name, options.arena));
  }

  /** The greatest number of available permits. */
  get max(): number {
    return this.#max;
  }

  /** The number of permits that `tryAcquire` could take now. It is racy, and meant for diagnostics. */
  get available(): number {
    return this[available];
  }

  /** @internal */
  get [available](): number {
    const { away } = this.#shared;
    if (!away || this[isOver]) return this.#core.available(this.#at);
    return balanceOf(away);
  }

  /**
   * The number of queued requests, blocked threads and promises alike. It looks at every waiter of the arena and is
   * racy, so it is meant for diagnostics.
   */
  get waiting(): number {
    return this.#core.waiting(this.#at);
  }

  /** Whether the permits of each thread are recorded; see `SemaphoreOptions.robust`. */
  get robust(): boolean {
    return this.#shared.countedBy !== 0;
  }

  /**
   * Takes permits, and blocks the thread until it is their turn. If there are fewer permits than `max`, a request for
   * more than there are waits, and so does every request behind it; `inspect().widest` shows for how many it asks.
   * The call returns no guard, so `using` throws a TypeError, and the permits stay taken. `hold` returns a guard.
   * @param permits 1 (the default) to `max`. The options may stand in its place.
   * @param options a time-out and a signal; without them the call may take for ever.
   * @throws {TimeoutError} when the time-out has passed. The request has left the queue, and holds nothing.
   * @throws {CancelledError} if `cancelAll` has cancelled the request. It holds nothing either.
   * @throws the reason of a signal that is aborted already.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {TypeError} on a thread that must not block, such as a browser's main thread.
   * @throws {ArenaFullError} if the request has a time-out and would have to wait, and the arena has no free element. A
   * cancelled request may leave an element in the queue, so the thread needs another one beforehand.
   * @throws {DisposedError} if the semaphore has been or is being disposed of.
   * @example pool.acquire({ timeout: 50 }); // one permit, as pool.acquire(1, { timeout: 50 })
   */
  acquire(permits?: number, options?: WaitOptions): void;
  acquire(options: WaitOptions): void;
  acquire(permits: number | WaitOptions = 1, options?: WaitOptions): void {
    if (permits !== 1 || options !== undefined) {
      this.#acquireSo('acquire', permits, options);
    } else {
      const answer = this.#acquireOne(this.#at);
      if (answer !== 0) this.#park(answer, 1);
    }
    // biome-ignore lint/correctness/noVoidTypeReturn: to the types it is nothing, and `using` it throws.
    return NO_PERMITS;
  }

  #acquireSo(method: 'acquire' | 'hold', permits: number | WaitOptions, options: WaitOptions | undefined): void {
    if (isOptions(permits, options)) {
      this.#acquireSo(method, 1, permits);
      return;
    }
    if (permits !== 1) checkPermits(method, permits, this.#max);
    if (options !== undefined) {
      this.#acquireFor(permits, checkWaitOptions(`${KIND}.${method}`, options));
      return;
    }
    const answer = this.#acquire(this.#at, permits);
    if (answer !== ADMITTED) this.#park(answer, permits);
  }

  /**
   * The core has not admitted the thread at once. Waits until it has, or until the request has left the queue. With many
   * more threads than processors V8 interprets this for seconds, so a wait without a time limit calls few functions: it
   * does itself what parkUntilDue does for all other waits (docs/internals/what-was-tried.md). An object that has been evicted has the address CLOSED_OBJECT.
   */
  #park(acquired: number, permits: number, timeout = Infinity, left = forEver): void {
    const at = this.#at;
    if (at === CLOSED_OBJECT && this[back]()) this.#acquireFor(permits, timeout);
    else {
      if (acquired !== CHECK_OWNER_DEATHS) {
        const core = this.#core;
        const countedBy = this.#countedBy;
        let answer: Waited = core.enqueue(at, permits, acquired, countedBy);
        if (answer === QUEUED && left === forEver) {
          this.#pollTime.waits();
          const parked = core.park(timestamp(), countedBy);
          answer = parked === LEAVE ? leaveQueue(core, at, countedBy, LEFT_AS_ASKED) : parked;
        } else if (answer === QUEUED) answer = parkUntilDue(this[reference].membership, at, countedBy, left);
        if (answer === ANSWER_CLOSED) throw this[disposedError]();
        if (answer !== ADMITTED) throw notServed(this, answer, permits, timeout);
      }
      if (this.#robust) this.#takeOwnerDeaths(permits);
    }
  }

  /** The thread has just acquired. Reports the unreported deaths of owners, and returns whether there were any. */
  #takeOwnerDeaths(permits: number): boolean {
    const deaths = this.#core.ownersDied(this.#at);
    // The callback may itself acquire and release, so the field is set after the callback has returned.
    this.#ownerDied = deaths > 0 && tellOwnerDied(this, deaths, permits, this[release]);
    return this.#ownerDied;
  }

  #acquireFor(permits: number, timeout: number): void {
    // If permits are free, the clock need not be read.
    if (this[acquireNow](permits)) return;
    if (timeout === 0) throw timedOut(wanted(this, permits), timeout);
    const left = countdown(timeout);
    // The request must be able to leave the queue.
    if (timeout !== Infinity && !this.#core.reserveSecond()) throw noRoom(this.#core);
    const answer = this.#acquire(this.#at, permits);
    if (answer !== ADMITTED) this.#park(answer, permits, timeout, left);
  }

  tryAcquire(permits = 1): boolean {
    return this.#acquireNow('tryAcquire', permits);
  }

  #acquireNow(method: string, permits: number): boolean {
    if (permits !== 1) checkPermits(method, permits, this.#max);
    return this[acquireNow](permits);
  }

  /** @internal Does what `tryAcquire` does, with a number of permits that has been checked. */
  [acquireNow](permits: number): boolean {
    const answer = this.#try(permits);
    if (answer === ADMITTED && this.#robust) this.#takeOwnerDeaths(permits);
    return answer === ADMITTED;
  }

  tryHold(permits = 1): HeldPermits | undefined {
    const guard = new PermitsGuard(this, permits, false);
    return this.#acquireNow('tryHold', permits) ? noted(guard, this.#ownerDied) : undefined;
  }

  #try(permits: number): ADMITTED | REFUSED {
    this[back]();
    const answer = this.#robust
      ? this.#core.tryAcquireRobust(this.#at, permits, this.#countedBy)
      : this.#core.tryAcquire(this.#at, permits);
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    return answer;
  }

  drain(): number {
    this[back]();
    const taken = this.#core.drain(this.#at, this.#countedBy);
    if (taken < 0) throw this[disposedError]();
    if (taken > 0 && this.#robust) this.#takeOwnerDeaths(taken);
    return taken;
  }

  /**
   * Takes permits away for good, such as from a pool that shrinks. Free permits go at once. The rest go in their turn:
   * when the present waiters have been served and enough permits have been given back. Later requests wait until then.
   * You may take away more permits than there are: then no request is admitted until as many permits have been added.
   * Never blocks. `inspect().added` counts the permits that were added, less those that were taken away. Each call
   * while others wait, if a request in front of it then leaves the queue, keeps a wait element until permits are added.
   * @param permits 1 (the default) to `max`.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @example pool.reduce(3); // of 6 permits 3 are left, once the others have come back
   */
  reduce(permits = 1): void {
    checkPermits('reduce', permits, this.#max);
    this[back]();
    if (this.#core.reduce(this.#at, permits) !== ADMITTED) throw this[disposedError]();
  }

  /**
   * Makes more permits, such as for a pool that grows, and wakes each waiter whose turn has come. Unlike permits that
   * are released, these permits do not count as given back. So any thread may add permits to a robust semaphore.
   * `inspect().added` shows them. Never blocks. On a disposed semaphore it does nothing.
   * @param permits 1 (the default) to `max`.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {RangeError} if more than `max` would be available. Then nothing has changed. So the `max` of a pool that
   * grows must be the largest number of permits that the pool may ever have.
   * @example pool.add(2);
   */
  add(permits = 1): void {
    checkPermits('add', permits, this.#max);
    this[back]();
    const core = this.#core;
    this.#shared.promises.planRest();
    let answer: number = core.exceeds(this.#at, permits) ? ANSWER_OVER_MAX : core.add(this.#at, permits);
    // The call gives none of this thread's permits back, so the core is told of no attachment.
    if (answer > 0) answer = core.finishRelease(this.#at, permits, answer, 0);
    if (answer === ANSWER_OVER_MAX) throw refused(this, 'add', answer, permits);
    this.#shared.promises.settle();
  }

  /**
   * Takes permits without blocking the thread: the promise is fulfilled when it is their turn. The process stays alive
   * until then. The promise stands in one queue with blocked threads.
   * @param permits 1 (the default) to `max`; see `acquire` for more than there are. The options may stand in its place.
   * @param options a time-out and a signal; without them the promise may wait for ever.
   * @returns a promise. It rejects with TimeoutError when the time-out has passed, and with the reason of the signal
   * when that is aborted; the request has then left the queue, and holds nothing. It rejects with RangeError or
   * TypeError for a bad number, with CancelledError if `cancelAll` has cancelled it, with DisposedError if the
   * semaphore has been or is being disposed of, and with ArenaFullError if the arena has no room for another waiter.
   * @example await pool.acquireAsync(2, { signal });
   */
  acquireAsync(permits?: number, options?: WaitOptions): Promise<void>;
  acquireAsync(options: WaitOptions): Promise<void>;
  acquireAsync(permits: number | WaitOptions = 1, options?: WaitOptions): Promise<void> {
    // Without this shortcut the usual call takes a tenth longer: `#queue` would give the same answer.
    const isUsual = permits === 1 && options === undefined && isNative && !this.#robust && this.#promises.first === 0;
    if (isUsual && this.#core.tryAcquire(this.#at, 1) === ADMITTED) return DONE;
    const acquired = this.#queue('acquireAsync', permits, options);
    if (!this.#robust) return acquired;
    return acquired.then(() => void this.#takeOwnerDeaths(permitsOf(permits)));
  }

  // This is not an async function, because the promise of one is settled some microtasks later.
  #queue(method: string, permits: number | WaitOptions, options: WaitOptions | undefined): Promise<void> {
    try {
      if (isOptions(permits, options)) return this.#queue(method, 1, permits);
      if (permits !== 1) checkPermits(method, permits, this.#max);
      checkWaitAsync();
      const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.${method}`, options);
      const promises = this.#promises;
      let cancellable: Cancellable | undefined;
      // If promises of this thread wait, the request waits too.
      let answer: number = timeout === 0 || promises.first === 0 ? this.#try(permits) : REFUSED;
      if (answer !== ADMITTED && timeout !== 0) {
        const promise = newPromise<void>();
        const settle = this.#robust ? granting(this.#shared, permits, resolveOfNew()) : resolveOfNew();
        // The code of the signal runs before the request queues up.
        cancellable = options && promises.cancelOn(settle, timeout, options.signal, this.#wanted(permits));
        if (cancellable) this[back]();
        answer = promises.arrive(this, this.#at, permits, settle, cancellable?.run);
        if (answer > 0) return promise;
      }
      if (answer === ADMITTED) this.#shared.grants += permits;
      try {
        cancellable?.stop();
        // Promises of this thread that are due and not settled yet came before this request.
        if (promises.first !== 0) promises.settle();
      } catch {
        // The stack is exhausted. The request keeps its permits, and the rest goes on.
      }
      if (answer === ADMITTED) return DONE;
      if (answer === REFUSED) throw timedOut(wanted(this, permits), 0);
      throw answer === ANSWER_CLOSED ? this[disposedError]() : noRoom(this.#core);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #wanted(permits: number): () => string {
    return () => wanted(this, permits);
  }

  /**
   * Gives permits back, and wakes each waiter whose turn has come. Any thread may release, whether it took the permits
   * or not, unless the semaphore is robust. Never blocks. On a disposed semaphore it does nothing.
   * @param permits 1 (the default) to `max`.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {RangeError} if more than `max` would be available, or if the semaphore is robust and this thread holds
   * fewer. Then nothing has changed. Two threads that both release too much at the same instant may both pass.
   * @example pool.release(2);
   */
  release(permits = 1): void {
    const promises = this.#promises;
    if (promises.first !== 0) {
      promises.planRest();
      if (permits === 1 && promises.releaseToOwn(this.#at)) return;
    }
    if (permits !== 1) this.#releaseMany(permits);
    else {
      const answer = this.#releaseOne(this.#at);
      if (answer !== 0) this.#finishRelease(answer, 1);
    }
  }

  /** @internal Does what `release` does. The code is written twice, because `release` is slower if it calls this method. */
  [release](permits: number): void {
    const promises = this.#promises;
    if (promises.first !== 0) {
      promises.planRest();
      if (permits === 1 && promises.releaseToOwn(this.#at)) return;
    }
    if (permits !== 1) this.#releaseMany(permits);
    else {
      const answer = this.#releaseOne(this.#at);
      if (answer !== 0) this.#finishRelease(answer, 1);
    }
  }

  /** @internal */
  [giveBack](permits: number): void {
    this[release](permits);
    this.#shared.grants -= permits;
  }

  #releaseMany(permits: number): void {
    checkPermits('release', permits, this.#max);
    const answer = this.#release(this.#at, permits);
    if (answer !== ADMITTED) this.#finishRelease(answer, permits);
  }

  #finishRelease(released: number, permits: number): void {
    const promises = this.#promises;
    let answer = released;
    if (released > 0) {
      answer = promises.waits
        ? promises.finishRelease(this.#at, permits, released)
        : this.#core.finishRelease(this.#at, permits, released, this.#countedBy);
    }
    if (answer > 0) return;
    if (answer === ANSWER_OVER_MAX || answer === ANSWER_NOT_HELD) throw refused(this, 'release', answer, permits);
    if (this.#at === CLOSED_OBJECT && this[back]()) this[release](permits);
  }

  /**
   * Asks all requests that wait now, in every thread, to leave the queue, whether they are blocked threads or promises.
   * They end with a CancelledError. A request that is admitted before it has left keeps its permits. The semaphore goes
   * on: no permit is lost or made, later requests are not touched, and the order of admissions stays. Never blocks,
   * throws nothing: the promises of this thread are rejected before the call returns, and other threads leave as soon
   * as they run. On a disposed semaphore it does nothing.
   *
   * A blocked thread that leaves while others wait behind it leaves its element in the queue. If the arena has no room
   * for another waiter, the thread cannot leave, and waits on. If a thread dies in this call, it may have asked only
   * some of the requests.
   * @param reason the `cause` of the errors in this thread. The errors in other threads have none.
   * @example pool.cancelAll(new Error('the server shuts down'));
   */
  cancelAll(reason?: unknown): void {
    // Nobody waits for an object that has been evicted, and the words that count these calls are not there.
    if (this.#at === CLOSED_OBJECT) return;
    this.#core.askAll(this.#at);
    this.#promises.cancelAll(new CancelledError(reason));
  }

  /**
   * As `acquire`, but it returns a guard that gives the permits back: `using held = pool.hold()`. Blocks the
   * thread as `acquire` does, and throws what `acquire` throws.
   */
  hold(permits?: number, options?: WaitOptions): HeldPermits;
  hold(options: WaitOptions): HeldPermits;
  hold(permits: number | WaitOptions = 1, options?: WaitOptions): HeldPermits {
    const guard = new PermitsGuard(this, permitsOf(permits), false);
    this.#acquireSo('hold', permits, options);
    return noted(guard, this.#ownerDied);
  }

  holdAsync(...request: PermitsRequest): Promise<HeldPermits> {
    return this.#holdAsync('holdAsync', ...requestOf(request));
  }

  async #holdAsync(method: string, permits: number, options: WaitOptions | undefined): Promise<HeldPermits> {
    await this.#queue(method, permits, options);
    return new PermitsGuard(this, permits, this.#robust && this.#takeOwnerDeaths(permits));
  }

  runExclusive<T>(run: () => T | PromiseLike<T>, ...request: PermitsRequest): Promise<T> {
    return this.#run(run, ...requestOf(request));
  }

  #run<T>(run: () => T | PromiseLike<T>, permits: number, options: WaitOptions | undefined): Promise<T> {
    return runHolding(KIND, this.#shared, () => this.#holdAsync('runExclusive', permits, options), run);
  }

  limit<This, Arguments extends unknown[], T>(
    run: (this: This, ...args: Arguments) => T,
    ...request: PermitsRequest
  ): Limited<This, Arguments, T> {
    const [permits, options] = requestOf(request);
    const get = limited(KIND, run, options, (call, wait) => this.#run(call, permits, wait));
    checkPermits('limit', permits, this.#max);
    return get;
  }

  /**
   * Describes the semaphore by a plain object. It looks at every waiter of the arena and is racy, so it is meant for
   * diagnostics. Never blocks.
   * @throws {DisposedError} if it has been disposed of.
   * @example console.log(pool.inspect().waiters);
   */
  inspect(): SemaphoreStats {
    if (this[isOver]) throw this[disposedError]();
    this[back]();
    return semaphoreStats(this[reference].membership, this.#at);
  }

  /**
   * Returns, for example, `Semaphore("pool", 2 available, 0 waiting)`. It looks at every waiter of the arena and is
   * racy, so it is meant for diagnostics. Never blocks, throws nothing.
   */
  override toString(): string {
    return `Semaphore(${this[named](', ')}${this[isOver] ? 'disposed' : `${this[available]} available, ${this.#core.waiting(this.#at)} waiting`})`;
  }

  /** @internal */
  protected override [close](): void {
    this.#core.dispose(this.#at);
  }

  /** @internal */
  protected override [forget](address = CLOSED_OBJECT): void {
    this.#at = address;
  }
}

// Which functions of the core a semaphore calls. A robust semaphore has functions of its own, and so has a semaphore with
// a max, which checks whether there is room before it releases. The choice is made when the semaphore is made, so each
// call goes to one function, which V8 can inline.

/**
 * Gives the answers of the core's acquire, and one more: CHECK_OWNER_DEATHS says that a robust semaphore has admitted
 * the thread.
 */
type Acquire = (at: number, n: number) => ReturnType<Core['acquire']> | typeof CHECK_OWNER_DEATHS;

/** The answers with which the wait of a thread ends or goes on. */
type Waited = ReturnType<Core['enqueue']> | Parked;

/** Answers as the release of the core, or ANSWER_OVER_MAX if there is no room for the permits below the max. */
type Release = (at: number, n: number) => ReturnType<Core['releaseRobust']> | ANSWER_OVER_MAX;

/** Returns the release of the core for a semaphore that is robust or not, and has a max or not. */
function releaseOf(core: Core, countedBy: number, max: number): Release {
  if (countedBy === 0) return max === LIMIT ? core.release : core.releaseWithin;
  return (at, n) => {
    if (at === CLOSED_OBJECT) return core.release(at, n);
    if (core.exceeds(at, n)) return core.held(countedBy) < n ? ANSWER_NOT_HELD : ANSWER_OVER_MAX;
    return core.releaseRobust(at, n, countedBy);
  };
}

/** Returns the release of one permit of the core. */
function releaseOneOf(core: Core, countedBy: number, max: number): (at: number) => ReturnType<Release> {
  const release = releaseOf(core, countedBy, max);
  if (countedBy !== 0) return (at) => release(at, 1);
  return max === LIMIT ? core.releaseOne : core.releaseOneWithin;
}

/** Returns the acquire of the core for a semaphore that is robust or not. */
function acquireOf(core: Core, countedBy: number): Acquire {
  return countedBy === 0 ? core.acquire : (at, n) => core.acquireRobust(at, n, countedBy) || CHECK_OWNER_DEATHS;
}

/** Returns the library object of a semaphore that has been found or opened. */
function attached(reference: Reference): Semaphore {
  return new Semaphore(reference.membership.core.initial(reference.address), reference);
}
