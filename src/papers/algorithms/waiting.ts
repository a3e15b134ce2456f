/**
 * This file has the calls by which threads wait until a condition of the caller is true, and the calls that wake these
 * threads: Listings 3 to 5 of Dice and Kogan, Semaphores Augmented with a Waiting Array. chains.ts, channels.ts and
 * locations.ts of core/papers have the algorithms.
 *
 *     waiting thread                                waking thread
 *     waits by the key until the condition is       changes the condition by Atomics,
 *     true                                          then wakes the waiters of the key
 *
 * A key is a number that stands for the condition. All threads must use the same key of the same arena for the same
 * condition. Different keys may share a chain, so a thread may be woken while its condition is still false.
 */

import { checkInteger, checkType } from '../../runtime/errors.js';
import { afterInterrupt } from '../../runtime/interrupts.js';
import { MOST_POLLS } from '../../runtime/numbers.js';
import { membershipOf } from '../../runtime/own-arenas.js';
import { USUAL } from '../policies.js';
import {
  algorithmsFor,
  channelAt,
  checkAlternating,
  type KeyWaitOptions,
  type KeyWakeOptions,
  type LocationWaitOptions,
  pollsNow,
  slotOf,
} from './keys.js';
import { WaitChannel } from './wait-channel.js';
import { WaitLocation } from './wait-location.js';

/**
 * The names of the options of a wait for an address, and of a wait at a location. Calls that wake allow the same names.
 */
const ADDRESS = ['look', ...USUAL];
const LOCATION = ['alternating', ...USUAL];

/** While this thread calls a condition on a chain: the function by which the thread leaves the chain. */
const onChain = new Set<() => void>();
/** The runtime may end the call of a condition by an interrupt, without `finally`. The thread then leaves later. */
const leaveAfterInterrupt = afterInterrupt(() => {
  for (const leave of onChain) leave();
  onChain.clear();
});

/** How and where to wait for a condition that is a function. */
export interface AddressWaitOptions extends KeyWaitOptions {
  /**
   * How often the thread calls the condition again, with a pause before each call, before it enters the chain: 0 to
   * 1,000,000. This pays if the condition is likely to come true within a moment. Default 0.
   */
  readonly look?: number;
}

/**
 * AddressWaitUntil of Listing 3: blocks the thread until `satisfied` returns a value that is truthy, and returns this
 * value. The thread calls `satisfied` at first, and again after each `addressSignal` of the key.
 *
 * `satisfied` must be short, and must not wait for another thread. While `satisfied` runs, the calling thread may stand
 * on the chain of the key, and the waiters that came before it are woken only after `satisfied` has returned.
 * @param key 0 to 2 ** 32 - 1.
 * @param satisfied the condition.
 * @throws what `satisfied` throws.
 * @throws {RangeError | TypeError} for an argument out of its range, or on a thread that must not block.
 * @throws {ArenaFullError} if the arena has no room for another waiter.
 * @example addressWaitUntil(42, () => Atomics.load(words, 0) > 0);
 */
export function addressWaitUntil<T>(key: number, satisfied: () => T, options: AddressWaitOptions = {}): T {
  checkType('addressWaitUntil: satisfied', satisfied, 'function', 'a function');
  const algorithms = algorithmsFor('addressWaitUntil', key, options, ADDRESS);
  const polls = pollsNow('addressWaitUntil', options);
  const { look = 0 } = options;
  let looks = checkInteger('addressWaitUntil: look', look, 0, MOST_POLLS);
  const slot = slotOf(key);
  const membership = membershipOf('addressWaitUntil', options.arena);
  let value = satisfied();
  for (; !value && looks > 0; looks--) {
    algorithms.pause();
    value = satisfied();
  }
  while (!value) {
    const element = algorithms.chainEnter(slot);
    // After the thread has left the arena, the chain and the element belong to others.
    const leave = (): void => {
      if (!membership.isOver) algorithms.chainLeave(slot, element);
    };
    onChain.add(leave);
    let done = true;
    try {
      leaveAfterInterrupt();
      value = satisfied();
      done = Boolean(value);
    } finally {
      onChain.delete(leave);
      // The thread must also leave the chain if the condition throws.
      if (done) leave();
    }
    if (done) return value;
    algorithms.chainAwait(element, polls);
    value = satisfied();
  }
  return value;
}

