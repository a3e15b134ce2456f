/** What a lock is, and what the locks of the papers have in common besides their algorithm. */

import type { Arena } from '../arena.js';
import { ArenaFullError, DisposedError } from '../errors.js';
import { ended } from '../runtime/attachment.js';
import { ADMITTED, ANSWER_CLOSED, ANSWER_FULL, ANSWER_HELD, CLOSED_OBJECT } from '../runtime/core.js';
import type { Kind } from '../runtime/kinds.js';
import type { PolicyOptions } from '../runtime/policy.js';
import { type Handle, Reference } from '../runtime/shared-object.js';
import { type Algorithms, algorithmsOf } from './compiled.js';
import { find, make, open } from './objects.js';
import { checkProperties } from './properties.js';

/** Anything that one thread at a time can hold. A `CapacitorLock` wraps whatever has these functions. */
export interface Lock {
  /**
   * Takes the lock, blocking until it is this thread's.
   * @throws if the lock refuses, by its own rules.
   */
  lock(): void;
  /**
   * Gives it back, without blocking for long.
   * @throws if the lock refuses, by its own rules.
   */
  unlock(): void;
  /**
   * Takes it if that needs no waiting; never blocks.
   * @returns whether it has.
   * @throws if the lock refuses, by its own rules.
   */
  tryLock?(): boolean;
}

/** What may be said of a new lock. */
export interface LockOptions extends PolicyOptions {
  /** Where it lives. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** The functions of a kind of lock; see the docstrings in core/algorithms/. */
export interface LockFunctions {
  lock(address: number): number;
  tryLock(address: number): number;
  unlock(address: number): number;
  dispose(address: number): void;
}

const DEFAULTS = { spin: 100 };

/** A new lock's object, or, of a reference, its own. */
export function lockObject(
  kind: Kind,
  made: Reference | (LockOptions & { threshold?: number; firstTicket?: bigint }) | undefined,
  defaults: { spin: number; threshold?: number } = DEFAULTS,
): Reference {
  if (made instanceof Reference) return made;
  const options = made === undefined ? {} : made;
  return make(kind, checkProperties(kind, 1, options, defaults), options.arena);
}

/** The object of a handle. */
export function foundLock(kind: Kind, handle: Handle): never {
  return find(kind, handle) as never;
}

/** The object of a name. */
export function openLock(
  kind: Kind,
  name: string,
  options: LockOptions & { threshold?: number } = {},
  defaults: { spin: number; threshold?: number } = DEFAULTS,
): never {
  return open(kind, name, checkProperties(kind, 1, options, defaults), options.arena) as never;
}

export abstract class SharedLock<K extends Kind> implements Lock {
  readonly #kind: K;
  readonly #reference: Reference;
  readonly #functions: LockFunctions;
  readonly #lock: LockFunctions['lock'];
  readonly #unlock: LockFunctions['unlock'];
  /** Address of the shared object; of the closed one, once this has let go. */
  #at: number;

  /** @internal */
  protected constructor(kind: K, reference: Reference, functions: (of: Algorithms) => LockFunctions) {
    reference.hold(this);
    this.#kind = kind;
    this.#reference = reference;
    this.#functions = functions(algorithmsOf(reference.attachment));
    this.#lock = this.#functions.lock;
    this.#unlock = this.#functions.unlock;
    this.#at = reference.address;
  }

  /**
   * What to send to another thread, for `from` there.
   * @throws {DisposedError} if the lock has been disposed of.
   */
  get handle(): Handle<K> {
    if (this.#at === CLOSED_OBJECT) throw this.#disposed();
    return this.#reference.handle(this.#kind);
  }

  /**
   * Takes the lock, blocking the thread until it is its own.
   * @throws {Error} if this thread holds it already: it would wait for itself for ever.
   * @throws {TypeError} on a thread that may not block.
   * @throws {DisposedError} if the lock has been or is being disposed of.
   */
  lock(): void {
    if (this.#at === CLOSED_OBJECT) throw this.#disposed();
    const answer = this.#lock(this.#at);
    if (answer !== ADMITTED) this.#refuse('lock', answer);
  }

  /**
   * Takes the lock if that needs no waiting. Never blocks.
   * @returns whether it has; false too if this thread holds it.
   * @throws {DisposedError} if the lock has been disposed of.
   */
  tryLock(): boolean {
    if (this.#at === CLOSED_OBJECT) throw this.#disposed();
    const answer = this.#functions.tryLock(this.#at);
    if (answer < 0) this.#refuse('tryLock', answer);
    return answer === ADMITTED;
  }

  /**
   * Gives the lock back. After `dispose`, which has done that, it does nothing. Never blocks for longer than another
   * thread needs to line up.
   * @throws {Error} if this thread does not hold it.
   */
  unlock(): void {
    if (this.#at === CLOSED_OBJECT) return;
    if (this.#unlock(this.#at) === ADMITTED || this.#reference.attachment.core.isDisposed(this.#at)) return;
    throw new Error(`${this.#kind}.unlock: this thread does not hold the lock`);
  }

  /**
   * Closes it in every thread: whoever locks from now on gets a DisposedError, and whoever waits gets one when the
   * owner unlocks, if not before. If this thread holds it, it gives it back. Another owner still unlocks it. Never
   * blocks for longer than `unlock`, and throws nothing.
   */
  dispose(): void {
    if (this.#at === CLOSED_OBJECT) return;
    this.#functions.dispose(this.#at);
    this.#letGo();
  }

  /** @internal The thread ends. */
  [ended](): void {
    this.#at = CLOSED_OBJECT;
  }

  #refuse(what: string, answer: number): never {
    if (answer === ANSWER_HELD) {
      throw new Error(
        `${this.#kind}.${what}: this thread holds the lock already, and would wait for itself for ever`,
      );
    }
    if (answer === ANSWER_FULL) {
      throw new ArenaFullError(
        `${this.#kind}.${what}: the arena has no room for another waiter: make it with more \`waiters\``,
      );
    }
    if (answer !== ANSWER_CLOSED) throw new Error(`${this.#kind}.${what}: the core answers ${answer}`);
    this.#letGo();
    throw this.#disposed();
  }

  #disposed(): DisposedError {
    return new DisposedError(`the ${this.#kind} has been disposed of`);
  }

  #letGo(): void {
    if (this.#at === CLOSED_OBJECT) return;
    this.#at = CLOSED_OBJECT;
    this.#reference.letGo(this);
  }
}
