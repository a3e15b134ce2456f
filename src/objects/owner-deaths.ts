/**
 * What happens when an owner learns that earlier owners have died: the library calls the callback `onOwnerDied`.
 */

import { isOver, reference, type SharedObject } from './shared-object.js';

/** A mutex or a semaphore, as far as this file needs it. */
type Owned = SharedObject<'Mutex' | 'Semaphore'> & { readonly onOwnerDied: ((deaths: number) => void) | undefined };

/**
 * Calls `onOwnerDied` in a thread that has just got so many permits (of a mutex, 1: the lock). If the callback throws,
 * the callback has repaired nothing: the deaths count again for the next owner, the permits go back, and the error is
 * thrown.
 *
 * The callback may itself have given back the permits of the caller, or a part of them, and promises of this thread may
 * have got them since. What a promise has got is not given back. Nor does a guard that the callback ends give back
 * permits of the caller, who has no guard yet. So two counts are compared before and after the callback, which is
 * synchronous: what the thread holds, and `grants`, which promises raise by what they get, and guards lower by what
 * they give back. The difference of the two changes by what the callback has taken or given back without a guard.
 */
export function tellOwnerDied(
  object: Owned,
  deaths: number,
  permits: number,
  giveBack: (this: Owned, permits: number) => void,
): true {
  const { membership, shared } = object[reference];
  const { core } = membership;
  const notGranted = () => core.held(shared.attachment) - shared.grants;
  const before = notGranted();
  try {
    object.onOwnerDied?.(deaths);
  } catch (error) {
    // After dispose there is no next owner, and nothing to give back.
    if (!object[isOver]) {
      core.restoreOwnerDeaths(shared.address, deaths);
      const left = Math.min(permits, permits + notGranted() - before);
      try {
        if (left > 0) giveBack.call(object, left);
      } catch {
        // Permits that others have added meanwhile leave no room for these. The error of the callback is the one to tell.
      }
    }
    throw error;
  }
  return true;
}
