/** The memberships of the calling thread: one for each arena to which it is attached (runtime/membership.ts). */
import { anchored } from '../host/anchored.js';
import type { Membership } from '../runtime/membership.js';

/** @param anchor that of the host of this thread. */
export function memberships(anchor: object): Map<bigint, Membership> {
  return anchored(anchor, 'memberships', () => new Map<bigint, Membership>());
}

/** Returns the memories of the arenas to which this thread is attached, but for one. */
export function memoriesBeside(anchor: object, memory: { readonly buffer: ArrayBufferLike }): WebAssembly.Memory[] {
  return [...memberships(anchor).values()].flatMap((one) => (one.memory === memory ? [] : [one.memory]));
}
