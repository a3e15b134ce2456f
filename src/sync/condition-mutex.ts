/**
 * Says to which mutex a condition belongs. The shared object of a condition keeps the address and the generation of its
 * mutex, as its max and its threshold. A new object at the same address has another generation.
 */

import { Mutex, type MutexHandle } from '../mutex/mutex.js';
import type { Properties } from '../objects/options.js';
import type { Reference } from '../objects/reference.js';
import { badType } from '../runtime/errors.js';
import { type Inside, inside } from '../runtime/own-arenas.js';
import { syncOf } from './compiled.js';
import { referenceOf } from './locking-again.js';

/** Returns the value if it is a Mutex. For a Mutex of another copy of the library, returns one of this copy. */
export function ownMutex(what: string, mutex: Mutex): Mutex {
  if (mutex instanceof Mutex) return mutex;
  const handle = (mutex as { readonly handle?: MutexHandle } | null | undefined)?.handle;
  if (handle === undefined) throw badType(`${what}: mutex`, 'a Mutex of taketurns', mutex);
  return Mutex.from(handle);
}

/**
 * The properties of a condition are the address and the generation of its mutex. So a thread that opens the condition
 * by its name must give the same mutex.
 */
export function properties(_what: string, mutex: Mutex): Properties {
  const { membership, address, shared } = referenceOf(mutex);
  // The condition knows the mutex by its place, so the mutex must not be evicted.
  shared.isPrivate = false;
  const threshold = membership.core.generation(address);
  return { permits: 0, max: address, threshold };
}

/** Names the arena of a mutex. */
export function arenaOf(mutex: Mutex): { readonly arena: Inside } {
  return { arena: { [inside]: referenceOf(mutex).membership } };
}

/** Returns whether the condition that has been found belongs to this mutex. */
export function isOf(condition: Reference, mutex: Mutex): boolean {
  const { membership, address } = referenceOf(mutex);
  return condition.membership === membership && syncOf(membership).isOf(condition.address, address) !== 0;
}
