/**
 * A thread keeps a `Mine` for each capacitor that it uses. The `Mine` says what the thread has done there: whether the
 * thread holds the CapacitorLock, and in which lanes it is. So the shared memory need not say who holds a
 * CapacitorLock. All library objects of one capacitor in one thread share one `Mine`.
 *
 * The thread keeps the `Mine` until the thread ends, because it may lock by one library object and unlock by another,
 * after the first one has been collected. There is at most one `Mine` for each address. If a new capacitor uses the
 * address again, the new capacitor has a higher generation, and its `Mine` takes the place of the old `Mine`.
 */
import type { Reference } from '../../objects/reference.js';
import { common } from '../../runtime/common.js';
import type { Membership } from '../../runtime/membership.js';

/** How a thread holds a CapacitorLock: it has gone through the capacitor (ARRIVED), or past the capacitor (PAST). */
export const NOT_HELD = 0;
export const ARRIVED = 1;
export const PAST = 2;

export class Mine {
  readonly generation: number;
  /** NOT_HELD, ARRIVED or PAST. */
  held = NOT_HELD;
  /** With lanes at random: the lanes in which the thread has arrived and from which it has not departed. */
  readonly lanes: number[] = [];

  constructor(generation: number) {
    this.generation = generation;
  }
}

const all = common('mine', () => new WeakMap<Membership, Map<number, Mine>>());

/** Returns the calling thread's `Mine` of the capacitor at a reference. */
export function mineOf({ membership, address }: Reference): Mine {
  const known = all.get(membership) ?? new Map<number, Mine>();
  all.set(membership, known);
  const generation = membership.core.generation(address);
  const last = known.get(address);
  if (last?.generation === generation) return last;
  const mine = new Mine(generation);
  known.set(address, mine);
  return mine;
}