/**
 * AddressSignal of Listing 3: wakes the waiters of the key. Never blocks.
 * @param key 0 to 2 ** 32 - 1.
 * @throws {RangeError | TypeError} for an argument out of its range.
 * @example addressSignal(42); // after the change of what the waiters look at
 */
export function addressSignal(key: number, options: KeyWakeOptions = {}): void {
  algorithmsFor('addressSignal', key, options, ADDRESS).addressSignal(slotOf(key), 0, 0n);
}

/**
 * As `addressSignal`, but writes nothing if nobody waits: AddressSignalPolite of Listing 3. Never blocks, and throws
 * what `addressSignal` throws.
 * @example addressSignalPolite(42);
 */
export function addressSignalPolite(key: number, options: KeyWakeOptions = {}): void {
  algorithmsFor('addressSignalPolite', key, options, ADDRESS).addressSignalPolite(slotOf(key), 0, 0n);
}

/**
 * KeyMonitor of Listing 4: returns the sequence of the channel of the key. Look at the condition afterwards, and then
 * call `keyWait` with the sequence. Never blocks.
 * @param key 0 to 2 ** 32 - 1.
 * @throws {RangeError | TypeError} for an argument out of its range.
 * @example const sequence = keyMonitor(42); // before the look at the condition
 */
export function keyMonitor(key: number, options: KeyWakeOptions = {}): bigint {
  const algorithms = algorithmsFor('keyMonitor', key, options);
  return algorithms.keyMonitor(channelAt(algorithms, key));
}

/**
 * KeyWait of Listing 4: blocks the thread until the channel of the key has another sequence. So the thread waits until
 * a `keySignal` has come after its `keyMonitor`.
 * @param key 0 to 2 ** 32 - 1.
 * @param sequence the result of `keyMonitor`, 0n or more.
 * @throws {RangeError | TypeError} for an argument out of its range, or on a thread that must not block.
 * @throws {ArenaFullError} if the arena has no room for another waiter.
 * @example if (!condition()) keyWait(42, sequence);
 */
export function keyWait(key: number, sequence: bigint, options: KeyWaitOptions = {}): void {
  checkType('keyWait: sequence', sequence, 'bigint', 'a bigint');
  const algorithms = algorithmsFor('keyWait', key, options);
  algorithms.keyWait(channelAt(algorithms, key), sequence, pollsNow('keyWait', options));
}

/**
 * KeyWaitLazy of Listing 4, for a loop around the condition: if the channel of the key still has this sequence, blocks
 * the thread until the next wake-up. The wake-up may be meant for another waiter.
 * @param key 0 to 2 ** 32 - 1.
 * @param sequence -1n in the first call, which only reads the sequence; later the result of the last call.
 * @returns the sequence for the next call.
 * @throws {RangeError | TypeError} for an argument out of its range, or on a thread that must not block.
 * @throws {ArenaFullError} if the arena has no room for another waiter.
 * @example for (let sequence = -1n; !condition(); ) sequence = keyWaitLazy(42, sequence);
 */
export function keyWaitLazy(key: number, sequence: bigint, options: KeyWaitOptions = {}): bigint {
  checkType('keyWaitLazy: sequence', sequence, 'bigint', 'a bigint');
  const algorithms = algorithmsFor('keyWaitLazy', key, options);
  return algorithms.keyWaitLazy(channelAt(algorithms, key), sequence, pollsNow('keyWaitLazy', options));
}

