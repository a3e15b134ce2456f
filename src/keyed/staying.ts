/**
 * Lets a thread keep a named object whose library objects were collected, as long as the object has something that a new
 * one of its name would not have, and of which the core knows nothing.
 */
import type { Membership, Shared } from '../runtime/membership.js';

/**
 * The thread lets go of an object that no library object holds (runtime/membership.ts: `heldBy` is empty). While `stays`
 * answers true, another one seems to hold the object. The thread looks again when it attaches to other objects. Nobody
 * can reach a private object any more, so that goes at once, and so does an object that has been disposed of.
 * @param stays refers to no library object.
 */
export function keepWhile({ core }: Membership, shared: Shared, stays: () => boolean): void {
  const { heldBy } = shared;
  Object.defineProperty(heldBy, 'size', {
    get(): number {
      const size: number = Reflect.get(Set.prototype, 'size', heldBy);
      return size || Number(!shared.isPrivate && !core.isDisposed(shared.address) && stays());
    },
  });
}
