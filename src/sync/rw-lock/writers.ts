/**
 * The writers' half of a RwLock: how a thread or a promise gets the turn, shuts the gate and waits until the readers
 * have left. side.ts has the states.
 *
 *     write      get the turn ──► shut the gate ──► wait until the readers have left ──► write
 *     update     get the turn ──► read ──► (upgrade) shut the gate ──► ...
 *
 * The turn is the one permit of a robust semaphore. This semaphore is not an object of its own: it uses the words of
 * the lock's shared object. `turn` is a library object of this semaphore.
 */
import { host } from '#host';
import { ADMITTED, ANSWER_CLOSED, DRAIN_INDEX, OWNER_DIED, QUEUED, REFUSED, TIMED_OUT } from '../../border/numbers.js';
import { DisposedError, described, noRoom, selfDeadlock, TimeoutError } from '../../errors.js';
import { checkWaitOptions, type Signal, type WaitOptions } from '../../options.js';
import type { Reference } from '../../reference.js';
import { isTimeout, locate, reasonOf, timedOut, watch } from '../../runtime/cancellation.js';
import { timestamp } from '../../runtime/clock.js';
import { WAIT_FAILED } from '../../runtime/numbers.js';
import { countdown } from '../../runtime/parking.js';
import { closed, newPromise, type Run, resolveOfNew } from '../../runtime/promises.js';
import { checkWaitAsync, waitAsync } from '../../runtime/wait-async.js';
import { Semaphore } from '../../semaphore.js';
import { close, disposedError, forget, isOver, reference } from '../../shared-object.js';
import {
  type GuardedLock,
  type HeldRead,
  type HeldUpdate,
  type HeldWrite,
  ReadGuard,
  UpdateGuard,
  WriteGuard,
} from '../held-rw.js';
import { address, block, checkBlocking, checkEnded, functions, ownAttachment, phaseSeen } from '../phase-object.js';
import {
  expectInterrupt,
  giveTurnBack,
  KIND,
  ReadersHalf,
  readySide,
  settleReaders,
  sideOfLock,
  tellDeaths,
  unlockReading,
  wanted,
} from './readers.js';
import { type Drained, guardedBy, HAS_TURN, NO_TURN, NOTHING, READING, TURNING, WRITES } from './side.js';

const WITHOUT_BLOCKING = 'lockWriteAsync, writeAsync, updateAsync or tryLockWrite';

/** The error of a thread that wants to write, and has the lock or waits for it. */
function ofItself(method: string, lock: string): Error {
  return selfDeadlock(
    `${KIND}.${method}`,
    `this thread or a promise of it reads, writes or waits for ${lock} already`,
    'code that has the lock must unlock first; to read and then perhaps write, use update and then upgrade',
    `${method}Async()`,
  );
}

// The hooks of the classes, as in SharedObject.
/** @internal */
export const turn = Symbol();
/** @internal */
export const guarded = Symbol();
/** @internal */
export const lockWriting = Symbol();
/** @internal */
export const lockWritingAsync = Symbol();
/** @internal */
export const tryLockWriting = Symbol();
/** @internal */
export const endTurn = Symbol();
/** @internal */
export const isGone = Symbol();
/** @internal */
export const unlockWriting = Symbol();

export abstract class WritersHalf extends ReadersHalf {
  /** @internal */
  protected readonly [turn]: Semaphore;
  readonly #core = this[reference].membership.core;
  readonly #shared = this[reference].shared;
  /** Ends the wait of a promise for the readers to leave, with an answer. Undefined if no promise waits so. */
  #stopDraining: ((answer: Drained) => void) | undefined;
  /** @internal What the guards of this library object call. */
  protected readonly [guarded]: GuardedLock = {
    endRead: () => this[unlockReading](),
    endWrite: () => this[unlockWriting](),
    endUpdate: () => this.#endUpdate(),
    downgrade: () => this.#downgrade(),
    downgradeToUpdate: () => this.#downgradeToUpdate(),
    downgradeUpdate: () => this.#downgradeUpdate(),
    upgrade: (options) => this.#upgrade(options),
    upgradeAsync: (options) => this.#upgradeAsync(options),
  };

