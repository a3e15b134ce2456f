/** This file defines a lock, and holds all that the locks of the papers share besides their algorithm. */

import type { Arena } from '../../arena/arena.js';
import type { Algorithms } from '../../border/algorithms.js';
import type { Kind } from '../../border/kinds.js';
import {
  ADMITTED,
  type ANSWER_CLOSED,
  ANSWER_FULL,
  ANSWER_HELD,
  type ANSWER_NOT_HELD,
  CLOSED_OBJECT,
  REFUSED,
} from '../../border/numbers.js';
import type { Properties } from '../../objects/options.js';
import type { Reference } from '../../objects/reference.js';
import { close, disposedError, forget, reference, SharedObject } from '../../objects/shared-object.js';
import { checkType, noRoom, SelfDeadlockError } from '../../runtime/errors.js';
import { leaves } from '../../runtime/membership.js';
import type { PolicyOptions } from '../policies.js';
import { algorithmsOf } from './compiled.js';
import { checkProperties } from './objects.js';

/** A lock, which one thread at a time can hold. A `CapacitorLock` wraps any object with these functions. */
export interface Lock {
  /**
   * Takes the lock, and blocks the thread until it has it.
   * @throws if the lock refuses, by its own rules.
   */
  lock(): void;
  /**
   * Gives the lock back. Does not block for long.
   * @throws if the lock refuses, by its own rules.
   */
  unlock(): void;
  /**
   * Takes the lock if that needs no waiting; never blocks.
   * @returns whether it has taken the lock.
   * @throws if the lock refuses, by its own rules.
   */
  tryLock?(): boolean;
}

/** The options of a new lock. */
export interface LockOptions extends PolicyOptions {
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** The answers with which `lock` and `tryLock` throw an error. */
type Refusal = ANSWER_CLOSED | ANSWER_FULL | ANSWER_HELD;

/** @internal The functions of a kind of lock; see the docstrings in core/papers/. */
export interface LockFunctions {
  lock(address: number): ADMITTED | Refusal;
  tryLock(address: number): ADMITTED | REFUSED | Refusal;
  unlock(address: number): ADMITTED | ANSWER_NOT_HELD;
  dispose(address: number): void;
}

const DEFAULTS = { spin: 100, names: [] };

/** @internal Checks the options of a new lock. */
export function properties(what: string, options: LockOptions & { firstTicket?: bigint }): Properties {
  return checkProperties(what, 1, options, DEFAULTS);
}

/**
 * @internal
 * Returns the functions of a lock with a queue. Each waiter learns of `dispose` when the owner before it unlocks. So the
 * library object of the owner must keep the address of a closed lock: `lock` and `tryLock` do not tell the owner that
 * the lock is closed.
 */
export function queueLock(
  { closeObject }: Algorithms,
  lock: LockFunctions['lock'],
  tryLock: LockFunctions['tryLock'],
  unlock: LockFunctions['unlock'],
): LockFunctions {
  const dispose = (at: number): void => {
    if (closeObject(at)) unlock(at);
  };
  return { lock, tryLock, unlock, dispose };
}

/**
 * @internal
 * Takes a lock, calls a function, and gives the lock back whatever happens. Returns what the function returns.
 * @param calls has the functions of the lock. A subclass of a user may have others.
 */
export function runLocked<T, L extends Lock>(kind: string, lock: L, calls: Lock, section: () => T): T {
  checkType(`${kind}.run: section`, section, 'function', 'a function');
  calls.lock.call(lock);
  let result: T;
  try {
    result = section();
  } finally {
    calls.unlock.call(lock);
  }
  if (typeof (result as { then?: unknown } | undefined | null)?.then === 'function') {
    // The error of the section must not end the process as an unhandled rejection.
    Promise.resolve(result).catch(() => {});
    throw new TypeError(
      `${kind}.run: section must not be async: it has returned a promise, and the lock is given back before that is settled`,
    );
  }
  return result;
}

/** The error of a thread that locks a lock that it holds. */
export function heldAlready(call: string): SelfDeadlockError {
  return new SelfDeadlockError(
    `${call}: this thread holds the lock already, and would wait for itself for ever: unlock first, or do not lock again`,
  );
}

export abstract class SharedLock<K extends Kind> extends SharedObject<K> implements Lock {
  readonly #kind: K;
  readonly #functions: LockFunctions;
  readonly #lock: LockFunctions['lock'];
  readonly #unlock: LockFunctions['unlock'];
  /** The address of the shared object, or of the closed one after this object has released its reference. */
  #at: number;

