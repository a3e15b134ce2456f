/** A CapacitorLock is a capacitor around any lock, as in Dice, Capacitors. */

import { ADMITTED } from '../../border/numbers.js';
import { checkKind } from '../../objects/reference.js';
import { close } from '../../objects/shared-object.js';
import { checkOptions, checkType, DisposedError } from '../../runtime/errors.js';
import { closed } from '../../runtime/promises.js';
import { USUAL } from '../policies.js';
import {
  Capacitor,
  type CapacitorHandle,
  type CapacitorOptions,
  enter,
  foundBy,
  isClosed,
  isDisposed,
  isIdle,
  leave,
  made,
  mine,
  NAMES,
} from './capacitor.js';
import { ClhLock } from './clh-lock.js';
import { LifoLock } from './lifo-lock.js';
import { heldAlready, type Lock, runLocked } from './lock.js';
import { McsLock } from './mcs-lock.js';
import { ARRIVED, type Mine, NOT_HELD, PAST } from './mine.js';
import type { InnerSemaphore } from './platoons.js';
import { draw, limitOf } from './random.js';
import { ReciprocatingLock } from './reciprocating-lock.js';
import { TicketLock } from './ticket-lock.js';
import { TtsLock } from './tts-lock.js';
import { TwaLock } from './twa-lock.js';

/** The options of a new `CapacitorLock`. */
export interface CapacitorLockOptions extends CapacitorOptions {
  /** The size of a platoon, 1 to 2,147,483,647: the bypass limit B of the paper. Default 10, as in the paper. */
  readonly bypass?: number;
  /**
   * The probability, from 0 (the default) to below 1, with which `lock` goes past the capacitor: the fractional
   * bypass of the paper. A greater fraction lowers the cost, but fairness becomes statistical: no bound holds for a
   * single wait.
   */
  readonly fraction?: number;
  /**
   * Whether `lock` goes past the capacitor while nobody is inside it and the inner lock is free. The inner lock must
   * then have a `tryLock`. The bound is then `bypass - 1` plus one for each other thread, because each may have looked
   * just before. The capacitor then needs a semaphore of the library inside. In a semaphore of your own, threads wait
   * before they have a ticket. The capacitor would look idle, and any number of threads would pass them. Default false.
   */
  readonly whenContended?: boolean;
}

/** A plain, structured-cloneable value to send to another thread, for `CapacitorLock.from` there. */
export interface CapacitorLockHandle {
  /** The name of its class. */
  readonly kind: 'CapacitorLock';
  /** The handle of its capacitor. */
  readonly capacitor: CapacitorHandle;
  /** The handle of the inner lock, if it has one. */
  readonly inner:
    | {
        /** The name of its class. */
        readonly kind: string;
      }
    | undefined;
  /** As in `CapacitorLockOptions`. */
  readonly fraction: number;
  /** As in `CapacitorLockOptions`. */
  readonly whenContended: boolean;
}

/** The parts that `from` has found. They take the place of the options of the constructor. */
class Found {
  readonly capacitor: Capacitor;
  readonly fraction: number;
  readonly whenContended: boolean;

  constructor(capacitor: Capacitor, { fraction, whenContended }: CapacitorLockHandle) {
    this.capacitor = capacitor;
    this.fraction = fraction;
    this.whenContended = whenContended;
  }
}

// Symbols, as the hooks of a SharedObject.
const around = Symbol();
const platoons = Symbol();
const share = Symbol();
const limit = Symbol();
const onlyContended = Symbol();
const own = Symbol();

const KIND = 'CapacitorLock';
const BYPASS = 10;
/** The locks of the library. Their handles say how to attach to them. */
const CLASSES: Readonly<Record<string, { from(handle: never): Lock }>> = {
  TtsLock,
  TicketLock,
  TwaLock,
  McsLock,
  ClhLock,
  LifoLock,
  ReciprocatingLock,
};

/**
 * Makes any lock fair: a thread arrives at the capacitor, takes the inner lock, and departs when it has given the
 * inner lock back. At most `bypass - 1` later threads get the lock before a waiter does, however unfair the inner lock
 * is. All threads must take the inner lock through this lock.
 *
 * The inner lock is any object with `lock` and `unlock`, of this library or your own. `dispose` leaves it alone.
 *
 * Source: Dice, Capacitors, Listings 1 and 2; `fraction`, `whenContended` and `lanes` are from its section 5.
 *
 * @example
 * ```ts
 * import { CapacitorLock, TtsLock } from 'taketurns/algorithms';
 *
 * const lock = new CapacitorLock(new TtsLock(), { bypass: 10 }); // nobody is overtaken more than 9 times
 * const answer = lock.run(() => 'in the section');
 * ```
 */
