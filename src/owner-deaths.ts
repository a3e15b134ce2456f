/**
 * What happens when an owner learns that earlier owners have died: the library calls its callback, as README promises.
 */

/** A mutex or a semaphore, as far as this file needs it. */
interface Owned {
  readonly disposed: boolean;
  onOwnerDied: ((deaths: number) => void) | undefined;
}

/**
 * Calls `onOwnerDied` in a thread that has just become an owner. If the callback throws, the callback has repaired
 * nothing: `restore` counts the deaths again for the next owner, `giveBack` ends the ownership, and the error is thrown.
 */
export function tellOwnerDied(object: Owned, deaths: number, restore: () => void, giveBack: () => unknown): true {
  try {
    object.onOwnerDied?.(deaths);
  } catch (error) {
    // After dispose there is no next owner.
    if (!object.disposed) restore();
    try {
      giveBack();
    } catch {
      // The callback has given it back itself.
    }
    throw error;
  }
  return true;
}
