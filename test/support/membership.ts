/** Gives tests the membership of their thread in an arena. Copies of the library share it (src/runtime/common.ts). */
import type { Arena } from 'taketurns';
import { Membership } from '../../dist/runtime/membership.js';

export function membershipOf(arena: Arena): Membership {
  return Membership.of(arena.handle.memory as WebAssembly.Memory) as Membership;
}

/** Returns a module, or a core, of which a test may replace any function. */
export function replaceable<M>(module: M): { -readonly [K in keyof M]: M[K] } {
  return module;
}
