/**
 * The words of the papers' algorithms: objects, chains, borrowed elements and queue nodes. Nothing else in core/ reads
 * them.
 */

// --- Object ---------------------------------------------------------------------------------------------
//
// Every object has the words of core/arena/words.ts. In the objects of this folder, ticket and grant are used so:
//
// | word      | in the objects of                | what it is, and how it changes                                  |
// |-----------|----------------------------------|-----------------------------------------------------------------|
// | ticket    | semaphores, TicketLock, TwaLock, | the counter of tickets: a thread that acquires adds 1; one that |
// |           | Capacitor                        | only tries takes a due ticket by cmpxchg (takeIfDue)            |
// |           | Sequencer                        | the next ticket: sequencerTicket adds 1                         |
// |           | TtsLock                          | the word of the lock (tts-lock.ts)                              |
// |           | the other locks                  | tail, top or arrivals: an address (see their files)             |
// | grant     | semaphores, TicketLock, TwaLock, | the counter of grants: a thread that releases adds to it        |
// |           | Capacitor                        |                                                                 |
// |           | a lane                           | the grant of the lane: laneOpen adds to it (lanes.ts)           |
// |           | EventCount                       | the count: eventAdvance adds to it                              |
// |           | all                              | below 0: the object is closed (closeObject)                     |
// | owner     | locks, but not a TtsLock         | the owner stores its number and queue node when it has          |
// |           |                                  | the lock, and 0 before it gives the lock back                   |
// | departed  | Capacitor                        | a thread that leaves adds 1; the last thread of a               |
// |           |                                  | platoon subtracts bypass by cmpxchg (capacitor.ts)              |
// | taken     | TwaSemaphore, sequestered        | a thread that acquires adds 1 (twa-semaphore.ts)                |
// | sequence, | AtomicSemaphore                  | as in a bucket (places.ts)                                      |
// | parked    |                                  |                                                                 |
//
// The ticket of a sequestered TwaSemaphore stays at its first value. Words that only buildObject sets are not listed.
export const O_HASH: usize = 36; // i32, instead of O_ROBUST: one of HASH_*, with ON_CHAINS and SEQUESTERED
// createObject stores the 8 bytes of O_VARIANT. Each class has its own words there: the next six.
export const O_VARIANT: usize = 40; // i64, instead of O_COUNTER
export const O_WAKE: usize = 40; // i32, of a ChainSemaphore, instead of O_VARIANT: one of WAKE_*
// Pauses for each ticket ahead between two looks at grant.
export const O_DELAY: usize = 40; // i32, of a TicketSemaphore, instead of O_VARIANT
export const O_LAZY: usize = 44; // i32, of a ChannelSemaphore, instead of O_VARIANT: 1 if it waits by keyWaitLazy
// Looks at grant before a waiter pushes its element.
export const O_LOOK: usize = 44; // i32, of a ChainSemaphore, instead of O_VARIANT
// 1 if its waiters alternate between two elements.
export const O_ALTERNATES: usize = 44; // i32, of a LocationSemaphore, instead of O_VARIANT
// The sequence of the place. The word parked comes after it, as in a bucket.
export const O_PLACE: usize = 40; // i64, of an AtomicSemaphore, instead of O_VARIANT
// How many of the present platoon have left it.
export const O_DEPARTED: usize = 84; // i32, of a Capacitor, instead of O_ADDED
// The tickets taken so far, if the semaphore is sequestered.
export const O_TAKEN: usize = 96; // i64, of a TwaSemaphore, instead of O_OWNER

// How a ChainSemaphore wakes.
export const WAKE_ALL: i32 = 0; // Listing 3: each woken waiter looks at grant
export const WAKE_PASS: i32 = 1; // the grant is passed along the chain
export const WAKE_DUE: i32 = 2; // the releasing thread wakes only waiters that are due

