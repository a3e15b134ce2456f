/**
 * RwLock is the public face of core/kinds/rw-lock/rw-lock.ts, where the algorithm and its proof are. side.ts has what
 * this thread does with a lock: the states, and the methods that change them.
 *
 *     read       no writer is in: read at once ──► end
 *                a writer is in: wait for the end of its phase ──► read ──► end
 *     write      get the turn ──► shut the gate ──► wait until the readers have left ──► write ──► end
 *     update     get the turn ──► read ──► (upgrade) shut the gate ──► ...
 *
 * While a thread reads, what else may it read beside a writer that waits for it? A blocking call may, because it would
 * wait for itself otherwise, and a promise may that names the guard `within` which it reads. So a thread whose blocking
 * calls always overlap keeps the writer out. Other promises wait for the writer, and a call that tries is refused.
 *
 * A blocked call and the promises of its thread wait for the end of the same phase, in one seat of the thread. When
 * the first of them finds that the phase is over, all of them become readers at once (`endWait`). So no writer comes
 * between two of them.
 *
 * The turn is the one permit of a robust semaphore. This semaphore is not an object of its own: it uses the words of
 * the lock's shared object.
 *
 * `lockRead` handles only the common case, so that it stays small. Like the fast path of a semaphore, it compares with
 * a literal 0, which stands for ADMITTED and for NOTHING.
 */

import { host } from '#host';
import {
  ADMITTED,
  ANSWER_CLOSED,
  CANCELLED,
  CLOSED_OBJECT,
  DRAIN_INDEX,
  KIND_RW_LOCK,
  LIMIT,
  NO_STAMP,
  OWNER_DIED,
  QUEUED,
  REFUSED,
  TIMED_OUT,
} from '../../border/numbers.js';
import type { Sync } from '../../border/sync.js';
import { timedOut } from '../../common/errors.js';
import type { RwLockGuards } from '../../common/guarding.js';
import { reasonOf } from '../../common/signals.js';
import { NO_READING, NO_WRITING, noted } from '../../objects/held-permits.js';
import { checkWaitOptions, type Properties, type Signal, type WaitOptions } from '../../objects/options.js';
import { type Definition, find, make, open } from '../../objects/reference.js';
import { close, disposedError, forget, isOver, reference } from '../../objects/shared-object.js';
import { threadText } from '../../objects/thread-text.js';
import { cancelOn, isTimeout, locate } from '../../runtime/cancellation.js';
import { timestamp } from '../../runtime/clock.js';
import { checkWaitAsync, waitAsync } from '../../runtime/doorbell.js';
import {
  bad,
  checkInteger,
  checkOptions,
  DisposedError,
  described,
  noRoom,
  refuseName,
  selfDeadlock,
  TimeoutError,
} from '../../runtime/errors.js';
import { afterInterrupt } from '../../runtime/interrupts.js';
import { WAIT_FAILED } from '../../runtime/numbers.js';
import { countdown } from '../../runtime/parking.js';
import { closed, newPromise, type Resolve, type Run, resolveOfNew } from '../../runtime/promises.js';
import { Semaphore } from '../../semaphore/semaphore.js';
import {
  type GuardedLock,
  type HeldRead,
  type HeldUpdate,
  type HeldWrite,
  lockOf,
  ReadGuard,
  UpdateGuard,
  WriteGuard,
} from '../held-rw.js';
import {
  address,
  answerAt,
  block,
  checkBlocking,
  checkEnded,
  type Ended,
  functions,
  holders,
  lastAnswer,
  look,
  ownAttachment,
  PhaseObject,
  phaseSeen,
  type SyncOptions,
  sleep,
  sleepAsync,
  state,
  uncountBlocked,
} from '../phase-object.js';
import {
  DRAINS,
  type Drained,
  guardedBy,
  HAS_TURN,
  isGateShut,
  NO_TURN,
  NOTHING,
  READING,
  type Side,
  sideOf,
  TURNING,
  type Turn,
  WRITES,
} from './side.js';
import type { ReadOptions, RwLockHandle, RwLockState, RwLockWaiter } from './types.js';

const KIND = 'RwLock';

const DEFINITION: Definition<typeof KIND, [SyncOptions]> = {
  kind: KIND,
  number: KIND_RW_LOCK,
  properties,
};
/** @internal */
const sideOfLock = Symbol();

const WITHOUT_BLOCKING = 'lockWriteAsync, writeAsync, updateAsync or tryLockWrite';

export interface RwLock extends RwLockGuards<HeldRead, HeldWrite, ReadOptions> {}

/**
 * A lock for many readers or one writer. The lock is phase-fair: a reader waits for one writer at most, however many
 * writers queue. Writers are first come, first served. A reader waits for a writer that is in, and for a writer that
 * waits until the present readers have left. Blocked threads and promises wait together.
 *
 * Threads hold the lock, and not tasks or guards. A thread that reads may lock for reading again by a call that blocks,
 * even while a writer waits, and the writer then waits for that reading too. So a thread must not let such readings
 * overlap for ever. When a thread ends or dies (`Arena.watch`) as a reader, its reading ends too. When a thread dies as
 * a writer, the threads that lock later learn of its death (`onOwnerDied`). A thread reads at most 8 locks at a time.
 *
 * Source: the phases are those of PF-T in Brandenburg and Anderson, Spin-Based Reader-Writer Synchronization for
 * Multiprocessor Real-Time Systems (2010). Each reader shows in a seat of its own that it reads (visible readers), as
 * in Dice and Kogan, BRAVO (2019). The algorithm is in core/kinds/rw-lock/rw-lock.ts.
 *
 * @example
 * ```ts
 * import { RwLock } from 'taketurns/sync';
 *
 * const lock = RwLock.open('table'); // by its name: one lock in all threads
 * {
 *   using held = lock.read(); // beside other readers; or lockRead and unlockRead
 * }
 * await using held = await lock.writeAsync({ timeout: 50 }); // alone; or write, which blocks
 * ```
 */
