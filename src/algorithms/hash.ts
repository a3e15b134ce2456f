/** Callers choose the hash by which a semaphore spreads its waiters. core/algorithms/hashes.ts computes it. */

import type { Kind } from '../border/kinds.js';
import { FAR_PARKS } from '../border/numbers.js';
import { checkChoice, checkType } from '../errors.js';
import type { Properties } from '../options.js';
import type { ListingOptions, ThresholdOptions } from './listing.js';

/** The names in the order of HASH_* of core/algorithms/words.ts. */
const HASHES: readonly Hash[] = ['multiplier', 'paired', 'orbit', 'gray', 'mixed'];

/**
 * The hash that spreads tickets over the slots of the waiting array. The numbers are in docs/internals/hashes.md.
 *
 * - `'multiplier'`: 17 times the ticket, plus a start of the semaphore's own.
 * - `'paired'`: the same for half the ticket, so that two in a row share a slot and are woken together.
 * - `'orbit'`: 64 tickets stay in one page of 64 slots, then the next page follows.
 * - `'gray'`: 17 times the Gray code of the ticket.
 * - `'mixed'`: the ticket times an odd number that differs by semaphore. So semaphores in step do not keep colliding.
 */
export type Hash = 'multiplier' | 'paired' | 'orbit' | 'gray' | 'mixed';

/** The options of a new semaphore that hashes its tickets to slots. */
export interface HashedOptions extends ListingOptions {
  /** The hash of its tickets. Default `'multiplier'`. */
  readonly hash?: Hash;
}

/** @internal Adds to the properties the hash that the options name, and whether far waiters park at once. */
export function hashed(
  kind: Kind,
  properties: Properties,
  { hash = 'multiplier', farParks = false }: HashedOptions & Pick<ThresholdOptions, 'farParks'>,
): Properties {
  const number = HASHES.indexOf(checkChoice(`${kind}: hash`, hash, HASHES));
  checkType(`${kind}: farParks`, farParks, 'boolean', 'true or false');
  const { threshold = 0 } = properties;
  return { ...properties, hash: number, threshold: farParks ? threshold | FAR_PARKS : threshold };
}
