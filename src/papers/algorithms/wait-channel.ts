/** A WaitChannel is a channel of Listing 4 as a value: KeyToChannel computes its address once for all calls. */

import type { Algorithms } from '../../border/algorithms.js';
import { checkType } from '../../runtime/errors.js';
import type { Membership } from '../../runtime/membership.js';
import { membershipOf } from '../../runtime/own-arenas.js';
import { channelAt, type KeyWaitOptions, pollsOf } from './keys.js';
import { prepare } from './listing.js';

/**
 * A channel as one thread sees it. `channelOf` makes the WaitChannel of a key. Other threads reach the same channel by
 * `channelOf` with the same key, or by the calls that take the key, such as `keySignal`.
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
    this.#membership = membershipOf('channelOf', options.arena);
    this.#at = channelAt(algorithms, key);
    this.#polls = pollsOf('channelOf', options);
  }

  /**
   * As `keyMonitor`: returns the sequence of the channel. Look at the condition afterwards, and then call `wait` with
   * the sequence. Never blocks. Throws nothing.
   * @example const sequence = channel.monitor();
   */
  monitor(): bigint {
    return this.#algorithms.keyMonitor(this.#at);
  }

  /**
   * As `keyWait`: blocks the thread until the channel has another sequence.
   * @param sequence the result of `monitor`, 0n or more.
   * @throws {TypeError} for a sequence that is no bigint, or on a thread that must not block.
   * @throws {ArenaFullError} if the arena has no room for another waiter.
   * @example channel.wait(sequence);
   */
  wait(sequence: bigint): void {
    checkType('WaitChannel.wait: sequence', sequence, 'bigint', 'a bigint');
    prepare(this.#membership);
    this.#algorithms.keyWait(this.#at, sequence, this.#polls);
  }

  /**
   * As `keyWaitLazy`: if the channel still has this sequence, blocks the thread until the next wake-up. The wake-up may
   * be meant for another waiter.
   * @param sequence -1n in the first call, which only reads the sequence; later the result of the last call.
   * @returns the sequence for the next call.
   * @throws {TypeError} for a sequence that is no bigint, or on a thread that must not block.
   * @throws {ArenaFullError} if the arena has no room for another waiter.
   * @example for (let sequence = -1n; !condition(); ) sequence = channel.waitLazy(sequence);
   */
  waitLazy(sequence: bigint): bigint {
    checkType('WaitChannel.waitLazy: sequence', sequence, 'bigint', 'a bigint');
    prepare(this.#membership);
    return this.#algorithms.keyWaitLazy(this.#at, sequence, this.#polls);
  }

  /**
   * As `keySignal`: adds one to the sequence, and wakes the waiters of the channel. Never blocks. Throws nothing.
   * @example channel.signal();
   */
  signal(): void {
    this.#algorithms.keySignal(this.#at);
  }

  /**
   * As `keySignalPolite`: does the same as `signal`, but writes only the sequence if nobody waits. Never blocks. Throws
   * nothing.
   * @example channel.signalPolite();
   */
  signalPolite(): void {
    this.#algorithms.keySignalPolite(this.#at);
  }
}
