/** What the semaphores of the papers' listings have in common besides their algorithm. */
import type { Arena } from '../arena.js';
import { checkInteger, DisposedError } from '../errors.js';
import { type Attachment, ended } from '../runtime/attachment.js';
import { ADMITTED, CLOSED_OBJECT, type Core, LIMIT } from '../runtime/core.js';
import type { Kind } from '../runtime/kinds.js';
import type { PolicyOptions } from '../runtime/policy.js';
import { arenaFull, type Handle, type Reference } from '../runtime/shared-object.js';
import { type Algorithms, algorithmsOf } from './compiled.js';

/** What may be said of a new semaphore of the listings. */
export interface ListingOptions extends PolicyOptions {
  /** Where it lives. Default: `Arena.default`. */
  readonly arena?: Arena;
  /** Where its two counters begin, 0n to 2n ** 61n: for tests of large counters. Default 0n. */
  readonly firstTicket?: bigint;
}

/** A shared object of one of the papers' algorithms, as this thread knows it. */
export abstract class ListingObject<K extends Kind> {
  readonly #kind: K;
  readonly #reference: Reference;
  // Declared, so that the constructor is the first to set them: see Referring in runtime/shared-object.ts.
  /** @internal */
  declare protected readonly algorithms: Algorithms;
  /** @internal Address of the shared object; of the closed one, once this has let go. */
  declare protected at: number;

  /** @internal */
  protected constructor(kind: K, reference: Reference) {
    reference.hold(this);
    this.#kind = kind;
    this.#reference = reference;
    this.algorithms = algorithmsOf(reference.attachment);
    this.at = reference.address;
  }

  /**
   * What to send to another thread, for `from` there.
   * @throws {DisposedError} if it has been disposed of.
   */
  get handle(): Handle<K> {
    if (this.at === CLOSED_OBJECT) throw new DisposedError(`the ${this.#kind} has been disposed of`);
    return this.#reference.handle(this.#kind);
  }

  /** Closes it in every thread: whoever waits, now or later, gets a DisposedError. Never blocks, throws nothing. */
  dispose(): void {
    if (this.at === CLOSED_OBJECT) return;
    this.close();
    this.#letGo();
  }

  /** @internal Closes the shared object for all threads, and wakes those who wait. */
  protected abstract close(): void;

  /** @internal It has been found closed. */
  protected disposed(): never {
    this.#letGo();
    throw new DisposedError(`the ${this.#kind} has been disposed of`);
  }

  /** @internal Sees to it that the thread can wait on a chain, before it can have to. */
  protected prepare(): void {
    try {
      prepare(this.#reference.attachment);
    } catch (error) {
      this.#letGo();
      throw error;
    }
  }

  /** @internal The thread ends. */
  [ended](): void {
    this.at = CLOSED_OBJECT;
  }

  #letGo(): void {
    if (this.at === CLOSED_OBJECT) return;
    this.at = CLOSED_OBJECT;
    this.#reference.letGo(this);
  }
}

export abstract class ListingSemaphore<K extends Kind> extends ListingObject<K> {
  readonly #kind: K;
  readonly #core: Core;

  /** @internal */
  protected constructor(kind: K, reference: Reference) {
    super(kind, reference);
    this.#kind = kind;
    this.#core = reference.attachment.core;
  }

  /** Permits free now. Racy by nature: for diagnostics. */
  get available(): number {
    return this.#core.available(this.at);
  }

  /** @internal */
  protected checkPermits(permits: number): void {
    checkInteger(`${this.#kind}.release: permits`, permits, 1, LIMIT);
  }

  /** @internal Throws unless the core has admitted the thread. */
  protected check(answer: number): void {
    if (answer !== ADMITTED) this.disposed();
  }
}

/** The thread is to have a wait element at hand, as those need that wait on chains. */
export function prepare(attachment: Attachment): void {
  if (!algorithmsOf(attachment).prepare()) throw arenaFull('waiter', 'waiters');
}
