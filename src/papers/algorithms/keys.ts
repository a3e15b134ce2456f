/**
 * This file has what all calls by a key share: their options, the checks of the options, and the slot of a key.
 *
 * A hash says to which slot a key of chains or channels belongs. Listings 3 and 4 leave this secondary hash open. Here
 * the hash multiplies the key by 2^32 divided by the golden ratio. This keeps keys in a row apart, and also keys with
 * any other constant distance (docs/papers/algorithms.md). Without the hash, keys that are multiples of 64 would share
 * few chains, and addresses often are such multiples. The hash is not an option, because threads that wait and threads
 * that wake must use the same hash.
 */
import type { Arena } from '../../arena/arena.js';
import type { Algorithms } from '../../border/algorithms.js';
import { checkInteger, checkOptions, checkType } from '../../runtime/errors.js';
import { membershipOf } from '../../runtime/own-arenas.js';
import { budget, type PolicyOptions, USUAL } from '../policies.js';
import { algorithmsOf } from './compiled.js';
import { prepare } from './listing.js';
import { POLICIES } from './objects.js';

/** Where to wake waiters. A call that wakes also takes the options of the calls that wait, and ignores them. */
export interface KeyWakeOptions {
  /** The arena of the waiting array. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** How and where to wait. */
export interface KeyWaitOptions extends KeyWakeOptions, PolicyOptions {}

/** How and where to wait at a location. */
export interface LocationWaitOptions extends KeyWaitOptions {
  /**
   * Whether the thread alternates between two wait elements. A thread may have left its element at another location.
   * Without this option the thread first waits until this element is free again. With the option it uses its second
   * element at once. The thread borrows both elements from the arena, and keeps both until it ends. Each counts as one
   * of the `waiters` of the arena. If the arena has no second element, the thread waits as without the option. Threads
   * at one location may differ in this option. Default false.
   */
  readonly alternating?: boolean;
}

/** The default number of polls. */
const SPIN = 100;
const MOST_KEY = 2 ** 32 - 1;
const SPREAD = 0x9e3779b1;

/** @internal Checks a key and the names of the options, and returns the algorithms of the calling thread. */
export function algorithmsFor(what: string, key: number, options: KeyWakeOptions, names = USUAL): Algorithms {
  checkInteger(`${what}: key`, key, 0, MOST_KEY);
  checkOptions(what, options, names);
  return algorithmsOf(membershipOf(what, options.arena));
}

/** @internal Checks how to wait, and returns the number of polls. */
export function pollsOf(what: string, options: KeyWaitOptions): number {
  return budget(what, options, SPIN, POLICIES);
}

/** @internal Does the same as pollsOf, and makes sure that the calling thread has a wait element. */
export function pollsNow(what: string, options: KeyWaitOptions, how?: 'prepareLocation'): number {
  const polls = pollsOf(what, options);
  prepare(membershipOf(what, options.arena), how);
  return polls;
}

/** @internal Checks the option `alternating` of locations, and returns it. */
export function checkAlternating(what: string, alternating = false): boolean {
  checkType(`${what}: alternating`, alternating, 'boolean', 'true or false');
  return alternating;
}

/**
 * @internal
 * Returns the hash of a key, from which the functions of core/papers/chains.ts take the low bits: the number of the
 * chain.
 */
export function slotOf(key: number): number {
  return Math.imul(key, SPREAD) >>> 16;
}

/** @internal KeyToChannel of Listing 4: returns the address of the channel of a key. */
export function channelAt(algorithms: Algorithms, key: number): number {
  return algorithms.chainOf(slotOf(key));
}
