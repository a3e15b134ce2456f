/**
 * The words of the kinds of taketurns/keyed. The object of a table is only a name and a life: the keys have semaphores of their own,
 * whose names say to which table they belong (src/keyed/key-names.ts). A RateLimiter has its schedule in pages behind the
 * elements, and a KeyedRateLimiter its cells, and the library alone changes them (src/rates/memory.ts,
 * keyed-memory.ts). So the core has no code for these kinds.
 */

// | word                    | changed by                                          | how              |
// |-------------------------|-----------------------------------------------------|------------------|
// | page                    | a thread that has made the memory, with the lock    | store            |
// | lock, and the next word | a thread that makes the memory                      | cmpxchg; store 0 |
// | ended                   | a thread that has closed all keys of a closed table | store 1          |
//
// A new limiter has its permits in O_INITIAL, its window in O_MAX, and its burst in O_SPIN. A KeyedRateLimiter has in
// O_THRESHOLD for how many keys there is room.

export const R_PAGE: usize = 48; // i32 of a limiter: the address of its first page, 0: there is none yet; instead of O_PARKED
export const R_LOCK: usize = 56; // i64 of a limiter, instead of O_OWN_LAST: two words, the lock of the thread that makes its memory (src/rates/lock.ts)
export const K_ENDED: usize = 112; // i32 of a KeyedMutex or KeyedSemaphore, 1 once all keys of the closed table are closed; instead of O_OWN_LATE
