/** TwaSemaphore is the public face of core/papers/twa-semaphore.ts. */

import { ADMITTED, KIND_TWA_SEMAPHORE, SEQUESTERED } from '../../border/numbers.js';
import type { Properties } from '../../objects/options.js';
import { type Definition, find, type Handle, make } from '../../objects/reference.js';
import { close, disposedError } from '../../objects/shared-object.js';
import { checkType } from '../../runtime/errors.js';
import { type HashedOptions, hashed } from './hash.js';
import { algorithms, checkPermits, ListingSemaphore, objectAt, type ThresholdOptions } from './listing.js';
import { checkProperties } from './objects.js';

/** The options of a new `TwaSemaphore`. */
export interface TwaSemaphoreOptions extends HashedOptions, Pick<ThresholdOptions, 'farParks'> {
  /**
   * The LongTermThreshold, 0 to 2,147,483,647. A waiter that is no further than this from its turn is near, and polls
   * grant. The other waiters are far, and poll the waiting array. Default 1. With 0 no waiter polls grant. With 0 and
   * `spin: 0` no waiter polls at all.
   */
  readonly threshold?: number;
  /**
   * Whether ticket and grant have a cache line each. Then threads that acquire and threads that release write to
   * different lines. This can only pay if a release does not read ticket. So `release` then does the same as
   * `releaseConservative`: it touches the waiting array whether threads wait or not. Default false.
   */
  readonly sequestered?: boolean;
}

/** A plain, structured-cloneable value to send to another thread, for `TwaSemaphore.from` there. */
export type TwaSemaphoreHandle = Handle<'TwaSemaphore'>;

const KIND = 'TwaSemaphore';

const DEFINITION: Definition<typeof KIND, [number, TwaSemaphoreOptions]> = {
  kind: KIND,
  number: KIND_TWA_SEMAPHORE,
  properties,
};
const DEFAULTS = { spin: 100, threshold: 1, names: ['hash', 'threshold', 'farParks', 'sequestered'] };

/**
 * The semaphore with a waiting array: first come, first served. It spreads waiters over the buckets of the arena. A
 * waiter that is far from its turn polls up to `spin` times (default 100). When the waiter has come near its turn, it
 * polls up to `spin` times again. A waiter that has polled in vain, far or near, parks on its bucket.
 *
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, Listing 2. In the listing waiters poll without
 * bound. Here they park in the end, so that the other threads can run if there are more threads than processors.
 *
 * @example
 * ```ts
 * import { TwaSemaphore } from 'taketurns/algorithms';
 *
 * const semaphore = new TwaSemaphore(2, { threshold: 1 }); // threads share it by semaphore.handle
 * semaphore.acquire();
 * semaphore.release();
 * ```
 */
export class TwaSemaphore extends ListingSemaphore<typeof KIND> {
  readonly #sequestered = this[algorithms].twaIsSequestered(this[objectAt]) !== 0;
  readonly #acquire = this.#sequestered ? this[algorithms].twaAcquireSequestered : this[algorithms].twaAcquire;
  readonly #release = this.#sequestered ? this[algorithms].twaReleaseConservative : this[algorithms].twaRelease;

  /**
   * @param permits the number available at first, 0 to 2,147,483,647.
   * @throws {RangeError | TypeError} for an argument out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(permits: number, options: TwaSemaphoreOptions = {}) {
    super(KIND, make(DEFINITION, permits, options));
  }

  /**
   * Attaches to the semaphore of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a TwaSemaphore.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const pool = TwaSemaphore.from(workerData.pool); // its `handle`, sent by the other thread
   */
  static from(handle: TwaSemaphoreHandle): TwaSemaphore {
    return new TwaSemaphore(0, find(DEFINITION, handle));
  }

  /**
   * SemaTake: takes a permit, and blocks the thread until its turn has come.
   * @throws {TypeError} on a thread that must not block.
   * @throws {DisposedError} if the semaphore has been or is being disposed of.
   * @example pool.acquire();
   */
  acquire(): void {
    if (this.#acquire(this[objectAt]) !== 0) this.#await();
  }

  #await(): void {
    if (this[algorithms].twaAwait(this[objectAt]) !== ADMITTED) throw this[disposedError]();
  }

  /**
   * SemaPost for several permits in one step, with the short-cut of the listing: if nobody waits, the call leaves the
   * waiting array alone. A sequestered semaphore has no short-cut. Never blocks. As in the listing, the number of
   * permits has no bound.
   * @param permits 1 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad number.
   * @example pool.release(2);
   */
  release(permits = 1): void {
    if (permits !== 1) this[checkPermits](permits);
    if (this.#release(this[objectAt], permits) !== 0) this.#post();
  }

  #post(): void {
    this[algorithms].twaPost(this[objectAt]);
  }

  /**
   * SemaPostConservative: gives one permit back without the short-cut, so each call touches the waiting array. Never
   * blocks, throws nothing.
   * @example pool.releaseConservative();
   */
  releaseConservative(): void {
    this[algorithms].twaReleaseConservative(this[objectAt], 1);
  }

  /** The number of free permits now. The number may be out of date at once, and is meant for diagnostics. */
  override get available(): number {
    return this.#sequestered ? this[algorithms].twaAvailableSequestered(this[objectAt]) : super.available;
  }

  /** @internal */
  protected override [close](): void {
    this[algorithms].twaDispose(this[objectAt]);
  }
}

function properties(what: string, permits: number, options: TwaSemaphoreOptions): Properties {
  const checked = hashed(what, checkProperties(what, permits, options, DEFAULTS), options);
  const { sequestered = false } = options;
  checkType(`${what}: sequestered`, sequestered, 'boolean', 'true or false');
  return sequestered ? { ...checked, hash: (checked.hash ?? 0) | SEQUESTERED } : checked;
}
