/** MultilaneSemaphore is the public face of core/papers/lanes.ts. */

import { ADMITTED, ANSWER_CLOSED, CLOSED_OBJECT } from '../../border/numbers.js';
import type { Handle, Reference } from '../../objects/reference.js';
import { close, detach, disposedError } from '../../objects/shared-object.js';
import { awaitInLane, checkLanes, checkParts, closeParts, findParts, makeParts, Parts, releaseLanes } from './lanes.js';
import { algorithms, checkPermits, type ListingOptions, ListingSemaphore, objectAt } from './listing.js';
import { checkProperties } from './objects.js';

/** The options of a new `MultilaneSemaphore`. */
export interface MultilaneSemaphoreOptions extends ListingOptions {
  /** The number of words on which its waiters wait in turn, 1 to 64. Default 8. */
  readonly lanes?: number;
}

/** A plain, structured-cloneable value to send to another thread, for `MultilaneSemaphore.from` there. */
export interface MultilaneSemaphoreHandle extends Handle<'MultilaneSemaphore'> {
  /** The handles of its lanes. */
  readonly lanes: readonly Handle<'MultilaneSemaphore'>[];
}

const KIND = 'MultilaneSemaphore';
const DEFAULTS = { spin: 100, names: ['lanes'] };
const LANES = 8;

/**
 * The ticket semaphore with lanes: first come, first served. Each lane has a word to wait on, and the tickets go to the
 * lanes in turn. So a release of one permit disturbs only the waiters of one lane. No other semaphore uses these words.
 * A waiter polls the word of its lane `spin` times (default 100) and then parks on this word. A release wakes all
 * parked waiters in the lane of each ticket that becomes due.
 *
 * Source: Dice, Capacitors, section 5 and the notes of Listing 2, the multilane idiom. In the paper each lane contains a
 * semaphore of its own. Here all lanes share one ticket and one grant, so that the order is strict.
 *
 * @example
 * ```ts
 * import { MultilaneSemaphore } from 'taketurns/algorithms';
 *
 * const semaphore = new MultilaneSemaphore(2); // threads share it by semaphore.handle
 * semaphore.acquire();
 * semaphore.release();
 * ```
 */
export class MultilaneSemaphore extends ListingSemaphore<typeof KIND> {
  readonly #acquire = this[algorithms].ticketAcquire;
  readonly #lanes: readonly Reference[];

  /**
   * @param permits the number available at first, 0 to 2,147,483,647.
   * @throws {RangeError | TypeError} for an argument out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(permits: number, options: MultilaneSemaphoreOptions = {}) {
    const { references } = options instanceof Parts ? options : made(permits, options);
    const [own, ...lanes] = references as readonly [Reference, ...Reference[]];
    super(KIND, own);
    for (const lane of lanes) lane.attach(this);
    this.#lanes = lanes;
  }

  /**
   * Attaches to the semaphore of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a MultilaneSemaphore.
   * @throws {RangeError} if the handle does not have 1 to 64 lanes.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const pool = MultilaneSemaphore.from(workerData.pool); // its `handle`, sent by the other thread
   */
  static from(handle: MultilaneSemaphoreHandle): MultilaneSemaphore {
    checkParts(KIND, handle, 1);
    return new MultilaneSemaphore(0, new Parts(findParts(KIND, handle)));
  }

  /**
   * The value to send to another thread, for `from` there.
   * @throws {DisposedError} if the semaphore has been disposed of.
   */
  override get handle(): MultilaneSemaphoreHandle {
    return { ...super.handle, lanes: this.#lanes.map((lane) => lane.handle(KIND)) };
  }

  /**
   * Takes a permit, and blocks the thread until its turn has come.
   * @throws {TypeError} on a thread that must not block.
   * @throws {DisposedError} if the semaphore has been or is being disposed of.
   * @example pool.acquire();
   */
  acquire(): void {
    if (this.#acquire(this[objectAt]) !== ADMITTED) this.#await();
  }

  #await(): void {
    const answer = this[objectAt] === CLOSED_OBJECT ? ANSWER_CLOSED : awaitInLane(this[algorithms], this.#lanes);
    if (answer !== ADMITTED) throw this[disposedError]();
  }

  /**
   * Takes a permit if one is free and nobody waits. Never blocks.
   * @returns whether it has taken one.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @example if (pool.tryAcquire()) pool.release();
   */
  tryAcquire(): boolean {
    const answer = this[algorithms].takeIfDue(this[objectAt]);
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    return answer === ADMITTED;
  }

  /**
   * Gives several permits back in one step, and opens the lanes of the tickets that become due. Never blocks. The
   * number of permits has no bound.
   * @param permits 1 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad number.
   * @example pool.release();
   */
  release(permits = 1): void {
    if (permits !== 1) this[checkPermits](permits);
    if (this[objectAt] !== CLOSED_OBJECT) releaseLanes(this[algorithms], this[objectAt], permits, this.#lanes);
  }

  /** @internal */
  protected override [close](): void {
    closeParts(this[algorithms], this[objectAt], this.#lanes);
  }

  /** @internal */
  protected override [detach](): void {
    super[detach]();
    for (const lane of this.#lanes) lane.detach(this);
  }
}

function made(permits: number, options: MultilaneSemaphoreOptions): Parts {
  const properties = checkProperties(KIND, permits, options, DEFAULTS);
  const { lanes = LANES } = options;
  checkLanes(KIND, lanes);
  return new Parts(makeParts(KIND, KIND, properties, properties, lanes, options.arena));
}
