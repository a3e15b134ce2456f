/** The classes in this file hold all that the semaphores of the listings share besides their algorithm. */
import type { Arena } from '../arena.js';
import type { Algorithms } from '../border/algorithms.js';
import type { Core } from '../border/core.js';
import type { Kind } from '../border/kinds.js';
import { CLOSED_OBJECT, LIMIT } from '../border/numbers.js';
import { checkInteger, noRoom } from '../errors.js';
import type { PolicyOptions, Properties } from '../options.js';
import { membershipForNew } from '../own-arenas.js';
import type { Reference } from '../reference.js';
import type { Membership } from '../runtime/membership.js';
import { closed } from '../runtime/promises.js';
import { forget, reference, SharedObject } from '../shared-object.js';
import { algorithmsOf } from './compiled.js';
import { make } from './objects.js';

/** The options of a new semaphore of the listings. */
export interface ListingOptions extends PolicyOptions {
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
  /** @internal The first value of its two counters, 0n to 2n ** 61n, for tests of large counters. Default 0n. */
  readonly firstTicket?: bigint;
}

/** The options of a new semaphore of Listings 3 to 5. */
export interface ThresholdOptions {
  /**
   * The LongTermThreshold, 0 to 2,147,483,647: waiters that are no further than this from their turn poll grant `spin`
   * times and then wait as the others do. Default 0: as the listings are printed, no waiter polls grant.
   */
  readonly threshold?: number;
  /**
   * Whether a waiter that is further than `threshold` from its turn parks at once. The policy and `spin` are then those of
   * the near waiters alone. Default false: they are those of all waiters. With `policy: 'spin'` this is what the paper
   * proposes: far waiters wait by futex, while those closer to the front spin.
   */
  readonly farParks?: boolean;
}

/** A shared object of one of the algorithms, as this thread sees it. */
export abstract class ListingObject<K extends Kind> extends SharedObject<K> {
  // These fields are only declared, so that the constructor is the first to set them: see SharedObject.
  /** @internal */
  declare protected readonly algorithms: Algorithms;
  /** @internal The address of the shared object, or of the closed one after this object has released its reference. */
  declare protected at: number;

  /** @internal */
  protected constructor(kind: K, reference: Reference) {
    super(kind, reference);
    this.algorithms = algorithmsOf(reference.membership);
    this.at = reference.address;
  }

  /** @internal */
  protected prepare(): void {
    prepareFor(this);
  }

  /** @internal */
  protected override [forget](): void {
    this.at = CLOSED_OBJECT;
  }
}

export abstract class ListingSemaphore<K extends Kind> extends ListingObject<K> {
  readonly #kind: K;
  readonly #core: Core;

  /** @internal */
  protected constructor(kind: K, reference: Reference) {
    super(kind, reference);
    this.#kind = kind;
    this.#core = reference.membership.core;
  }

  /** The number of free permits now. It is racy, and meant for diagnostics. */
  get available(): number {
    return this.#core.available(this.at);
  }

  /** @internal */
  protected checkPermits(permits: number): void {
    checkInteger(`${this.#kind}.release: permits`, permits, 1, LIMIT);
  }
}

/** @internal Gives the thread a wait element, which threads need that wait on chains. */
export function prepare(membership: Membership, how: 'prepare' | 'prepareLocation' = 'prepare'): void {
  if (!algorithmsOf(membership)[how]()) throw noRoom();
}

/**
 * @internal
 * Makes sure that the thread can wait on a chain before it has to. Closes the library object if it cannot.
 */
export function prepareFor(object: SharedObject<Kind>): void {
  try {
    prepare(object[reference].membership);
  } catch (error) {
    object[closed]();
    throw error;
  }
}

/**
 * @internal
 * Makes an object on whose chains threads wait. It fails before the object is made, since nobody would dispose of that.
 */
export function makeWithChains(kind: Kind, properties: Properties, arena: Arena | undefined): Reference {
  prepare(membershipForNew(arena));
  return make(kind, properties, arena);
}
