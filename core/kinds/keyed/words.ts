/**
 * The words of the kinds of taketurns/keyed. The object of a table is only a name and a life: the keys have semaphores of their own,
 * whose names say to which table they belong (src/keyed/key-names.ts). A RateLimiter has its words, and the library
 * alone changes them (src/keyed/rate-log.ts). So the core has no code for these kinds.
 */

// | word                    | changed by                                          | how         |
// |-------------------------|-----------------------------------------------------|-------------|
// | given, next, of         | the thread that has the turn of the RateLimiter     | plain store |
// | waits                   | the same                                            | store       |
// | ended                   | a thread that has closed all keys of a closed table | store 1     |
//
// The permits of a RateLimiter are in O_INITIAL, its window in O_MAX, and its burst in O_SPIN.

export const R_GIVEN: usize = 40; // i64 of a RateLimiter, the bits of a double: how many permits were ever given; instead of O_COUNTER
export const R_OF: usize = 48; // i32 of a RateLimiter: of which log objects the log is; instead of O_PARKED
export const R_NEXT: usize = 56; // i64 of a RateLimiter, the bits of a double: when the next permit would be due; instead of O_OWN_LAST
export const R_WAITS: usize = 28; // i32 of a RateLimiter, 1 while the thread that has the turn waits; instead of O_THRESHOLD
export const K_ENDED: usize = 112; // i32 of a KeyedMutex or KeyedSemaphore, 1 once all keys of the closed table are closed; instead of O_OWN_LATE
