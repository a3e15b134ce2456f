/** TwaSemaphore is the public face of core/algorithms/twa-semaphore.ts. */
import { type Handle, Reference } from '../reference.js';
import { ADMITTED } from '../runtime/core.js';
import { type HashedOptions, hashed } from './hash.js';
import { ListingSemaphore } from './listing.js';
import { checkProperties, find, make } from './objects.js';

/** What may be said of a new `TwaSemaphore`. */
export interface TwaSemaphoreOptions extends HashedOptions {
  /**
   * LongTermThreshold, 0 to 2,147,483,647: waiters no further than this from their turn poll grant, the
   * others the waiting array. Default 1. With 0 nobody polls grant; with `spin: 0` as well nobody polls.
   */
  readonly threshold?: number;
}

/** What to send to another thread, for `TwaSemaphore.from` there: plain and structured-cloneable. */
export type TwaSemaphoreHandle = Handle<'TwaSemaphore'>;

const KIND = 'TwaSemaphore';
const DEFAULTS = { spin: 100, threshold: 1 };

/**
 * The semaphore with a waiting array: first come, first served, waiters spread over the arena's buckets.
 * A waiter polls `spin` times (default 100) while far and again while near, and then parks on its bucket.
 *
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, Listing 2. There spinning is without
 * bound; here it ends in parking, or more threads than processors could not run.
 */
export class TwaSemaphore extends ListingSemaphore<typeof KIND> {
  readonly #acquire = this.algorithms.twaAcquire;
  readonly #release = this.algorithms.twaRelease;

  /**
   * @param permits available at first, 0 to 2,147,483,647.
   * @throws {RangeError | TypeError} for an argument out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(permits: number, options: TwaSemaphoreOptions = {}) {
    super(
      KIND,
      options instanceof Reference
        ? options
        : make(KIND, hashed(KIND, checkProperties(KIND, permits, options, DEFAULTS), options), options.arena),
    );
  }

  /**
   * Attaches to the semaphore of a handle, in any thread. Never blocks.
   * @throws {TypeError} if it is no handle of a TwaSemaphore.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread, or for another attachment of one.
   */
  static from(handle: TwaSemaphoreHandle): TwaSemaphore {
    return new TwaSemaphore(0, find(KIND, handle));
  }

  /**
   * SemaTake: takes a permit, blocking the thread until it is its turn.
   * @throws {TypeError} on a thread that may not block.
   * @throws {DisposedError} if the semaphore has been or is being disposed of.
   */
  acquire(): void {
    if (this.#acquire(this.at) !== 0) this.#await();
  }

  #await(): void {
    if (this.algorithms.twaAwait(this.at) !== ADMITTED) throw this.closed();
  }

  /**
   * SemaPost, of so many permits in one step, with its short-cut: leaves the waiting array alone when nobody waits
   * far away. Never blocks. As in the listing, nothing bounds the number of permits.
   * @param permits 1 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad number.
   */
  release(permits = 1): void {
    if (permits !== 1) this.checkPermits(permits);
    if (this.#release(this.at, permits) !== 0) this.#post();
  }

  #post(): void {
    this.algorithms.twaPost(this.at);
  }

  /**
   * SemaPostConservative: the same without the short-cut, so that each post touches the waiting array. Never blocks,
   * throws nothing.
   */
  releaseConservative(): void {
    this.algorithms.twaReleaseConservative(this.at);
  }

  /** @internal */
  protected override close(): void {
    this.algorithms.twaDispose(this.at);
  }
}
