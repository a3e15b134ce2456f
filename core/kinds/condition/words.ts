/** The words of a Condition. Its max and threshold are the address and the generation of its mutex. */

// | word  | changed by | how                               |
// |-------|------------|-----------------------------------|
// | woken | relay      | cmpxchg, 1 more; see condition.ts |
//
// arena/words.ts has ticket and grant, which are the waits begun and the waits notified.

// The tickets at which a relay has looked (condition.ts).
export const C_WOKEN: usize = 40; // i64, instead of O_COUNTER
