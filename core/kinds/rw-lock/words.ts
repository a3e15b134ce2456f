/** The words of a RwLock, and the seats in the record of each thread. */

// | word  | changed by                                                                     | how   |
// |-------|--------------------------------------------------------------------------------|-------|
// | drain | wakeWriter: a reader that leaves or begins to wait, while DRAINING             | add 1 |
// |       | clearSeats: a reaper, a disposer, or a thread that finds the lock disposed of | add 1 |
//
// phase/words.ts has the phase word, which is the gate. arena/words.ts has ticket and grant, which are the turn.

// The word on which a writer sleeps until readers have left (rw-lock.ts).
export const O_DRAIN: usize = 48; // i32, instead of O_PARKED

// In place of the count of the phase (rw-lock.ts):
export const GATE_SHUT: i64 = 1; // a writer waits for the readers inside, or writes
export const GATE_DRAINING: i64 = 2; // the writer sleeps, or is about to, until readers have left
export const GATE_DIED: i64 = 4; // a writer has died, and no other has written since

// What stampOf returns while the gate is shut. Every other stamp is above 0: the number of the phase, and 1 more.
export const NO_STAMP: i32 = 0;

// 0, or the address of a RwLock + flags << 32 | phase.
export const T_SEATS: usize = 64; // i64 each, to the end of the record
export const SEAT_SIZE: usize = 8;
export const SEAT_READS: i64 = 0x100000000; // the thread is inside
export const SEAT_WAITS: i64 = 0x200000000; // it waits for the end of the phase, and is inside for every other
export const SEAT_FLAGS: u32 = 3; // of the upper half
