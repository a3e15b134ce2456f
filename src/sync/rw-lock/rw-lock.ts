/**
 * RwLock is the public face of core/kinds/rw-lock/rw-lock.ts, where the algorithm and its proof are.
 *
 *     side.ts       what this thread does with a lock: the states, and the methods that change them
 *     readers.ts    how a thread or a promise begins to read
 *     writers.ts    how a thread or a promise gets the turn and becomes a writer, and what the guards do
 *     rw-lock.ts    the class that users see
 *
 * `lockRead` handles only the common case, so that it stays small, and leaves the rare cases to readers.ts. Like the
 * fast path of a semaphore, it compares with a literal 0, which stands for ADMITTED and for NOTHING.
 */
import { ANSWER_CLOSED, LIMIT, NO_STAMP } from '../../border/numbers.js';
import { checkInteger, checkOptions, described, refuseName } from '../../errors.js';
import { NO_READING, NO_WRITING, told } from '../../held-permits.js';
import { USUAL, type WaitOptions } from '../../options.js';
import { given, type Handle } from '../../reference.js';
import { disposedError, isOver, reference } from '../../shared-object.js';
import { threadText } from '../../stats.js';
import { type HeldRead, type HeldUpdate, type HeldWrite, ReadGuard, UpdateGuard, WriteGuard } from '../held-rw.js';
import {
  address,
  attachments,
  count,
  find,
  functions,
  make,
  open,
  type SyncOptions,
  state,
  waiters,
} from '../phase-object.js';
import {
  goOnReading,
  KIND,
  lockReading,
  lockReadingAsync,
  type ReadOptions,
  sideOfLock,
  unlockReading,
} from './readers.js';
import { DRAINS, isGateShut, READING, WRITES } from './side.js';
import {
  endTurn,
  guarded,
  isGone,
  lockWriting,
  lockWritingAsync,
  tryLockWriting,
  turn,
  unlockWriting,
  WritersHalf,
} from './writers.js';

export type { ReadOptions };

/** A plain, structured-cloneable value to send to another thread, for `RwLock.from` there. */
export type RwLockHandle = Handle<'RwLock'>;

/** A thread that waits for a `RwLock`. */
export interface RwLockWaiter {
  /** The number of the thread in the arena. */
  readonly thread: number;
  /** The `threadId` of the thread in `worker_threads`; undefined in web workers. */
  readonly threadId: number | undefined;
  /**
   * What the thread waits for. `'write'`: for its turn to write. `'drain'`: it has the turn, and waits until readers
   * have left. `'read'`: it wants to read, and waits for a writer.
   */
  readonly wants: 'read' | 'write' | 'drain';
  /** The number of calls of the thread that wait: blocked calls and promises. */
  readonly calls: number;
  /** How many milliseconds ago the first of these calls began to wait, from 0 on. */
  readonly waited: number;
}

