/** Which hash a semaphore spreads its waiters by: core/algorithms/hashes.ts. */
import type { Kind } from '../engine/kinds.js';
import type { Properties } from '../engine/shared-object.js';
import { checkChoice } from '../errors.js';
import type { ListingOptions } from './listing.js';

/** In the order of HASH_* of core/memory/layout.ts. */
const HASHES: readonly Hash[] = ['multiplier', 'paired', 'orbit', 'gray', 'mixed'];

/**
 * How tickets are spread over the slots of the waiting array. The numbers are in docs/internals/hashes.md.
 *
 * - `'multiplier'`: ticket times 17, from where the semaphore begins.
 * - `'paired'`: the same of half the ticket, so that two in a row share a slot and are woken together.
 * - `'orbit'`: 64 tickets stay in one page of 64 slots, then the next page follows.
 * - `'gray'`: the Gray code of the ticket times 17.
 * - `'mixed'`: ticket times an odd number of the semaphore's own, against two that collide for as long as they go in step.
 */
export type Hash = 'multiplier' | 'paired' | 'orbit' | 'gray' | 'mixed';

/** What may be said of a new semaphore whose tickets have slots. */
export interface HashedOptions extends ListingOptions {
  /** How its tickets are spread over the slots of the waiting array. Default `'multiplier'`. */
  readonly hash?: Hash;
}

/** The properties with the hash that the options name. */
export function hashed(kind: Kind, properties: Properties, options: HashedOptions): Properties {
  const hash = checkChoice(`${kind}: hash`, options.hash ?? 'multiplier', HASHES);
  return { ...properties, hash: HASHES.indexOf(hash) };
}