// How a semaphore spreads its tickets over the buckets (hashes.ts).
export const HASH_MULTIPLIER: i32 = 0;
export const HASH_PAIRED: i32 = 1;
export const HASH_ORBIT: i32 = 2;
export const HASH_GRAY: i32 = 3;
export const HASH_MIXED: i32 = 4;
export const HASHES: i32 = 7; // the bits of O_HASH that are one of HASH_*
export const ON_CHAINS: i32 = 8; // beside the hash of a TwaLock: its waiters stand on chains, not in buckets
// Beside the hash of a TwaSemaphore: O_TAKEN counts its tickets, and TICKET keeps its first value.
export const SEQUESTERED: i32 = 16;
// O_THRESHOLD has two parts, so that a waiter reads both in one load.
export const THRESHOLD: i32 = 0x7fffffff; // the bits of the threshold
export const FAR_PARKS: i32 = -0x80000000; // the sign: a waiter that is far parks at once
/** O_SPIN of an object whose waiters never park (relax.ts). */
export const FOR_EVER: i32 = 0x7fffffff;

// --- Chain: one line ------------------------------------------------------------------------------------
//
// | word          | from -> to          | changed by, how                                                          |
// |---------------|---------------------|--------------------------------------------------------------------------|
// | head          | any -> element      | a waiter that pushes, exchange (chains.ts)                               |
// |               | any -> 0            | a thread that notifies, or recovers, exchange: takes the whole chain off |
// |               | element -> below it | the waiter of the element, if it need not wait, cmpxchg                  |
// | due head      | any -> element      | a waiter that pushes, cmpxchg (due-chains.ts)                            |
// |               | any -> 0            | a thread that notifies, or a waiter that finds that it is due, exchange  |
// |               | any -> element      | the same, to put back the waiters that are not due, cmpxchg              |
// | due posts     | p -> p+1            | a thread that changes the counter of waiters on the due head, add        |
// | channel head  | any -> element      | Listing 4: a waiter, exchange (channels.ts)                              |
// |               | any -> 0            | a thread that signals, or a waiter that finds a new sequence, exchange   |
// | sequence      | q -> q+1            | a thread that signals a channel, add                                     |
// | location head | any -> element      | Listing 5: a waiter, cmpxchg (locations.ts)                              |
// |               | any -> 0            | a thread that wakes all, or takes an element of its own off, exchange    |
export const C_HEAD: usize = 0; // i32, address of an element, 0 if no thread waits
export const C_DUE_HEAD: usize = 4; // i32, the same
export const C_DUE_POSTS: usize = 8; // i64
export const C_CHANNEL_HEAD: usize = 16; // i32
export const C_LOCATION_HEAD: usize = 20; // i32
export const C_SEQUENCE: usize = 24; // i64

// --- Borrowed element -----------------------------------------------------------------------------------
//
// The words of a BORROWED element, on which an algorithm waits:
//
// | word             | from -> to           | changed by, how                                                   |
// |------------------|----------------------|-------------------------------------------------------------------|
// | gate             | any -> SHUT          | owner, store, while no other thread knows the element             |
// |                  | SHUT -> PARKED       | owner, cmpxchg, before it sleeps on it                            |
// |                  | SHUT, PARKED -> open | the one thread that must wake the owner, exchange                 |
// | passed           | any                  | the same thread before it opens the gate, exchange: the counter   |
// | below            | any                  | owner, store, before it pushes; after it, for itself (chainEnter) |
// |                  | any                  | a notifying thread that puts a due chain back, exchange           |
// | counter, awaited | any                  | owner, store, before it pushes                                    |
export const E_AWAITED: usize = 8; // i64, the value that the counter must pass
export const E_COUNTER: usize = 32; // i32, address of that counter
export const E_BELOW: usize = 36; // i32, address of the next element of the chain
export const E_GATE: usize = 52; // i32: SHUT, PARKED, OPEN, or the address of the object whose counter was passed
export const E_PASSED: usize = 56; // i64

export const SHUT: u32 = 0;
export const PARKED: u32 = 1;
export const OPEN: u32 = 2;

// --- Queue node (nodes.ts): other words than a waiter, of i32 each ---------------------------------------
export const Q_GATE: usize = 8; // 0; 1 if a thread is parked on it; else the value that opened it
export const Q_NEXT: usize = 12; // a node
export const Q_END: usize = 32; // a node
export const Q_LINK: usize = 36; // the next node of the thread's pool
