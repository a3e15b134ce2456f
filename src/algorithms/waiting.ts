/**
 * This file has the papers' calls to wait and to wake by a key, for conditions of the caller: Listings 3 to 5 of Dice
 * and Kogan, Semaphores Augmented with a Waiting Array. See chains.ts, channels.ts and locations.ts of core/algorithms.
 *
 * All threads must use a key of an arena for the same condition. Different keys may share a bucket, so a wake-up may be
 * meant for other waiters. The waking thread must first change the condition, by Atomics.
 */
import { checkInteger, checkType } from '../errors.js';
import { USUAL } from '../options.js';
import { MOST_POLLS } from '../runtime/numbers.js';
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
 * The names of the options of a wait for an address and at a location. Calls that wake allow the same options object.
 */
const ADDRESS = ['look', ...USUAL];
const LOCATION = ['alternating', ...USUAL];

/** The way and the place to wait for a condition that is a function. */
export interface AddressWaitOptions extends KeyWaitOptions {
  /**
   * How often the thread looks at the condition again, with a pause between, before it enters the chain: 0 to
   * 1,000,000. It is worth while if the condition is likely to come true within a moment. Default 0.
   */
  readonly look?: number;
}

/**
 * AddressWaitUntil of Listing 3: blocks the thread until `satisfied` returns a value that is truthy, and returns that
 * value. It calls `satisfied` again after each `addressSignal` of the key. Its errors pass through. `satisfied` must be
 * short, and must not wait for another thread: while it runs, this thread may stand on the chain of the key, and wakes
 * the waiters that came before it there only when it goes on.
 * @param key 0 to 2 ** 32 - 1.
 * @throws `RangeError` or `TypeError` for an argument out of its range, or on a thread that must not block.
 * @throws {@link ArenaFullError} if the arena has no room for another waiter.
 */
