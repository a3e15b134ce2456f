/**
 * Mutex is the public face of core/kinds/mutex/mutex.ts, where the algorithm, its bound and its proof are.
 *
 * This file checks arguments, and turns answers into errors and promises. `lock` and `unlock` leave the rare cases to
 * private methods, so that the common case stays small enough for V8 to inline into its caller. `lock` and `unlock`
 * compare the answer of the core with a literal 0, which is ADMITTED.
 */

import { host } from '#host';
import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_FULL,
  ANSWER_HELD,
  ANSWER_NOT_HELD,
  CLOSED_OBJECT,
  KIND_MUTEX,
  REFUSED,
} from '../border/numbers.js';
import { timedOut } from '../common/errors.js';
import type { MutexGuards } from '../common/guarding.js';
import { type Limited, limited, type MutexLimit } from '../common/limiting.js';
import { type HeldLock, LockGuard } from '../objects/held-lock.js';
import { giveBack, NO_LOCK, noted } from '../objects/held-permits.js';
import { checkWaitOptions, type Signal, type WaitOptions } from '../objects/options.js';
import { tellOwnerDied } from '../objects/owner-deaths.js';
import { type Definition, find, type Handle, make, open } from '../objects/reference.js';
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
import { type MutexStats, mutexStats } from '../objects/stats.js';
import { threadText } from '../objects/thread-text.js';
import { cancelOn, notAdmitted } from '../runtime/cancellation.js';
import { checkWaitAsync } from '../runtime/doorbell.js';
import { CancelledError, mayNotBlock, noRoom } from '../runtime/errors.js';
import { countdown } from '../runtime/parking.js';
import { DONE, newPromise, resolveOfNew } from '../runtime/promises.js';
import { type Blocking, full, NESTED, notOwner, ofItself, wanted } from './errors.js';
import { type MutexOptions, properties } from './options.js';
import { cancelling, headOf, LockRequest, waitInQueue, whenOwner } from './queue.js';

export type { MutexOptions };

/** A plain, structured-cloneable value to send to another thread, for `Mutex.from` there. */
export type MutexHandle = Handle<'Mutex'>;

/** @internal For a Condition. */
export const isHeld = Symbol();
/** @internal For a Condition. */
export const enterAsync = Symbol();
/** @internal For a Condition. */
export const report = Symbol();

const KIND = 'Mutex';

const DEFINITION: Definition<typeof KIND, [MutexOptions]> = {
  kind: KIND,
  number: KIND_MUTEX,
  properties,
  chosen: 'bypass',
};
const nothing = (): void => {};

export interface Mutex extends MutexLimit, MutexGuards<HeldLock> {}

/**
 * A lock shared by threads. One thread at a time is the owner.
 *
 * A barging thread takes a free lock even while others wait, because that costs a fraction of waking a waiter. But no
 * waiter is overtaken more than `bypass` times in all, and waiters get their turns in the order of their arrival.
 * Blocked threads and promises stand in one queue. The owner is a thread: only the owner may unlock, and it cannot lock
 * again. When a thread ends or dies (`Arena.watch`) as the owner, the next owner learns of the death.
 *
 * The algorithm is this library's own. Its waiters sleep in a queue as those of the semaphore do.
 *
 * @example
 * ```ts
 * import { Mutex } from 'taketurns';
 *
 * const mutex = Mutex.open('accounts'); // by its name: one mutex in all threads
 * mutex.lock({ timeout: 50 });
 * try {
 *   // one thread at a time
 * } finally {
 *   mutex.unlock();
 * }
 * await mutex.runExclusive(async () => {}); // where the thread may not block
 * ```
 */
export class Mutex extends SharedObject<typeof KIND> implements MutexLimit, MutexGuards<HeldLock> {
  readonly #core = this[reference].membership.core;
  readonly #shared = this[reference].shared;
  readonly #head = headOf(this[reference]);
  /** The address of the shared object, or of the closed one if this object has let go or been evicted; see `back`. */
  #at = this[reference].address;
  readonly #bypass = this.#core.maxOf(this.#at);
  readonly #lock = this.#core.lock;
  readonly #unlock = this.#core.unlock;

