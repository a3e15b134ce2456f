/**
 * Condition is the public face of core/kinds/condition/condition.ts. A wait has these steps:
 *
 *     take a ticket ──► unlock the mutex ──► sleep ──► lock the mutex again ──► relay
 *
 * The ticket is one in the queue of the core, as for a semaphore. It comes before the unlock, so that no notification
 * after the unlock is missed. The thread locks the mutex again however the wait has ended (locking-again.ts). To relay
 * means to wake the next waiter that has been notified.
 *
 * A notified thread carries its notification until it is the owner of the mutex again. Then it puts the notification
 * down (#putDown). If it gives up or dies before, the notification passes on to the next waiter.
 */

import type { Core } from '../border/core.js';
import {
  ADMITTED,
  ANSWER_CLOSED,
  CLOSED_OBJECT,
  INTERRUPTED,
  KIND_CONDITION,
  QUEUED,
  REFUSED,
} from '../border/numbers.js';
import { timedOut } from '../common/errors.js';
import { hasStack, TO_BEGIN_ASYNC, TO_LOCK_AGAIN } from '../common/has-stack.js';
import { refusePromise } from '../common/refuse-promise.js';
import { isHeld, Mutex, type MutexHandle } from '../mutex/mutex.js';
import { giveBack } from '../objects/held-permits.js';
import { checkWaitOptions, type Signal, type WaitOptions } from '../objects/options.js';
import { checkKind, type Definition, find, type Handle, make, open, type Reference } from '../objects/reference.js';
import { close, disposedError, forget, isOver, named, reference, SharedObject } from '../objects/shared-object.js';
import { type ConditionStats, conditionStats } from '../objects/stats.js';
import { cancelOn, isTimeout } from '../runtime/cancellation.js';
import { common } from '../runtime/common.js';
import { checkWaitAsync } from '../runtime/doorbell.js';
import { checkInteger, checkType, described, mayNotBlock, noRoom, SelfDeadlockError } from '../runtime/errors.js';
import { afterInterrupt } from '../runtime/interrupts.js';
import type { Shared } from '../runtime/membership.js';
import { countdown, LEFT_AT_TIMEOUT, type Parked, parkUntilDue } from '../runtime/parking.js';
import { closed, newPromise, type Resolve, resolveOfNew } from '../runtime/promises.js';
import { syncOf } from './compiled.js';
import { arenaOf, isOf, ownMutex, properties } from './condition-mutex.js';
import { lockAgain, lockAgainAsync, referenceOf, reportAgain } from './locking-again.js';

/** A plain, structured-cloneable value for `Condition.from` in another thread. It has the handle of the mutex, too. */
export type ConditionHandle = Handle<'Condition'> & {
  /** The handle of its mutex. */
  readonly mutex: MutexHandle;
};

const KIND = 'Condition';

/** What this thread knows of its promises that wait on conditions. */
interface Promised {
  /** Of a condition: how many notifications they carry. */
  carried: number;
  /** Of a mutex: how many have ended their wait on a condition of the mutex, and lock it again. */
  returning: number;
}

const known = common('promised', () => new WeakMap<Shared, Promised>());

function promisedOf(shared: Shared): Promised {
  let promised = known.get(shared);
  if (promised === undefined) {
    promised = { carried: 0, returning: 0 };
    known.set(shared, promised);
  }
  return promised;
}

const DEFINITION: Definition<typeof KIND, [Mutex, ReturnType<typeof arenaOf>]> = {
  kind: KIND,
  number: KIND_CONDITION,
  properties,
  mismatch,
};
const MOST = 0x7fffffff;

/**
 * Lets the owner of a mutex wait until another thread says that something has changed. The waiters are notified in the
 * order in which they began to wait. If nobody waits, a notification is lost. There are no spurious wake-ups: `wait`
 * answers true only after a notification. Blocked threads and promises wait in one queue.
 *
 * Waiters that are notified together are woken one after the other: a waiter that has locked the mutex again wakes the
 * next one. So `notifyAll` costs the notifier one wake-up, and no waiter is woken only to queue up for the mutex.
 *
 * Source: Hoare, Monitors (1974), with the queue of Dice and Kogan, Semaphores Augmented with a Waiting Array.
 *
 * @example
 * ```ts
 * import { Mutex } from 'taketurns';
 * import { Condition } from 'taketurns/sync';
 *
 * const mutex = new Mutex();
 * const notEmpty = new Condition(mutex); // threads share both by notEmpty.handle
 * const items = new Int32Array(new SharedArrayBuffer(4)); // how many there are
 *
 * async function take(): Promise<void> {
 *   using held = await mutex.holdAsync(); // or hold, which blocks
 *   await notEmpty.waitForAsync(() => items[0] > 0); // or waitFor, which blocks; the mutex is free meanwhile
 *   items[0]--;
 * }
 *
 * async function put(): Promise<void> {
 *   using held = await mutex.holdAsync();
 *   items[0]++;
 *   notEmpty.notify();
 * }
 *
 * await Promise.all([take(), put()]);
 * console.log(`${items[0]} left`);
 * ```
 */
