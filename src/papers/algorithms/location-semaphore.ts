/** LocationSemaphore is the public face of core/papers/location-semaphore.ts. */

import { ADMITTED, KIND_LOCATION_SEMAPHORE } from '../../border/numbers.js';
import type { Properties } from '../../objects/options.js';
import { type Definition, find, type Handle, make } from '../../objects/reference.js';
import { close, disposedError } from '../../objects/shared-object.js';
import { type HashedOptions, hashed } from './hash.js';
import { checkAlternating } from './keys.js';
import {
  algorithms,
  checkPermits,
  ListingSemaphore,
  objectAt,
  prepare,
  prepareFor,
  type ThresholdOptions,
} from './listing.js';
import { checkProperties } from './objects.js';

/** The options of a new `LocationSemaphore`. */
export interface LocationSemaphoreOptions extends HashedOptions, ThresholdOptions {
  /**
   * Whether the threads that wait alternate between two wait elements, as in `LocationWaitOptions`. A thread may have
   * left its element at the location of an earlier ticket. With this option the thread need not wait until the element
   * is free again. Default false.
   */
  readonly alternating?: boolean;
}
/** A plain, structured-cloneable value to send to another thread, for `LocationSemaphore.from` there. */
export type LocationSemaphoreHandle = Handle<'LocationSemaphore'>;

const KIND = 'LocationSemaphore';

const DEFINITION: Definition<typeof KIND, [number, LocationSemaphoreOptions]> = {
  kind: KIND,
  number: KIND_LOCATION_SEMAPHORE,
  properties,
  prepare: (membership) => prepare(membership),
};
const DEFAULTS = { spin: 100, names: ['hash', 'threshold', 'farParks', 'alternating'] };

/**
 * The semaphore over locations, first come, first served. A location is a chain of the arena on which threads wait; a
 * hash of the ticket chooses it. A waiter calls `locationWait` in a loop until it sees by grant that its turn has come.
 * Then it leaves the loop, and may leave its wait element at the location. A waiter polls a word of its own `spin`
 * times (default 100) and then parks on this word.
 *
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, Listing 5. A thread that uses the semaphore
 * borrows a wait element of the arena, or two with `alternating`, and keeps them until the thread ends. Each borrowed
 * element counts as one of the `waiters` of the arena.
 *
 * @example
 * ```ts
 * import { LocationSemaphore } from 'taketurns/algorithms';
 *
 * const semaphore = new LocationSemaphore(2); // threads share it by semaphore.handle
 * semaphore.acquire();
 * semaphore.release();
 * ```
 */
export class LocationSemaphore extends ListingSemaphore<typeof KIND> {
  /**
   * @param permits the number available at first, 0 to 2,147,483,647.
   * @throws {RangeError | TypeError} for an argument out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object, or for another waiter.
   */
  constructor(permits: number, options: LocationSemaphoreOptions = {}) {
    super(KIND, make(DEFINITION, permits, options));
    prepareFor(this);
  }

  /**
   * Attaches to the semaphore of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a LocationSemaphore.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another waiter.
   * @example const pool = LocationSemaphore.from(workerData.pool); // its `handle`, sent by the other thread
   */
  static from(handle: LocationSemaphoreHandle): LocationSemaphore {
    return new LocationSemaphore(0, find(DEFINITION, handle));
  }

  /**
   * SemaTake: takes a permit, and blocks the thread until its turn has come.
   * @throws {TypeError} on a thread that must not block.
   * @throws {DisposedError} if the semaphore has been or is being disposed of.
   * @example pool.acquire();
   */
  acquire(): void {
    if (this[algorithms].locationAcquire(this[objectAt]) !== ADMITTED) throw this[disposedError]();
  }

  /**
   * SemaPost for several permits in one step, with the short-cut of Listing 2: if nobody waits, the call touches no
   * location. Never blocks. As in the listing, the number of permits has no bound.
   * @param permits 1 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad number.
   * @example pool.release(2);
   */
  release(permits = 1): void {
    if (permits !== 1) this[checkPermits](permits);
    this[algorithms].locationRelease(this[objectAt], permits);
  }

  /**
   * SemaPostConservative: gives one permit back without the short-cut, and always wakes the waiters at the location.
   * Never blocks, throws nothing.
   * @example pool.releaseConservative();
   */
  releaseConservative(): void {
    this[algorithms].locationReleaseConservative(this[objectAt]);
  }

  /** @internal */
  protected override [close](): void {
    this[algorithms].locationDispose(this[objectAt]);
  }
}

function properties(what: string, permits: number, options: LocationSemaphoreOptions): Properties {
  const checked = hashed(what, checkProperties(what, permits, options, DEFAULTS), options);
  const alternating = checkAlternating(what, options.alternating);
  return { ...checked, variant: BigInt(Number(alternating)) << 32n };
}