  /** @internal */
  protected constructor(given: Reference) {
    super(given);
    this[turn] = new Semaphore(1, this[reference]);
    this[turn].onOwnerDied = (deaths) => {
      this[sideOfLock].deaths += deaths;
    };
    guardedBy.set(this[guarded], this[sideOfLock]);
  }

  /** @internal */
  abstract [unlockWriting](): void;

  /**
   * @internal Blocks the thread until it has the turn and, if it `writes`, until it is a writer. Returns whether a
   * writer has died, after the callback has been told.
   *
   * The caller must then set `acts` to NOTHING. If an interrupt comes before that, the turn is given back: nobody has a
   * guard yet that could do so.
   */
  protected [lockWriting](method: string, options: WaitOptions | undefined, writes: boolean): boolean {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.${method}`, options);
    const side = this[readySide]();
    if (side.isBusy) throw ofItself(method, this[described]());
    const left = countdown(timeout);
    side.acts = TURNING;
    try {
      try {
        const queue = this[turn];
        if (!queue.tryAcquire()) {
          if (timeout === 0) throw timedOut(this[wanted](), timeout);
          this[checkBlocking](WITHOUT_BLOCKING);
          this[expectInterrupt]();
          queue.acquire({ timeout });
        }
      } catch (error) {
        if (error instanceof DisposedError) throw this[disposedError]();
        throw error instanceof TimeoutError ? timedOut(this[wanted](), timeout) : error;
      }
      side.takeTurn(this);
      try {
        if (writes) this.#becomeWriter(left, timeout, WITHOUT_BLOCKING);
      } catch (error) {
        this[giveTurnBack]();
        throw error;
      }
    } catch (error) {
      // If the stack is exhausted, the thread may have the turn. A microtask then brings the side into order.
      if (error instanceof RangeError) this[expectInterrupt]();
      else side.acts = NOTHING;
      throw error;
    }
    return this.#tellWriter();
  }

  /**
   * @internal Gives the turn back when the thread has written nothing. The next owner of the turn is told of the deaths
   * of which this thread has learned.
   */
  protected override [giveTurnBack](): void {
    const side = this[sideOfLock];
    const { deaths } = side;
    side.deaths = 0;
    if (deaths > 0 && !this[isOver]) this.#core.restoreOwnerDeaths(this[address], deaths);
    if (side.turn !== NO_TURN) this[endTurn](true);
  }

  /** Tells the callback if a writer has died. Returns whether a writer has died. The thread writes or updates. */
  #tellWriter(): boolean {
    // The gate also says that a writer has died: an update may have learned of the death and then not have written.
    const deaths = this[sideOfLock].deaths || this[functions].hasDied(this[address]);
    return deaths !== 0 && this.#tellTurn(deaths);
  }

  #tellTurn(told: number): true {
    const side = this[sideOfLock];
    const { turn, deaths } = side;
    side.deaths = 0;
    // The callback may call the lock.
    side.acts = NOTHING;
    return this[tellDeaths](
      told,
      () => side.turn === turn,
      () => {
        side.deaths = deaths;
        this[giveTurnBack]();
      },
    );
  }

  /** Lets no more readers in, and blocks until all readers have left. If that fails, the thread still has the turn. */
  #becomeWriter(left: () => number, timeout: number, instead: string): void {
    const side = this[sideOfLock];
    let answer: Drained | QUEUED = side.shut();
    try {
      if (answer === QUEUED) {
        answer = REFUSED;
        if (timeout > 0) this[checkBlocking](instead);
        answer = this.#drain(this[phaseSeen], left);
      }
    } finally {
      side.drained(answer);
    }
    this[checkEnded](answer, this[wanted], timeout);
  }

  #drain(phase: number, left: () => number): Drained {
    this[expectInterrupt]();
    return this[block](
      left,
      (nanoseconds) => this[functions].drainReaders(this[address], phase, nanoseconds),
      (answer) => (answer === TIMED_OUT ? REFUSED : answer),
    );
  }

  /** @internal Does the same as lockWriting, without blocking the thread. */
  protected async [lockWritingAsync](
    method: string,
    options: WaitOptions | undefined,
    writes: boolean,
  ): Promise<boolean> {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.${method}`, options);
    const { signal } = options ?? {};
    checkWaitAsync();
    const isImpatient = signal !== undefined || timeout !== Infinity;
    const left = countdown(timeout);
    const { attachment, promises } = this.#shared;
    let alone: Run | undefined;
    // `watch` may run code of the signal, so it comes before the request is queued.
    const unwatch = watch(timeout, signal, (reason) => alone && promises.cancel(alone, reason), this[wanted]);
    try {
      const side = this[readySide]();
      const core = this.#core;
      // Is called when the turn comes. A writer shuts the gate at once, so no reader that comes later goes before it. If
      // the stack was exhausted in this call, it is made again.
      const due = (): void => {
        side.takeTurn(this);
        side.deaths += core.ownersDied(this[address]);
        if (writes && side.shut() === QUEUED && timeout === 0) side.drained(REFUSED);
        // `due` may run inside the endTurn of another call of this thread, which has given its turn back by now.
        side.acts &= ~TURNING;
      };
      // If the thread already has the turn, TURNING stays unset, so that an interrupt of this call does not give that
      // turn back.
      if (side.turn === NO_TURN) side.acts = TURNING;
      let answer: number = promises.first === 0 ? core.tryAcquireRobust(this[address], 1, attachment) : REFUSED;
      let waited: Promise<void> | undefined;
      if (answer === REFUSED) {
        waited = newPromise<void>();
        const resolve = resolveOfNew();
        let isDue = false;
        const settle = (refusal?: Promise<never>): void => {
          if (refusal === undefined && !isDue) due();
          isDue = true;
          resolve(refusal);
        };
        if (isImpatient) alone = promises.alone(settle);
        answer = promises.arrive(this, this[address], 1, attachment, settle, alone);
      }
      if (answer === ADMITTED) due();
      side.acts = NOTHING;
      if (answer < ADMITTED) throw answer === ANSWER_CLOSED ? this[disposedError]() : noRoom(core);
      if (alone && timeout === 0) promises.cancel(alone, () => timedOut(this[wanted](), timeout));
      await (answer === ADMITTED || waited);
    } catch (error) {
      return locate(error instanceof DisposedError && this[isOver] ? this[disposedError]() : error);
    } finally {
      unwatch();
    }
    if (writes) {
      try {
        await this.#becomeWriterAsync(left, timeout, signal);
      } catch (error) {
        this[giveTurnBack]();
        throw error;
      }
    }
    return this.#tellWriter();
  }

  async #becomeWriterAsync(left: () => number, timeout: number, signal: Signal | undefined): Promise<void> {
    const side = this[sideOfLock];
    let answer: Drained | QUEUED = side.shut();
    // The code of the signal may read the phase of another object.
    const phase = this[phaseSeen];
    try {
      if (answer === QUEUED) {
        answer = REFUSED;
        if (signal?.aborted) throw reasonOf(signal);
        if (timeout > 0) answer = await this.#drainAsync(phase, Math.max(left(), 0), signal);
      }
    } finally {
      side.drained(answer);
    }
    this[checkEnded](answer, this[wanted], timeout);
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
        if (answer === REFUSED) this[sideOfLock].drained(answer);
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
      const stop = watch(
        timeout,
        signal,
        (late) => {
          const reason = late();
          if (!isTimeout(reason, signal)) reject(reason);
          settle(REFUSED);
        },
        this[wanted],
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

  /** @internal Becomes a writer without waiting. Returns whether a writer has died, or undefined if that cannot be. */
  protected [tryLockWriting](): boolean | undefined {
    const side = this[readySide]();
    const at = this[address];
    const sync = this[functions];
    if (side.isBusy) return undefined;
    side.acts = TURNING;
    try {
      let answer: Drained | QUEUED = this.#core.tryAcquireRobust(at, 1, this.#shared.attachment);
      if (answer === ADMITTED) {
        side.takeTurn(this);
        side.deaths += this.#core.ownersDied(at);
        // The thread has the turn, so the gate is open, and the stamp is the number of the phase and 1 more. The thread
        // shuts the gate only if no reader is in.
        const stamp = sync.stampOf(at);
        answer = stamp === ANSWER_CLOSED || sync.isDrained(at, stamp - 1) ? side.shut() : QUEUED;
        side.drained(answer);
        if (answer !== ADMITTED) this[giveTurnBack]();
      }
      if (answer === ANSWER_CLOSED) throw this[disposedError]();
      if (answer !== ADMITTED) return undefined;
    } finally {
      side.acts = NOTHING;
    }
    return this.#tellWriter();
  }

  /** @internal Opens the gate if it is shut, and gives the turn back. See Side.endTurn for `keepsDied`. */
  protected [endTurn](keepsDied: boolean): void {
    this[sideOfLock].endTurn(this, this[turn], keepsDied);
  }

  #endUpdate(): void {
    const side = this[sideOfLock];
    if (side.turn === HAS_TURN) this[endTurn](true);
    else if (!this[isGone]())
      throw new Error(`HeldUpdate.unlock: this thread does not have the turn of ${this[described]()}`);
  }

  #upgrade(options: WaitOptions | undefined): HeldWrite {
    const timeout = options === undefined ? Infinity : checkWaitOptions('HeldUpdate.upgrade', options);
    const side = this[readySide]();
    if (side.reads > 0 || side.waits > 0) {
      const call = 'HeldUpdate.upgrade';
      const why = `this thread or a promise of it reads ${this[described]()} too, or waits to`;
      throw selfDeadlock(call, why, 'code that reads too must unlock that first', 'upgradeAsync()');
    }
    side.acts = TURNING;
    try {
      this.#becomeWriter(countdown(timeout), timeout, 'upgradeAsync');
      return new WriteGuard(this[guarded], this[functions].hasDied(this[address]) !== 0);
    } finally {
      side.acts = NOTHING;
    }
  }

  async #upgradeAsync(options: WaitOptions | undefined): Promise<HeldWrite> {
    const timeout = options === undefined ? Infinity : checkWaitOptions('HeldUpdate.upgradeAsync', options);
    this[readySide]();
    await this.#becomeWriterAsync(countdown(timeout), timeout, options?.signal);
    return new WriteGuard(this[guarded], this[functions].hasDied(this[address]) !== 0);
  }

  #downgrade(): HeldRead {
    const side = this[readySide]();
    if (side.turn !== WRITES) throw new Error(`HeldWrite.downgrade: this thread does not write ${this[described]()}`);
    side.readOn();
    this[unlockWriting]();
    this[settleReaders]();
    return new ReadGuard(this[guarded], false);
  }

  #downgradeToUpdate(): HeldUpdate {
    const side = this[readySide]();
    if (side.turn !== WRITES)
      throw new Error(`HeldWrite.downgradeToUpdate: this thread does not write ${this[described]()}`);
    side.openOn();
    this[settleReaders]();
    return new UpdateGuard(this[guarded], false);
  }

  #downgradeUpdate(): HeldRead {
    const side = this[readySide]();
    if (side.turn !== HAS_TURN)
      throw new Error(`HeldUpdate.downgrade: this thread does not have the turn of ${this[described]()}`);
    side.acts = READING | TURNING;
    try {
      // The gate is open, because this thread has the turn and does not write.
      const answer = side.reads > 0 ? ADMITTED : side.begin(false);
      if (answer === ANSWER_CLOSED) throw this[disposedError]();
      side.begun(side.reads > 0 ? side.died : answer === OWNER_DIED, this);
      this[endTurn](true);
      return new ReadGuard(this[guarded], side.died);
    } finally {
      side.acts = NOTHING;
    }
  }

  /** @internal Whether the lock has been disposed of, so that there is nothing to unlock. */
  protected [isGone](): boolean {
    return this[isOver] || this.#core.isDisposed(this[address]) !== 0;
  }

  /** @internal */
  protected override [close](): void {
    this.#core.disposeAgain(this[address]);
  }

  /** @internal */
  protected override [forget](): void {
    // A promise whose phase is over reads, so it must learn here whether a writer has died. Later the lock is gone.
    this[settleReaders]();
    this[sideOfLock].close(this[address]);
    super[forget]();
    this.#stopDraining?.(ANSWER_CLOSED);
    this[turn][closed]();
  }
}
