/**
 * The readers' half of a RwLock: how a thread or a promise begins to read, and how it waits for a writer. side.ts has
 * the states.
 *
 *     lockReading, lockReadingAsync ──► begun: reads at once
 *                                  └──► a writer is in: wait for the end of its phase ──► endWait: reads
 *
 * While a thread reads, what else may it read beside a writer that waits for it? A blocking call may, because it would
 * wait for itself otherwise, and a promise may that names the guard `within` which it reads. So a thread whose blocking
 * calls always overlap keeps the writer out. Other promises wait for the writer, and a call that tries is refused.
 *
 * A blocked call and the promises of its thread wait for the end of the same phase, in one place of the thread. When
 * the first of them finds that the phase is over, all of them become readers at once (`endWait`). So no writer comes
 * between two of them.
 */
import { ADMITTED, ANSWER_CLOSED, CLOSED_OBJECT, OWNER_DIED, QUEUED, REFUSED } from '../../border/numbers.js';
import type { Sync } from '../../border/sync.js';
import { bad, described, selfDeadlock } from '../../errors.js';
import { checkWaitOptions, type WaitOptions } from '../../options.js';
import type { Reference } from '../../reference.js';
import { afterInterrupt } from '../../runtime/interrupts.js';
import { countdown } from '../../runtime/parking.js';
import { checkWaitAsync } from '../../runtime/wait-async.js';
import { disposedError, isOver, reference } from '../../shared-object.js';
import { type HeldRead, lockOf } from '../held-rw.js';
import {
  address,
  answerAt,
  checkBlocking,
  checkEnded,
  type Ended,
  functions,
  lastAnswer,
  PhaseObject,
  phaseSeen,
  sleep,
  sleepAsync,
  state,
  uncountBlocked,
} from '../phase-object.js';
import { DRAINS, guardedBy, isGateShut, NOTHING, READING, type Side, sideOf } from './side.js';

/** How long a promise may take to lock for reading, and within which guard it reads. */
export interface ReadOptions extends WaitOptions {
  /**
   * A guard of the same lock that this thread holds. The promise then reads at once, even if a writer waits. Give the
   * guard if the code that unlocks it waits for the promise. Without it, the promise may wait for a writer and the
   * writer for the guard, which is a deadlock. A writer that waits for the guard waits for this reading too, so do not
   * let such readings overlap for ever.
   */
  readonly within?: HeldRead;
}

export const KIND = 'RwLock';

// The hooks of the classes, as in SharedObject.
/** @internal */
export const sideOfLock = Symbol();
/** @internal */
export const giveTurnBack = Symbol();
/** @internal */
export const lockReading = Symbol();
/** @internal */
export const goOnReading = Symbol();
/** @internal */
export const lockReadingAsync = Symbol();
/** @internal */
export const settleReaders = Symbol();
/** @internal */
export const readySide = Symbol();
/** @internal */
export const expectInterrupt = Symbol();
/** @internal */
export const tellDeaths = Symbol();
/** @internal */
export const unlockReading = Symbol();
/** @internal */
export const wanted = Symbol();

