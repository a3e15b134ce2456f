/**
 * RwLock, for the tasks of one thread: many readers or one writer.
 *
 *     turn     NO_TURN ──► HAS_TURN ──► DRAINS ──► WRITES ──► NO_TURN, or the turn of the next in queue
 *              nobody      updates      waits until the       writes alone
 *                                       readers have left
 *
 *     gate     open in NO_TURN and HAS_TURN: readers come in
 *              shut in DRAINS and WRITES: readers stand in the queue `readers`, and come in when the gate opens
 *
 * Those who want the turn stand in a queue, first come, first served. When its turn comes, a writer shuts the gate at
 * once. So a reader waits for one writer at most, because all waiting readers come in when the gate opens. A writer
 * waits only for those who came before it, and for those who read `within` one of them: no other reader comes in while
 * it drains. To refuse those would be a deadlock, so readings that always overlap by `within` keep a writer out.
 */

import { badType, checkInteger } from '../common/errors.js';
import type { RwLockGuards } from '../common/guarding.js';
import type { WaitOptions } from '../common/waits.js';
import { giveBack, source } from './guards.js';
import {
  downgrade,
  downgradeToUpdate,
  HeldRead,
  type HeldUpdate,
  type HeldWrite,
  type Mode,
  READ,
  ReadGuard,
  UPDATE,
  UpdateGuard,
  upgrade,
  WRITE,
  WriteGuard,
} from './held-rw.js';
import { type Limits, limitsOf } from './limits.js';
import { Queue } from './queue.js';
import { togetherIn, type Waiting } from './stats.js';
import { begin, checkOpen, close, count, isOver, QueueObject, queue, refuseOptions, state } from './task-object.js';

/** How long a promise may take to lock for reading, and within which guard it reads. */
export interface ReadOptions extends WaitOptions {
  /**
   * A guard of the same lock that holds it. The promise then reads at once, even if a writer waits. Give the guard if
   * the code that unlocks it waits for the promise. Without it, the promise may wait for a writer and the writer for
   * the guard, which is a deadlock.
   */
  readonly within?: HeldRead;
}

/** Those who wait for a `RwLock`. */
export interface RwLockWaiter extends Waiting {
  /**
   * What they wait for. `'write'`: for their turn to write. `'drain'`: it has the turn, and waits until readers have
   * left. `'read'`: they want to read, and wait for a writer.
   */
  readonly wants: 'read' | 'write' | 'drain';
}

/** What `inspect` tells about a lock. */
export interface RwLockState {
  /** The number of readings that have not ended. */
  readonly readers: number;
  /** Whether a writer is in, or waits until the readers have left. If so, no further reader is let in. */
  readonly writing: boolean;
  /** Those who wait. */
  readonly waiters: readonly RwLockWaiter[];
}

const KIND = 'RwLock';

// The states of the turn.
const NO_TURN = 0;
const HAS_TURN = 1;
const DRAINS = 2;
const WRITES = 3;

export interface RwLock extends RwLockGuards<HeldRead, HeldWrite, ReadOptions> {}

/**
 * A lock for many readers or one writer. The lock is phase-fair: a reader waits for one writer at most, however many
 * writers queue. Writers are first come, first served. A reader waits for a writer that is in, and for a writer that
 * waits until the present readers have left. No reader comes in while a writer waits so, but for one that reads
 * `within` a present reader.
 *
 * Source: the phases are those of PF-T in Brandenburg and Anderson, Spin-Based Reader-Writer Synchronization for
 * Multiprocessor Real-Time Systems (2010).
 *
 * @example
 * ```ts
 * import { RwLock } from 'taketurns/tasks';
 *
 * const lock = new RwLock();
 * {
 *   using held = await lock.readAsync(); // beside other readers; or lockReadAsync and unlockRead
 * }
 * using held = await lock.writeAsync({ timeout: 50 }); // alone
 * ```
 * @since 0.3.0
 */
