/**
 * A WaitLocation is a location of Listing 5 as a value: the key is looked up once, and not in each call. A location is
 * a chain of the arena on which threads wait (core/papers/locations.ts).
 */

import type { Algorithms } from '../../border/algorithms.js';
import type { Membership } from '../../runtime/membership.js';
import { membershipOf } from '../../runtime/own-arenas.js';
import { checkAlternating, type LocationWaitOptions, pollsOf } from './keys.js';
import { prepare } from './listing.js';

/**
 * A WaitLocation is the location of one key, as one thread sees it. The location is the chain on which threads wait for
 * the key. A hash of the key chooses the chain, so several keys may have the same location. `locationOf` makes the
 * WaitLocation of a key. Other threads reach the same location by `locationOf` with the same key, or by the calls that
 * take the key, such as `locationWakeAll`.
 *
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, Listing 5, WaitSlot.
 *
 * @example
 * ```ts
 * import { locationOf } from 'taketurns/algorithms';
 *
 * const location = locationOf(42); // any thread of the arena, by the same key
 * location.wakeAll(); // those who wait there look again
 * ```
 */
export class WaitLocation {
  readonly #algorithms: Algorithms;
  readonly #membership: Membership;
  readonly #at: number;
  readonly #polls: number;
  readonly #alternates: boolean;

  /** @internal */
  constructor(algorithms: Algorithms, key: number, options: LocationWaitOptions) {
    this.#algorithms = algorithms;
    this.#membership = membershipOf('locationOf', options.arena);
    this.#at = algorithms.lookUp(key);
    this.#polls = pollsOf('locationOf', options);
    this.#alternates = checkAlternating('locationOf', options.alternating);
  }

  /**
   * As `locationWait`: the first call announces that the thread waits here, and returns. The next call blocks until a
   * thread has called `wakeAll` since the first call. It may also return without such a call, so call `wait` in a loop
   * around the condition.
   * @throws {TypeError} on a thread that must not block.
   * @throws {ArenaFullError} if the arena has no room for another waiter.
   * @example while (!condition()) location.wait();
   */
  wait(): void {
    prepare(this.#membership, 'prepareLocation');
    this.#algorithms.locationWait(this.#at, this.#polls, this.#alternates);
  }

  /**
   * As `locationWakeAll`: wakes all waiters at the location. Never blocks. Throws nothing.
   * @example location.wakeAll();
   */
  wakeAll(): void {
    this.#algorithms.locationWakeAll(this.#at);
  }

  /**
   * As `locationWakeAllPolite`: does the same as `wakeAll`, but writes nothing if nobody waits. Never blocks. Throws
   * nothing.
   * @example location.wakeAllPolite();
   */
  wakeAllPolite(): void {
    this.#algorithms.locationWakeAllPolite(this.#at);
  }
}
