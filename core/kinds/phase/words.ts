/** The words of the kinds that have a phase: Barrier, Latch, WaitGroup, Event, Once, and RwLock. */

// | word  | changed by   | how                                  |
// |-------|--------------|--------------------------------------|
// | phase | every thread | cmpxchg; see phase.ts and rw-lock.ts |

export const O_PHASE: usize = 40; // i64, instead of O_COUNTER (phase.ts)

export const PHASE_COUNT: i64 = 0x3fffffff;
export const PHASE_FULL: i64 = 0x40000000; // of a barrier: all have arrived, and the last runs the action
export const PHASE_SLEEPERS: i64 = 0x80000000;
export const PHASE_BITS: i64 = 0x1fffffff00000000;
export const NEXT_PHASE: i64 = 0x100000000;
