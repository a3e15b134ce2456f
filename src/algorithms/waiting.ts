/**
 * This file has the papers' calls to wait and to wake by a key, for conditions of the caller: Listings 3 to 5 of Dice
 * and Kogan, Semaphores Augmented with a Waiting Array. See chains.ts, channels.ts and locations.ts of core/algorithms.
 *
 * All threads must use a key of an arena for the same condition. Different keys may share a bucket, so a wake-up may be
 * meant for other waiters. The waking thread must first change the condition, by Atomics.
 */
import { type Arena, attachmentOf } from '../arena.js';
import { checkInteger, checkType } from '../errors.js';
import { budget, type PolicyOptions } from '../options.js';
import { type Algorithms, algorithmsOf } from './compiled.js';
import { prepare } from './listing.js';
import { POLICIES } from './objects.js';

/** The place of the threads to wake. */
export interface KeyWakeOptions {
  /** The arena of the waiting array. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** The way and the place to wait. */
export interface KeyWaitOptions extends KeyWakeOptions, PolicyOptions {}

const SPIN = 100;
const MOST_KEY = 2 ** 32 - 1;

function algorithmsFor(what: string, key: number, { arena }: KeyWakeOptions): Algorithms {
  checkInteger(`${what}: key`, key, 0, MOST_KEY);
  return algorithmsOf(attachmentOf(arena));
}

function waiter(what: string, key: number, options: KeyWaitOptions): { algorithms: Algorithms; spin: number } {
  const algorithms = algorithmsFor(what, key, options);
  const spin = budget(what, options, SPIN, POLICIES);
  prepare(attachmentOf(options.arena));
  return { algorithms, spin };
}

/**
 * AddressWaitUntil of Listing 3: blocks the thread until `satisfied` returns true. It calls that again after each
 * `addressSignal` of the key. `satisfied` may itself wait, and its errors pass through.
 * @param key 0 to 2 ** 32 - 1.
 * @throws {RangeError | TypeError} for an argument out of its range, or on a thread that must not block.
 * @throws {ArenaFullError} if the arena has no room for another waiter.
 */
export function addressWaitUntil(key: number, satisfied: () => boolean, options: KeyWaitOptions = {}): void {
  checkType('addressWaitUntil: satisfied', satisfied, 'function', 'a function');
  const { algorithms, spin } = waiter('addressWaitUntil', key, options);
  while (!satisfied()) {
    const element = algorithms.chainEnter(key);
    let done = true;
    try {
      done = satisfied();
    } finally {
      // The thread must also leave the chain if the condition throws.
      if (done) algorithms.chainLeave(key, element);
    }
    if (done) return;
    algorithms.chainAwait(element, spin);
  }
}

/**
 * AddressSignal of Listing 3: wakes the waiters of the key. Never blocks.
 * @param key 0 to 2 ** 32 - 1.
 * @throws {RangeError | TypeError} for an argument out of its range.
 */
export function addressSignal(key: number, options: KeyWakeOptions = {}): void {
  algorithmsFor('addressSignal', key, options).addressSignal(key, 0, 0n);
}

/** As `addressSignal`, but it writes nothing if nobody waits (AddressSignalPolite of Listing 3). */
export function addressSignalPolite(key: number, options: KeyWakeOptions = {}): void {
  algorithmsFor('addressSignalPolite', key, options).addressSignalPolite(key, 0, 0n);
}

/**
 * KeyMonitor of Listing 4: returns the sequence of the channel of the key. Look at the condition afterwards, and then
 * call `keyWait` with the sequence. Never blocks.
 * @param key 0 to 2 ** 32 - 1.
 * @throws {RangeError | TypeError} for an argument out of its range.
 */
export function keyMonitor(key: number, options: KeyWakeOptions = {}): bigint {
  const algorithms = algorithmsFor('keyMonitor', key, options);
  return algorithms.keyMonitor(algorithms.chainOf(key));
}

/**
 * KeyWait of Listing 4: blocks the thread until the channel of the key has another sequence, that is until a
 * `keySignal` that follows the `keyMonitor`.
 * @param key 0 to 2 ** 32 - 1.
 * @param sequence the result of `keyMonitor`, 0n or more.
 * @throws {RangeError | TypeError} for an argument out of its range, or on a thread that must not block.
 * @throws {ArenaFullError} if the arena has no room for another waiter.
 */
export function keyWait(key: number, sequence: bigint, options: KeyWaitOptions = {}): void {
  checkType('keyWait: sequence', sequence, 'bigint', 'a bigint');
  const { algorithms, spin } = waiter('keyWait', key, options);
  algorithms.keyWait(algorithms.chainOf(key), sequence, spin);
}

/**
 * As `keyWait`, but it may return early, and returns the sequence to wait with next (KeyWaitLazy of Listing 4). Call it
 * in a loop around the condition, the first time with -1n, which only learns the sequence.
 */
export function keyWaitLazy(key: number, sequence: bigint, options: KeyWaitOptions = {}): bigint {
  checkType('keyWaitLazy: sequence', sequence, 'bigint', 'a bigint');
  const { algorithms, spin } = waiter('keyWaitLazy', key, options);
  return algorithms.keyWaitLazy(algorithms.chainOf(key), sequence, spin);
}

/**
 * KeySignal of Listing 4: moves the sequence of the channel of the key, and wakes its waiters. Never blocks.
 * @param key 0 to 2 ** 32 - 1.
 * @throws {RangeError | TypeError} for an argument out of its range.
 */
export function keySignal(key: number, options: KeyWakeOptions = {}): void {
  const algorithms = algorithmsFor('keySignal', key, options);
  algorithms.keySignal(algorithms.chainOf(key));
}

/** As `keySignal`, but it writes only the sequence if nobody waits (KeySignalPolite of Listing 4). */
export function keySignalPolite(key: number, options: KeyWakeOptions = {}): void {
  const algorithms = algorithmsFor('keySignalPolite', key, options);
  algorithms.keySignalPolite(algorithms.chainOf(key));
}

/**
 * LocationWait of Listing 5, for a loop around the condition: `while (!condition()) locationWait(key)`. The first call
 * announces the thread and returns at once. The next call blocks until a `locationWakeAll` of the key since then. The
 * loop may be left at any moment.
 * @param key 0 to 2 ** 32 - 1.
 * @throws {RangeError | TypeError} for an argument out of its range, or on a thread that must not block.
 * @throws {ArenaFullError} if the arena has no room for another waiter.
 */
export function locationWait(key: number, options: KeyWaitOptions = {}): void {
  const { algorithms, spin } = waiter('locationWait', key, options);
  algorithms.locationWaitAt(key, spin);
}

/**
 * LocationWakeAll of Listing 5: wakes all waiters of the key. Never blocks.
 * @param key 0 to 2 ** 32 - 1.
 * @throws {RangeError | TypeError} for an argument out of its range.
 */
export function locationWakeAll(key: number, options: KeyWakeOptions = {}): void {
  algorithmsFor('locationWakeAll', key, options).locationWakeAllAt(key);
}