  /**
   * A callback for a thread that has just locked, if owners have died. The library calls it before `lock` returns. It
   * gets the number of owners that have died and of whose death no owner has been told yet. (`ownerDied` of a guard
   * tells the same.) The data that the mutex guards may then be half-written. If the callback throws, the mutex is
   * unlocked, `lock` throws (`lockAsync` rejects with) the same error, and the next owner is told again.
   */
  onOwnerDied: ((deaths: number) => void) | undefined;
  /** Whether this object has warned of a function of `runExclusive` that locks the mutex again. */
  #warned = false;

  /**
   * @throws {RangeError | TypeError} for an option out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(options: MutexOptions = {}) {
    super(KIND, make(DEFINITION, options));
  }

  /**
   * Attaches to the mutex of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a Mutex.
   * @throws {DisposedError} if the mutex has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const mutex = Mutex.from(workerData.mutex); // its `handle`, sent by the other thread
   */
  static from(handle: MutexHandle): Mutex {
    return new Mutex(find(DEFINITION, handle));
  }

  /**
   * Attaches to the mutex of this name in the arena. Creates the mutex if there is none. Threads that open a name at
   * the same time get one mutex. The name and its mutex go when every thread that had the mutex open has ended, or its
   * library objects were collected. A mutex whose handle was taken stays until it is disposed of. Never blocks.
   * @param name 1 to 116 bytes of UTF-8, well-formed.
   * @throws {RangeError | TypeError} for a bad name or option, if the mutex exists with another `bypass`, or if the
   * name belongs to another kind of object.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment.
   * @example const mutex = Mutex.open('accounts', { bypass: 0 });
   */
  static open(name: string, options: MutexOptions = {}): Mutex {
    return new Mutex(open(DEFINITION, name, options));
  }

  /** How often a waiter may be overtaken at most. The number stays the same after `dispose`. */
  get bypass(): number {
    return this.#bypass;
  }

  /** Whether this thread is the owner. */
  get held(): boolean {
    return this[isHeld];
  }

  /** @internal */
  get [isHeld](): boolean {
    return this.#at !== CLOSED_OBJECT && this.#core.held(this.#shared.attachment) !== 0;
  }

  /** Whether any thread is the owner. It is racy, and meant for diagnostics. */
  get locked(): boolean {
    return this.#core.ownerOf(this.#at) !== 0;
  }

  /**
   * The number of waiters, blocked threads and promises alike; 0 once the mutex is disposed of. Threads that still poll
   * before they queue up do not count. The number is racy, and meant for diagnostics. It may show a waiter a few
   * instructions before the waiter has its ticket. Only when the waiter has its ticket do overtakings of it count
   * against `bypass`.
   */
  get waiting(): number {
    return this.#core.waitersOf(this.#at);
  }