export class RwLock extends QueueObject implements RwLockGuards<HeldRead, HeldWrite, ReadOptions> {
  #turn: typeof NO_TURN | typeof HAS_TURN | typeof DRAINS | typeof WRITES = NO_TURN;
  #reads = 0;
  /** How often the gate has been shut. */
  #phase = 0;
  /** Says, for a TimeoutError, what a promise has waited for. */
  readonly #wanted = (): string => `the RwLock (${this[state]})`;
  /** Those who want the turn: the width is WRITE or UPDATE. @internal */
  protected readonly [queue] = new Queue(this.#wanted);
  readonly #readers = new Queue(this.#wanted);
  /** The writer that waits until the readers have left. If it gives up, the gate opens before anything else happens. */
  readonly #drain = new Queue(
    () => `the RwLock (${this.#readersText()})`,
    (mode) => (mode === WRITE ? this.#endTurn() : this.#open()),
  );

  /**
   * Makes a lock that nobody has.
   * @throws {TypeError} for an argument: tasks need neither a name nor options.
   */
  constructor();
  constructor(...none: readonly unknown[]) {
    super(KIND);
    refuseOptions(KIND, none);
  }

  // --- Reading ---------------------------------------------------------------------------------------------

  /**
   * Locks for reading: waits while a writer is in or waits until readers have left. Never blocks.
   * @param options a time-out, a signal, and the guard within which the promise reads.
   * @returns a promise. It rejects with TimeoutError when the time-out has passed, with the reason of the signal when
   * that is aborted, with RangeError or TypeError for a bad option, and with DisposedError if the lock has been or is
   * being disposed of.
   * @example await lock.lockReadAsync({ timeout: 50 });
   */
  lockReadAsync(options?: ReadOptions): Promise<void> {
    return this.#read('lockReadAsync', options);
  }

  async #read(method: string, options: ReadOptions | undefined): Promise<void> {
    const limits = this[begin](method, options, ['timeout', 'signal', 'within']);
    const within = options?.within;
    // `unlockRead` may have ended the reading without the guard.
    const reads = within instanceof HeldRead && within[source] === this && this.#reads > 0;
    if (within !== undefined && !reads) {
      throw badType(`${KIND}.${method}: within`, 'a HeldRead of this lock that is held', within);
    }
    if (within || !this.#isShut) this.#reads++;
    else await this.#readers.wait(1, limits);
  }

  /**
   * Locks for reading, unless a writer is in or waits until readers have left. Never blocks.
   * @returns whether it has locked.
   * @throws {DisposedError} if the lock has been disposed of.
   * @example if (lock.tryLockRead()) lock.unlockRead();
   */
  tryLockRead(): boolean {
    return this.#tryRead();
  }

  #tryRead(): boolean {
    this[checkOpen]();
    const isIn = !this.#isShut;
    if (isIn) this.#reads++;
    return isIn;
  }

  /**
   * Ends one reading. If none is left, the writer goes on that waits for the readers. Never blocks. On a disposed lock
   * the call does nothing.
   * @throws {Error} if nobody reads.
   * @example lock.unlockRead();
   */
  unlockRead(): void {
    this.#unlockRead();
  }

  #unlockRead(): void {
    if (this[isOver]) return;
    if (this.#reads === 0) throw new Error(`${KIND}.unlockRead: nobody reads the RwLock`);
    this.#reads--;
    this.#drained();
  }

  async readAsync(options?: ReadOptions): Promise<HeldRead> {
    await this.#read('readAsync', options);
    return new ReadGuard(this, READ);
  }

  tryRead(): HeldRead | undefined {
    return this.#tryRead() ? new ReadGuard(this, READ) : undefined;
  }

  // --- Writing ---------------------------------------------------------------------------------------------

  /**
   * Locks for writing: waits for the turn, lets no more readers in, and waits until the readers have left. Never
   * blocks.
   * @param options a time-out and a signal; without them the promise may wait for ever.
   * @returns a promise. It rejects with TimeoutError when the time-out has passed, with the reason of the signal when
   * that is aborted, with RangeError or TypeError for a bad option, and with DisposedError if the lock has been or is
   * being disposed of. Then readers are let in again, and the next writer gets the turn.
   * @example await lock.lockWriteAsync({ signal });
   */
  lockWriteAsync(options?: WaitOptions): Promise<void> {
    return this.#write('lockWriteAsync', options, WRITE);
  }

