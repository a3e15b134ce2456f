/** This file has the channels of Listing 4 as values: KeyToChannel is computed once for all calls. */

import type { Algorithms } from '../border/algorithms.js';
import { checkType } from '../errors.js';
import { membershipOf } from '../own-arenas.js';
import type { Membership } from '../runtime/membership.js';
import { channelAt, type KeyWaitOptions, pollsOf } from './keys.js';
import { prepare } from './listing.js';

/**
 * A channel as the calling thread sees it: `channelOf` makes it. Other threads call `channelOf` with the same key, or
 * the calls by key.
 *
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, Listing 4, WaitChannel.
 *
 * @example
 * ```ts
 * import { channelOf } from 'taketurns/algorithms';
 *
 * const channel = channelOf(42); // any thread of the arena, by the same key
 * let ready = false;
 * const sequence = channel.monitor(); // before the look at the condition
 * ready = true;
 * channel.signal();
 * if (!ready) channel.wait(sequence); // until a signal that comes after the monitor
 * ```
 */
export class WaitChannel {
  readonly #algorithms: Algorithms;
  readonly #membership: Membership;
  readonly #at: number;
  readonly #polls: number;

  /** @internal */
  constructor(algorithms: Algorithms, key: number, options: KeyWaitOptions) {
    this.#algorithms = algorithms;
    this.#membership = membershipOf(options.arena);
    this.#at = channelAt(algorithms, key);
    this.#polls = pollsOf('channelOf', options);
  }

  /** As `keyMonitor`: returns the sequence. Look at the condition afterwards, and then `wait`. Never blocks. */
  monitor(): bigint {
    return this.#algorithms.keyMonitor(this.#at);
  }

  /**
   * As `keyWait`: blocks the thread until the sequence is another.
   * @param sequence the result of `monitor`, 0n or more.
   * @throws `TypeError` for a sequence that is no bigint, or on a thread that must not block.
   * @throws {@link ArenaFullError} if the arena has no room for another waiter.
   */
  wait(sequence: bigint): void {
    checkType('WaitChannel.wait: sequence', sequence, 'bigint', 'a bigint');
    prepare(this.#membership);
    this.#algorithms.keyWait(this.#at, sequence, this.#polls);
  }

  /**
   * As `keyWaitLazy`: may return early, and returns the sequence to wait with next. A first call with -1n only learns
   * the sequence.
   * @throws `TypeError` for a sequence that is no bigint, or on a thread that must not block.
   * @throws {@link ArenaFullError} if the arena has no room for another waiter.
   */
  waitLazy(sequence: bigint): bigint {
    checkType('WaitChannel.waitLazy: sequence', sequence, 'bigint', 'a bigint');
    prepare(this.#membership);
    return this.#algorithms.keyWaitLazy(this.#at, sequence, this.#polls);
  }

  /** As `keySignal`: moves the sequence, and wakes the waiters. Never blocks. */
  signal(): void {
    this.#algorithms.keySignal(this.#at);
  }

  /** As `keySignalPolite`: the same, but it writes only the sequence if nobody waits. Never blocks. */
  signalPolite(): void {
    this.#algorithms.keySignalPolite(this.#at);
  }
}