export class Condition extends SharedObject<typeof KIND> {
  readonly #mutex: Mutex;
  readonly #core = this[reference].membership.core;
  readonly #sync = syncOf(this[reference].membership);
  readonly #notifyOne = this.#sync.notifyOne;
  readonly #shared = this[reference].shared;
  readonly #promises = this.#shared.promises;
  readonly #promised = promisedOf(this.#shared);
  /** Prepares for an exception of the runtime that ends the wait of this thread (runtime/interrupts.ts). */
  readonly #expectInterrupt = afterInterrupt(() => this.#giveUp());
  /** The address of the shared object, or of the closed one after this object has released its reference. */
  #at = this[reference].address;

  /**
   * Makes a condition that belongs to this mutex and to no other, in the arena of the mutex. Never blocks.
   * @throws {TypeError} if `mutex` is not a Mutex.
   * @throws {DisposedError} if the mutex has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(mutex: Mutex);
  /** @internal */
  constructor(mutex: Mutex, found: Reference);
  constructor(mutex: Mutex, found?: Reference) {
    const own = ownMutex(KIND, mutex);
    super(KIND, found ?? make(DEFINITION, own, arenaOf(own)));
    this.#mutex = own;
    // An engine compiles a function at its first call, and this takes much of the stack. A wait may call these
    // functions when the stack is nearly full, so they are called once here.
    for (const call of ['lock', 'tryLock', 'ownerOf'] as const) this.#core[call](CLOSED_OBJECT);
  }

  /**
   * Attaches to the condition of a handle, and to its mutex, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a Condition.
   * @throws {DisposedError} if the condition or the mutex has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const condition = Condition.from(workerData.condition); // its `handle`, sent by the other thread
   */
  static from(handle: ConditionHandle): Condition {
    const what = `${KIND}.from: handle`;
    checkKind(what, KIND, handle);
    // The thread attaches to the mutex first. If the rest fails, the library object of the mutex is collected, and with
    // it goes the attachment.
    const mutex = Mutex.from(handle.mutex);
    return attached(
      mutex,
      find(DEFINITION, handle),
      () => new TypeError(`${what}: its mutex is not that of the condition`),
    );
  }

  /**
   * Opens the condition of this name in the arena of the mutex, and makes it if there is none. Never blocks.
   * @param name 1 to 116 bytes of UTF-8, well-formed.
   * @throws {RangeError | TypeError} for a bad name.
   * @throws {TypeError} if the name is that of a condition of another mutex, or belongs to another kind of object.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment.
   * @example const condition = Condition.open('not empty', mutex);
   */
  static open(name: string, mutex: Mutex): Condition {
    const own = ownMutex(`${KIND}.open`, mutex);
    return attached(own, open(DEFINITION, name, own, arenaOf(own)), () => mismatch(name));
  }

  /** The mutex whose owner may wait. */
  get mutex(): Mutex {
    return this.#mutex;
  }

