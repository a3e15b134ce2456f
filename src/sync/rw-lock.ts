/**
 * RwLock is the public face of core/kinds/rw-lock/rw-lock.ts, where the algorithm and its proof are.
 *
 * The writers' turn is a robust semaphore over the same shared object, of which this file makes a library object. What a
 * thread reads is counted here, for all its calls and promises together: the core knows only that it reads. So to read
 * again costs no access to shared memory.
 */
import { host } from '#host';
import {
  ADMITTED,
  ANSWER_CLOSED,
  DRAIN_INDEX,
  LIMIT,
  MOVE,
  OWNER_DIED,
  QUEUED,
  REFUSED,
  TIMED_OUT,
} from '../border/numbers.js';
import { arenaFull, bad, checkInteger, checkOptions, DisposedError, noRoom, TimeoutError } from '../errors.js';
import { NO_READING, NO_WRITING } from '../held-permits.js';
import { checkWaitOptions, type Signal, USUAL, type WaitOptions } from '../options.js';
import { type Handle, Reference } from '../reference.js';
import { ended, type Shared } from '../runtime/attachment.js';
import { locate, reasonOf, timedOut, watch } from '../runtime/cancellation.js';
import { timestamp } from '../runtime/clock.js';
import { common } from '../runtime/common.js';
import { afterInterrupt } from '../runtime/interrupts.js';
import { countdown, nanoseconds } from '../runtime/parking.js';
import { closed } from '../runtime/promises.js';
import { canWaitAsync, NO_WAIT_ASYNC, waitAsync } from '../runtime/wait-async.js';
import { Semaphore } from '../semaphore.js';
import { close, disposedError, forget, reference } from '../shared-object.js';
import {
  type GuardedLock,
  type HeldRead,
  type HeldUpdate,
  type HeldWrite,
  lockOf,
  ReadGuard,
  UpdateGuard,
  WriteGuard,
} from './held-rw.js';
import { find, make, open, PhaseObject, type SyncOptions } from './phase-object.js';

/** A plain, structured-cloneable value to send to another thread, for `RwLock.from` there. */
export type RwLockHandle = Handle<'RwLock'>;

/** How long a promise that wants to read may take, and within what it reads. */
export interface ReadOptions extends WaitOptions {
  /**
   * A guard of the same lock that is held: the promise reads at once, though a writer waits. Give it wherever the one who
   * holds the guard waits for the promise: without it, the writer would wait for the guard, and the promise for the writer.
   */
  readonly within?: HeldRead;
}

/** A thread that waits for a `RwLock`. */
export interface RwLockWaiter {
  /** The number of the thread in the arena. */
  readonly thread: number;
  /** The `threadId` of the thread in `worker_threads`; undefined in web workers. */
  readonly threadId: number | undefined;
  /** `'write'`: for its turn; `'drain'`: it has the turn, and waits until readers have left; `'read'`: for a writer. */
  readonly wants: 'read' | 'write' | 'drain';
  /** The number of its calls that wait: blocked ones and promises. */
  readonly calls: number;
  /** Milliseconds since the first of them began to wait, from 0 on. */
  readonly waited: number;
}

/** What `inspect` tells about a lock. It may be out of date at once. */
export interface RwLockState {
  /** The numbers of the threads that read. */
  readonly readers: readonly number[];
  /** The number of the thread that has the writers' turn, if one has: it writes, updates, or waits for readers to leave. */
  readonly writer: number | undefined;
  /** Whether a writer is in, or waits until the readers have left: no other reader is let in. */
  readonly writing: boolean;
  /** The number of threads that have died, or ended, with the turn. */
  readonly deaths: number;
  /** The threads that wait: those that wait for readers to leave or for a writer, then writers in the order of the queue. */
  readonly waiters: readonly RwLockWaiter[];
}

const KIND = 'RwLock';
const LOCK = 'the lock';

// What a thread does with the writers' turn.
const NO_TURN = 0;
const HAS_TURN = 1;
const DRAINS = 2;
const WRITES = 3;

const READING = 1;
const TURNING = 2;

/** What a thread does with a lock, by all its library objects. */
interface Side {
  /** The address of its place; 0 at first. */
  place: number;
  /** How many of its calls and promises read, and how many of its promises wait for the end of `phase`. */
  reads: number;
  waits: number;
  phase: number;
  /** Whether it was told of a death when it began to read. */
  died: boolean;
  turn: number;
  /** How many of its promises wait for the turn, or have it and do not know yet. */
  queued: number;
  /**
   * Whether a call of it is changing what it reads (READING), or its turn (TURNING). If another call finds that, an
   * exception that nobody could catch has ended the first: an interrupt by the runtime.
   */
  acts: number;
  /** The deaths of which it has learned with the turn, and not told. */
  deaths: number;
  /** The library object is not collected while the thread has the lock: it may come back by handle or name to unlock it. */
  keeps: RwLock | undefined;
}

/** Whose guards these are. */
const guardedBy = common('rw-guards', () => new WeakMap<GuardedLock, Side>());
const sides = common('rw-locks', () => new WeakMap<Shared, Side>());

