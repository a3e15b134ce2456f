/**
 * This file names the hashes by which a semaphore or a TwaLock spreads its waiters, and checks the caller's choice.
 * core/papers/hashes.ts computes the hashes.
 */

import { FAR_PARKS } from '../../border/numbers.js';
import type { Properties } from '../../objects/options.js';
import { checkChoice, checkType } from '../../runtime/errors.js';
import type { ListingOptions, ThresholdOptions } from './listing.js';

/** The names, in the order of the constants HASH_* of core/papers/words.ts. */
const HASHES: readonly Hash[] = ['multiplier', 'paired', 'orbit', 'gray', 'mixed'];

/**
 * The hash that spreads tickets over the slots of the waiting array. Each semaphore has a first slot of its own, and
 * the hash says how far from this first slot a ticket goes. Measurements are in docs/internals/hashes.md.
 *
 * - `'multiplier'`: 17 times the ticket.
 * - `'paired'`: 17 times half the ticket, rounded down. So two tickets in a row share a slot and are woken together.
 * - `'orbit'`: 64 tickets that begin a page of 64 slots stay in it, and the next 64 tickets go to the next page.
 * - `'gray'`: 17 times the Gray code of the ticket.
 * - `'mixed'`: the ticket times an odd number that differs from semaphore to semaphore. So two semaphores whose tickets
 *   rise in step do not collide again and again.
 */
export type Hash = 'multiplier' | 'paired' | 'orbit' | 'gray' | 'mixed';

/** The options of a new semaphore that hashes its tickets to slots. */
export interface HashedOptions extends ListingOptions {
  /** The hash of its tickets. Default `'multiplier'`. */
  readonly hash?: Hash;
}

/** @internal Returns the properties with the hash of the options, and with the option `farParks`. */
export function hashed(
  what: string,
  properties: Properties,
  { hash = 'multiplier', farParks = false }: HashedOptions & Pick<ThresholdOptions, 'farParks'>,
): Properties {
  const number = HASHES.indexOf(checkChoice(`${what}: hash`, hash, HASHES));
  checkType(`${what}: farParks`, farParks, 'boolean', 'true or false');
  const { threshold = 0 } = properties;
  return { ...properties, hash: number, threshold: farParks ? threshold | FAR_PARKS : threshold };
}