/** What `inspect` tells about a lock. The answer may be out of date at once. */
export interface RwLockState {
  /** The numbers of the threads that read. */
  readonly readers: readonly number[];
  /**
   * The number of the thread that has the writers' turn, if a thread has it. This thread writes, updates, or waits for
   * readers to leave.
   */
  readonly writer: number | undefined;
  /** Whether a writer is in, or waits until the readers have left. If so, no further thread is let in to read. */
  readonly writing: boolean;
  /** The number of threads that have died, or ended, with the turn. */
  readonly deaths: number;
  /**
   * The threads that wait. First come the threads that wait to read or to drain, then the threads that wait for the
   * turn, in the order of the queue.
   */
  readonly waiters: readonly RwLockWaiter[];
}

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
 * Multiprocessor Real-Time Systems (2010). Each reader shows in a place of its own that it reads (visible readers), as
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
export class RwLock extends WritersHalf {
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
    super(given(options, (options) => make(KIND, ...checked(options))));
  }

  /**
   * Attaches to the lock of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a RwLock.
   * @throws {DisposedError} if the lock has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const lock = RwLock.from(workerData.lock); // its `handle`, sent by the other thread
   */
  static from(handle: RwLockHandle): RwLock {
    return new RwLock(find(KIND, handle));
  }

  /**
   * Opens the lock of this name, and makes it if there is none. Never blocks.
   * @param name 1 to 116 bytes of UTF-8, well-formed.
   * @throws {RangeError | TypeError} for a bad name or option, or if the name belongs to another kind of object.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment.
   * @example const lock = RwLock.open('table');
   */
  static open(name: string, options: SyncOptions = {}): RwLock {
    const [given, ...rest] = checked(options);
    return new RwLock(open(KIND, name, given, ...rest));
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
      // An exception may end the call of the core. Then `acts` stays, and the next call brings the side into order.
      side.acts = READING;
      const answer = side.beginRead(side.at, side.place);
      if (answer === 0) {
        side.begun(false, this);
        side.acts = 0;
      } else this[goOnReading](Infinity, false, answer);
    } else this[lockReading]('lockRead', options, false);
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
    return this[lockReading]('', undefined, true) !== undefined;
  }

  /**
   * As `lockRead`, without blocking the thread. A promise waits for a writer even if its thread reads already, unless
   * the option `within` names a guard.
   * @returns a promise. It rejects with the errors of `lockRead`, and with the reason of the signal when the signal is
   * aborted.
   * @example await lock.lockReadAsync({ signal });
   */
  async lockReadAsync(options?: ReadOptions): Promise<void> {
    await this[lockReadingAsync]('lockReadAsync', options);
  }

  /**
   * Ends one reading of this thread. If no reading of this thread is left, wakes the writer that waits for the readers.
   * Never blocks. On a disposed lock the call does nothing.
   * @throws {Error} if this thread does not read.
   * @example lock.unlockRead();
   */
  unlockRead(): void {
    this[unlockReading]();
  }

  /** @internal */
  [unlockReading](): void {
    const side = this[sideOfLock];
    if (side.reads === 1) side.endRead();
    else if (side.reads > 1) side.reads--;
    else if (!this[isGone]()) throw new Error(`${KIND}.unlockRead: this thread does not read ${this[described]()}`);
  }

  /**
   * As `lockRead`, but it returns a guard that unlocks: `using held = lock.read()`. Blocks the thread as `lockRead`
   * does, and throws what `lockRead` throws.
   */
  read(options?: WaitOptions): HeldRead {
    const guard = new ReadGuard(this[guarded], false);
    return told(guard, this[lockReading]('read', options, false) as boolean);
  }

  /**
   * As `lockReadAsync`, but its promise is fulfilled with a guard: `await using held = await lock.readAsync()`. Never
   * blocks the thread, and rejects as `lockReadAsync` does.
   */
  async readAsync(options?: ReadOptions): Promise<HeldRead> {
    return new ReadGuard(this[guarded], await this[lockReadingAsync]('readAsync', options));
  }

  /**
   * As `tryLockRead`, but it returns a guard that unlocks, or undefined:
   * `using held = lock.tryRead(); if (held) look()`. Never blocks, and throws what `tryLockRead` throws.
   */
  tryRead(): HeldRead | undefined {
    const guard = new ReadGuard(this[guarded], false);
    const died = this[lockReading]('', undefined, true);
    return died === undefined ? undefined : told(guard, died);
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
    this[lockWriting]('lockWrite', options, true);
    this[sideOfLock].acts = 0;
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
    return this[tryLockWriting]() !== undefined;
  }

  /**
   * As `lockWrite`, without blocking the thread. Tasks of one thread exclude one another as threads do.
   * @returns a promise. It rejects with the errors of `lockWrite`, and with the reason of the signal when the signal is
   * aborted. If the thread itself reads, the promise waits until the thread has unlocked.
   * @example await lock.lockWriteAsync({ signal });
   */
  async lockWriteAsync(options?: WaitOptions): Promise<void> {
    await this[lockWritingAsync]('lockWriteAsync', options, true);
  }

  /**
   * Ends the writing: lets readers in, and gives the turn to the next writer. Never blocks. On a disposed lock the call
   * does nothing.
   * @throws {Error} if this thread does not write.
   * @example lock.unlockWrite();
   */
  unlockWrite(): void {
    this[unlockWriting]();
  }

  /** @internal */
  [unlockWriting](): void {
    const side = this[sideOfLock];
    if (side.turn === WRITES) this[endTurn](false);
    else if (!this[isGone]()) throw new Error(`${KIND}.unlockWrite: this thread does not write ${this[described]()}`);
  }

  /**
   * As `lockWrite`, but it returns a guard that unlocks: `using held = lock.write()`. Blocks the thread as `lockWrite`
   * does, and throws what `lockWrite` throws.
   */
  write(options?: WaitOptions): HeldWrite {
    const guard = new WriteGuard(this[guarded], false);
    told(guard, this[lockWriting]('write', options, true));
    this[sideOfLock].acts = 0;
    return guard;
  }

  /**
   * As `lockWriteAsync`, but its promise is fulfilled with a guard: `await using held = await lock.writeAsync()`. Never
   * blocks the thread, and rejects as `lockWriteAsync` does.
   */
  async writeAsync(options?: WaitOptions): Promise<HeldWrite> {
    return new WriteGuard(this[guarded], await this[lockWritingAsync]('writeAsync', options, true));
  }

  /**
   * As `tryLockWrite`, but it returns a guard that unlocks, or undefined. Never blocks, and throws what `tryLockWrite`
   * throws.
   * @example using held = lock.tryWrite();
   */
  tryWrite(): HeldWrite | undefined {
    const guard = new WriteGuard(this[guarded], false);
    const died = this[tryLockWriting]();
    return died === undefined ? undefined : told(guard, died);
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
    const guard = new UpdateGuard(this[guarded], false);
    told(guard, this[lockWriting]('update', options, false));
    this[sideOfLock].acts = 0;
    return guard;
  }

  /**
   * As `update`, without blocking the thread. The promise rejects with what `update` throws.
   * @example await using held = await lock.updateAsync();
   */
  async updateAsync(options?: WaitOptions): Promise<HeldUpdate> {
    return new UpdateGuard(this[guarded], await this[lockWritingAsync]('updateAsync', options, false));
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

  /**
   * The number of calls of all threads that wait: blocked calls and promises. The number may be out of date at once,
   * and is meant for diagnostics.
   */
  override get waiting(): number {
    return this[count];
  }

  /** @internal */
  protected override get [count](): number {
    return super[count] + (this[isOver] ? 0 : this[turn].waiting);
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
    for (const attachment of this[attachments]())
      if (this[functions].heldByAttachment(attachment) > 0) return this[functions].threadOfAttachment(attachment);
    return 0;
  }

  /**
   * Tells which threads read, have the turn or wait, for diagnostics. Never blocks, throws nothing.
   * @example console.log(lock.inspect().waiters);
   */
  inspect(): RwLockState {
    const writer = this.#writer() || undefined;
    const inside = this[waiters]().map(
      (waiter): RwLockWaiter => ({ ...waiter, wants: waiter.thread === writer ? 'drain' : 'read' }),
    );
    const queued = this[isOver]
      ? []
      : this[turn].inspect().waiters.map(
          ({ thread, threadId, requests, waited }): RwLockWaiter => ({
            thread,
            threadId,
            calls: requests,
            waited,
            wants: 'write',
          }),
        );
    return {
      readers: this.#readers(),
      writer,
      writing: this.#isShut,
      deaths: this[functions].deathsOf(this[address]),
      waiters: [...inside, ...queued],
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
}

function checked(options: SyncOptions): [SyncOptions, number, number, boolean] {
  refuseName(KIND, 'options', options, 'an object');
  checkOptions(KIND, options, USUAL);
  return [options, 1, LIMIT, true];
}
