/**
 * This file has what all calls by a key share: their options, the checks of these, and the slot of a key.
 *
 * A key of chains and channels goes to its slot by multiplication with 2^32 divided by the golden ratio, the secondary
 * hash that Listings 3 and 4 leave open. Without it keys that are multiples of 64, as addresses often are, would share
 * few chains. It keeps keys in a row apart, and those of any other stride too (docs/papers/algorithms.md). It is no
 * option, since threads that wait and threads that wake must agree on it.
 */
import type { Arena } from '../arena.js';
import type { Algorithms } from '../border/algorithms.js';
import { checkInteger, checkOptions, checkType } from '../errors.js';
import { budget, type PolicyOptions, USUAL } from '../options.js';
import { membershipOf } from '../own-arenas.js';
import { algorithmsOf } from './compiled.js';
import { prepare } from './listing.js';
import { POLICIES } from './objects.js';

/** The place of the threads to wake. The options of those who wait may be given as well. */
export interface KeyWakeOptions {
  /** The arena of the waiting array. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** The way and the place to wait. */
export interface KeyWaitOptions extends KeyWakeOptions, PolicyOptions {}

/** The way and the place to wait at a location. */
export interface LocationWaitOptions extends KeyWaitOptions {
  /**
   * Whether the thread alternates between two wait elements. So when it comes from another location, where it left its
   * element, it need not wait for that one. It takes a second one of the `waiters` of the arena, if there is one, and
   * keeps both until it ends. Threads at one location may differ in this. Default false.
   */
  readonly alternating?: boolean;
}

/** The default number of polls. */
const SPIN = 100;
const MOST_KEY = 2 ** 32 - 1;
const SPREAD = 0x9e3779b1;

/** @internal Checks a key and the options, and returns the algorithms of the calling thread. */
export function algorithmsFor(what: string, key: number, options: KeyWakeOptions, names = USUAL): Algorithms {
  checkInteger(`${what}: key`, key, 0, MOST_KEY);
  checkOptions(what, options, names);
  return algorithmsOf(membershipOf(options.arena));
}

/** @internal Checks how to wait, and returns the number of polls. */
export function pollsOf(what: string, options: KeyWaitOptions): number {
  return budget(what, options, SPIN, POLICIES);
}

/** @internal The same, and sees to it that the calling thread has a wait element. */
export function pollsNow(what: string, options: KeyWaitOptions, how?: 'prepareLocation'): number {
  const polls = pollsOf(what, options);
  prepare(membershipOf(options.arena), how);
  return polls;
}

/** @internal Checks the option `alternating` of locations, and returns it. */
export function checkAlternating(what: string, alternating = false): boolean {
  checkType(`${what}: alternating`, alternating, 'boolean', 'true or false');
  return alternating;
}

/**
 * @internal
 * Returns the number that stands for a key in the calls of chains.ts, which take it modulo the number of chains.
 */
export function slotOf(key: number): number {
  return Math.imul(key, SPREAD) >>> 16;
}

/** @internal KeyToChannel of Listing 4. */
export function channelAt(algorithms: Algorithms, key: number): number {
  return algorithms.chainOf(slotOf(key));
}