  /** As `handle` of every shared object, but with the handle of the mutex. */
  override get handle(): ConditionHandle {
    return { ...super.handle, mutex: referenceOf(this.#mutex).handle('Mutex') };
  }

  /**
   * The number of threads and promises that wait and have not been notified. The number may be out of date at once, and
   * is meant for diagnostics.
   */
  get waiting(): number {
    return this.#core.waiting(this.#at);
  }

  /**
   * Unlocks the mutex, blocks the thread until it is notified, and locks the mutex again. When the call returns or
   * throws, the thread is the owner again, unless the mutex has been disposed of or `onOwnerDied` has thrown.
   * `cancelAll` of the mutex does not end the wait for the mutex.
   *
   * When the call returns, the change that the thread waited for may be undone again: another thread may have been the
   * owner before. So use `waitFor`, which looks again.
   * @param options a time-out and a signal; without them the call may take for ever. The time-out limits only the wait
   * for a notification: if another thread has the mutex then, the call takes longer.
   * @returns true if the thread was notified, false if the time-out came first.
   * @throws {Error} if this thread is not the owner. Then nothing has changed.
   * @throws {SelfDeadlockError} if a promise of this thread waits for the mutex or on this condition. Then nothing has
   * changed.
   * @throws the reason of a signal that is aborted already.
   * @throws {RangeError | TypeError} for a bad time-out or signal.
   * @throws {RangeError} if hardly any of the stack is left. Then nothing has changed.
   * @throws {TypeError} on a thread that must not block, such as a browser's main thread.
   * @throws {ArenaFullError} if the arena has no room for another waiter.
   * @throws {DisposedError} if the condition has been or is being disposed of, or if the mutex has been disposed of.
   * The `dispose` of the mutex does not wake the waiters of the condition: dispose of the condition first.
   * @throws the error that `mutex.onOwnerDied` throws; then the thread is not the owner.
   * @example while (items[0] === 0) condition.wait();
   */
  wait(options?: WaitOptions): boolean {
    return this.#wait(options);
  }

  #wait(options: WaitOptions | undefined): boolean {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.wait`, options);
    this.#checkOwner('wait');
    const mutex = this.#mutex;
    const { membership, address: mutexAt, shared } = referenceOf(mutex);
    if (!membership.mayBlock) throw mayNotBlock('waitAsync');
    const { promises, head } = shared;
    if (promises.waits || head?.waits || this.#promises.waits || promisedOf(shared).returning > 0)
      throw new SelfDeadlockError(PROMISED);
    const core = this.#core;
    const at = this.#at;
    const { attachment } = this.#shared;
    const left = countdown(timeout);
    // A request that leaves the queue at a time-out needs a second wait element for its tombstone.
    if (timeout !== Infinity && !core.reserveSecond()) throw noRoom(core);
    this.#sync.settleUp(at);
    membership.expectInterrupt();
    this.#expectInterrupt();
    hasStack(TO_LOCK_AGAIN);
    let taken = core.acquireRobust(at, 1, attachment);
    if (taken === INTERRUPTED) {
      // An earlier call of this thread was cut short. The thread must take its ticket before it unlocks the mutex.
      core.finishPendingCall();
      taken = core.acquireRobust(at, 1, attachment);
    }
    if (taken === INTERRUPTED) throw noRoom(core);
    if (taken === ANSWER_CLOSED) throw this[disposedError]();
    let answer: number;
    try {
      answer = this.#sleepUnlocked(mutexAt, taken, left);
    } catch (error) {
      this.#giveUp();
      throw error;
    }
    this.#putDown(Number(answer === ADMITTED));
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    if (answer !== ADMITTED && answer !== REFUSED) throw noRoom(core);
    return answer === ADMITTED;
  }

  /** Unlocks the mutex, sleeps until the request is over, and locks the mutex again however the sleep has ended. */
  #sleepUnlocked(mutexAt: number, taken: number, left: () => number): number {
    const mutex = this.#mutex;
    const core = this.#core;
    const at = this.#at;
    const { attachment } = this.#shared;
    const { membership } = mutex[reference];
    try {
      mutex[giveBack]();
      let answer: ReturnType<Core['enqueue']> | Parked = core.enqueue(at, 1, taken, attachment);
      if (answer === QUEUED) answer = parkUntilDue(membership, at, attachment, left);
      return answer === LEFT_AT_TIMEOUT ? this.#leftOver() : answer;
    } finally {
      reportAgain(core, mutex, lockAgain(core, mutex, mutexAt, membership.thread));
    }
  }

  /**
   * As `wait`, without blocking the thread. The process stays alive while the promise waits.
   *
   * The owner of a mutex is a thread and not a task. So another task of the thread could unlock the mutex by mistake,
   * and `held` cannot tell tasks apart. Await the promise, and end it by a time-out or a signal. Do not end it by
   * `Promise.race`, because the promise locks the mutex whether anybody listens or not.
   * @returns a promise. It rejects with the reason of the signal when the signal is aborted, and with the errors of
   * `wait`. Before it rejects, the thread is the owner again, with the same exceptions as in `wait`.
   * @example while (items[0] === 0) await condition.waitAsync();
   */
  waitAsync(options: WaitOptions = {}): Promise<boolean> {
    return this.#waitAsync(options);
  }

  async #waitAsync(options: WaitOptions): Promise<boolean> {
    const timeout = checkWaitOptions(`${KIND}.waitAsync`, options);
    checkWaitAsync();
    hasStack(TO_BEGIN_ASYNC);
    const mutex = this.#mutex;
    const relocking = promisedOf(referenceOf(mutex).shared);
    const isNotified = this.#notification(timeout, options.signal, relocking);
    mutex[giveBack]();
    let carried = 0;
    let isOwner = false;
    try {
      try {
        carried = Number(await isNotified);
      } finally {
        await lockAgainAsync(this.#core, mutex);
        isOwner = true;
      }
    } finally {
      relocking.returning--;
      this.#promised.carried -= carried;
      this.#putDown(carried, !isOwner);
    }
    return carried > 0;
  }

  /** Takes a ticket. The promise tells whether the request was notified in time. If so, it carries the notification. */
  #notification(timeout: number, signal: Signal | undefined, relocking: Promised): Promise<boolean> {
    const core = this.#core;
    const promises = this.#promises;
    const waited = newPromise<void>();
    const resolve = resolveOfNew();
    let isOver = false;
    const settle: Resolve = (value) => {
      stop();
      resolve(value);
      // A second call has no effect (class Settlement).
      if (isOver) return;
      isOver = true;
      relocking.returning++;
      if (value === undefined) this.#promised.carried++;
    };
    const alone = timeout !== Infinity || signal !== undefined ? promises.alone(settle) : undefined;
    let cancelled: { readonly reason: unknown } | undefined;
    const give = (late: () => unknown): void => {
      const reason = late();
      cancelled = { reason };
      if (alone) promises.cancel(alone, () => reason);
    };
    const wanted = (): string => 'a notification';
    // `cancelOn` runs code of the signal, which may unlock the mutex. So the ticket and the check of the owner come after.
    const stop = cancelOn(timeout, signal, give, wanted);
    try {
      this.#checkOwner('waitAsync');
      this.#sync.settleUp(this.#at);
      const answer = promises.arrive(this, this.#at, 1, settle, alone);
      if (answer < ADMITTED) throw answer === ANSWER_CLOSED ? this[disposedError]() : noRoom(core);
      if (answer === ADMITTED) settle();
      else if (timeout === 0) give(() => timedOut(wanted(), timeout));
    } catch (error) {
      stop();
      throw error;
    }
    return waited.then(
      () => true,
      (error) => {
        if (cancelled === undefined || !Object.is(error, cancelled.reason)) return this.#refused();
        if (this.#leftOver() === ADMITTED) {
          this.#promised.carried++;
          return true;
        }
        if (isTimeout(error, signal)) return false;
        throw error;
      },
    );
  }

  /** Takes a notification that came while this thread gave up, if no other waiter could take it. */
  #leftOver(): number {
    const answer = this.#core.tryAcquireRobust(this.#at, 1, this.#shared.attachment);
    return answer === ADMITTED ? ADMITTED : REFUSED;
  }