function sideOf(shared: Shared): Side {
  let side = sides.get(shared);
  if (side === undefined) {
    side = {
      place: 0,
      reads: 0,
      waits: 0,
      phase: 0,
      died: false,
      turn: NO_TURN,
      queued: 0,
      acts: 0,
      deaths: 0,
      keeps: undefined,
    };
    sides.set(shared, side);
  }
  return side;
}

/**
 * A lock for many readers or one writer. It is phase-fair: a reader waits for one writer at most, however many queue.
 * Writers are first come, first served, and a reader that comes once a writer runs with its turn waits for that writer.
 * Blocked threads and promises wait together.
 *
 * The lock is held by threads. A thread that reads may lock for reading again, even while a writer waits. When a thread
 * ends or dies (`Arena.watch`) as a reader, it reads no more; as a writer, the others learn of it. A thread reads at most 8
 * locks at a time.
 *
 * Source: the phases of PF-T in Brandenburg and Anderson, Spin-Based Reader-Writer Synchronization for Multiprocessor
 * Real-Time Systems (2010), with visible readers after Dice and Kogan, BRAVO (2019), over core/kinds/rw-lock/rw-lock.ts.
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
export class RwLock extends PhaseObject<typeof KIND> {
  readonly #shared = this[reference].shared;
  readonly #side = sideOf(this.#shared);
  readonly #core = this[reference].attachment.core;
  readonly #turn: Semaphore;
  /** Ends the wait of a promise until readers have left. */
  #stopDraining: ((answer: number) => void) | undefined;
  /** What the guards of this library object call. */
  readonly #guarded: GuardedLock;
  readonly #recoverAfterInterrupt = afterInterrupt(() => {
    if (this.#side.acts !== 0 && !this.disposed) this.#recover();
  });

  /**
   * Is called in a thread that begins to read, or has locked otherwise, before the call returns, when a thread has died
   * as a writer. The data that the lock guards may then be half-written, so all who lock are told, until another has
   * written and unlocked. The next that has the turn is told of a death in `update` too. Readers' deaths do no harm,
   * and nobody is told. If the callback throws, the lock is unlocked, and the call that locked it throws (or rejects
   * with) the same error. The callback may call the lock, which the thread has by then. If it unlocks what the call has
   * locked, the call throws an `Error`.
   */
  onOwnerDied: ((deaths: number) => void) | undefined;

  /**
   * @throws `RangeError` or `TypeError` for a bad option.
   * @throws {@link ArenaFullError} if the arena has no room for another object.
   */
  constructor(options: SyncOptions = {}) {
    super(KIND, options instanceof Reference ? options : make(KIND, ...checked(options)), 'lock');
    this.#turn = new Semaphore(1, this[reference] as object);
    this.#turn.onOwnerDied = (deaths) => {
      this.#side.deaths += deaths;
    };
    this.#side.place ||= this.sync.placeFor(this.at);
    this.#guarded = {
      endRead: () => this.unlockRead(),
      endWrite: () => this.unlockWrite(),
      endUpdate: () => this.#endUpdate(),
      downgrade: () => this.#downgrade(),
      downgradeUpdate: () => this.#downgradeUpdate(),
      upgrade: (options) => this.#upgrade(options),
      upgradeAsync: (options) => this.#upgradeAsync(options),
    };
    guardedBy.set(this.#guarded, this.#side);
  }

  /**
   * Attaches to the lock of a handle, in any thread. Never blocks.
   * @throws `TypeError` if the value is not the handle of a RwLock.
   * @throws {@link DisposedError} if it has been disposed of.
   * @throws {@link ArenaFullError} if the arena has no room for another thread or another attachment.
   */
  static from(handle: RwLockHandle): RwLock {
    return new RwLock(find(KIND, handle));
  }

  /**
   * Opens the lock of this name, and makes it if there is none. Never blocks.
   * @param name 1 to 108 bytes of UTF-8, well-formed.
   * @throws `RangeError` or `TypeError` for a bad name or option, or if the name belongs to another kind of object.
   * @throws {@link ArenaFullError} if the arena has no room for another object, name or attachment.
   */
  static open(name: string, options: SyncOptions = {}): RwLock {
    const [given, ...rest] = checked(options);
    return new RwLock(open(KIND, name, given, ...rest));
  }

  // --- Reading ---------------------------------------------------------------------------------------------

  /**
   * Locks for reading, and blocks the thread until no writer is in. A thread that reads already is let in at once, even
   * while a writer waits: it would wait for itself. It returns no guard, so `using` throws a TypeError, and the thread reads
   * on. `read` returns one.
   * @param options a time-out and a signal; without them the call may take for ever.
   * @throws {@link TimeoutError} when the time-out has passed. The thread does not read.
   * @throws the reason of a signal that is aborted already.
   * @throws {Error} if this thread or a promise of it writes, or waits until readers have left: it would wait for itself.
   * @throws `RangeError` or `TypeError` for a bad time-out or signal.
   * @throws {@link ArenaFullError} if the thread reads 8 other locks.
   * @throws the error that `onOwnerDied` throws; then the thread does not read.
   * @throws `TypeError` on a thread that must not block, such as a browser's main thread, if it would have to.
   * @throws {@link DisposedError} if the lock has been or is being disposed of.
   */
  lockRead(options?: WaitOptions): void {
    this.#lockRead('lockRead', options, false);
    // biome-ignore lint/correctness/noVoidTypeReturn: to the types it is nothing, and `using` it throws.
    return NO_READING;
  }

  /**
   * Locks for reading if no writer is in, or waits until readers have left. A thread that reads already is let in always.
   * Never blocks.
   * @returns whether it has.
   * @throws {@link ArenaFullError} if the thread reads 8 other locks.
   * @throws the error that `onOwnerDied` throws; then the thread does not read.
   * @throws {@link DisposedError} if the lock has been disposed of.
   */
  tryLockRead(): boolean {
    return this.#lockRead('', undefined, true) !== undefined;
  }

  /**
   * As `lockRead`, without blocking the thread. A promise waits for a writer even if its thread reads already, unless it is
   * `within` a guard.
   * @returns a promise. It rejects with the errors of `lockRead`, and with the reason of the signal when that is aborted.
   */
  async lockReadAsync(options?: ReadOptions): Promise<void> {
    await this.#lockReadAsync('lockReadAsync', options);
  }

  /**
   * Ends one reading of this thread, and wakes the writer if it was the last. Never blocks. On a disposed lock it does
   * nothing.
   * @throws {Error} if this thread does not read.
   */
  unlockRead(): void {
    const side = this.#side;
    if (side.reads > 1) side.reads--;
    else if (side.reads === 1) {
      side.acts |= READING;
      side.reads = 0;
      this.#keep();
      if (!this.disposed) this.sync.endRead(this.at, side.place);
      side.acts &= ~READING;
    } else if (!this.#isOver()) throw new Error(`${KIND}.unlockRead: this thread does not read`);
  }

  /** As `lockRead`, but it returns a guard that unlocks: `using held = lock.read()`. */
  read(options?: WaitOptions): HeldRead {
    const died = this.#lockRead('read', options, false) as boolean;
    return this.#guard(() => new ReadGuard(this.#guarded, died), this.#guarded.endRead);
  }

  /** As `lockReadAsync`, but its promise is fulfilled with a guard: `await using held = await lock.readAsync()`. */
  async readAsync(options?: ReadOptions): Promise<HeldRead> {
    return new ReadGuard(this.#guarded, await this.#lockReadAsync('readAsync', options));
  }

  /** As `tryLockRead`, but it returns a guard that unlocks, or undefined: `using held = lock.tryRead(); if (held) look()`. */
  tryRead(): HeldRead | undefined {
    const died = this.#lockRead('', undefined, true);
    return died === undefined ? undefined : new ReadGuard(this.#guarded, died);
  }

  /** Returns whether a reader is told that a writer has died, or undefined if it only `tries`, and a writer is in. */
  #lockRead(method: string, options: WaitOptions | undefined, tries: boolean): boolean | undefined {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.${method}`, options);
    const side = this.#ready();
    if (side.reads > 0) {
      side.reads++;
      return side.died;
    }
    if (side.turn >= DRAINS && !tries) throw new Error(`${KIND}.${method}: ${SELF_WRITES}`);
    side.acts = READING;
    try {
      const waits = side.waits > 0;
      const answer = waits ? QUEUED : this.#begin(tries);
      if (tries && answer >= REFUSED) return undefined;
      this.#reads(answer === QUEUED ? this.#awaitPhase(waits ? side.phase : this.phaseSeen, timeout) : answer);
    } finally {
      side.acts = 0;
    }
    // What a callback needs is made only where there is something to tell.
    return side.died && this.#tellReader();
  }

  /** Begins to read. Returns ADMITTED, OWNER_DIED, QUEUED, REFUSED if it only tries, or throws. */
  #begin(tries: boolean): number {
    const { at, sync } = this;
    const side = this.#side;
    const begin = tries ? sync.tryRead : sync.beginRead;
    let answer = begin(at, side.place);
    if (answer === MOVE) {
      this.#findPlace();
      answer = begin(this.at, side.place);
    }
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    return answer;
  }

  #findPlace(): void {
    let place = this.sync.placeFor(this.at);
    if (place === 0) {
      // Locks that others have disposed of still have theirs.
      this[reference].attachment.sweep();
      place = this.sync.placeFor(this.at);
    }
    if (place === 0) throw arenaFull('RwLock that this thread reads', 'unlock one: a thread reads 8 at a time');
    this.#side.place = place;
  }

  /** Blocks until the phase is over. Returns ADMITTED or OWNER_DIED, and then the promises that have waited read, too. */
  #awaitPhase(phase: number, timeout: number): number {
    const side = this.#side;
    let answer = REFUSED;
    try {
      if (timeout > 0) this.checkBlocking('lockReadAsync, readAsync or tryLockRead');
      if (timeout > 0) this.#sleeps();
      answer = timeout > 0 ? this.sleep(phase, countdown(timeout)) : this.lastAnswer(phase);
    } finally {
      if (answer !== ADMITTED && side.waits === 0 && !this.disposed) this.sync.giveUpRead(this.at, side.place);
    }
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    if (answer === REFUSED) throw timedOut(LOCK, timeout);
    return this.#endWait();
  }

  /** The phase is over for which the thread has waited. Its promises read. Returns ADMITTED or OWNER_DIED. */
  #endWait(): number {
    const side = this.#side;
    const answer = this.sync.endReadWait(this.at, side.place);
    side.reads += side.waits;
    side.waits = 0;
    side.died = answer === OWNER_DIED;
    return answer;
  }

  /** One more call or promise reads. */
  #reads(answer: number): void {
    const side = this.#side;
    side.reads++;
    side.keeps = this;
    side.died = answer === OWNER_DIED;
  }

  /** Tells a reader of this thread that a writer has died. */
  #tellReader(): true {
    const side = this.#side;
    const { reads } = side;
    return this.#tell(
      Math.max(this.sync.unreportedDeaths(this.at), 1),
      () => side.reads >= reads,
      () => this.unlockRead(),
    );
  }

  /** Tells of deaths. If that fails, the lock is unlocked, unless the callback has done so. */
  #tell(deaths: number, hasIt: () => boolean, unlock: () => void): true {
    try {
      this.onOwnerDied?.(deaths);
      if (!hasIt()) throw new Error(`${KIND}: onOwnerDied has unlocked it`);
    } catch (error) {
      if (hasIt()) unlock();
      throw error;
    }
    return true;
  }

  async #lockReadAsync(method: string, options: ReadOptions | undefined): Promise<boolean> {
    const what = `${KIND}.${method}`;
    const timeout = options === undefined ? Infinity : checkWaitOptions(what, options, ['timeout', 'signal', 'within']);
    const { within, signal } = options ?? {};
    const side = this.#ready();
    if (within !== undefined) {
      this.#checkWithin(what, within);
      side.reads++;
      return side.died;
    }
    if (!canWaitAsync) throw new Error(NO_WAIT_ASYNC);
    let answer = QUEUED;
    if (side.waits === 0) {
      const isTold = side.reads > 0 && side.died;
      side.acts = READING;
      try {
        answer = side.reads > 0 ? this.sync.readToo(this.at, side.place) : this.#begin(false);
        if (answer === ANSWER_CLOSED) throw this[disposedError]();
        if (answer !== QUEUED) this.#reads(answer);
        else {
          side.phase = this.phaseSeen;
          side.waits = 1;
        }
      } finally {
        side.acts = 0;
      }
      // A callback that reads is called once.
      if (answer !== QUEUED) return isTold || (side.died && this.#tellReader());
    } else side.waits++;
    const { phase } = side;
    // The promise leaves before any other code of the thread may end the wait of all.
    const leave = (): number => {
      const answer = this.lastAnswer(phase);
      if (answer !== ADMITTED && --side.waits === 0) this.sync.giveUpRead(this.at, side.place);
      return answer;
    };
    answer = timeout === 0 ? leave() : await this.sleepAsync(phase, timeout, signal, leave);
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    if (answer === REFUSED) throw timedOut(LOCK, timeout);
    this.#settle();
    return side.died && this.#tellReader();
  }

  #checkWithin(what: string, within: HeldRead): void {
    const lock = (within as Partial<HeldRead> | null)?.[lockOf];
    // The guard may be of another copy of the library. What it has read may have been unlocked without it.
    const reads = within?.[Symbol.toStringTag] === 'HeldRead' && this.#side.reads > 0;
    if (!reads || lock === undefined || guardedBy.get(lock) !== this.#side)
      throw bad('type', `${what}: within`, 'a HeldRead of this lock that is held', within);
  }

  /** The promises of this thread whose phase is over read from now on. */
  #settle(): void {
    const side = this.#side;
    if (side.waits === 0 || this.disposed || this.answerAt(this.at, side.phase) !== ADMITTED) return;
    this.#endWait();
    side.keeps = this;
  }

  /** Returns what the thread does with the lock, with promises settled. */
  #ready(): Side {
    const side = this.#side;
    if (this.disposed) throw this[disposedError]();
    if (side.acts !== 0) this.#recover();
    if (side.waits > 0) this.#settle();
    return side;
  }

  /**
   * Is called when a call is about to block. If the runtime ends it by an exception, and no other call of the thread finds
   * that, it is given up as soon as the thread has returned to its event loop, as for a mutex (runtime/interrupts.ts).
   */
  #sleeps(): void {
    this[reference].attachment.expectInterrupt();
    this.#recoverAfterInterrupt();
  }

  /** Brings into order what a call has left that the runtime has ended: the thread has nothing of what that changed. */
  #recover(): void {
    const { at, sync } = this;
    const side = this.#side;
    this.uncountBlocked();
    // The place is to say what the thread reads and waits for.
    const place = side.acts & READING ? sync.placeFor(at) : 0;
    if (place !== 0) {
      side.place = place;
      if (side.reads === 0) sync.endRead(at, place);
      if (side.waits === 0) sync.giveUpRead(at, place);
    }
    if (side.acts & TURNING && (side.queued === 0 || side.turn !== NO_TURN)) {
      if (this.#core.held(this.number) > 0) {
        // No other thread shuts the gate, since this one has the turn.
        if (sync.stampOf(at) === 0) sync.openGate(at, true);
        side.turn = HAS_TURN;
        this.#failed();
      } else side.turn = NO_TURN;
    }
    side.acts = 0;
    this.#keep();
  }

  // --- Writing ---------------------------------------------------------------------------------------------

  /**
   * Locks for writing: waits for its turn, lets no reader in any more, and blocks the thread until the readers have left.
   * It returns no guard, so `using` throws a TypeError, and the thread stays the writer. `write` returns one.
   * @param options a time-out and a signal; without them the call may take for ever.
   * @throws {@link TimeoutError} when the time-out has passed. Readers are let in again, and the turn goes on.
   * @throws the reason of a signal that is aborted already.
   * @throws {Error} if this thread or a promise of it reads, writes or waits: it would wait for itself.
   * @throws `RangeError` or `TypeError` for a bad time-out or signal.
   * @throws {@link ArenaFullError} if it has a time-out and would have to wait, and the arena has no room for what a cancelled
   * request leaves in the queue.
   * @throws the error that `onOwnerDied` throws; then the lock is free again.
   * @throws `TypeError` on a thread that must not block, such as a browser's main thread, if it would have to.
   * @throws {@link DisposedError} if the lock has been or is being disposed of.
   */
  lockWrite(options?: WaitOptions): void {
    this.#lockWrite('lockWrite', options, true);
    this.#side.acts = 0;
    // biome-ignore lint/correctness/noVoidTypeReturn: to the types it is nothing, and `using` it throws.
    return NO_WRITING;
  }

  /**
   * Locks for writing if nobody else reads, writes or waits to write. Never blocks.
   * @returns whether it has; false also if this thread has the lock.
   * @throws the error that `onOwnerDied` throws; then the lock is free again.
   * @throws {@link DisposedError} if the lock has been disposed of.
   */
  tryLockWrite(): boolean {
    return this.#tryLockWrite() !== undefined;
  }

  /**
   * As `lockWrite`, without blocking the thread. Tasks of one thread exclude one another like threads.
   * @returns a promise. It rejects with the errors of `lockWrite`, and with the reason of the signal when that is aborted.
   * If the thread reads meanwhile, the promise waits until it has unlocked.
   */
  async lockWriteAsync(options?: WaitOptions): Promise<void> {
    await this.#lockWriteAsync('lockWriteAsync', options, true);
  }

  /**
   * Ends the writing: lets readers in, and gives the turn to the next writer. Never blocks. On a disposed lock it does
   * nothing.
   * @throws {Error} if this thread does not write.
   */
  unlockWrite(): void {
    const side = this.#side;
    if (side.turn === WRITES) this.#endTurn(false);
    else if (!this.#isOver()) throw new Error(`${KIND}.unlockWrite: this thread does not write`);
  }

  /** As `lockWrite`, but it returns a guard that unlocks: `using held = lock.write()`. */
  write(options?: WaitOptions): HeldWrite {
    const died = this.#lockWrite('write', options, true);
    return this.#guard(() => new WriteGuard(this.#guarded, died), this.#guarded.endWrite);
  }

  /** As `lockWriteAsync`, but its promise is fulfilled with a guard: `await using held = await lock.writeAsync()`. */
  async writeAsync(options?: WaitOptions): Promise<HeldWrite> {
    return new WriteGuard(this.#guarded, await this.#lockWriteAsync('writeAsync', options, true));
  }

  /** As `tryLockWrite`, but it returns a guard that unlocks, or undefined. */
  tryWrite(): HeldWrite | undefined {
    const died = this.#tryLockWrite();
    return died === undefined ? undefined : new WriteGuard(this.#guarded, died);
  }

  /**
   * Takes the writers' turn without shutting readers out, and blocks the thread until it is its turn. Nobody writes
   * meanwhile, so what it reads stays as it is. It may become a writer (`HeldUpdate.upgrade`): two that read and then want
   * to write would wait for each other, and two that update do not.
   * @throws as `lockWrite`.
   */
  update(options?: WaitOptions): HeldUpdate {
    const died = this.#lockWrite('update', options, false);
    return this.#guard(() => new UpdateGuard(this.#guarded, died), this.#guarded.endUpdate);
  }

  /** Makes a guard. If the stack has no room for that, nobody could unlock. */
  #guard<T>(make: () => T, unlock: () => void): T {
    try {
      const guard = make();
      this.#side.acts = 0;
      return guard;
    } catch (error) {
      unlock();
      throw error;
    }
  }

  /** As `update`, without blocking the thread. */
  async updateAsync(options?: WaitOptions): Promise<HeldUpdate> {
    return new UpdateGuard(this.#guarded, await this.#lockWriteAsync('updateAsync', options, false));
  }

  /** Until the caller ends what the thread acts, an interrupt gives the turn back: nobody else could, without its guard. */
  #lockWrite(method: string, options: WaitOptions | undefined, writes: boolean): boolean {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.${method}`, options);
    const side = this.#ready();
    if (isBusy(side)) throw new Error(`${KIND}.${method}: ${SELF_READS}`);
    const left = countdown(timeout);
    side.acts = TURNING;
    try {
      try {
        const turn = this.#turn;
        if (!turn.tryAcquire()) {
          if (timeout === 0) throw timedOut(LOCK, timeout);
          this.checkBlocking(WITHOUT_BLOCKING);
          this.#sleeps();
          turn.acquire({ timeout });
        }
      } catch (error) {
        if (error instanceof DisposedError) throw this[disposedError]();
        throw error instanceof TimeoutError ? timedOut(LOCK, timeout) : error;
      }
      this.#begins();
      try {
        if (writes) this.#becomeWriter(left, timeout, WITHOUT_BLOCKING);
      } catch (error) {
        this.#failed();
        throw error;
      }
    } catch (error) {
      side.acts = 0;
      throw error;
    }
    return this.#tellWriter();
  }

  /** The thread has just got the turn. */
  #begins(): void {
    this.#side.turn = HAS_TURN;
    this.#side.keeps = this;
  }

  /** The thread gives the turn back with which it has done nothing. The deaths of which it has learned are told to the next. */
  #failed(): void {
    const { deaths } = this.#side;
    this.#side.deaths = 0;
    if (deaths > 0 && !this.disposed) this.#core.restoreOwnerDeaths(this.at, deaths);
    if (this.#side.turn !== NO_TURN) this.#endTurn(true);
  }

  /** Returns whether the thread, which writes or updates, is told that a writer has died. */
  #tellWriter(): boolean {
    // An update may have learned of the death, and not written.
    const deaths = this.#side.deaths || this.sync.hasDied(this.at);
    return deaths !== 0 && this.#tellTurn(deaths);
  }

  #tellTurn(told: number): true {
    const side = this.#side;
    const { turn, deaths } = side;
    side.deaths = 0;
    // The callback may call the lock.
    side.acts = 0;
    return this.#tell(
      told,
      () => side.turn === turn,
      () => {
        side.deaths = deaths;
        this.#failed();
      },
    );
  }

  /** Lets no reader in any more, and blocks until all have left. If that fails, the thread has the turn still. */
  #becomeWriter(left: () => number, timeout: number, instead: string): void {
    let answer = this.#shut();
    try {
      if (answer === QUEUED) {
        answer = REFUSED;
        if (timeout > 0) this.checkBlocking(instead);
        answer = this.#drain(this.phaseSeen, left);
      }
    } finally {
      this.#drained(answer);
    }
    this.#checkDrained(answer, timeout);
  }

  #shut(): number {
    const answer = this.sync.shutGate(this.at);
    if (answer !== ANSWER_CLOSED) this.#side.turn = DRAINS;
    return answer;
  }

  #drained(answer: number): void {
    const side = this.#side;
    if (answer === ADMITTED) side.turn = WRITES;
    else if (side.turn === DRAINS) {
      if (!this.disposed) this.sync.openGate(this.at, true);
      side.turn = HAS_TURN;
    }
  }

  #checkDrained(answer: number, timeout: number): void {
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    if (answer === REFUSED) throw timedOut(LOCK, timeout);
  }

  #drain(phase: number, left: () => number): number {
    const { at, sync } = this;
    const { awake } = this[reference].attachment;
    awake.waits();
    sync.setAwake(awake.turns, awake.near);
    this.countBlocked();
    this.#sleeps();
    try {
      for (let remaining = left(); remaining > 0; remaining = left()) {
        const answer = sync.drainReaders(at, phase, remaining === Infinity ? -1n : nanoseconds(remaining));
        if (answer !== TIMED_OUT) return answer;
      }
      return REFUSED;
    } finally {
      this.uncountBlocked();
    }
  }

  async #lockWriteAsync(method: string, options: WaitOptions | undefined, writes: boolean): Promise<boolean> {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.${method}`, options);
    const { signal } = options ?? {};
    if (!canWaitAsync) throw new Error(NO_WAIT_ASYNC);
    const isImpatient = signal !== undefined || timeout !== Infinity;
    const left = countdown(timeout);
    let leave: ((reason: () => unknown) => void) | undefined;
    const wanted = (): string => LOCK;
    // The code of the signal runs before anything has been queued.
    const unwatch = watch(timeout, signal, (reason) => leave?.(reason), wanted);
    try {
      const side = this.#ready();
      const { number, promises } = this.#shared;
      const core = this.#core;
      // In the very step in which its turn comes, a writer shuts the gate: no reader that comes after that goes before it.
      const due = (): void => {
        this.#begins();
        side.deaths += core.ownersDied(this.at);
        if (writes && this.#shut() === QUEUED && timeout === 0) this.#drained(REFUSED);
        // If a call of this thread is giving the turn back, it has done so.
        side.acts &= ~TURNING;
      };
      // If this call is interrupted, what the thread has already is not given back.
      if (side.turn === NO_TURN) side.acts = TURNING;
      const answer = core.arrive(this.at, 1, isImpatient ? 0 : promises.last, number);
      if (answer === ADMITTED) due();
      side.acts = 0;
      if (answer < ADMITTED) throw answer === ANSWER_CLOSED ? this[disposedError]() : noRoom();
      await (answer === ADMITTED ||
        new Promise((resolve) => {
          const settle = (refusal?: Promise<never>): void => {
            side.queued--;
            if (refusal === undefined) due();
            resolve(refusal);
          };
          side.queued++;
          if (isImpatient) leave = promises.addAlone(this, answer, settle);
          else promises.add(this, answer, settle);
          if (timeout === 0) leave?.(() => timedOut(LOCK, timeout));
        }));
    } catch (error) {
      return locate(error instanceof DisposedError && this.disposed ? this[disposedError]() : error);
    } finally {
      unwatch();
    }
    if (writes) {
      try {
        await this.#becomeWriterAsync(left, timeout, signal);
      } catch (error) {
        this.#failed();
        throw error;
      }
    }
    return this.#tellWriter();
  }

  async #becomeWriterAsync(left: () => number, timeout: number, signal: Signal | undefined): Promise<void> {
    let answer = this.#shut();
    try {
      if (answer === QUEUED) {
        answer = REFUSED;
        if (signal?.aborted) throw reasonOf(signal);
        if (timeout > 0) answer = await this.#drainAsync(this.phaseSeen, Math.max(left(), 0), signal);
      }
    } finally {
      this.#drained(answer);
    }
    this.#checkDrained(answer, timeout);
  }

  /** As #drain, without blocking the thread. */
  #drainAsync(phase: number, timeout: number, signal: Signal | undefined): Promise<number> {
    const { at, number, sync } = this;
    const words = new Int32Array(this[reference].attachment.memory.buffer);
    return new Promise((resolve, reject) => {
      let isOver = false;
      const end = (): void => {
        isOver = true;
        this.#stopDraining = undefined;
        stop();
        host.keepAlive(false);
        if (!this.disposed) sync.noteWaits(number, -1, 0);
        // A pending waitAsync would keep the memory. It cannot be cancelled, but it can be woken.
        Atomics.notify(words, (at >> 2) + DRAIN_INDEX);
      };
      const settle = (answer: number): void => {
        if (isOver) return;
        end();
        if (answer === REFUSED) this.#drained(answer);
        resolve(answer);
      };
      const look = (): void => {
        while (!isOver) {
          const answer = sync.announceDrain(at, phase);
          if (answer !== QUEUED) {
            settle(answer);
            return;
          }
          const wait = waitAsync(words, (at >> 2) + DRAIN_INDEX, sync.drainSeen.value);
          if (!wait.async) continue;
          wait.value.then(look);
          return;
        }
      };
      const stop = watch(
        timeout,
        signal,
        (late) => {
          const reason = late();
          if (signal?.aborted && reason === reasonOf(signal)) reject(reason);
          settle(REFUSED);
        },
        () => LOCK,
      );
      this.#stopDraining = settle;
      sync.noteWaits(number, 1, timestamp());
      host.keepAlive(true);
      look();
    });
  }

  #tryLockWrite(): boolean | undefined {
    const side = this.#ready();
    const { at, sync } = this;
    if (isBusy(side)) return undefined;
    side.acts = TURNING;
    try {
      let answer: number = this.#core.tryAcquireRobust(at, 1, this.#shared.number);
      if (answer === ADMITTED) {
        this.#begins();
        side.deaths += this.#core.ownersDied(at);
        const stamp = sync.stampOf(at);
        // Readers are not shut out in vain.
        answer = stamp === ANSWER_CLOSED || sync.isDrained(at, stamp - 1) ? this.#shut() : QUEUED;
        this.#drained(answer);
        if (answer !== ADMITTED) this.#failed();
      }
      if (answer === ANSWER_CLOSED) throw this[disposedError]();
      if (answer !== ADMITTED) return undefined;
    } finally {
      side.acts = 0;
    }
    return this.#tellWriter();
  }

  /** Opens the gate, if the thread writes, and gives the turn back. `keepsDied` is as in the core. */
  #endTurn(keepsDied: boolean): void {
    const side = this.#side;
    side.acts |= TURNING;
    if (side.turn === WRITES && !this.disposed) this.sync.openGate(this.at, keepsDied);
    side.turn = NO_TURN;
    this.#keep();
    this.#turn.release();
    side.acts &= ~TURNING;
  }

  #endUpdate(): void {
    const side = this.#side;
    if (side.turn === HAS_TURN) this.#endTurn(true);
    else if (!this.#isOver()) throw new Error('HeldUpdate.unlock: this thread does not have the turn');
  }

  #upgrade(options: WaitOptions | undefined): HeldWrite {
    const timeout = options === undefined ? Infinity : checkWaitOptions('HeldUpdate.upgrade', options);
    const side = this.#ready();
    if (side.reads > 0 || side.waits > 0) throw new Error(`HeldUpdate.upgrade: ${SELF_READS}`);
    side.acts = TURNING;
    try {
      this.#becomeWriter(countdown(timeout), timeout, 'upgradeAsync');
      return new WriteGuard(this.#guarded, this.sync.hasDied(this.at) !== 0);
    } finally {
      side.acts = 0;
    }
  }

  async #upgradeAsync(options: WaitOptions | undefined): Promise<HeldWrite> {
    const timeout = options === undefined ? Infinity : checkWaitOptions('HeldUpdate.upgradeAsync', options);
    this.#ready();
    await this.#becomeWriterAsync(countdown(timeout), timeout, options?.signal);
    return new WriteGuard(this.#guarded, this.sync.hasDied(this.at) !== 0);
  }

  #downgrade(): HeldRead {
    const side = this.#ready();
    if (side.turn !== WRITES) throw new Error('HeldWrite.downgrade: this thread does not write');
    // Promises of this thread that wait for the end of this phase have a place with it.
    if (side.waits === 0) this.#findPlace();
    this.sync.endReadWait(this.at, side.place);
    side.reads = 1;
    side.died = false;
    this.unlockWrite();
    this.#settle();
    return new ReadGuard(this.#guarded, false);
  }

  #downgradeUpdate(): HeldRead {
    const side = this.#ready();
    if (side.turn !== HAS_TURN) throw new Error('HeldUpdate.downgrade: this thread does not have the turn');
    side.acts = READING | TURNING;
    try {
      // The gate is open, since this thread has the turn.
      const died = side.reads > 0 ? side.died : this.#begin(false) === OWNER_DIED;
      side.reads++;
      side.died = died;
      this.#endTurn(true);
      return new ReadGuard(this.#guarded, died);
    } finally {
      side.acts = 0;
    }
  }

  // --- Stamps ----------------------------------------------------------------------------------------------

  /**
   * For reads that may be repeated: they need no lock, and no writer waits for them. What is read between `stamp` and
   * `valid` may be half-written, so it must do no harm until `valid` has answered true.
   *
   * @returns a number for `valid`, from 1 to 2 ** 29; 0 while a writer is in or waits until readers have left. Never blocks.
   * @throws {@link DisposedError} if the lock has been disposed of.
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
    const stamp = this.sync.stampOf(this.at);
    if (stamp === ANSWER_CLOSED) throw this[disposedError]();
    return stamp;
  }

  /**
   * Whether nobody has written since this stamp. A writer that has given up counts as one that has written. After exactly
   * 2 ** 29 writers the numbers begin again. Never blocks.
   * @param stamp 0 to 2 ** 29, as `stamp` has answered.
   * @returns false for 0, and on a disposed lock.
   * @throws `RangeError` or `TypeError` for a number that is no stamp.
   */
  valid(stamp: number): boolean {
    checkInteger(`${KIND}.valid: stamp`, stamp, 0, 2 ** 29);
    return stamp > 0 && this.sync.isStamp(this.at, stamp) !== 0;
  }

  // --- Diagnostics -------------------------------------------------------------------------------------------

  /** The number of threads that read. It is racy, and meant for diagnostics. */
  get readers(): number {
    return this.#readers().length;
  }

  /** Whether a writer is in, or waits until the readers have left. It is racy, and meant for diagnostics. */
  get writing(): boolean {
    return this.sync.stampOf(this.at) === 0;
  }

  /** The number of calls that wait, of all threads: blocked ones and promises. It is racy, and meant for diagnostics. */
  override get waiting(): number {
    return super.waiting + (this.disposed ? 0 : this.#turn.waiting);
  }

  #readers(): number[] {
    const found: number[] = [];
    if (this.disposed) return found;
    for (let thread = 1; thread <= this.#core.mostThreads(); thread++)
      if (this.sync.readsBy(this.at, thread)) found.push(thread);
    return found;
  }

  /** Tells who reads, who has the turn and who waits, for diagnostics. Never blocks, throws nothing. */
  inspect(): RwLockState {
    const holder = [...this.attachments()].find((number) => this.sync.heldByAttachment(number) > 0);
    const writer = holder === undefined ? undefined : this.sync.threadOfAttachment(holder);
    const inside = this.waiters().map(
      (waiter): RwLockWaiter => ({ ...waiter, wants: waiter.thread === writer ? 'drain' : 'read' }),
    );
    const inLine = this.disposed
      ? []
      : this.#turn.inspect().waiters.map(
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
      writing: this.writing,
      deaths: this.sync.deathsOf(this.at),
      waiters: [...inside, ...inLine],
    };
  }

  /** @internal */
  protected override get state(): string {
    return this.writing ? 'writing' : `${this.readers} readers`;
  }

  // --- The end -----------------------------------------------------------------------------------------------

  #keep(): void {
    const side = this.#side;
    side.keeps = side.reads > 0 || side.turn !== NO_TURN ? this : undefined;
  }

  /** Whether the lock has been disposed of, so that there is nothing to unlock. */
  #isOver(): boolean {
    return this.disposed || this.#core.isDisposed(this.at) !== 0;
  }

  /** @internal */
  protected override [close](): void {
    this.#core.disposeAgain(this.at);
  }

  /** @internal */
  override [ended](): void {
    super[ended]();
    this.#stopDraining?.(ANSWER_CLOSED);
    this.#side.keeps = undefined;
  }

  /** @internal */
  protected override [forget](): void {
    // No place may name the memory, which may become that of another object.
    this.sync.clearPlaces(this.at, this[reference].attachment.thread);
    super[forget]();
    this.#stopDraining?.(ANSWER_CLOSED);
    this.#side.keeps = undefined;
    this.#turn[closed]();
  }
}

const WITHOUT_BLOCKING = 'lockWriteAsync, writeAsync, updateAsync or tryLockWrite';
const SELF_WRITES =
  'this thread writes, or a promise of it does or waits until readers have left, so it would wait for itself; to go on ' +
  'as a reader use downgrade, and for another task lockReadAsync';
const SELF_READS =
  'this thread or a promise of it reads, writes or waits already, so it would wait for itself; unlock first, or use the ' +
  'async form; to read and then perhaps write, use update';

/** Whether the thread has or wants the lock. */
function isBusy({ reads, waits, turn, queued }: Side): boolean {
  return reads > 0 || waits > 0 || turn !== NO_TURN || queued > 0;
}

function checked(options: SyncOptions): [SyncOptions, number, number, boolean] {
  checkOptions(KIND, options, USUAL);
  return [options, 1, LIMIT, true];
}