export class CapacitorLock implements Lock {
  // These fields are only declared, so that the constructor is the first to set them: see SharedObject.
  /** @internal */
  declare private readonly [around]: Lock;
  /** @internal */
  declare private readonly [platoons]: Capacitor;
  /** @internal */
  declare private readonly [share]: number;
  /** @internal A thread goes past the capacitor if it draws a number below this. */
  declare private readonly [limit]: number;
  /** @internal */
  declare private readonly [onlyContended]: boolean;
  /** @internal */
  declare private readonly [own]: Mine;

  /**
   * @throws {TypeError} if `inner` is not a lock, or lacks a `tryLock` that is needed; if `whenContended` is true with
   * a semaphore of your own.
   * @throws {RangeError | TypeError} for an option out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(inner: Lock, options: CapacitorLockOptions = {}) {
    checkInnerLock(KIND, inner);
    if (!(options instanceof Found))
      checkOptions(KIND, options, ['bypass', 'fraction', 'whenContended', ...NAMES, ...USUAL], ['firstTicket']);
    const { bypass = BYPASS, fraction = 0, whenContended = false } = options;
    checkType(`${KIND}: fraction`, fraction, 'number', 'a number');
    if (!(fraction >= 0 && fraction < 1))
      throw new RangeError(`${KIND}: fraction must be from 0 to below 1, got ${fraction}`);
    checkType(`${KIND}: whenContended`, whenContended, 'boolean', 'true or false');
    if (whenContended && typeof inner.tryLock !== 'function')
      throw new TypeError(`${KIND}: whenContended needs an inner lock with a function tryLock`);
    if (whenContended && typeof options.semaphore === 'object') throw ownSemaphore(KIND);
    this[around] = inner;
    this[share] = fraction;
    this[limit] = limitOf(fraction);
    this[onlyContended] = whenContended;
    this[platoons] =
      options instanceof Found ? options.capacitor : new Capacitor(bypass, made(KIND, bypass, partOf(options)));
    this[own] = this[platoons][mine];
  }

  /**
   * Attaches to the lock of a handle, in any thread. Never blocks.
   * @param inner the inner lock of this thread. Give it if the inner lock is not of this library.
   * @param semaphore the semaphore inside the capacitor, if it is one of your own, as for `Capacitor.from`.
   * @throws {TypeError} if it is no handle of a CapacitorLock, or the inner lock is missing.
   * @throws {DisposedError} if the lock has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const lock = CapacitorLock.from(workerData.lock); // its `handle`, sent by the other thread
   */
  static from(handle: CapacitorLockHandle, inner?: Lock, semaphore?: InnerSemaphore): CapacitorLock {
    checkKind(`${KIND}.from: handle`, KIND, handle);
    if (handle.whenContended && typeof handle.capacitor?.semaphore !== 'string')
      throw ownSemaphore(`${KIND}.from: handle`);
    if (inner !== undefined) checkInnerLock(`${KIND}.from`, inner);
    const lock = inner ?? innerOf(handle.inner);
    if (lock === undefined)
      throw new TypeError(`${KIND}.from: inner must be given, since the handle knows no lock of this library`);
    const found = new Found(new Capacitor(0, foundBy(`${KIND}.from`, handle.capacitor, semaphore)), handle);
    return new CapacitorLock(lock, found);
  }

  /**
   * The value to send to another thread, for `from` there.
   * @throws {DisposedError} if the lock has been disposed of.
   */
  get handle(): CapacitorLockHandle {
    const { handle: inner } = this[around] as { readonly handle?: { readonly kind: string } };
    return {
      kind: KIND,
      capacitor: this[platoons].handle,
      inner,
      fraction: this[share],
      whenContended: this[onlyContended],
    };
  }

  /** The size of a platoon. */
  get bypass(): number {
    return this[platoons].bypass;
  }

  /**
   * Takes the lock, and blocks the thread until it has it: first at the capacitor, then at the inner lock.
   * @throws {SelfDeadlockError} if this thread holds it already: it would wait for itself for ever.
   * @throws {TypeError} on a thread that must not block.
   * @throws {DisposedError} if the lock has been or is being disposed of.
   * @example lock.lock();
   */
  lock(): void {
    if (this[own].held !== NOT_HELD) throw heldAlready(`${KIND}.lock`);
    if (this[onlyContended] && this[platoons][isIdle] && (this[around] as Required<Lock>).tryLock()) {
      this[own].held = PAST;
    } else if (this[share] > 0 && draw() < this[limit]) {
      if (this[platoons][isClosed]) throw this.#disposed();
      this[around].lock();
      this[own].held = PAST;
    } else this.#through();
  }