export abstract class ReadersHalf extends PhaseObject<typeof KIND> {
  /** @internal */
  protected readonly [sideOfLock]: Side;
  readonly #recoverAfterInterrupt = afterInterrupt(() => {
    if (this[sideOfLock].acts !== NOTHING && !this[isOver]) this.#recover();
  });

  /** @internal */
  abstract onOwnerDied: ((deaths: number) => void) | undefined;

  /** @internal */
  protected constructor(given: Reference) {
    super(KIND, given);
    this[sideOfLock] = sideOf(this[reference]);
  }

  /** @internal Says, for a TimeoutError, what a call has waited for. */
  protected readonly [wanted] = (): string => `${this[described]()} (${this[state]})`;

  /** @internal */
  abstract [unlockReading](): void;

  /** @internal Gives back the turn. The thread has done nothing with the turn. */
  protected abstract [giveTurnBack](): void;

  /**
   * @internal Locks for reading, and blocks the thread until no writer is in. Returns whether a writer has died, after
   * onOwnerDied has been told. Returns undefined if the call only `tries` and a writer is in.
   */
  protected [lockReading](method: string, options: WaitOptions | undefined, tries: boolean): boolean | undefined {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.${method}`, options);
    const side = this[readySide]();
    // A call that waited here would wait for itself: the writer waits for this thread. A call that tries does not wait.
    if (side.reads > 0) return tries && isGateShut(this[functions], this[address]) ? undefined : this.#readAgain();
    if (side.turn >= DRAINS && !tries) throw this.#ofItself(method);
    side.acts = READING;
    return this[goOnReading](timeout, tries);
  }

  #ofItself(method: string): Error {
    return selfDeadlock(
      `${KIND}.${method}`,
      `this thread writes ${this[described]()}, or a promise of it writes or waits until readers have left`,
      'a writer may read what the lock guards without a second lock, and goes on as a reader by downgrade of its guard',
      `${method}Async()`,
    );
  }

  /**
   * @internal The rest of lockReading, for a thread that does not read. `acts` already says that the thread is about to
   * read.
   * @param answer the answer of beginRead, if the caller has called it.
   */
  protected [goOnReading](
    timeout: number,
    tries: boolean,
    answer?: ReturnType<Sync['beginRead']>,
  ): boolean | undefined {
    const side = this[sideOfLock];
    try {
      const waits = side.waits > 0;
      // A disposed lock has no place, and `begin` would look for one.
      const result = this[isOver] ? ANSWER_CLOSED : waits ? QUEUED : side.begin(tries, answer);
      if (result === ANSWER_CLOSED) throw this[disposedError]();
      if (result === REFUSED || (result === QUEUED && tries)) return undefined;
      result satisfies ADMITTED | OWNER_DIED | QUEUED;
      const died =
        result === QUEUED ? this.#awaitPhase(waits ? side.phase : this[phaseSeen], timeout) : result === OWNER_DIED;
      side.begun(died, this);
    } finally {
      side.acts = NOTHING;
    }
    // #tellReader makes closures, so it is called only if there is a death to tell.
    return side.died && this.#tellReader();
  }

  /**
   * Blocks until the phase is over. Then this call and the promises that have waited read. Returns whether a writer has
   * died.
   */
  #awaitPhase(phase: number, timeout: number): boolean {
    const side = this[sideOfLock];
    let answer: Ended = REFUSED;
    try {
      if (timeout > 0) this[checkBlocking]('lockReadAsync, readAsync or tryLockRead');
      if (timeout > 0) this[expectInterrupt]();
      answer = timeout > 0 ? this[sleep](phase, countdown(timeout)) : this[lastAnswer](phase);
    } finally {
      if (answer !== ADMITTED) side.leave();
    }
    this[checkEnded](answer, this[wanted], timeout);
    return side.endWait();
  }

  /** @internal Locks for reading without blocking the thread. Tells whether a writer has died, as lockReading. */
  protected async [lockReadingAsync](method: string, options: ReadOptions | undefined): Promise<boolean> {
    const what = `${KIND}.${method}`;
    const timeout = options === undefined ? Infinity : checkWaitOptions(what, options, ['timeout', 'signal', 'within']);
    const { within, signal } = options ?? {};
    const side = this[readySide]();
    if (within !== undefined) {
      this.#checkWithin(what, within);
      return this.#readAgain();
    }
    checkWaitAsync();
    if (side.waits === 0) {
      const isTold = side.reads > 0 && side.died && side.told;
      side.acts = READING;
      let answer: ReturnType<Side['readToo']>;
      try {
        answer = side.reads > 0 ? side.readToo() : side.begin(false);
        if (answer === ANSWER_CLOSED) throw this[disposedError]();
        if (answer === QUEUED) side.wait(this[phaseSeen]);
        else side.begun(answer === OWNER_DIED, this);
      } finally {
        side.acts = NOTHING;
      }
      // If a callback locks for reading itself, the callback is not called again.
      if (answer !== QUEUED) return isTold || (side.died && this.#tellReader());
    } else side.waits++;
    const { phase } = side;
    let hasLeft = false;
    // Is called when this promise gives up. The promise leaves at once, so that no other code of the thread counts it
    // among the promises that become readers.
    const leave = (): Ended => {
      if (hasLeft) return REFUSED;
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
        this[wanted],
        timeout,
      );
    } catch (error) {
      if (hasLeft || this[isOver]) throw error;
      // The stack was exhausted before the promise could wait. It no longer is after an await.
      await undefined;
      if (!this[isOver] && leave() === ADMITTED) {
        this[settleReaders]();
        this[unlockReading]();
      }
      throw error;
    }
    this[settleReaders]();
    return side.died && this.#tellReader();
  }

  #checkWithin(what: string, within: HeldRead): void {
    const lock = (within as Partial<HeldRead> | null)?.[lockOf];
    // The guard may be of another copy of the library. `unlockRead` may have ended the reading without the guard.
    const reads = within?.[Symbol.toStringTag] === 'HeldRead' && this[sideOfLock].reads > 0;
    if (!reads || lock === undefined || guardedBy.get(lock) !== this[sideOfLock])
      throw bad('type', `${what}: within`, 'a HeldRead of this lock that is held', within);
  }

  /** @internal If the phase is over, makes the promises of this thread that wait for its end readers. */
  protected [settleReaders](): void {
    const side = this[sideOfLock];
    if (side.waits === 0 || this[address] === CLOSED_OBJECT || this[answerAt](side.at, side.phase) !== ADMITTED) return;
    side.endWait();
    side.keeps = this;
  }

  /** @internal Returns the side of this thread, brought into order and with all due promises as readers. */
  protected [readySide](): Side {
    const side = this[sideOfLock];
    if (this[isOver]) throw this[disposedError]();
    if (side.acts !== NOTHING) this.#recover();
    if (side.waits > 0) this[settleReaders]();
    return side;
  }

  /**
   * @internal
   * Is called when a call is about to block. The runtime may end the call by an exception. Then the next call of the
   * thread on this lock brings the side into order. If there is no such call, this happens as soon as the thread has
   * returned to its event loop, as for a mutex (runtime/interrupts.ts).
   */
  protected [expectInterrupt](): void {
    this[reference].membership.expectInterrupt();
    this.#recoverAfterInterrupt();
  }

  /** Brings the side into order after the runtime has ended a call by an exception. */
  #recover(): void {
    const side = this[sideOfLock];
    this[uncountBlocked](true);
    if (side.recover()) this[giveTurnBack]();
    side.acts = NOTHING;
    side.keep(this);
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
    return this[tellDeaths](
      Math.max(this[functions].unreportedDeaths(this[address]), 1),
      () => side.reads >= reads,
      () => {
        side.told = false;
        this[unlockReading]();
      },
    );
  }

  /**
   * @internal Tells the callback of deaths. If the callback throws, or has unlocked the lock, throws.
   * @param hasIt tells whether the caller still has the lock.
   * @param unlock is called before the error is thrown, if the caller still has the lock.
   */
  protected [tellDeaths](deaths: number, hasIt: () => boolean, unlock: () => void): true {
    try {
      this.onOwnerDied?.(deaths);
      if (!hasIt()) throw new Error(`${KIND}: onOwnerDied has unlocked it`);
    } catch (error) {
      if (hasIt()) unlock();
      throw error;
    }
    return true;
  }
}
