export const O_PHASE: usize = 40; // i64, of an object of taketurns/sync (primitives/phase.ts)
export const PHASE_COUNT: i64 = 0x3fffffff;
export const PHASE_FULL: i64 = 0x40000000; // of a barrier: all have arrived, and the last runs the action
export const PHASE_SLEEPERS: i64 = 0x80000000;
export const PHASE_BITS: i64 = 0x1fffffff00000000;
export const NEXT_PHASE: i64 = 0x100000000;