export class RwLock extends PhaseObject<typeof KIND> implements RwLockGuards<HeldRead, HeldWrite, ReadOptions> {
  /** @internal Tests look at it. */
  readonly [sideOfLock]: Side = sideOf(this[reference]);
  readonly #core = this[reference].membership.core;
  readonly #shared = this[reference].shared;
  /** The queue of the turn: a robust semaphore of one permit, in the words of the lock's shared object. */
  readonly #turn = new Semaphore(1, this[reference]);
  /** Ends the wait of a promise for the readers to leave, with an answer. Undefined if no promise waits so. */
  #stopDraining: ((answer: Drained) => void) | undefined;
  /** What the guards of this library object call. */
  readonly #guarded: GuardedLock = {
    endRead: () => this.#unlockReading(),
    endWrite: () => this.#unlockWriting(),
    endUpdate: () => this.#endUpdate(),
    downgrade: () => this.#downgrade(),
    downgradeToUpdate: () => this.#downgradeToUpdate(),
    downgradeUpdate: () => this.#downgradeUpdate(),
    upgrade: (options) => this.#upgrade(options),
    upgradeAsync: (options) => this.#upgradeAsync(options),
  };
  readonly #recoverAfterInterrupt = afterInterrupt(() => {
    if (!this[isOver]) this.#recover();
  });
  /** Says, for a TimeoutError, what a call has waited for. */
  readonly #wanted = (): string => `${this[described]()} (${this[state]})`;

  /**
   * Is called with the number of deaths when a thread has died as a writer. The data that the lock guards may then be
   * half-written. So each thread that locks is told before its call returns, until another writer has written and
   * unlocked. If a thread has died in `update`, the next thread that has the turn is told as well. The death of a
   * reader does no harm, and nobody is told.
   *
   * When the callback runs, its thread already has the lock, and the callback may call the lock. If the callback
   * throws, the lock is unlocked, and the call that locked it throws (or rejects with) the same error. If the callback
   * unlocks what the call has locked, the call throws an `Error`.
   */
  onOwnerDied: ((deaths: number) => void) | undefined;

  /**
   * @throws {RangeError | TypeError} for a bad option.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(options: SyncOptions = {}) {
    super(KIND, make(DEFINITION, options));
    this.#turn.onOwnerDied = (deaths) => {
      this[sideOfLock].deaths += deaths;
    };
    guardedBy.set(this.#guarded, this[sideOfLock]);
  }

  /**
   * Attaches to the lock of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a RwLock.
   * @throws {DisposedError} if the lock has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const lock = RwLock.from(workerData.lock); // its `handle`, sent by the other thread
   */
  static from(handle: RwLockHandle): RwLock {
    return new RwLock(find(DEFINITION, handle));
  }

  /**
   * Opens the lock of this name, and makes it if there is none. Never blocks.
   * @param name 1 to 116 bytes of UTF-8, well-formed.
   * @throws {RangeError | TypeError} for a bad name or option, or if the name belongs to another kind of object.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment.
   * @example const lock = RwLock.open('table');
   */
  static open(name: string, options: SyncOptions = {}): RwLock {
    return new RwLock(open(DEFINITION, name, options));
  }

  // --- Reading ---------------------------------------------------------------------------------------------

  /**
   * Locks for reading, and blocks the thread until no writer is in. A thread that reads already is let in at once, even
   * while a writer waits: otherwise the thread would wait for itself. The writer then waits for this reading too. The
   * call returns no guard. If it stands after `using` by mistake, `using` throws a TypeError, and the thread goes on
   * reading. `read` returns a guard.
   * @param options a time-out and a signal; without them the call may take for ever.
   * @throws {TimeoutError} when the time-out has passed. The thread does not read.
   * @throws the reason of a signal that is aborted already.
   * @throws {SelfDeadlockError} if this thread or a promise of it writes, or waits until readers have left: the thread
   * would wait for itself.
   * @throws {RangeError | TypeError} for a bad time-out or signal.
   * @throws {ArenaFullError} if the thread reads 8 other locks.
   * @throws the error that `onOwnerDied` throws; then the thread does not read.
   * @throws {TypeError} on a thread that must not block, such as a browser's main thread, if it would have to.
   * @throws {DisposedError} if the lock has been or is being disposed of.
   * @example lock.lockRead({ timeout: 50 });
   */
  lockRead(options?: WaitOptions): void {
    const side = this[sideOfLock];
    // The thread neither reads, waits, writes nor drains, and no call of the thread is changing that.
    if (options === undefined && (side.reads | side.waits | side.acts) === 0 && side.turn < DRAINS) {
      side.open(READING);
      const answer = side.beginRead(side.at, side.seat);
      if (answer === 0) {
        side.begun(false, this);
        side.close(undefined);
      } else if (this.#beginReading(Infinity, false, answer)) this.#tellReader();
    } else this.#lockReading('lockRead', options, false);
    // biome-ignore lint/correctness/noVoidTypeReturn: to the types it is nothing, and `using` it throws.
    return NO_READING;
  }

  /**
   * Locks for reading, unless a writer is in or waits until readers have left. This holds for a thread that reads
   * already, too. Never blocks.
   * @returns whether the thread has locked.
   * @throws {ArenaFullError} if the thread reads 8 other locks.
   * @throws the error that `onOwnerDied` throws; then the thread does not read.
   * @throws {DisposedError} if the lock has been disposed of.
   * @example if (lock.tryLockRead()) lock.unlockRead();
   */
  tryLockRead(): boolean {
    return this.#lockReading('', undefined, true) !== undefined;
  }

  /**
   * As `lockRead`, without blocking the thread. A promise waits for a writer even if its thread reads already, unless
   * the option `within` names a guard.
   * @returns a promise. It rejects with the errors of `lockRead`, and with the reason of the signal when the signal is
   * aborted.
   * @example await lock.lockReadAsync({ signal });
   */
  async lockReadAsync(options?: ReadOptions): Promise<void> {
    await this.#lockReadingAsync('lockReadAsync', options);
  }

  /**
   * Ends one reading of this thread. If no reading of this thread is left, wakes the writer that waits for the readers.
   * Never blocks. On a disposed lock the call does nothing.
   * @throws {Error} if this thread does not read.
   * @example lock.unlockRead();
   */
  unlockRead(): void {
    this.#unlockReading();
  }

  #unlockReading(): void {
    const side = this[sideOfLock];
    if (side.acts !== NOTHING) this.#recover();
    if (side.reads === 1) side.endRead();
    else if (side.reads > 1) side.reads--;
    else if (!this.#isGone()) throw new Error(`${KIND}.unlockRead: this thread does not read ${this[described]()}`);
  }

  /**
   * As `lockRead`, but it returns a guard that unlocks: `using held = lock.read()`. Blocks the thread as `lockRead`
   * does, and throws what `lockRead` throws.
   */
  read(options?: WaitOptions): HeldRead {
    const guard = new ReadGuard(this.#guarded, false);
    return noted(guard, this.#lockReading('read', options, false) as boolean);
  }

  async readAsync(options?: ReadOptions): Promise<HeldRead> {
    return new ReadGuard(this.#guarded, await this.#lockReadingAsync('readAsync', options));
  }

  tryRead(): HeldRead | undefined {
    const guard = new ReadGuard(this.#guarded, false);
    const died = this.#lockReading('', undefined, true);
    return died === undefined ? undefined : noted(guard, died);
  }

  /**
   * Locks for reading, and blocks the thread until no writer is in. Returns whether a writer has died, after
   * onOwnerDied has been told. Returns undefined if the call only `tries` and a writer is in.
   */
  #lockReading(method: string, options: WaitOptions | undefined, tries: boolean): boolean | undefined {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.${method}`, options);
    const side = this.#readySide();
    // A call that waited here would wait for itself: the writer waits for this thread. A call that tries does not wait.
    if (side.reads > 0) return tries && isGateShut(this[functions], this[address]) ? undefined : this.#readAgain();
    if (side.turn >= DRAINS && !tries) throw this.#readsItself(method);
    const died = this.#beginReading(timeout, tries);
    // #tellReader makes closures, so it is called only if there is a death to tell.
    return died && this.#tellReader();
  }

  #readsItself(method: string): Error {
    return selfDeadlock(
      `${KIND}.${method}`,
      `this thread writes ${this[described]()}, or a promise of it writes or waits until readers have left`,
      'a writer may read what the lock guards without a second lock, and goes on as a reader by downgrade of its guard',
      `${method}Async()`,
    );
  }

  /**
   * A section: the rest of #lockReading for a thread that does not read. Returns whether a writer has died. Returns
   * undefined if the call only `tries` and a writer is in.
   * @param answer the answer of beginRead, if the caller has called it.
   */
  #beginReading(timeout: number, tries: boolean, answer?: ReturnType<Sync['beginRead']>): boolean | undefined {
    const side = this[sideOfLock];
    const before = side.open(READING);
    try {
      const waits = side.waits > 0;
      // A disposed lock has no seat, and `begin` would look for one.
      const result = this[isOver] ? ANSWER_CLOSED : waits ? QUEUED : side.begin(tries, answer);
      if (result === ANSWER_CLOSED) throw this[disposedError]();
      if (result === REFUSED || (result === QUEUED && tries)) return side.close(undefined);
      result satisfies ADMITTED | OWNER_DIED | QUEUED;
      const died =
        result === QUEUED ? this.#awaitPhase(waits ? side.phase : this[phaseSeen], timeout) : result === OWNER_DIED;
      side.begun(died, this);
      return side.close(died);
    } catch (error) {
      throw this.#failed(error, before);
    }
  }

  /**
   * Blocks until the phase is over. Then this call and the promises that have waited read. Returns whether a writer has
   * died.
   */
  #awaitPhase(phase: number, timeout: number): boolean {
    let answer: Ended;
    if (timeout > 0) {
      this[checkBlocking]('lockReadAsync, readAsync or tryLockRead');
      this.#expectInterrupt();
      answer = this[sleep](phase, countdown(timeout));
    } else answer = this[lastAnswer](phase);
    this[checkEnded](answer, this.#wanted, timeout);
    return this[sideOfLock].endWait();
  }

  /** Locks for reading without blocking the thread. Tells whether a writer has died, as #lockReading. */
  async #lockReadingAsync(method: string, options: ReadOptions | undefined): Promise<boolean> {
    const what = `${KIND}.${method}`;
    const timeout = options === undefined ? Infinity : checkWaitOptions(what, options, ['timeout', 'signal', 'within']);
    const { within, signal } = options ?? {};
    const side = this.#readySide();
    if (within !== undefined) {
      this.#checkWithin(what, within);
      return this.#readAgain();
    }
    checkWaitAsync();
    if (side.waits === 0) {
      const isTold = side.reads > 0 && side.died && side.told;
      const reads = this.#section(READING, () => {
        const answer = side.reads > 0 ? side.readToo() : side.begin(false);
        if (answer === ANSWER_CLOSED) throw this[disposedError]();
        if (answer === QUEUED) side.wait(this[phaseSeen]);
        else side.begun(answer === OWNER_DIED, this);
        return answer !== QUEUED;
      });
      // If a callback locks for reading itself, the callback is not called again.
      if (reads) return isTold || (side.died && this.#tellReader());
    } else side.waits++;
    const { phase } = side;
    let hasLeft = false;
    // Is called when this promise gives up. The promise leaves at once, so that no other code of the thread counts it
    // among the promises that become readers.
    const leave = (): Ended => {
      if (hasLeft) return CANCELLED;
      hasLeft = true;
      const answer = this[lastAnswer](phase);
      if (answer !== ADMITTED) {
        side.waits--;
        side.leave();
      }
      return answer;
    };
    try {
      this[checkEnded](
        timeout === 0 ? leave() : await this[sleepAsync](phase, timeout, signal, leave),
        this.#wanted,
        timeout,
      );
    } catch (error) {
      if (hasLeft || this[isOver]) throw error;
      // The stack was exhausted before the promise could wait. It no longer is after an await.
      await undefined;
      if (!this[isOver] && leave() === ADMITTED) {
        this.#settleReaders();
        this.#unlockReading();
      }
      throw error;
    }
    this.#settleReaders();
    return side.died && this.#tellReader();
  }

  #checkWithin(what: string, within: HeldRead): void {
    const lock = (within as Partial<HeldRead> | null)?.[lockOf];
    // The guard may be of another copy of the library. `unlockRead` may have ended the reading without the guard.
    const reads = within?.[Symbol.toStringTag] === 'HeldRead' && this[sideOfLock].reads > 0;
    if (!reads || lock === undefined || guardedBy.get(lock) !== this[sideOfLock])
      throw bad('type', `${what}: within`, 'a HeldRead of this lock that is held', within);
  }

  /** If the phase is over, makes the promises of this thread that wait for its end readers. */
  #settleReaders(): void {
    const side = this[sideOfLock];
    if (side.waits === 0 || this[address] === CLOSED_OBJECT || this[answerAt](side.at, side.phase) !== ADMITTED) return;
    side.endWait();
    side.keeps = this;
  }

  /** One more call of a reading thread reads. Tells of a death, unless an earlier call has been told of the same. */
  #readAgain(): boolean {
    const side = this[sideOfLock];
    side.reads++;
    return side.died && (side.told || this.#tellReader());
  }

  /** Tells the callback that a writer has died. If the callback fails, the newest reading ends. */
  #tellReader(): true {
    const side = this[sideOfLock];
    const { reads } = side;
    side.told = true;
    return this.#tellDeaths(
      Math.max(this[functions].unreportedDeaths(this[address]), 1),
      () => side.reads >= reads,
      () => {
        side.told = false;
        this.#unlockReading();
      },
    );
  }

  // --- Writing ---------------------------------------------------------------------------------------------

  /**
   * Locks for writing: blocks the thread until it has the turn, lets no more readers in, and blocks until the readers
   * have left. The call returns no guard. If it stands after `using` by mistake, `using` throws a TypeError, and the
   * thread stays the writer. `write` returns a guard.
   * @param options a time-out and a signal; without them the call may take for ever.
   * @throws {TimeoutError} when the time-out has passed. Readers are let in again, and the next writer gets the turn.
   * @throws the reason of a signal that is aborted already.
   * @throws {SelfDeadlockError} if this thread or a promise of it reads, writes or waits: the thread would wait for
   * itself.
   * @throws {RangeError | TypeError} for a bad time-out or signal.
   * @throws {ArenaFullError} if the call has a time-out and must wait, and the arena has no room for what a cancelled
   * request leaves in the queue.
   * @throws the error that `onOwnerDied` throws; then the lock is free again.
   * @throws {TypeError} on a thread that must not block, such as a browser's main thread, if it would have to.
   * @throws {DisposedError} if the lock has been or is being disposed of.
   * @example lock.lockWrite({ timeout: 50 });
   */
  lockWrite(options?: WaitOptions): void {
    const timeout = this.#checkWriting('lockWrite', options);
    this.#tellWriter(this.#lockWriting(timeout, true));
    // biome-ignore lint/correctness/noVoidTypeReturn: to the types it is nothing, and `using` it throws.
    return NO_WRITING;
  }

  /**
   * Locks for writing if no thread reads, writes or waits to write. Never blocks.
   * @returns whether the call has locked; false also if this thread has the lock already.
   * @throws the error that `onOwnerDied` throws; then the lock is free again.
   * @throws {DisposedError} if the lock has been disposed of.
   * @example if (lock.tryLockWrite()) lock.unlockWrite();
   */
  tryLockWrite(): boolean {
    return this.#tryLockWriting() !== undefined;
  }

  /**
   * As `lockWrite`, without blocking the thread. Tasks of one thread exclude one another as threads do.
   * @returns a promise. It rejects with the errors of `lockWrite`, and with the reason of the signal when the signal is
   * aborted. If the thread itself reads, the promise waits until the thread has unlocked.
   * @example await lock.lockWriteAsync({ signal });
   */
  async lockWriteAsync(options?: WaitOptions): Promise<void> {
    await this.#lockWritingAsync('lockWriteAsync', options, true);
  }

  /**
   * Ends the writing: lets readers in, and gives the turn to the next writer. Never blocks. On a disposed lock the call
   * does nothing.
   * @throws {Error} if this thread does not write.
   * @example lock.unlockWrite();
   */
  unlockWrite(): void {
    this.#unlockWriting();
  }

  #unlockWriting(): void {
    const side = this[sideOfLock];
    if (side.acts !== NOTHING) this.#recover();
    if (side.turn === WRITES) this.#endTurn(false);
    else if (!this.#isGone()) throw new Error(`${KIND}.unlockWrite: this thread does not write ${this[described]()}`);
  }

  /**
   * As `lockWrite`, but it returns a guard that unlocks: `using held = lock.write()`. Blocks the thread as `lockWrite`
   * does, and throws what `lockWrite` throws.
   */
  write(options?: WaitOptions): HeldWrite {
    const timeout = this.#checkWriting('write', options);
    const guard = new WriteGuard(this.#guarded, false);
    return noted(guard, this.#tellWriter(this.#lockWriting(timeout, true)));
  }

  async writeAsync(options?: WaitOptions): Promise<HeldWrite> {
    return new WriteGuard(this.#guarded, await this.#lockWritingAsync('writeAsync', options, true));
  }

  tryWrite(): HeldWrite | undefined {
    const guard = new WriteGuard(this.#guarded, false);
    const died = this.#tryLockWriting();
    return died === undefined ? undefined : noted(guard, died);
  }

  /**
   * Blocks the thread until it has the writers' turn. Readers are still let in. No other thread writes during the turn,
   * so the data that this thread reads stay as they are. The thread may become a writer (`HeldUpdate.upgrade`).
   *
   * Use `update` to read and then perhaps write. If two threads read and then both wanted to write, they would wait for
   * each other. With `update` they do not, because only one of them has the turn.
   * @throws as `lockWrite`.
   * @example using held = lock.update({ timeout: 50 });
   */
  update(options?: WaitOptions): HeldUpdate {
    const timeout = this.#checkWriting('update', options);
    const guard = new UpdateGuard(this.#guarded, false);
    return noted(guard, this.#tellWriter(this.#lockWriting(timeout, false)));
  }

  /**
   * As `update`, without blocking the thread. The promise rejects with what `update` throws.
   * @example await using held = await lock.updateAsync();
   */
  async updateAsync(options?: WaitOptions): Promise<HeldUpdate> {
    return new UpdateGuard(this.#guarded, await this.#lockWritingAsync('updateAsync', options, false));
  }

  /** Checks the options of a call that is about to lock for writing, and that it would not wait for itself. */
  #checkWriting(method: string, options: WaitOptions | undefined): number {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.${method}`, options);
    if (this.#readySide().isBusy) throw this.#writesItself(method);
    return timeout;
  }

  /**
   * A section: blocks the thread until it has the turn and, if it `writes`, until it is a writer. Returns the number of
   * deaths to tell. The caller makes its guard before the section. If the stack were exhausted after it, nobody would
   * give back what the section has taken.
   */
  #lockWriting(timeout: number, writes: boolean): number {
    const side = this[sideOfLock];
    const before = side.open(TURNING);
    try {
      const left = countdown(timeout);
      this.#takeTurn(timeout);
      if (writes) this.#becomeWriter(left, timeout, WITHOUT_BLOCKING);
      return side.close(this.#deaths());
    } catch (error) {
      throw this.#failed(error, before);
    }
  }

  #takeTurn(timeout: number): void {
    const queue = this.#turn;
    try {
      if (!queue.tryAcquire()) {
        if (timeout === 0) throw timedOut(this.#wanted(), timeout);
        this[checkBlocking](WITHOUT_BLOCKING);
        this.#expectInterrupt();
        queue.acquire({ timeout });
      }
    } catch (error) {
      if (error instanceof DisposedError) throw this[disposedError]();
      throw error instanceof TimeoutError ? timedOut(this.#wanted(), timeout) : error;
    }
    this[sideOfLock].takeTurn(this);
  }

  #writesItself(method: string): Error {
    return selfDeadlock(
      `${KIND}.${method}`,
      `this thread or a promise of it reads, writes or waits for ${this[described]()} already`,
      'code that has the lock must unlock first; to read and then perhaps write, use update and then upgrade',
      `${method}Async()`,
    );
  }

  /**
   * Gives the turn back when the thread has written nothing. The next owner of the turn is told of the deaths
   * of which this thread has learned.
   */
  #giveTurnBack(): void {
    const side = this[sideOfLock];
    const { deaths } = side;
    side.deaths = 0;
    if (deaths > 0 && !this[isOver]) this.#core.restoreOwnerDeaths(this[address], deaths);
    if (side.turn !== NO_TURN) this.#endTurn(true);
  }

  /** The number of deaths to tell to the callback of a thread that has the turn. */
  #deaths(): number {
    // The gate also says that a writer has died: an update may have learned of the death and then not have written.
    return this[sideOfLock].deaths || this[functions].hasDied(this[address]);
  }

  /** Tells the callback of deaths, if there are any. Returns whether there are. The thread writes or updates. */
  #tellWriter(deaths: number): boolean {
    return deaths !== 0 && this.#tellTurn(deaths);
  }

  #tellTurn(told: number): true {
    const side = this[sideOfLock];
    const { turn, deaths } = side;
    side.deaths = 0;
    return this.#tellDeaths(
      told,
      () => side.turn === turn,
      () => {
        side.deaths = deaths;
        this.#giveTurnBack();
      },
    );
  }

  /** In a section: lets no more readers in, and blocks until all readers have left. */
  #becomeWriter(left: () => number, timeout: number, instead: string): void {
    const side = this[sideOfLock];
    let answer: Drained | QUEUED = side.shut();
    if (answer === QUEUED) {
      if (timeout > 0) this[checkBlocking](instead);
      answer = this.#drain(this[phaseSeen], left);
    }
    side.drained(answer);
    this[checkEnded](answer, this.#wanted, timeout);
  }

  #drain(phase: number, left: () => number): Drained {
    this.#expectInterrupt();
    return this[block](
      left,
      (nanoseconds) => this[functions].drainReaders(this[address], phase, nanoseconds),
      (answer) => (answer === TIMED_OUT ? CANCELLED : answer),
    );
  }

  /** Does the same as #lockWriting, without blocking the thread. */
  async #lockWritingAsync(method: string, options: WaitOptions | undefined, writes: boolean): Promise<boolean> {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.${method}`, options);
    const { signal } = options ?? {};
    checkWaitAsync();
    // Usually the lock is free, and nothing has to be made for a wait.
    const died = writes ? this.#tryLockWriting() : undefined;
    if (died !== undefined) return died;
    const isImpatient = signal !== undefined || timeout !== Infinity;
    const left = countdown(timeout);
    const { attachment, promises } = this.#shared;
    let alone: Run | undefined;
    // `cancelOn` may run code of the signal, so it comes before the request is queued.
    const stop = cancelOn(timeout, signal, (reason) => alone && promises.cancel(alone, reason), this.#wanted);
    try {
      const side = this.#readySide();
      const core = this.#core;
      let waited: Promise<void> | undefined;
      const queueUp = (): number => {
        waited = newPromise<void>();
        const settle = this.#settling(resolveOfNew(), writes, timeout);
        if (isImpatient) alone = promises.alone(settle);
        return promises.arrive(this, this[address], 1, settle, alone);
      };
      // If another call of the thread has the turn, this section does not give that turn back.
      const answer = this.#section(side.turn === NO_TURN ? TURNING : NOTHING, () => {
        let answer: number = promises.first === 0 ? core.tryAcquireRobust(this[address], 1, attachment) : REFUSED;
        if (answer === REFUSED) answer = queueUp();
        if (answer === ADMITTED) this.#turnCame(writes, timeout);
        return answer;
      });
      if (answer < ADMITTED) throw answer === ANSWER_CLOSED ? this[disposedError]() : noRoom(core);
      if (alone && timeout === 0) promises.cancel(alone, () => timedOut(this.#wanted(), timeout));
      await (answer === ADMITTED || waited);
    } catch (error) {
      return locate(error instanceof DisposedError && this[isOver] ? this[disposedError]() : error);
    } finally {
      stop();
    }
    if (writes) {
      try {
        // Usually no reader is in.
        const answer = this.#shut();
        const drained = answer === QUEUED ? await this.#drainedAsync(left, timeout, signal) : answer;
        this[checkEnded](drained, this.#wanted, timeout);
      } catch (error) {
        this.#giveTurnBack();
        throw error;
      }
    }
    return this.#tellWriter(this.#deaths());
  }

  /**
   * Returns what settles a promise that waits for the turn. It may be called again, if an exception has ended a call.
   */
  #settling(resolve: (refusal?: Promise<never>) => void, writes: boolean, timeout: number): Resolve {
    let isDue = false;
    return (refusal) => {
      if (refusal === undefined) {
        if (!isDue) this.#turnCame(writes, timeout);
        // The open section may be that of another call of this thread, which has given its turn back by now.
        this[sideOfLock].tell();
      }
      isDue = true;
      resolve(refusal);
    };
  }

  /** A promise has the turn. A writer shuts the gate at once, so no reader that comes later goes before it. */
  #turnCame(writes: boolean, timeout: number): void {
    const side = this[sideOfLock];
    side.takeTurn(this);
    side.deaths += this.#core.ownersDied(this[address]);
    if (writes && side.shut() === QUEUED && timeout === 0) side.drained(CANCELLED);
  }

  /** Lets no more readers in. After QUEUED some have not left yet; otherwise the wait for them is over. */
  #shut(): Drained | QUEUED {
    const side = this[sideOfLock];
    this.#recover();
    return this.#section(TURNING, () => {
      const answer = side.shut();
      if (answer !== QUEUED) side.drained(answer);
      return answer;
    });
  }

  /** The gate is shut. Waits until all readers have left, and ends the wait. */
  async #drainedAsync(left: () => number, timeout: number, signal: Signal | undefined): Promise<Drained> {
    const side = this[sideOfLock];
    // The code of the signal may read the phase of another object.
    const phase = this[phaseSeen];
    let answer: Drained = CANCELLED;
    try {
      if (signal?.aborted) throw reasonOf(signal);
      if (timeout > 0) answer = await this.#drainAsync(phase, Math.max(left(), 0), signal);
    } finally {
      this.#recover();
      this.#section(TURNING, () => side.drained(answer));
    }
    return answer;
  }

  /**
   * As #drain, without blocking the thread. A thread has at most one such promise for each lock, and nobody else waits
   * on the word that the promise listens to. So a notify may end the `Atomics.waitAsync`, and no group is needed
   * (phase-object.ts).
   */
  #drainAsync(phase: number, timeout: number, signal: Signal | undefined): Promise<Drained> {
    const at = this[address];
    const attachment = this[ownAttachment];
    const sync = this[functions];
    const words = new Int32Array(this[reference].membership.memory.buffer);
    const index = (at >> 2) + DRAIN_INDEX;
    return new Promise((resolve, reject) => {
      let hasEnded = false;
      const settle = (answer: Drained): void => {
        if (hasEnded) return;
        hasEnded = true;
        this.#stopDraining = undefined;
        stop();
        host.keepAlive(false);
        if (!this[isOver]) sync.waitsEnd(attachment, 1, answer === ADMITTED ? 0 : WAIT_FAILED);
        // A pending waitAsync would keep the memory alive. It cannot be cancelled, but a notify ends it.
        Atomics.notify(words, index);
        if (answer === CANCELLED) this[sideOfLock].drained(answer);
        resolve(answer);
      };
      const look = (): void => {
        while (!hasEnded) {
          const answer = sync.announceDrain(at, phase);
          if (answer !== QUEUED) {
            settle(answer);
            return;
          }
          const wait = waitAsync(words, index, sync.drainSeen.value);
          if (!wait.async) continue;
          wait.value.then(look);
          return;
        }
      };
      const stop = cancelOn(
        timeout,
        signal,
        (late) => {
          const reason = late();
          if (!isTimeout(reason, signal)) reject(reason);
          settle(CANCELLED);
        },
        this.#wanted,
      );
      // The code of the signal may have disposed of the lock. Then its memory may be that of another object.
      if (this[isOver]) {
        hasEnded = true;
        stop();
        resolve(ANSWER_CLOSED);
        return;
      }
      this.#stopDraining = settle;
      sync.waitsBegin(attachment, 1, timestamp());
      host.keepAlive(true);
      look();
    });
  }

  /** Becomes a writer without waiting. Returns whether a writer has died, or undefined if that cannot be. */
  #tryLockWriting(): boolean | undefined {
    const side = this.#readySide();
    const at = this[address];
    const sync = this[functions];
    if (side.isBusy) return undefined;
    const before = side.open(TURNING);
    let deaths: number | undefined;
    try {
      let answer: Drained | QUEUED | REFUSED = this.#core.tryAcquireRobust(at, 1, this.#shared.attachment);
      if (answer === ADMITTED) {
        side.takeTurn(this);
        side.deaths += this.#core.ownersDied(at);
        // The thread has the turn, so the gate is open, and the stamp is the number of the phase and 1 more. The thread
        // shuts the gate only if no reader is in.
        const stamp = sync.stampOf(at);
        answer = stamp === ANSWER_CLOSED || sync.isDrained(at, stamp - 1) ? side.shut() : QUEUED;
        side.drained(answer);
        if (answer !== ADMITTED) this.#giveTurnBack();
      }
      if (answer === ANSWER_CLOSED) throw this[disposedError]();
      deaths = side.close(answer === ADMITTED ? this.#deaths() : undefined);
    } catch (error) {
      throw this.#failed(error, before);
    }
    return deaths === undefined ? undefined : this.#tellWriter(deaths);
  }

  /** Opens the gate if it is shut, and gives the turn back. See Side.endTurn for `keepsDied`. */
  #endTurn(keepsDied: boolean): void {
    this[sideOfLock].endTurn(this, this.#turn, keepsDied);
  }

  // --- What the guards do ------------------------------------------------------------------------------------

  #endUpdate(): void {
    const side = this[sideOfLock];
    if (side.acts !== NOTHING) this.#recover();
    if (side.turn === HAS_TURN) this.#endTurn(true);
    else if (!this.#isGone())
      throw new Error(`HeldUpdate.unlock: this thread does not have the turn of ${this[described]()}`);
  }

  #upgrade(options: WaitOptions | undefined): HeldWrite {
    const timeout = options === undefined ? Infinity : checkWaitOptions('HeldUpdate.upgrade', options);
    const side = this.#readySide();
    if (side.reads > 0 || side.waits > 0) {
      const call = 'HeldUpdate.upgrade';
      const why = `this thread or a promise of it reads ${this[described]()} too, or waits to`;
      throw selfDeadlock(call, why, 'code that reads too must unlock that first', 'upgradeAsync()');
    }
    return this.#section(TURNING, () => {
      this.#becomeWriter(countdown(timeout), timeout, 'upgradeAsync');
      return new WriteGuard(this.#guarded, this[functions].hasDied(this[address]) !== 0);
    });
  }

  async #upgradeAsync(options: WaitOptions | undefined): Promise<HeldWrite> {
    const timeout = options === undefined ? Infinity : checkWaitOptions('HeldUpdate.upgradeAsync', options);
    this.#readySide();
    const left = countdown(timeout);
    const answer = this.#shut();
    const drained = answer === QUEUED ? await this.#drainedAsync(left, timeout, options?.signal) : answer;
    this[checkEnded](drained, this.#wanted, timeout);
    return new WriteGuard(this.#guarded, this[functions].hasDied(this[address]) !== 0);
  }

  #downgrade(): HeldRead {
    const side = this.#readySide();
    if (side.turn !== WRITES) throw new Error(`HeldWrite.downgrade: this thread does not write ${this[described]()}`);
    const guard = new ReadGuard(this.#guarded, false);
    this.#section(READING | TURNING, () => {
      side.readOn();
      this.#endTurn(false);
    });
    this.#settleReaders();
    return guard;
  }

  #downgradeToUpdate(): HeldUpdate {
    const side = this.#readySide();
    if (side.turn !== WRITES)
      throw new Error(`HeldWrite.downgradeToUpdate: this thread does not write ${this[described]()}`);
    const guard = new UpdateGuard(this.#guarded, false);
    side.openOn();
    this.#settleReaders();
    return guard;
  }

  #downgradeUpdate(): HeldRead {
    const side = this.#readySide();
    if (side.turn !== HAS_TURN)
      throw new Error(`HeldUpdate.downgrade: this thread does not have the turn of ${this[described]()}`);
    return this.#section(READING | TURNING, () => {
      // The gate is open, because this thread has the turn and does not write.
      const answer = side.reads > 0 ? ADMITTED : side.begin(false);
      if (answer === ANSWER_CLOSED) throw this[disposedError]();
      side.begun(side.reads > 0 ? side.died : answer === OWNER_DIED, this);
      this.#endTurn(true);
      return new ReadGuard(this.#guarded, side.died);
    });
  }

  // --- Stamps ----------------------------------------------------------------------------------------------

  /**
   * Returns a number for `valid`, for a read without a lock: call `stamp`, read the data, and then call `valid`. If
   * `valid` answers false, read again from the start. No writer waits for such a read, so the data may be half-written.
   * Do not rely on the data until `valid` has answered true. Never blocks.
   *
   * @returns a number from 1 to 2 ** 29; 0 while a writer is in or waits until readers have left.
   * @throws {DisposedError} if the lock has been disposed of.
   *
   * @example
   * ```ts
   * import { RwLock } from 'taketurns/sync';
   *
   * const lock = new RwLock();
   * const point = new Int32Array(new SharedArrayBuffer(8)); // a writer changes both words
   * let [x, y, stamp] = [0, 0, 0];
   * do {
   *   stamp = lock.stamp();
   *   [x, y] = [Atomics.load(point, 0), Atomics.load(point, 1)];
   * } while (!lock.valid(stamp));
   * console.log(x, y);
   * ```
   */
  stamp(): number {
    const stamp = this[functions].stampOf(this[address]);
    if (stamp === ANSWER_CLOSED) throw this[disposedError]();
    return stamp;
  }

  /**
   * Whether nobody has written since `stamp` returned this number. A writer that has shut readers out and then given up
   * counts as if it had written. After exactly 2 ** 29 writers the numbers begin again. Never blocks.
   * @param stamp 0 to 2 ** 29, as `stamp` has answered.
   * @returns false for 0, and on a disposed lock.
   * @throws {RangeError | TypeError} for a number that is no stamp.
   * @example while (!lock.valid(stamp)) stamp = readAgain();
   */
  valid(stamp: number): boolean {
    checkInteger(`${KIND}.valid: stamp`, stamp, 0, 2 ** 29);
    return stamp !== NO_STAMP && this[functions].isStamp(this[address], stamp) !== 0;
  }

  // --- Diagnostics -------------------------------------------------------------------------------------------

  /** The number of threads that read. The number may be out of date at once, and is meant for diagnostics. */
  get readers(): number {
    return this.#readers().length;
  }

  /**
   * Whether a writer is in, or waits until the readers have left. The answer may be out of date at once, and is meant
   * for diagnostics.
   */
  get writing(): boolean {
    return this.#isShut;
  }

  get #isShut(): boolean {
    return isGateShut(this[functions], this[address]);
  }

  #readers(): number[] {
    const found: number[] = [];
    if (this[isOver]) return found;
    const most = this[reference].membership.core.mostThreads();
    for (let thread = 1; thread <= most; thread++)
      if (this[functions].readsBy(this[address], thread)) found.push(thread);
    return found;
  }

  /** The thread that has the writers' turn, 0 if none has it. */
  #writer(): number {
    return this[holders]()[0]?.thread ?? 0;
  }

  /**
   * Tells which threads read, have the turn or wait, for diagnostics. Never blocks, throws nothing.
   * @example console.log(lock.inspect().waiters);
   */
  inspect(): RwLockState {
    const writer = this.#writer() || undefined;
    const found = this[look]();
    const waiters = found.waitersOf(this[address], Infinity).map(({ thread, requests, waited, isOutside }) => {
      const wants = !isOutside ? 'write' : thread === writer ? 'drain' : 'read';
      return { thread, threadId: found.view.threadId(thread), calls: requests, waited, wants } satisfies RwLockWaiter;
    });
    return {
      readers: this.#readers(),
      writer,
      writing: this.#isShut,
      deaths: this[functions].deathsOf(this[address]),
      waiters,
    };
  }

  /** @internal */
  protected override get [state](): string {
    if (!this.#isShut) {
      const readers = this.#readers().length;
      return `${readers} reader${readers === 1 ? '' : 's'}`;
    }
    const writer = this.#writer();
    return writer === 0 ? 'writing' : `writing by ${threadText(this[reference].membership.core, writer)}`;
  }

  // --- What both have in common --------------------------------------------------------------------------------

  /**
   * Runs a section: the part of a call that changes the side (side.ts). If it throws, the thread has what it had
   * before. If it is cut, whoever comes next finds it open and recovers. Short calls write this frame out, because a
   * closure would take a fifth of their time.
   * @param machines READING, TURNING, or both; NOTHING if the call has nothing to give back.
   */
  #section<T>(machines: number, run: () => T): T {
    const side = this[sideOfLock];
    const before = side.open(machines);
    try {
      return side.close(run());
    } catch (error) {
      throw this.#failed(error, before);
    }
  }

  /** A section has thrown this error. Returns the error, which the caller throws on. */
  #failed(error: unknown, before: Turn): unknown {
    this[sideOfLock].fail(before);
    // If the stack is exhausted, there may be too little of it to recover.
    if (error instanceof RangeError) this.#expectInterrupt();
    this.#recover();
    return error;
  }

  /** Returns the side of this thread, brought into order and with all due promises as readers. */
  #readySide(): Side {
    const side = this[sideOfLock];
    if (this[isOver]) throw this[disposedError]();
    if (side.acts !== NOTHING) this.#recover();
    if (side.waits > 0) this.#settleReaders();
    return side;
  }

  /**
   * Is called when a call is about to block. The runtime may end the call by an exception. Then the next call of the
   * thread on this lock brings the side into order. If there is no such call, this happens as soon as the thread has
   * returned to its event loop, as for a mutex (runtime/interrupts.ts).
   */
  #expectInterrupt(): void {
    this[reference].membership.expectInterrupt();
    this.#recoverAfterInterrupt();
  }

  /** Brings the side into order if a section has failed, or if the runtime has ended a section by an exception. */
  #recover(): void {
    const side = this[sideOfLock];
    if (side.acts === NOTHING) return;
    this[uncountBlocked](true);
    if (side.recover()) this.#giveTurnBack();
    side.close(undefined);
    side.keep(this);
  }

  /**
   * Tells the callback of deaths. If the callback throws, or has unlocked the lock, throws.
   * @param hasIt tells whether the caller still has the lock.
   * @param unlock is called before the error is thrown, if the caller still has the lock.
   */
  #tellDeaths(deaths: number, hasIt: () => boolean, unlock: () => void): true {
    try {
      this.onOwnerDied?.(deaths);
      if (!hasIt()) throw new Error(`${KIND}: onOwnerDied has unlocked it`);
    } catch (error) {
      if (hasIt()) unlock();
      throw error;
    }
    return true;
  }

  /** Whether the lock has been disposed of, so that there is nothing to unlock. */
  #isGone(): boolean {
    return this[isOver] || this.#core.isDisposed(this[address]) !== 0;
  }

  /** @internal */
  protected override [close](): void {
    this.#core.disposeAgain(this[address]);
  }

  /** @internal */
  protected override [forget](): void {
    // A promise whose phase is over reads, so it must learn here whether a writer has died. Later the lock is gone.
    this.#settleReaders();
    this[sideOfLock].end(this[address]);
    super[forget]();
    this.#stopDraining?.(ANSWER_CLOSED);
    this.#turn[closed]();
  }
}

function properties(what: string, options: SyncOptions): Properties {
  refuseName(what, KIND, 'options', options, 'an object');
  checkOptions(what, options, ['arena']);
  return { permits: 1, max: LIMIT };
}