/**
 * KeySignal of Listing 4: adds one to the sequence of the channel of the key, and wakes the waiters of the channel.
 * Never blocks.
 * @param key 0 to 2 ** 32 - 1.
 * @throws {RangeError | TypeError} for an argument out of its range.
 * @example keySignal(42); // after the change of what the waiters look at
 */
export function keySignal(key: number, options: KeyWakeOptions = {}): void {
  const algorithms = algorithmsFor('keySignal', key, options);
  algorithms.keySignal(channelAt(algorithms, key));
}

/**
 * As `keySignal`, but writes only the sequence if nobody waits: KeySignalPolite of Listing 4. Never blocks, and throws
 * what `keySignal` throws.
 * @example keySignalPolite(42);
 */
export function keySignalPolite(key: number, options: KeyWakeOptions = {}): void {
  const algorithms = algorithmsFor('keySignalPolite', key, options);
  algorithms.keySignalPolite(channelAt(algorithms, key));
}

/**
 * KeyToChannel of Listing 4: returns the channel of a key. The channel serves for many calls. Never blocks.
 * @param key 0 to 2 ** 32 - 1.
 * @param options the arena, and how `wait` and `waitLazy` wait.
 * @throws {RangeError | TypeError} for an argument out of its range.
 * @example const channel = channelOf(42);
 */
export function channelOf(key: number, options: KeyWaitOptions = {}): WaitChannel {
  return new WaitChannel(algorithmsFor('channelOf', key, options), key, options);
}

/**
 * Looks up the location of a key as Listing 5 does, and returns it. The location serves for many calls. Never blocks.
 * @param key 0 to 2 ** 32 - 1.
 * @param options the arena, and how `wait` waits.
 * @throws {RangeError | TypeError} for an argument out of its range.
 * @example const location = locationOf(42);
 */
export function locationOf(key: number, options: LocationWaitOptions = {}): WaitLocation {
  return new WaitLocation(algorithmsFor('locationOf', key, options, LOCATION), key, options);
}

/**
 * LocationWait of Listing 5, for a loop around the condition: `while (!condition()) locationWait(key)`.
 *
 * The first call announces that the thread waits at the location, and returns. Then the loop looks at the condition
 * again. The next call blocks until a `locationWakeAll` has come since the announcement. The thread may leave the loop
 * at any moment. The announcement then stays: if the thread next waits at the same location, its first call may block.
 * @param key 0 to 2 ** 32 - 1.
 * @throws {RangeError | TypeError} for an argument out of its range, or on a thread that must not block.
 * @throws {ArenaFullError} if the arena has no room for another waiter.
 */
export function locationWait(key: number, options: LocationWaitOptions = {}): void {
  const algorithms = algorithmsFor('locationWait', key, options, LOCATION);
  const alternates = checkAlternating('locationWait', options.alternating);
  algorithms.locationWait(algorithms.lookUp(key), pollsNow('locationWait', options, 'prepareLocation'), alternates);
}

/**
 * LocationWakeAll of Listing 5: wakes all waiters of the key. Never blocks.
 * @param key 0 to 2 ** 32 - 1.
 * @throws {RangeError | TypeError} for an argument out of its range.
 * @example locationWakeAll(42); // after the change of what the waiters look at
 */
export function locationWakeAll(key: number, options: KeyWakeOptions = {}): void {
  const algorithms = algorithmsFor('locationWakeAll', key, options, LOCATION);
  algorithms.locationWakeAll(algorithms.lookUp(key));
}

/**
 * As `locationWakeAll`, but writes nothing if nobody waits: the polite form that Listing 5 names. Never blocks, and
 * throws what `locationWakeAll` throws.
 * @example locationWakeAllPolite(42);
 */
export function locationWakeAllPolite(key: number, options: KeyWakeOptions = {}): void {
  const algorithms = algorithmsFor('locationWakeAllPolite', key, options, LOCATION);
  algorithms.locationWakeAllPolite(algorithms.lookUp(key));
}