export function addressWaitUntil<T>(key: number, satisfied: () => T, options: AddressWaitOptions = {}): T {
  checkType('addressWaitUntil: satisfied', satisfied, 'function', 'a function');
  const algorithms = algorithmsFor('addressWaitUntil', key, options, ADDRESS);
  const polls = pollsNow('addressWaitUntil', options);
  const { look = 0 } = options;
  let looks = checkInteger('addressWaitUntil: look', look, 0, MOST_POLLS);
  const slot = slotOf(key);
  let value = satisfied();
  for (; !value && looks > 0; looks--) {
    algorithms.pause();
    value = satisfied();
  }
  while (!value) {
    const element = algorithms.chainEnter(slot);
    let done = true;
    try {
      value = satisfied();
      done = Boolean(value);
    } finally {
      // The thread must also leave the chain if the condition throws.
      if (done) algorithms.chainLeave(slot, element);
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
 * @throws `RangeError` or `TypeError` for an argument out of its range.
 */
export function addressSignal(key: number, options: KeyWakeOptions = {}): void {
  algorithmsFor('addressSignal', key, options, ADDRESS).addressSignal(slotOf(key), 0, 0n);
}

/** As `addressSignal`, but it writes nothing if nobody waits (AddressSignalPolite of Listing 3). */
export function addressSignalPolite(key: number, options: KeyWakeOptions = {}): void {
  algorithmsFor('addressSignalPolite', key, options, ADDRESS).addressSignalPolite(slotOf(key), 0, 0n);
}

/**
 * KeyMonitor of Listing 4: returns the sequence of the channel of the key. Look at the condition afterwards, and then
 * call `keyWait` with the sequence. Never blocks.
 * @param key 0 to 2 ** 32 - 1.
 * @throws `RangeError` or `TypeError` for an argument out of its range.
 */
export function keyMonitor(key: number, options: KeyWakeOptions = {}): bigint {
  const algorithms = algorithmsFor('keyMonitor', key, options);
  return algorithms.keyMonitor(channelAt(algorithms, key));
}

/**
 * KeyWait of Listing 4: blocks the thread until the channel of the key has another sequence, that is until a
 * `keySignal` that follows the `keyMonitor`.
 * @param key 0 to 2 ** 32 - 1.
 * @param sequence the result of `keyMonitor`, 0n or more.
 * @throws `RangeError` or `TypeError` for an argument out of its range, or on a thread that must not block.
 * @throws {@link ArenaFullError} if the arena has no room for another waiter.
 */
export function keyWait(key: number, sequence: bigint, options: KeyWaitOptions = {}): void {
  checkType('keyWait: sequence', sequence, 'bigint', 'a bigint');
  const algorithms = algorithmsFor('keyWait', key, options);
  algorithms.keyWait(channelAt(algorithms, key), sequence, pollsNow('keyWait', options));
}

/**
 * As `keyWait`, but it may return early, and returns the sequence to wait with next (KeyWaitLazy of Listing 4). Call it
 * in a loop around the condition, the first time with -1n, which only learns the sequence.
 */
export function keyWaitLazy(key: number, sequence: bigint, options: KeyWaitOptions = {}): bigint {
  checkType('keyWaitLazy: sequence', sequence, 'bigint', 'a bigint');
  const algorithms = algorithmsFor('keyWaitLazy', key, options);
  return algorithms.keyWaitLazy(channelAt(algorithms, key), sequence, pollsNow('keyWaitLazy', options));
}

/**
 * KeySignal of Listing 4: moves the sequence of the channel of the key, and wakes its waiters. Never blocks.
 * @param key 0 to 2 ** 32 - 1.
 * @throws `RangeError` or `TypeError` for an argument out of its range.
 */
export function keySignal(key: number, options: KeyWakeOptions = {}): void {
  const algorithms = algorithmsFor('keySignal', key, options);
  algorithms.keySignal(channelAt(algorithms, key));
}

/** As `keySignal`, but it writes only the sequence if nobody waits (KeySignalPolite of Listing 4). */
export function keySignalPolite(key: number, options: KeyWakeOptions = {}): void {
  const algorithms = algorithmsFor('keySignalPolite', key, options);
  algorithms.keySignalPolite(channelAt(algorithms, key));
}

/**
 * KeyToChannel of Listing 4: returns the channel of a key, for many calls. Never blocks.
 * @param key 0 to 2 ** 32 - 1.
 * @param options the arena, and how `wait` and `waitLazy` wait.
 * @throws `RangeError` or `TypeError` for an argument out of its range.
 */
export function channelOf(key: number, options: KeyWaitOptions = {}): WaitChannel {
  return new WaitChannel(algorithmsFor('channelOf', key, options), key, options);
}

/**
 * Looks a location up as Listing 5 does: returns the location of a key, for many calls. Never blocks.
 * @param key 0 to 2 ** 32 - 1.
 * @param options the arena, and how `wait` waits.
 * @throws `RangeError` or `TypeError` for an argument out of its range.
 */
export function locationOf(key: number, options: LocationWaitOptions = {}): WaitLocation {
  return new WaitLocation(algorithmsFor('locationOf', key, options, LOCATION), key, options);
}

/**
 * LocationWait of Listing 5, for a loop around the condition: `while (!condition()) locationWait(key)`. The first call
 * announces the thread and returns at once. The next call blocks until a `locationWakeAll` of the key since then. The
 * loop may be left at any moment.
 * @param key 0 to 2 ** 32 - 1.
 * @throws `RangeError` or `TypeError` for an argument out of its range, or on a thread that must not block.
 * @throws {@link ArenaFullError} if the arena has no room for another waiter.
 */
export function locationWait(key: number, options: LocationWaitOptions = {}): void {
  const algorithms = algorithmsFor('locationWait', key, options, LOCATION);
  const alternates = checkAlternating('locationWait', options.alternating);
  algorithms.locationWait(algorithms.lookUp(key), pollsNow('locationWait', options, 'prepareLocation'), alternates);
}

/**
 * LocationWakeAll of Listing 5: wakes all waiters of the key. Never blocks.
 * @param key 0 to 2 ** 32 - 1.
 * @throws `RangeError` or `TypeError` for an argument out of its range.
 */
export function locationWakeAll(key: number, options: KeyWakeOptions = {}): void {
  const algorithms = algorithmsFor('locationWakeAll', key, options, LOCATION);
  algorithms.locationWakeAll(algorithms.lookUp(key));
}

/** As `locationWakeAll`, but it writes nothing if nobody waits (the polite form that Listing 5 names). */
export function locationWakeAllPolite(key: number, options: KeyWakeOptions = {}): void {
  const algorithms = algorithmsFor('locationWakeAllPolite', key, options, LOCATION);
  algorithms.locationWakeAllPolite(algorithms.lookUp(key));
}