  async #write(method: string, options: WaitOptions | undefined, mode: Mode): Promise<void> {
    const limits = this[begin](method, options);
    // A call that does not wait shuts no gate.
    const isBusy = limits?.timeout === 0 && mode === WRITE && this.#reads > 0;
    if (this.#turn === NO_TURN && !isBusy) this.#takeTurn(mode);
    else await this[queue].wait(mode, limits);
    if (mode === WRITE) await this.#awaitReaders(WRITE, limits);
  }

  #takeTurn(mode: number): void {
    this.#turn = HAS_TURN;
    if (mode === WRITE) this.#shut();
  }

  #shut(): void {
    this.#turn = DRAINS;
    this.#phase++;
    this.#drained();
  }

  /** If the readers have left for which a writer waits, it is a writer now. */
  #drained(): void {
    if (this.#turn !== DRAINS || this.#reads > 0) return;
    this.#turn = WRITES;
    this.#drain.settleAll();
  }

  /** The caller has the turn and has shut the gate. Waits until it may write. */
  async #awaitReaders(mode: Mode, limits: Limits | undefined): Promise<void> {
    this[checkOpen]();
    if (this.#turn !== WRITES) await this.#drain.wait(mode, limits);
  }

  /** Opens the gate: those who wait to read come in. */
  #open(): void {
    this.#turn = HAS_TURN;
    this.#reads += this.#readers.count;
    this.#readers.settleAll();
  }

  /** Gives the turn to the next in the queue. */
  #endTurn(): void {
    if (this[isOver]) return;
    this.#open();
    const { first } = this[queue];
    if (first) this.#takeTurn(first.width);
    else this.#turn = NO_TURN;
    if (first) this[queue].settle();
  }

  /**
   * Locks for writing if nobody reads, writes or waits to write. Never blocks.
   * @returns whether the call has locked.
   * @throws {DisposedError} if the lock has been disposed of.
   * @example if (lock.tryLockWrite()) lock.unlockWrite();
   */
  tryLockWrite(): boolean {
    return this.#tryWrite();
  }

  #tryWrite(): boolean {
    this[checkOpen]();
    const isFree = this.#turn === NO_TURN && this.#reads === 0;
    if (isFree) this.#takeTurn(WRITE);
    return isFree;
  }

  /**
   * Ends the writing: lets readers in, and gives the turn to the next writer. Never blocks. On a disposed lock the call
   * does nothing.
   * @throws {Error} if nobody writes.
   * @example lock.unlockWrite();
   */
  unlockWrite(): void {
    this.#unlockWrite();
  }

  #unlockWrite(): void {
    if (this.#turn === WRITES) this.#endTurn();
    else if (!this[isOver]) throw new Error(`${KIND}.unlockWrite: nobody writes the RwLock`);
  }

  async writeAsync(options?: WaitOptions): Promise<HeldWrite> {
    await this.#write('writeAsync', options, WRITE);
    return new WriteGuard(this, WRITE);
  }

  tryWrite(): HeldWrite | undefined {
    return this.#tryWrite() ? new WriteGuard(this, WRITE) : undefined;
  }

  /**
   * Waits until it has the writers' turn. Readers are still let in. No other task writes during the turn, so the data
   * that this task reads stay as they are. The task may become a writer (`HeldUpdate.upgradeAsync`). Never blocks.
   *
   * Use `updateAsync` to read and then perhaps write. If two tasks read and then both wanted to write, they would wait
   * for each other.
   * @returns a promise. It rejects as that of `lockWriteAsync` does.
   * @example using found = await lock.updateAsync();
   */
  async updateAsync(options?: WaitOptions): Promise<HeldUpdate> {
    await this.#write('updateAsync', options, UPDATE);
    return new UpdateGuard(this, UPDATE);
  }

  // --- What the guards call ----------------------------------------------------------------------------------

  /** @internal */
  [giveBack](mode: Mode): void {
    if (this[isOver]) return;
    if (mode === READ) this.#unlockRead();
    else if (mode === WRITE) this.#unlockWrite();
    else this.#endTurn();
  }

  /** @internal */
  [downgrade](from: Mode): HeldRead {
    this.#reads++;
    try {
      this[giveBack](from);
    } catch (error) {
      this.#reads--;
      throw error;
    }
    return new ReadGuard(this, READ);
  }

  /** @internal */
  [downgradeToUpdate](): HeldUpdate {
    if (this.#turn !== WRITES) throw new Error('HeldWrite.downgradeToUpdate: nobody writes the RwLock');
    this.#open();
    return new UpdateGuard(this, UPDATE);
  }

  /** @internal */
  async [upgrade](options: WaitOptions | undefined): Promise<HeldWrite> {
    const limits = options === undefined ? options : limitsOf('HeldUpdate.upgradeAsync', options);
    this[checkOpen]();
    this.#shut();
    await this.#awaitReaders(UPDATE, limits);
    return new WriteGuard(this, WRITE);
  }

  // --- Stamps ----------------------------------------------------------------------------------------------

  /**
   * Returns a number for `valid`, for a read without a lock: call `stamp`, read the data, also over an `await`, and
   * then call `valid`. If `valid` answers false, read again from the start. No writer waits for such a read. Never
   * blocks.
   * @returns a number above 0; 0 while a writer is in or waits until readers have left.
   * @throws {DisposedError} if the lock has been disposed of.
   * @example const stamp = lock.stamp();
   */
  stamp(): number {
    return this.#stamp();
  }

  #stamp(): number {
    this[checkOpen]();
    return this.#isShut ? 0 : this.#phase + 1;
  }

  /**
   * Whether nobody has written since `stamp` returned this number. A writer that has shut readers out and then given up
   * counts as if it had written. Never blocks.
   * @param stamp 0 to 9,007,199,254,740,991, as `stamp` has answered.
   * @returns false for 0, and on a disposed lock.
   * @throws {RangeError | TypeError} for a number that is no stamp.
   * @example if (!lock.valid(stamp)) console.log('read again');
   */
  valid(stamp: number): boolean {
    checkInteger(`${KIND}.valid: stamp`, stamp, 0, Number.MAX_SAFE_INTEGER);
    return stamp > 0 && !this[isOver] && stamp === this.#stamp();
  }

  // --- Diagnostics -------------------------------------------------------------------------------------------

  /** The number of readings that have not ended. */
  get readers(): number {
    return this.#reads;
  }

  /** Whether a writer is in, or waits until the readers have left. */
  get writing(): boolean {
    return this.#isShut;
  }

  get #isShut(): boolean {
    return this.#turn >= DRAINS;
  }

  /** @internal */
  protected override get [count](): number {
    return this[queue].count + this.#readers.count + this.#drain.count;
  }

  /**
   * Tells who has the lock and who waits. Never blocks, throws nothing.
   * @example console.log(lock.inspect().waiters);
   */
  inspect(): RwLockState {
    const list = (waits: Queue, wants: RwLockWaiter['wants']) => togetherIn(waits).map((all) => ({ ...all, wants }));
    return {
      readers: this.#reads,
      writing: this.#isShut,
      waiters: [...list(this.#readers, 'read'), ...list(this.#drain, 'drain'), ...list(this[queue], 'write')],
    };
  }

  /** @internal */
  protected get [state](): string {
    return this.#isShut ? 'writing' : this.#readersText();
  }

  #readersText(): string {
    return `${this.#reads} reader${this.#reads === 1 ? '' : 's'}`;
  }

  /** @internal */
  protected override [close](error: Error): void {
    this.#turn = NO_TURN;
    this.#reads = 0;
    for (const waits of [this[queue], this.#readers, this.#drain]) waits.close(error);
  }
}