  /**
   * Describes the mutex, for diagnostics. It looks at every waiter of the arena and is racy. Never blocks.
   * @throws {DisposedError} if it has been disposed of.
   * @example console.log(mutex.inspect().waiters);
   */
  inspect(): MutexStats {
    if (this[isOver]) throw this[disposedError]();
    this[back]();
    return mutexStats(this[reference].membership, this.#at);
  }

  /**
   * Makes this thread the owner, and blocks the thread until then. The call returns no guard, so `using` throws a
   * TypeError, and the thread stays the owner. `hold` returns a guard.
   * @param options a time-out and a signal; without them the call may take for ever.
   * @throws {TimeoutError} when the time-out has passed. The thread is not the owner, and has left the queue.
   * @throws {CancelledError} if `cancelAll` has cancelled the request. The thread is not the owner either.
   * @throws the reason of a signal that is aborted already.
   * @throws {SelfDeadlockError} if this thread is the owner already, or a promise of it waits: it would wait for
   * itself.
   * @throws {RangeError | TypeError} for a bad time-out or signal.
   * @throws {ArenaFullError} if the arena has no room for another waiter, or 520,192 requests wait for the mutex.
   * @throws the error that `onOwnerDied` throws; then the lock is free again.
   * @throws {TypeError} on a thread that must not block, such as a browser's main thread, if it would have to.
   * @throws {DisposedError} if the mutex has been or is being disposed of.
   * @example mutex.lock({ timeout: 50 });
   */
  lock(options?: WaitOptions): void {
    if (options !== undefined) this.#lockFor('lock', options);
    else if (this.#lock(this.#at) !== 0) this.#wait(Infinity, 'lock');
    // biome-ignore lint/correctness/noVoidTypeReturn: to the types it is nothing, and `using` it throws.
    return NO_LOCK;
  }

  /** Locks, and returns whether it has reported the death of an owner. For `waitForUnlock` it unlocks instead. */
  #lockFor(method: Blocking, options: WaitOptions): boolean {
    const passes = method === 'waitForUnlock';
    const timeout = checkWaitOptions(`Mutex.${method}`, options);
    if (this.#lock(this.#at) === ADMITTED) return passes && this.#pass();
    // The request must be able to leave the queue.
    if (timeout === Infinity || (timeout > 0 && this.#core.reserveSecond())) return this.#wait(timeout, method);
    if (this.#try() === ADMITTED) return this[report](passes);
    throw timeout === 0 ? timedOut(wanted(this), 0) : noRoom(this.#core);
  }

  /**
   * Waits for the lock. Returns whether it has reported the death of an owner. For `waitForUnlock` it unlocks, and
   * reports nothing.
   */
  #wait(timeout: number, method: Blocking): boolean {
    const passes = method === 'waitForUnlock';
    const answer = waitInQueue(this[reference], this.#at, countdown(timeout));
    if (answer === REFUSED) {
      const { mayBlock, thread } = this[reference].membership;
      if (!mayBlock) throw mayNotBlock(passes ? 'waitForUnlockAsync' : 'lockAsync, holdAsync or tryLock');
      throw ofItself(this, method, this.#core.ownerOf(this.#at) === thread);
    }
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    if (answer === ANSWER_FULL) throw full(this.#core, this.#at);
    if (answer === ANSWER_HELD) throw ofItself(this, method, true);
    if (answer !== ADMITTED) throw notAdmitted(answer, () => wanted(this), timeout);
    return this[report](passes);
  }

  /**
   * @internal The thread has just locked. Reports the unreported deaths of owners, and returns whether there were any.
   * With `passes`, for `waitForUnlock`, it unlocks instead and returns false.
   */
  [report](passes = false): boolean {
    if (passes) return this.#pass();
    const deaths = this.#core.ownersDied(this.#at);
    return deaths > 0 && tellOwnerDied(this, deaths, 1, this[giveBack]);
  }

  /** For `waitForUnlock`: unlocks at once, and leaves unreported deaths to the next owner. */
  #pass(): false {
    const deaths = this.#core.ownersDied(this.#at);
    if (deaths > 0) this.#core.restoreOwnerDeaths(this.#at, deaths);
    this[giveBack]();
    return false;
  }

  /**
   * @internal What a promise that has got the lock is fulfilled with. Deaths are reported before. `unlock` may have settled the
   * promise, so the callback runs after `unlock` has returned.
   */
  [whenOwner]<T>(give: (ownerDied: boolean) => T): T | Promise<T> {
    const deaths = this.#core.ownersDied(this.#at);
    if (deaths === 0) return give(false);
    return Promise.resolve(deaths).then((deaths) => give(tellOwnerDied(this, deaths, 1, this[giveBack])));
  }

  /**
   * Makes this thread the owner if the lock is free and the bound of the waiters allows it. Never blocks.
   * @returns whether it has become the owner; false also if it is the owner already.
   * @throws {ArenaFullError} in a thread that has ended, if the arena has no room for it.
   * @throws the error that `onOwnerDied` throws; then the lock is free again.
   * @throws {DisposedError} if the mutex has been disposed of.
   * @example if (mutex.tryLock()) mutex.unlock();
   */
  tryLock(): boolean {
    if (this.#try() !== ADMITTED) return false;
    this[report]();
    return true;
  }

  tryHold(): HeldLock | undefined {
    const guard = new LockGuard(this, false);
    return this.#try() === ADMITTED ? noted(guard, this[report]()) : undefined;
  }

  #try(): ADMITTED | REFUSED {
    this[back]();
    const answer = this.#core.tryLock(this.#at);
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    if (answer === ANSWER_FULL) throw noRoom(this.#core);
    return answer;
  }

  /**
   * Gives the lock back, and wakes the head if it sleeps. Never blocks. Once this object has noticed that the mutex has
   * been disposed of, it does nothing.
   * @throws {Error} if this thread is not the owner.
   * @example mutex.unlock();
   */
  unlock(): void {
    if (this.#head.waits && this.#unlockToOwn()) return;
    const answer = this.#unlock(this.#at);
    if (answer !== 0) this.#finishUnlock(answer);
  }

  /**
   * @internal Does what `unlock` does. The code is written twice, because `unlock` is slower if it calls this method.
   */
  [giveBack](): void {
    if (this.#head.waits && this.#unlockToOwn()) return;
    const answer = this.#unlock(this.#at);
    if (answer !== 0) this.#finishUnlock(answer);
  }

  /** Unlocks for the promise of this thread that is the head, if `Promises.unlockToOwn` can do that. */
  #unlockToOwn(): boolean {
    const head = this.#head;
    head.planRest();
    return this.#at !== CLOSED_OBJECT && this.#shared.promises.unlockToOwn(head);
  }

  #finishUnlock(answer: number): void {
    if (answer !== ANSWER_NOT_HELD) {
      if (this.#head.waits) this.#head.flush();
      else this.#core.wakeHead(this.#at);
    } else if (!this[isOver]) throw notOwner(this, this.#core, this.#at);
  }

  /**
   * Makes this thread the owner without blocking it: the promise is fulfilled when the thread is the owner. The process
   * stays alive until then. The promise stands in one queue with blocked threads. Tasks of one thread exclude one
   * another like threads, but they must not block the thread: `lock` throws while a promise of the same thread has the
   * lock or waits for it.
   * @returns a promise. It rejects with TimeoutError when the time-out has passed, with the reason of the signal when
   * that is aborted, with RangeError or TypeError for a bad time-out, with CancelledError if `cancelAll` has cancelled
   * it, with DisposedError if the mutex has been or is being disposed of, and with ArenaFullError if the arena has no
   * room for another waiter, or 520,192 requests wait for the mutex.
   * @example await mutex.lockAsync({ signal });
   */
  lockAsync(options?: WaitOptions): Promise<void> {
    return this.#lockAsync('lockAsync', options, nothing);
  }

  /**
   * Locks by a promise of what `give` makes. `give` is told whether the death of an owner was reported. With `passes`,
   * for `waitForUnlockAsync`, `give` is told whether the promise had to wait. If it had to wait, the thread is the
   * owner now, and `give` must unlock. If the lock was free at once, this method has called `#pass` already.
   */
  #lockAsync<T>(
    method: string,
    options: WaitOptions | undefined,
    give: (told: boolean) => T,
    passes = false,
  ): Promise<T> {
    try {
      const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.${method}`, options);
      // While a promise of this thread is the head, the lock has an owner or is reserved for this promise.
      if (timeout === 0 || !this.#head.waits) {
        // What the promise gets is made first: if the stack were exhausted after the lock is taken, nobody would give
        // it back.
        const value = give(false);
        const fulfilled = value === undefined ? (DONE as Promise<T>) : Promise.resolve(value);
        const isFree = this.#lock(this.#at) === ADMITTED;
        if (isFree || this.#try() === ADMITTED) {
          // The fast path of the core does not admit a thread that has to learn of a death.
          if ((passes || !isFree) && this[report](passes)) give(true);
          if (!passes) this.#shared.grants++;
          return fulfilled;
        }
        if (timeout === 0) throw timedOut(wanted(this), 0);
      }
      checkWaitAsync();
      return this[enterAsync](timeout, options?.signal, give, passes);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** @internal Waits for the lock by a promise, as `#lockAsync` does. If this method throws, the request has ended. */
  [enterAsync]<T>(
    timeout: number,
    signal: Signal | undefined,
    give: (told: boolean) => T,
    passes: boolean,
  ): Promise<T> {
    const shared = this.#shared;
    const { promises, isRunning } = shared;
    const head = this.#head;
    const isImpatient = timeout !== Infinity || signal !== undefined;
    if (isRunning && !isImpatient && !this.#warned) {
      this.#warned = true;
      host.warn(NESTED);
    }
    const since = this[reference].membership.doorbell.timestamp();
    const promise = newPromise<T>();
    const request = new LockRequest<T>(this, shared, resolveOfNew(), give, passes);
    if (isImpatient) {
      const run = promises.alone(request);
      request.run = run;
      // The code of the signal runs before the request queues up.
      request.stop = cancelOn(timeout, signal, cancelling(promises, head, request, run), () => wanted(this));
    }
    this[back]();
    // Afterwards nobody could tell which of two heads has the lock.
    if (head.isOwed) head.flush();
    // The promise may become the head at once.
    if (promises.first === 0) head.planRest();
    const answer = promises.arrive(this, this.#at, 1, request, request.run);
    if (answer === ADMITTED) {
      // Nothing is called before `head` knows the promise (promises.ts).
      head.owed.promise = request;
      head.asks = promises.asks;
      head.begin(since);
    } else if (answer < ADMITTED) {
      request.stop();
      throw answer === ANSWER_CLOSED ? this[disposedError]() : full(this.#core, this.#at);
    }
    return promise;
  }

  /**
   * Waits as `lock` does until the lock is free, and does not keep the lock. The call blocks the thread until then.
   *
   * The call does what `lock` and then `unlock` would do. So another thread may have the lock when the call returns. If
   * this thread dies between the two, it counts as an owner that has died. But the call does not run `onOwnerDied`: the
   * next owner learns of the dead owners.
   * @param options a time-out and a signal; without them the call may take for ever.
   * @throws {SelfDeadlockError} if this thread is the owner itself, or a promise of it waits: it would wait for itself.
   * @throws the other errors of `lock`.
   * @example mutex.waitForUnlock({ timeout: 1000 }); // whoever had the lock when this was called has given it back
   */
  waitForUnlock(options: WaitOptions = {}): void {
    this.#lockFor('waitForUnlock', options);
  }

  /**
   * As `waitForUnlock` without blocking the thread: the promise is fulfilled when a promise of `lockAsync` would be.
   * The call is allowed while this thread is the owner. The process stays alive until the promise is settled. As with
   * `lockAsync`, `lock` throws while the promise waits.
   * @returns a promise. It rejects as that of `lockAsync` does.
   * @example await mutex.waitForUnlockAsync();
   */
  waitForUnlockAsync(options?: WaitOptions): Promise<void> {
    let isPassed = false;
    const pass = (): void => {
      if (!isPassed && this[isHeld]) this.#pass();
      isPassed = true;
    };
    // The thread unlocks before the code that awaits the promise goes on, and no later promise is fulfilled before.
    const give = (hasWaited: boolean): void => void (hasWaited && DONE.then(pass));
    return this.#lockAsync('waitForUnlockAsync', options, give, true);
  }

  /**
   * Asks all requests that wait for the lock now, in every thread, to leave the queue, whether they are blocked threads
   * or promises. These requests end with a CancelledError. A request that gets the lock before it has left keeps the
   * lock. The mutex goes on: its owner stays the owner, and later requests are not touched. A thread that still polls
   * before it queues up does not wait yet, so it is not asked. Never blocks, throws nothing: the promises of this
   * thread are rejected before the call returns, and other threads leave as soon as they run. On a disposed mutex it
   * does nothing.
   *
   * A thread or promise whose wait on a `Condition` is over must become the owner again. If `cancelAll` meets it there,
   * it queues up once more.
   *
   * A blocked thread that leaves while others wait behind it leaves its element in the queue. If the arena has no room
   * for another waiter, the thread cannot leave, and waits on. If a thread dies in this call, it may have asked only
   * some of the requests.
   * @param reason the `cause` of the errors in this thread. The errors in other threads have none.
   * @example mutex.cancelAll(new Error('the server shuts down'));
   */
  cancelAll(reason?: unknown): void {
    // Nobody waits for an object that has been evicted, and the words that count these calls are not there.
    if (this.#at === CLOSED_OBJECT) return;
    this.#core.askAll(this.#at);
    this.#head.cancelAll(new CancelledError(reason));
    this.#core.wakeHead(this.#at);
  }

  /**
   * As `lock`, but it returns a guard that unlocks: `using held = mutex.hold()`. Blocks the thread as `lock` does, and
   * throws what `lock` throws.
   */
  hold(options?: WaitOptions): HeldLock {
    const guard = new LockGuard(this, false);
    const ownerDied =
      options === undefined
        ? this.#lock(this.#at) !== ADMITTED && this.#wait(Infinity, 'hold')
        : this.#lockFor('hold', options);
    return noted(guard, ownerDied);
  }

  holdAsync(options?: WaitOptions): Promise<HeldLock> {
    return this.#holdAsync('holdAsync', options);
  }

  #holdAsync(method: string, options: WaitOptions | undefined): Promise<HeldLock> {
    const guard = new LockGuard(this, false);
    return this.#lockAsync(method, options, (ownerDied) => noted(guard, ownerDied));
  }

  /**
   * Locks by `lockAsync`, calls a function, and unlocks when the result of the function is settled. Never blocks the
   * thread. The function must not wait for the same mutex: it would wait for itself. But the function may ask for the
   * lock without waiting for the promise that it gets, and the library cannot tell the two apart. So there is a
   * warning, and no error, when the function asks for the lock before its first `await`, without a time-out or a
   * signal. The warning comes once for each Mutex object (`process.emitWarning`, or `console.warn` in browsers).
   * @returns a promise of the result. It rejects with the error of the function or of `lockAsync`.
   * @example const answer = await mutex.runExclusive(() => fetch(address), { timeout: 50 });
   */
  runExclusive<T>(run: () => T | PromiseLike<T>, options?: WaitOptions): Promise<T> {
    return this.#run(run, options);
  }

  #run<T>(run: () => T | PromiseLike<T>, options: WaitOptions | undefined): Promise<T> {
    return runHolding(KIND, this.#shared, () => this.#holdAsync('runExclusive', options), run);
  }

  limit<This, Arguments extends unknown[], T>(
    run: (this: This, ...args: Arguments) => T,
    options?: WaitOptions,
  ): Limited<This, Arguments, T> {
    return limited(KIND, run, options, (call, wait) => this.#run(call, wait));
  }

  /**
   * Returns, for example, `Mutex("accounts", locked by thread 2 (threadId 1), 2 waiting)`, for diagnostics. Never
   * blocks, throws nothing.
   */
  override toString(): string {
    const owner = this.#core.ownerOf(this.#at);
    const lock = owner === 0 ? 'unlocked' : `locked by ${threadText(this.#core, owner)}`;
    return `Mutex(${this[named](', ')}${this[isOver] ? 'disposed' : `${lock}, ${this.#core.waitersOf(this.#at)} waiting`})`;
  }

  /** @internal */
  protected override [close](): void {
    this.#core.mutexDispose(this.#at);
  }

  /** @internal */
  protected override [forget](address = CLOSED_OBJECT): void {
    this.#at = address;
  }
}
