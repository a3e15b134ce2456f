/** The words of a Mutex. */
import { CLOSED_BIT } from '../../arena/words';

// A Mutex has a queue with one permit: ticket and grant are in arena/words.ts. mutex.ts says what the other words do:
//
// | word        | changed by                                      | how                                        |
// |-------------|-------------------------------------------------|--------------------------------------------|
// | word        | every thread                                    | see mutex.ts                               |
// | limit, turn | the head, before it polls, if no limit is set   | store                                      |
// |             | the head, when it takes the lock; not a promise | store                                      |
// | head        | the head, before it sleeps or reserves the lock | store                                      |
// | pace        | a thread whose turn is over; the head           | store: a hint                              |
// | spin, max   | buildObject                                     | store: polls before sleeping, bypass bound |

export const M_WORD: usize = 40; // i64, instead of O_COUNTER
// The most that the count of overtakings in word may become.
export const M_LIMIT: usize = 48; // i32, instead of O_PARKED
// The head that sleeps: its thread, and ASYNC for a promise.
export const M_HEAD: usize = 52; // i32, not set in a new object
// Overtakings in a quarter of a millisecond, as last measured; 0: not measured yet.
export const M_PACE: usize = 56; // i32, instead of O_OWN_LAST
// The count of overtakings at which the head, if awake, reserves the lock.
export const M_TURN: usize = 60; // i32, instead of O_OWN_LAST

export const M_OWNER: i64 = 0xfff; // the thread that holds the lock; 0: the lock is free
export const M_RESERVED: i64 = 0x1000; // only the head may take the lock
export const M_SLEEPING: i64 = 0x2000; // the head sleeps, or is about to
export const M_CLOSED: i64 = CLOSED_BIT; // disposed of
export const M_OWNER_DIED: i64 = 0x8000; // an owner has died; the next thread that takes the lock learns of it
export const M_WAITER: i64 = 0x10000; // one waiter
export const M_WAITERS: i64 = 0x7ffff * M_WAITER;
/**
 * A mutex with so many waiters refuses another one. The number is 4,095 less than the field holds, because each thread
 * may be about to add one.
 */
export const MOST_WAITERS: i64 = 0x7f000;
export const M_COUNT_SHIFT: i64 = 35; // the bits above count the overtakings of waiters, modulo 2^29
export const M_OVERTAKING: i64 = 1 << 35;