  #through(): void {
    if (this[platoons][enter]() !== ADMITTED) throw this.#disposed();
    try {
      this[around].lock();
    } catch (error) {
      this[platoons][leave]();
      throw error;
    }
    this[own].held = ARRIVED;
  }

  /**
   * Takes the lock if the capacitor is open, nobody waits there, and the inner lock is free. Never blocks, if the inner
   * `tryLock` does not. Returns whether it has taken the lock; false also if this thread holds it.
   * @throws {TypeError} if the inner lock has no `tryLock`.
   * @throws {DisposedError} if the lock has been disposed of.
   * @example if (lock.tryLock()) lock.unlock();
   */
  tryLock(): boolean {
    const capacitor = this[platoons];
    const inner = this[around];
    if (typeof inner.tryLock !== 'function')
      throw new TypeError(`${KIND}.tryLock: the inner lock has no function tryLock`);
    if (this[own].held !== NOT_HELD) return false;
    if (this[onlyContended] && capacitor[isIdle] && inner.tryLock()) {
      this[own].held = PAST;
      return true;
    }
    if (!capacitor.tryArrive()) return false;
    let got = false;
    try {
      got = inner.tryLock();
    } finally {
      if (!got) capacitor[leave]();
    }
    if (got) this[own].held = ARRIVED;
    return got;
  }

  /**
   * Gives the lock back. Does nothing after `dispose`. Never blocks, if the inner `unlock` does not.
   * @throws {Error} if this thread does not hold it.
   * @example lock.unlock();
   */
  unlock(): void {
    const thread = this[own];
    if (thread.held === PAST) {
      thread.held = NOT_HELD;
      this[around].unlock();
    } else this.#leave();
  }

  #leave(): void {
    if (this[own].held === NOT_HELD) {
      if (this[platoons][isDisposed]) return;
      throw new Error(`${KIND}.unlock: this thread does not hold the lock`);
    }
    this[own].held = NOT_HELD;
    try {
      this[around].unlock();
    } finally {
      this[platoons][leave]();
    }
  }

  /**
   * Takes the lock, blocks the thread until it has it, calls a function, and gives the lock back whatever happens: the
   * critical section as in Dice, Capacitors, Listing 1.
   * @param section must not be async: the lock is given back when it returns.
   * @returns what the section returns.
   * @throws {TypeError} if the section is no function, or has returned a promise.
   * @throws what the section throws, and what `lock` throws.
   * @example const answer = lock.run(() => 42);
   */
  run<T>(section: () => T): T {
    return runLocked(KIND, this, CapacitorLock.prototype, section);
  }

  /**
   * Closes the capacitor in every thread: all present and later waiters there get a DisposedError. Threads that have
   * passed the capacitor go on to the inner lock. If this thread holds the lock, it gives the lock back. Never blocks,
   * if the inner `unlock` does not.
   * @throws the error of the inner `unlock`.
   * @example lock.dispose();
   */
  dispose(): void {
    const capacitor = this[platoons];
    capacitor[close]();
    if (this[own].held !== NOT_HELD) CapacitorLock.prototype.unlock.call(this);
    capacitor.dispose();
  }

  #disposed(): DisposedError {
    this[platoons][closed]();
    return new DisposedError(`the ${KIND} has been disposed of`);
  }
}

/** Returns the options of the capacitor, inherited ones too. */
function partOf({
  semaphore,
  lanes,
  random,
  threshold,
  policy,
  spin,
  arena,
  firstTicket,
}: CapacitorLockOptions): object {
  return { semaphore, lanes, random, threshold, policy, spin, arena, firstTicket };
}

function innerOf(handle: CapacitorLockHandle['inner']): Lock | undefined {
  if (handle?.kind === KIND) return CapacitorLock.from(handle as CapacitorLockHandle);
  const kind = handle?.kind ?? '';
  return Object.hasOwn(CLASSES, kind) ? CLASSES[kind]?.from(handle as never) : undefined;
}

function checkInnerLock(what: string, inner: Lock): void {
  checkType(`${what}: inner`, inner, 'object', 'a lock');
  for (const name of ['lock', 'unlock'] as const) {
    if (typeof inner[name] !== 'function')
      throw new TypeError(`${what}: inner must be a lock, but it has no function ${name}`);
  }
}

function ownSemaphore(what: string): TypeError {
  return new TypeError(
    `${what}: whenContended must not be true with a semaphore of your own: its waiters have no ticket, and would be passed without bound`,
  );
}