  /**
   * Ends waits of this thread, and wakes the next notified waiter.
   * @param carried how many notifications these waits have carried.
   * @param passesOn whether other waiters get these notifications, because this thread has given up.
   */
  #putDown(carried: number, passesOn = false): void {
    // After dispose, the attachment may be that of another object.
    if (this.#at === CLOSED_OBJECT) return;
    this.#promises.planRest();
    this.#sync.putDown(this.#at, this.#shared.attachment, carried, passesOn);
    // The core does not ring for promises of this thread.
    this.#promises.settle();
  }

  /** Is called when an exception has ended a blocking wait of this thread. Passes on what the wait carried. */
  #giveUp(): void {
    if (this.#at !== CLOSED_OBJECT)
      this.#putDown(this.#core.held(this.#shared.attachment) - this.#promised.carried, true);
  }

  readonly #refused = (): never => {
    throw this[disposedError]();
  };

  #checkOwner(method: string): void {
    if (this.#at === CLOSED_OBJECT) throw this[disposedError]();
    referenceOf(this.#mutex); // It throws if the mutex has been disposed of.
    if (!this.#mutex[isHeld])
      throw new Error(
        `${KIND}.${method}: this thread is not the owner of ${this.#mutex[described]()}, so lock it first`,
      );
  }

  /**
   * Blocks the thread until the function `ready` answers true. The call calls `ready` before it waits for the first
   * time, and then after each notification. It calls `ready` only while this thread is the owner. The time-out limits
   * only the waits for a notification, as in `wait`.
   * @param ready must not wait, and must not unlock the mutex. If `ready` throws, the call throws the same error, and
   * the mutex stays locked.
   * @returns what `ready` answered last: false only after the time-out.
   * @throws {TypeError} if `ready` is not a function, or returns a promise.
   * @throws as `wait`.
   * @example condition.waitFor(() => items[0] > 0, { timeout: 50 });
   */
  waitFor(ready: () => boolean, options: WaitOptions = {}): boolean {
    const [what, left] = this.#begin('waitFor', ready, options);
    while (!answerOf(what, ready)) {
      if (!this.#wait(rest(left(), options))) return answerOf(what, ready);
    }
    return true;
  }

  /**
   * As `waitFor`, without blocking the thread. `ready` must not return a promise here either. The promise rejects with
   * what `waitFor` throws.
   * @example await condition.waitForAsync(() => items[0] > 0, { timeout: 50 });
   */
  async waitForAsync(ready: () => boolean, options: WaitOptions = {}): Promise<boolean> {
    const [what, left] = this.#begin('waitForAsync', ready, options);
    while (!answerOf(what, ready)) {
      if (!(await this.#waitAsync(rest(left(), options)))) return answerOf(what, ready);
    }
    return true;
  }

  #begin(method: string, ready: () => boolean, options: WaitOptions): [string, () => number] {
    const what = `${KIND}.${method}`;
    checkType(`${what}: ready`, ready, 'function', 'a function');
    const timeout = checkWaitOptions(what, options);
    this.#checkOwner(method);
    return [`${what}: ready`, countdown(timeout)];
  }

  /**
   * Notifies the waiters that have waited longest. Call `notify` as the owner of the mutex, after the change for which
   * the waiters wait. A thread that is not the owner may call it too, but then a third thread may lock the mutex before
   * the notified waiter does, and undo the change. Never blocks. If nobody waits, the call does nothing, and later
   * waiters do not learn of it.
   * @param count how many waiters to notify at most, 1 (the default) to 2,147,483,647, or Infinity.
   * @returns how many waiters it has notified. The number may include a waiter that gives up at this very moment.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {DisposedError} if the condition has been disposed of.
   * @example condition.notify();
   */
  notify(count = 1): number {
    return this.#notify(count);
  }

  #notify(count: number): number {
    this.#promises.planRest();
    if (count === 1) return this.#notified(this.#notifyOne(this.#at));
    if (count !== Infinity) checkInteger(`${KIND}.notify: count`, count, 1, MOST);
    return this.#notified(this.#sync.notify(this.#at, Math.min(count, MOST)));
  }

  #notified(notified: number): number {
    if (notified < 0) throw this[disposedError]();
    // Also a call that notifies nobody may pass on the wake-up of an earlier call, to a promise of this thread.
    this.#promises.settle();
    return notified;
  }

  /**
   * Notifies all waiters. They are woken one after the other. Never blocks.
   * @returns how many waiters it has notified.
   * @throws {DisposedError} if the condition has been disposed of.
   * @example condition.notifyAll();
   */
  notifyAll(): number {
    return this.#notify(MOST);
  }

  /**
   * Describes the condition by a plain object, for diagnostics. The call looks at every waiter of the arena, and its
   * answer may be out of date at once. Never blocks.
   * @throws {DisposedError} if the condition has been disposed of.
   * @example console.log(condition.inspect().waiters);
   */
  inspect(): ConditionStats {
    if (this[isOver]) throw this[disposedError]();
    return conditionStats(this[reference].membership, this.#at);
  }

  /** Returns, for example, `Condition(2 waiting)`, for diagnostics. Never blocks, throws nothing. */
  override toString(): string {
    return `${KIND}(${this[named](', ')}${this[isOver] ? 'disposed' : `${this.#core.waiting(this.#at)} waiting`})`;
  }

  /** @internal */
  protected override [close](): void {
    // Waiters that have been notified must go on, and are woken first.
    this.#sync.relay(this.#at, true);
    this.#core.dispose(this.#at);
  }

  /** @internal */
  protected override [forget](): void {
    this.#at = CLOSED_OBJECT;
  }
}

const PROMISED =
  'Condition.wait: a promise of this thread waits for the mutex or on the condition, and cannot go on while the thread ' +
  'blocks, so this thread would wait for itself: await waitAsync()';

function mismatch(name: string): Error {
  return new TypeError(`${KIND}.open: the condition ${JSON.stringify(name)} is one of another mutex`);
}

/**
 * Returns the library object of a condition that has been found or opened. If the condition belongs to another mutex,
 * throws the error that `mismatch` makes.
 */
function attached(mutex: Mutex, found: Reference, mismatch: () => Error): Condition {
  const condition = new Condition(mutex, found);
  if (isOf(found, mutex)) return condition;
  condition[closed]();
  throw mismatch();
}

/** Returns the options of a wait when `left` milliseconds are left. */
function rest(left: number, { signal }: WaitOptions): WaitOptions {
  return { timeout: Math.max(left, 0), ...(signal && { signal }) };
}

function answerOf(what: string, ready: () => boolean): boolean {
  const answer: unknown = ready();
  refusePromise(answer, `${what} must not return a promise: find the answer before, and let the function look at it`);
  return Boolean(answer);
}
