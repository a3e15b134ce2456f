/**
 * The words of the counters: BinarySemaphore and CountingSemaphore. The counter itself is O_COUNTER (arena/words.ts).
 */

// | word    | changed by                                            | how                                           |
// |---------|-------------------------------------------------------|-----------------------------------------------|
// | counter | countDown, tryCountDown, countUp, cancelWaiting       | cmpxchg; see counter.ts                       |
// |         | uncountDead: a request is cancelled for a dead thread | sub the width of the request << WAITING_SHIFT |
// |         | closeCounter; disposePhase, if the disposer has died  | cmpxchg, CLOSED_COUNTER more                  |
// | widest  | countDown, before it counts more than 1 as waiting    | cmpxchg, to a greater number                  |

export const O_MOST: usize = 28; // i32, instead of O_THRESHOLD: the largest value
// The most that a taker of a counter has waited for; 0 means 1.
export const O_WIDEST: usize = 48; // i32, instead of O_PARKED

export const WAITING_SHIFT: i64 = 32;
/** The most that all takers of a counter may wait for. */
export const MOST_WAITING: i64 = 0x1fffffff;
export const VALUE_MASK: i64 = 0xffffffff;

// What countUp and countDown add to the number of permits that they have handed on. The number is MOST_WAITING or less.
export const HANDED_MORE: i32 = 0x20000000; // finishRelease must follow, as after MORE
export const HANDED_LATE: i32 = 0x40000000; // finishRelease must follow, as after INTERRUPTED

// How countUp notifies.
export const NOTIFY_ALL: i32 = 0;
export const NOTIFY_ONE: i32 = 1;
export const NOTIFY_NONE: i32 = 2;
export const GIVE_BACK: i32 = 3; // as NOTIFY_ALL, and past the maximum
