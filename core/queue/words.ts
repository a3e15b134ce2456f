/** The words of the waiting array: buckets, and the lines in which a full bucket goes on; and the limit of permits. */

// --- Bucket and overflow line ---------------------------------------------------------------------------
//
// | word     | from -> to               | changed by, how                                                           |
// |----------|--------------------------|---------------------------------------------------------------------------|
// | sequence | q -> q+1                 | poke, in a release or disposal of a TwaSemaphore or TwaLock (Listing 2's  |
// |          |                          | UpdateSequence); signalAt (papers/places.ts): add                     |
// | parked   | p -> p+1, p-1            | twaAwait, around its wait; arriveAt and departFrom (places.ts): add, sub  |
// | extent   | x -> max(x, y)           | a waiter that has entered the line y lines after the bucket, cmpxchg      |
// |          | x, trimmer -> max(x, y)  | the same                                                                  |
// |          | x -> x, trimmer          | a releasing thread that found the last of these lines empty, cmpxchg      |
// |          | x, trimmer -> x, other   | the same, if another trimmer was there                                    |
// |          | x, trimmer -> y          | the trimmer, if the lines after the line y have been empty since, cmpxchg |
// | cell     | 0 -> element + 1         | the waiter of the element, or its reaper, cmpxchg                         |
// |          | element + 1 -> 0         | the same, or a thread that claims or merges the tombstone, store          |
// |          | other + 1 -> element + 1 | a thread that merges the other tombstone into this one, store             |
export const B_SEQUENCE: usize = 0; // i64
export const B_PARKED: usize = 8; // i32
export const B_EXTENT: usize = 12; // i32: the thread that trims << 20, or 0 | lines after the bucket (waiting-array.ts)
export const EXTENT_MASK: i32 = 0xfffff;
export const TRIMMER_SHIFT: i32 = 20;
export const B_CELLS: usize = 16; // i32 each, to the end of the line

export const LIMIT: i64 = 0x7fffffff; // the most permits that may ever be available, and that one request may ask for

export const ALL: i32 = -1; // a notify with this count wakes all who sleep on the word

/** The value of pendingCall while a request of the thread stands in the queue, in its spare element (pending-call.ts). */
export const PARKING: i32 = 1;
