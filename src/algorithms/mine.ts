/**
 * What a thread knows of its own calls on a capacitor. All library objects of one capacitor in one thread share it, so
 * that the shared memory need not say who holds a CapacitorLock.
 *
 * It is kept for as long as the thread runs: a thread may lock by one library object, which is then collected, and
 * unlock by another. There is at most one entry for each address: when an address is used again, the new object has a
 * higher generation, and its entry takes the place of the old one.
 */
import type { Reference } from '../reference.js';
import { common } from '../runtime/common.js';
import type { Membership } from '../runtime/membership.js';

/** How a thread holds a CapacitorLock. */
export const NOT_HELD = 0;
export const ARRIVED = 1;
export const PAST = 2;

export class Mine {
  readonly generation: number;
  /** NOT_HELD; ARRIVED, through the capacitor; or PAST, past the capacitor. */
  held = NOT_HELD;
  /** The lanes, chosen at random, in which the thread has arrived and not departed. */
  readonly lanes: number[] = [];

  constructor(generation: number) {
    this.generation = generation;
  }
}

const all = common('mine', () => new WeakMap<Membership, Map<number, Mine>>());

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
