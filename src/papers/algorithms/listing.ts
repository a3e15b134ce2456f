/** The semaphores of the listings share the options, base classes and checks of this file. */
import type { Arena } from '../../arena/arena.js';
import type { Algorithms } from '../../border/algorithms.js';
import type { Core } from '../../border/core.js';
import type { Kind } from '../../border/kinds.js';
import { CLOSED_OBJECT, LIMIT } from '../../border/numbers.js';
import type { Reference } from '../../objects/reference.js';
import { forget, reference, SharedObject } from '../../objects/shared-object.js';
import { checkInteger, noRoom } from '../../runtime/errors.js';
import type { Membership } from '../../runtime/membership.js';
import { closed } from '../../runtime/promises.js';
import type { PolicyOptions } from '../policies.js';
import { algorithmsOf } from './compiled.js';

/** The options of a new semaphore of the listings. */
export interface ListingOptions extends PolicyOptions {
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
  /**
   * @internal The first value of the counters ticket and grant, 0n to 2n ** 61n, for tests of large counters. Default
   * 0n.
   */
  readonly firstTicket?: bigint;
}

/** The options of a new semaphore of Listings 3 to 5. */
export interface ThresholdOptions {
  /**
   * The LongTermThreshold, 0 to 2,147,483,647. A waiter that is no further than this from its turn is near. It polls
   * grant `spin` times and then waits as the other waiters do. Default 0, as in the printed listings: no waiter polls
   * grant.
   */
  readonly threshold?: number;
  /**
   * Whether a waiter that is further than `threshold` from its turn parks at once. The options `policy` and `spin` then
   * hold only for near waiters. Default false: the two options hold for all waiters. If `farParks` is true and `policy`
   * is `'spin'`, the waiters do what the paper proposes: far waiters wait by futex, and near waiters spin.
   */
  readonly farParks?: boolean;
}

// The hooks of the classes, as in SharedObject.
/** @internal */
export const algorithms = Symbol();
/** @internal */
export const objectAt = Symbol();
/** @internal */
export const checkPermits = Symbol();

/** The base class of semaphores, event counts and sequencers. It keeps the address of the shared object. */
export abstract class ListingObject<K extends Kind> extends SharedObject<K> {
  /** @internal */
  protected readonly [algorithms]: Algorithms = algorithmsOf(this[reference].membership);
  #at: number = this[reference].address;

  /** @internal */
  protected constructor(kind: K, given: Reference) {
    super(kind, given);
  }

  /** @internal The address of the shared object, or of the closed one after this object has released its reference. */
  protected get [objectAt](): number {
    return this.#at;
  }

  /** @internal */
  protected override [forget](): void {
    this.#at = CLOSED_OBJECT;
  }
}

/** The base class of the semaphores of the listings. */
export abstract class ListingSemaphore<K extends Kind> extends ListingObject<K> {
  readonly #kind: K;
  readonly #core: Core;

  /** @internal */
  protected constructor(kind: K, reference: Reference) {
    super(kind, reference);
    this.#kind = kind;
    this.#core = reference.membership.core;
  }

  /** The number of free permits now. The number may be out of date at once, and is meant for diagnostics. */
  get available(): number {
    return this.#core.available(this[objectAt]);
  }

  /** @internal */
  protected [checkPermits](permits: number): void {
    checkInteger(`${this.#kind}.release: permits`, permits, 1, LIMIT);
  }
}

/**
 * @internal Makes sure that the thread has a wait element. A thread needs one to wait on chains. If the arena has none,
 * the call throws before an object is made: nobody would dispose of the object.
 */
export function prepare(membership: Membership, how: 'prepare' | 'prepareLocation' = 'prepare'): void {
  if (!algorithmsOf(membership)[how]()) throw noRoom(membership.core);
}

/**
 * @internal
 * Makes sure that the thread can wait on a chain, before the thread has to. Closes the library object if the arena has
 * no wait element for the thread.
 */
export function prepareFor(object: SharedObject<Kind>): void {
  try {
    prepare(object[reference].membership);
  } catch (error) {
    object[closed]();
    throw error;
  }
}
