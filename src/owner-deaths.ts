/**
 * What happens when an owner learns that earlier owners have died: the library calls the callback `onOwnerDied`.
 */

import { reference, type SharedObject } from './shared-object.js';

/** A mutex or a semaphore, as far as this file needs it. */
type Owned = SharedObject<'Mutex' | 'Semaphore'> & { readonly onOwnerDied: ((deaths: number) => void) | undefined };

/**
 * Calls `onOwnerDied` in a thread that has just got so many permits (of a mutex, 1: the lock). If the callback throws,
 * the callback has repaired nothing: the deaths count again for the next owner, the permits go back, and the error is
 * thrown.
 *
 * The callback may itself take permits or give permits back, and only the rest must go back here. So `beside` is
 * computed before and after the callback. Permits that promises of this thread get meanwhile do not go back. Therefore
 * `beside` is what this thread holds, less all that its promises have ever got. A change of `beside` is what the
 * callback itself has taken or given back.
 */
export function tellOwnerDied(
  object: Owned,
  deaths: number,
  permits: number,
  giveBack: (this: Owned, permits: number) => void,
): true {
  const { membership, shared } = object[reference];
  const { core } = membership;
  const beside = () => core.held(shared.number) - shared.grants;
  const before = beside();
  try {
    object.onOwnerDied?.(deaths);
  } catch (error) {
    // After dispose there is no next owner, and nothing to give back.
    if (!object.disposed) {
      core.restoreOwnerDeaths(shared.address, deaths);
      const left = Math.min(permits, permits + beside() - before);
      if (left > 0) giveBack.call(object, left);
    }
    throw error;
  }
  return true;
}