  /** @internal */
  protected constructor(kind: K, reference: Reference, functions: (of: Algorithms) => LockFunctions) {
    super(kind, reference);
    this.#kind = kind;
    this.#functions = functions(algorithmsOf(reference.membership));
    this.#lock = this.#functions.lock;
    this.#unlock = this.#functions.unlock;
    this.#at = reference.address;
  }

  /**
   * Takes the lock, and blocks the thread until it has it.
   * @throws {SelfDeadlockError} if this thread holds it already, even after `dispose`: it would wait for itself for
   * ever.
   * @throws {TypeError} on a thread that must not block.
   * @throws {DisposedError} if the lock has been or is being disposed of.
   * @example lock.lock();
   */
  lock(): void {
    if (this.#at === CLOSED_OBJECT) throw this[disposedError]();
    const answer = this.#lock(this.#at);
    if (answer !== ADMITTED) this.#refuse('lock', answer);
  }

  /**
   * Takes the lock if that needs no waiting. Never blocks.
   * @returns whether it has taken it; false also if this thread holds it.
   * @throws {DisposedError} if the lock has been disposed of.
   * @example if (lock.tryLock()) lock.unlock();
   */
  tryLock(): boolean {
    if (this.#at === CLOSED_OBJECT) throw this[disposedError]();
    const answer = this.#functions.tryLock(this.#at);
    if (answer !== ADMITTED && answer !== REFUSED) this.#refuse('tryLock', answer);
    return answer === ADMITTED;
  }

  /**
   * Gives the lock back. Does nothing after `dispose`. Never blocks for longer than another thread needs to queue up.
   * @throws {Error} if this thread does not hold it.
   * @example lock.unlock();
   */
  unlock(): void {
    if (this.#at === CLOSED_OBJECT) return;
    if (this.#unlock(this.#at) === ADMITTED || this[reference].membership.core.isDisposed(this.#at)) return;
    throw new Error(`${this.#kind}.unlock: this thread does not hold the lock`);
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
    return runLocked(this.#kind, this, SharedLock.prototype, section);
  }

  /**
   * Closes the lock in every thread. Later calls of `lock` get a DisposedError. A present waiter gets one when the
   * owner unlocks, if not before. If this thread holds the lock, it gives it back. Another owner still unlocks it.
   * Never blocks for longer than `unlock`, and throws nothing.
   * @example lock.dispose();
   */
  override dispose(): void {
    super.dispose();
  }

  /** @internal */
  protected override [close](): void {
    this.#functions.dispose(this.#at);
  }

  /** @internal The owner of a closed lock still has to unlock it, so that its waiters get their error. */
  override get [leaves](): boolean {
    return false;
  }

  /** @internal */
  protected override [forget](): void {
    this.#at = CLOSED_OBJECT;
  }

  #refuse(what: string, answer: Refusal): never {
    if (answer === ANSWER_HELD) {
      throw heldAlready(`${this.#kind}.${what}`);
    }
    if (answer === ANSWER_FULL) {
      const error = noRoom(this[reference].membership.core);
      error.message = `${this.#kind}.${what}: ${error.message}`;
      throw error;
    }
    answer satisfies ANSWER_CLOSED;
    throw this[disposedError]();
  }
}
