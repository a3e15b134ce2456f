/**
 * Where everything lies in an arena's memory, and which threads may change each word.
 *
 *     0        header line: magic, version, sizes and bases (written once, by create)
 *     64       bump counters, one line each: elements, objects, names, threads; and the count of names
 *     512      the closed object: a semaphore that is disposed of for ever (see objects.ts)
 *     1024     heads        8 bytes each   of the lists of names: 256 at least, and as many as there are names
 *     ...      objects    128 bytes each   of every kind: semaphores, mutexes, locks and others
 *     ...      names      128 bytes each   one for each name, and two more for each thread
 *     ...      threads    128 bytes each   the registry
 *     ...      chains      64 bytes each   a second waiting array, for the algorithms, a power of two of them
 *     ...      buckets     64 bytes each   the waiting array, a power of two of them
 *     ...      lines       64 bytes each   overflow of each bucket, as many for one as for another
 *     ...      common      64 bytes each   overflow of the overflow, shared by all buckets
 *     ...      elements    64 bytes each   wait elements
 *
 * Chains and buckets begin at the start of a page (arena.ts), as the papers ask. A region is touched only as it comes
 * into use, so unused capacity costs address space alone. Every shared access is a sequentially consistent atomic one.
 * The few plain accesses (name bytes) are to memory that is private until a compare-and-swap publishes it.
 */

export const MAGIC: i32 = 0x746b7473;
export const VERSION: i32 = 2; // of this layout, and of what copies of the package share (src/runtime/common.ts)
export const LINE: usize = 64;

// --- Header ---------------------------------------------------------------------------------------------
export const H_MAGIC: usize = 0; // written last by create: a thread that sees it may read the rest
export const H_VERSION: usize = 4;
export const H_ID: usize = 8; // i64, random: tells one arena from another
export const H_OBJECTS: usize = 16; // capacities
export const H_NAMES: usize = 20;
export const H_THREADS: usize = 24;
export const H_BUCKETS: usize = 28;
export const H_ELEMENTS: usize = 32;
export const H_END: usize = 36; // bytes of the whole arena
export const H_CHAINS: usize = 40; // capacity

// Bump counters: how many of each were ever in use. They grow by compare-and-swap up to the capacity and never shrink.
// A search below the counter finds again what was given back. PUBLISHED_NAMES counts the names in the lists, by add and
// sub.
export const USED_ELEMENTS: usize = 64;
export const USED_OBJECTS: usize = 128;
export const USED_NAMES: usize = 192;
export const USED_THREADS: usize = 256;
export const PUBLISHED_NAMES: usize = 320;

// i64: the thread that reaps, its index << 32 | life; 0 when no thread reaps. See reaping.ts.
export const REAPER: usize = 384;
// i32: 0, or UNWATCHED from the start, or the host number of the keeper, the thread that notices deaths here. The
// thread that shares the arena first sets it, cmpxchg (src/host/keeper.ts). -2 means that the keeper is about to set it
// (src/host/ports.ts).
export const KEEPER: usize = 392;
export const UNWATCHED: i32 = -1;
// i32, always 0: a thread that was declared dead in its sleep sleeps on here, and no thread wakes it.
export const NEVER: usize = 396;

export const CLOSED_OBJECT: usize = 512;
export const NAME_HEADS: usize = 1024;
export const NAME_HEADS_LEAST: u32 = 256;
/** How many list heads take as much memory as an object. */
export const NAME_HEADS_STEP: u32 = 16;

// --- Object: two lines ----------------------------------------------------------------------------------
//
// | word   | changed by                              | how                                               |
// |--------|-----------------------------------------|---------------------------------------------------|
// | ticket | acquire, arrive, queue                  | add n                                             |
// |        | tryAcquire, drain, arrive, finishRelease | cmpxchg t -> t+n, only while grant >= t+n        |
// |        | reduce                                  | add n, for which no request stands                |
// |        | the first three and reduce, on a disposed object; takeBack | sub n, which they have just added; cmpxchg t+n -> t |
// | grant  | release, add; claim                     | add n; add the width of the tombstone             |
// |        | finishRelease, on a disposed object     | sub n, which release has just added               |
// |        | dispose                                 | store ticket + CLOSED_DISTANCE                    |
// | kind, max, spin, threshold, initial, robust | buildObject | store, before the object is LIVE         |
// | life   | every thread that attaches or detaches  | cmpxchg; see objects.ts                           |
// | unreported deaths | a reaper of a dead owner     | add 1                                             |
// |        | a thread that acquires and asks for it  | exchange for 0                                    |
// | sequence, parked of an AtomicSemaphore | as in a bucket | algorithms/places.ts                      |
// | deaths, timeouts | a reaper; a thread that cancels | add 1; only diagnostics read them               |
// | added  | add, reduce                             | add n; sub n: only diagnostics read it            |
// | vain polls | a waiter that has polled            | store: 1 more, or 0; see polling.ts               |
// | sleepers | a waiter before it sleeps; a release that finds none asleep | store: 1; 0           |
// | known  | generation, of the thread that made the object | store: 1                                   |
// | asks   | askAll                                  | add 1                                             |
// | where  | a thread, before it makes an element WAITING or TOMBSTONE | or, a bit; see marks.ts         |
// | counter | countDown, countUp, cancelWaiting      | cmpxchg; see counter.ts                           |
// |        | a thread that cancels for a dead thread | sub the width of the request << WAITING_SHIFT     |
// |        | dispose                                 | cmpxchg, CLOSED_COUNTER more                      |
// | phase  | every thread                            | cmpxchg; see primitives/phase.ts, and rw-lock.ts  |
// | woken  | a thread that relays                   | cmpxchg, 1 more; see primitives/condition.ts     |
// | drain  | a reader that leaves, while the writer may sleep; a reaper | add 1; see primitives/rw-lock.ts |
// | widest | countDown, before it counts more than 1 as waiting | cmpxchg, to a greater number           |
//
// The grant of a live object never falls. The ticket of a sequestered TwaSemaphore stays at its first value, and acquire
// adds to the tickets taken instead (algorithms/twa-semaphore.ts).
//
// Locks and capacitors (algorithms/):
//
// | word   | changed by                            | how                                                   |
// |--------|---------------------------------------|-------------------------------------------------------|
// | grant of a lane | a thread that releases       | add; see algorithms/lanes.ts                          |
// | ticket | a TtsLock's threads                   | the word of the lock; see tts-lock.ts                 |
// |        | a TicketLock's, TwaLock's, Capacitor's | as a semaphore's                                     |
// |        | the other locks' threads              | tail, top or arrivals, an address; see their files    |
// | grant  | a TicketLock's, TwaLock's, Capacitor's | as a semaphore's. Below 0, a lock of any kind is closed |
// | owner  | a thread that has just got the lock   | store, its number and its queue node                  |
// |        | the same before it gives the lock back | store 0                                              |
// | departed | a thread that leaves a capacitor    | add 1                                                 |
// |        | the last thread of a platoon          | cmpxchg, bypass less: algorithms/capacitor.ts         |
export const OBJECT_SIZE: usize = 128;
export const TICKET: usize = 0; // i64
export const GRANT: usize = 8; // i64
export const O_KIND: usize = 16; // i32, one of KIND_*
export const O_MAX: usize = 20; // i32, most permits that may be available at once; of a mutex, the bypass bound
export const O_SPIN: usize = 24; // i32, polls before parking; -1: as many as pay (polling.ts)
export const O_THRESHOLD: usize = 28; // i32, LongTermThreshold, of an object of the algorithms
export const O_INITIAL: usize = 32; // i32, permits at creation
export const O_ROBUST: usize = 36; // i32, 1: the permits that each thread holds are recorded
export const O_HASH: usize = 36; // i32, one of HASH_*, and of a TwaLock ON_CHAINS (of the algorithms' semaphores, which are never robust)
export const O_VARIANT: usize = 40; // i64, of an object of the algorithms: the next two words
export const O_WAKE: usize = 40; // i32, of a ChainSemaphore: one of WAKE_*
export const O_DELAY: usize = 40; // i32, of a TicketSemaphore: pauses for each ticket ahead between two looks at grant
export const O_LAZY: usize = 44; // i32, of a ChannelSemaphore: 1 if it waits by keyWaitLazy
export const O_LOOK: usize = 44; // i32, of a ChainSemaphore: looks at grant before a waiter pushes its element
export const O_ALTERNATES: usize = 44; // i32, of a LocationSemaphore: 1 if its waiters alternate between two elements
export const O_MOST: usize = 28; // i32, largest value of a counter (BinarySemaphore, CountingSemaphore)
export const O_COUNTER: usize = 40; // i64, waiting << 32 | value (BinarySemaphore, CountingSemaphore)
export const O_PHASE: usize = 40; // i64, of an object of taketurns/sync (primitives/phase.ts)
export const C_WOKEN: usize = 40; // i64, of a Condition: the tickets at which a relay has looked (primitives/condition.ts)
export const O_DRAIN: usize = 48; // i32, of a RwLock: on which a writer sleeps until readers have left (primitives/rw-lock.ts)
export const O_WIDEST: usize = 48; // i32, the most that a taker of a counter has waited for; 0 means 1
export const O_PLACE: usize = 40; // of an AtomicSemaphore: sequence and parked, as in a bucket
export const O_PARKED: usize = 48; // i32
export const O_LIFE: usize = 64; // i64, on the second line: attaching disturbs no thread that acquires
export const O_UNREPORTED_DEATHS: usize = 72; // i32, owners that died and were not reported yet
export const O_DEATHS: usize = 76; // i32, owners that died
export const O_TIMEOUTS: usize = 80; // i32, requests cancelled by a time-out, a signal or cancelAll
export const O_ADDED: usize = 84; // i32, of a semaphore: permits added, less those that reduce has taken
export const O_WHERE: usize = 88; // i32, in which parts of the pool its waiters are or were (marks.ts)
export const O_DEPARTED: usize = 84; // i32, of a capacitor: how many of the present platoon have left it
export const O_VAIN_POLLS: usize = 92; // i32, vain polls since a poll last paid; see polling.ts
export const O_SLEEPERS: usize = 104; // i32, a hint: 1 if a waiter may sleep; see polling.ts
export const O_ASKS: usize = 124; // i32, how often all waiters have been asked to leave, modulo 2^32
export const O_KNOWN: usize = 108; // i32, 1 once another thread may know the object, since its handle was taken or it has a name
export const O_OWNER: usize = 96; // i64, of a lock: queue node << 32 | thread, 0 if no thread holds it (ownership.ts)
export const O_TAKEN: usize = 96; // i64, of a sequestered TwaSemaphore: the tickets taken so far

// A Mutex has a queue with one permit, so ticket and grant are as above. mutex.ts says what its other words are for:
//
// | word   | changed by                             | how                                                   |
// |--------|----------------------------------------|-------------------------------------------------------|
// | word   | every thread                           | see mutex.ts                                          |
// | limit, turn | the head, before it competes; the owner that was the head | store                         |
// | head   | the head, before it sleeps             | store                                                 |
// | pace   | a thread whose turn is over; the head  | store: a hint                                         |
// | spin, max | buildObject                         | store: polls before sleeping, bypass bound            |
export const M_WORD: usize = 40; // i64
export const M_LIMIT: usize = 48; // i32, the most that the count of overtakings in word may become
export const M_HEAD: usize = 52; // i32, the head that sleeps: its thread, and ASYNC for a promise
export const M_PACE: usize = 56; // i32, overtakings in half a millisecond, as last measured; 0: not measured yet
export const M_TURN: usize = 60; // i32, the count of overtakings at which the head, if awake, reserves the lock

export const M_OWNER: i64 = 0xfff; // the thread that holds the lock; 0: the lock is free
export const M_RESERVED: i64 = 0x1000; // only the head may take the lock
export const M_SLEEPING: i64 = 0x2000; // the head sleeps, or is about to
export const M_CLOSED: i64 = 0x4000; // disposed of
export const M_OWNER_DIED: i64 = 0x8000; // an owner has died; the next thread that takes the lock learns of it
export const M_WAITER: i64 = 0x10000; // one waiter
export const M_WAITERS: i64 = 0x7ffff * M_WAITER;
/** With so many waiters a mutex refuses another. 4,095 less than the field holds: each thread may be about to add one. */
export const MOST_WAITERS: i64 = 0x7f000;
export const M_COUNT_SHIFT: i64 = 35; // the bits above count the overtakings of waiters, modulo 2^29
export const M_OVERTAKING: i64 = 1 << 35;

export const KIND_SEMAPHORE: i32 = 1;
export const KIND_TICKET_SEMAPHORE: i32 = 2;
export const KIND_TWA_SEMAPHORE: i32 = 3;
export const KIND_CHAIN_SEMAPHORE: i32 = 4;
export const KIND_CHANNEL_SEMAPHORE: i32 = 5;
export const KIND_LOCATION_SEMAPHORE: i32 = 6;
export const KIND_EVENT_COUNT: i32 = 7;
export const KIND_SEQUENCER: i32 = 8;
export const KIND_BINARY_SEMAPHORE: i32 = 9;
export const KIND_COUNTING_SEMAPHORE: i32 = 10;
export const KIND_ATOMIC_SEMAPHORE: i32 = 11;
export const KIND_MUTEX: i32 = 20;
export const KIND_TTS_LOCK: i32 = 21;
export const KIND_TICKET_LOCK: i32 = 22;
export const KIND_TWA_LOCK: i32 = 23;
export const KIND_MCS_LOCK: i32 = 24;
export const KIND_CLH_LOCK: i32 = 25;
export const KIND_LIFO_LOCK: i32 = 26;
export const KIND_RECIPROCATING_LOCK: i32 = 27;
export const KIND_CAPACITOR: i32 = 28;
export const KIND_MULTILANE_SEMAPHORE: i32 = 29;

export const KIND_CONDITION: i32 = 40;
export const KIND_RW_LOCK: i32 = 41;
export const KIND_BARRIER: i32 = 42;
export const KIND_LATCH: i32 = 43;
export const KIND_WAIT_GROUP: i32 = 44;
export const KIND_EVENT: i32 = 45;
export const KIND_ONCE: i32 = 46;

export const PHASE_COUNT: i64 = 0x3fffffff;
export const PHASE_FULL: i64 = 0x40000000; // of a barrier: all have arrived, and the last runs the action
export const PHASE_SLEEPERS: i64 = 0x80000000;
export const PHASE_BITS: i64 = 0x1fffffff00000000;
export const NEXT_PHASE: i64 = 0x100000000;
// Of a RwLock, in place of the count (primitives/rw-lock.ts):
export const GATE_SHUT: i64 = 1; // a writer waits for the readers inside, or writes
export const GATE_DRAINING: i64 = 2; // the writer sleeps, or is about to, until readers have left
export const GATE_DIED: i64 = 4; // a writer has died, and no other has written since

export const WAITING_SHIFT: i64 = 32;
/** The most that all takers of a counter may wait for. */
export const MOST_WAITING: i64 = 0x1fffffff;
export const VALUE_MASK: i64 = 0xffffffff;
export const CLOSED_COUNTER: i64 = -0x4000000000000000;
export const COUNTER_CLOSED_BELOW: i64 = -0x2000000000000000;
export const NOTIFY_ALL: i32 = 0;
export const NOTIFY_ONE: i32 = 1;
export const NOTIFY_NONE: i32 = 2;
export const GIVE_BACK: i32 = 3; // as NOTIFY_ALL, and past the maximum

// Counters are compared by their difference, so it does no harm that requests for many permits may carry them round.
// The grant of a disposed semaphore lies so far below its ticket that no number of waiters could make up for it.
export const CLOSED_DISTANCE: i64 = -0x4000000000000000;
export const CLOSED_BELOW: i64 = -0x2000000000000000;

// --- Name -----------------------------------------------------------------------------------------------
export const NAME_SIZE: usize = 128;
export const N_TARGET: usize = 0; // i64: generation << 32 | object | length of the name; see names.ts
export const N_NEXT: usize = 8; // i64: a link: tag << 32 | address of the next entry of the list, 0 at its end | GONE
export const N_USED: usize = 16; // i32: 0 free; see names.ts
export const N_BYTES: usize = 20; // UTF-8, and zeros to the end of the last word

// --- Thread record: two lines ---------------------------------------------------------------------------
//
// | word     | from -> to            | changed by, how                                                     |
// |----------|-----------------------|---------------------------------------------------------------------|
// | life     | FREE -> ALIVE         | the thread that registers, cmpxchg                                  |
// |          | ALIVE -> FREE, epoch+1 | the thread itself when it ends, cmpxchg                            |
// |          | ALIVE -> ASLEEP       | the thread itself before it sleeps, cmpxchg                         |
// |          | ASLEEP -> ALIVE       | the same when it wakes, cmpxchg; if one of the two fails, it sleeps for ever |
// |          | ALIVE, ASLEEP -> DEAD | another thread, which knows that it has died (reap), cmpxchg        |
// |          | DEAD -> FREE, epoch+1 | the reaper, when nothing is left in its name, cmpxchg               |
// | wake     | any -> 0; any -> 1    | the thread itself before it sleeps as the head of a mutex; its waker |
// | host     | any                   | the thread that registers, store                                    |
// | doorbell | d -> d+1              | a thread that makes a promise of the thread due or closes it, add   |
// | due      | 0 -> 1 of a bit       | the same before that, or: the bit of the run, or of the mutex       |
// |          | any -> 0              | the thread itself after it has read the doorbell, exchange          |
// | collisions, futile wakes | c -> c+1 | the thread itself: add. Later threads of the record count on |
// | place    | any                   | the thread itself, or its reaper, store; see primitives/rw-lock.ts  |
//
// life is epoch << 2 | state. With ALIVE, it tells a thread from all that have had its record before.
// Only the thread of the record sleeps on wake, as the head of a mutex.
// The index 0 means no thread. Its record is DEAD for ever, which create stores, and no thread takes or reaps it. The
// keeper reaps under this index (death/reaping.ts).
export const THREAD_SIZE: usize = 128;
export const T_LIFE: usize = 0; // i32
export const T_DOORBELL: usize = 4; // i32
export const T_WAKE: usize = 12; // i32
export const T_COLLISIONS: usize = 16; // i32, how often it has come to a bucket or chain in which another waiter stood
export const T_FUTILE_WAKES: usize = 20; // i32, how often it was woken early, with no time-out, and waited again
export const T_DUE: usize = 32; // i32 each, to the end of the line: 256 bits, one for each number modulo 256
export const T_PLACES: usize = 64; // i64 each, to the end of the record: 0, or the address of a RwLock + flags << 32 | phase
export const T_HOST: usize = 8; // i32, the runtime's number for the thread, and 1 more; 0 if it has none

export const PLACE_SIZE: usize = 8;
export const PLACE_READS: i64 = 0x100000000; // the thread is inside
export const PLACE_WAITS: i64 = 0x200000000; // it waits for the end of the phase, and is inside for every other
export const PLACE_FLAGS: u32 = 3; // of the upper half

export const LIFE_STATE: i32 = 3;
export const FREE: i32 = 0;
export const ALIVE: i32 = 1;
export const ASLEEP: i32 = 2;
export const DEAD: i32 = 3;
export const LIFE_EPOCH: i32 = 4;

// --- Bucket and overflow line ---------------------------------------------------------------------------
//
// | word     | from -> to       | changed by, how                                                          |
// |----------|------------------|--------------------------------------------------------------------------|
// | sequence | q -> q+1         | a release of a TwaSemaphore (Listing 2's UpdateSequence), atomicSignal: add |
// | parked   | p -> p+1, p-1    | a TwaSemaphore's waiter around its wait, atomicWait: add                 |
// | extent   | x -> max(x, y)   | a waiter that has entered the line y lines after the bucket, cmpxchg     |
// |          | x -> x, trimmer  | a releasing thread that found the last of these lines empty, cmpxchg     |
// |          | x, trimmer -> y  | the same, if the lines after the line y have been empty since, cmpxchg   |
// | cell     | 0 -> element + 1 | a Semaphore's waiter, cmpxchg                                            |
// |          | element + 1 -> 0 | the thread that holds the element, store                                 |
export const B_SEQUENCE: usize = 0; // i64
export const B_PARKED: usize = 8; // i32
export const B_EXTENT: usize = 12; // i32: the thread that trims << 20, or 0 | lines after the bucket (waiting-array.ts)
export const EXTENT_MASK: i32 = 0xfffff;
export const TRIMMER_SHIFT: i32 = 20;
export const B_CELLS: usize = 16; // i32 each, to the end of the line

// --- Chain: one line, of the algorithms alone ---------------------------------------------------------------
//
// | word     | from -> to          | changed by, how                                                       |
// |----------|---------------------|-----------------------------------------------------------------------|
// | head     | any -> element      | a waiter that pushes, exchange (chains.ts)                            |
// |          | any -> 0            | a thread that notifies, or recovers, exchange: takes the whole chain off |
// |          | element -> below it | the waiter that has just pushed it, cmpxchg                           |
// | due head | the same            | push by cmpxchg; a notifier puts back waiters that are not due (due-chains.ts) |
// | due posts | p -> p+1           | a thread that changes the counter of waiters on the due head, add     |
// | channel head | as head          | Listing 4 (channels.ts)                                               |
// | sequence | q -> q+1            | a thread that signals a channel, add                                  |
// | location head | any -> element | Listing 5: a waiter, cmpxchg (locations.ts)                           |
// |          | any -> 0            | a thread that wakes all, or takes an element of its own off, exchange |
export const C_HEAD: usize = 0; // i32, address of an element, 0 if no thread waits
export const C_DUE_HEAD: usize = 4; // i32, the same
export const C_DUE_POSTS: usize = 8; // i64
export const C_CHANNEL_HEAD: usize = 16; // i32
export const C_LOCATION_HEAD: usize = 20; // i32
export const C_SEQUENCE: usize = 24; // i64

// --- Wait element: one line -----------------------------------------------------------------------------
//
// state is epoch << 4 | s. A parked thread waits on its low 32 bits.
//
// | from             | to                | changed by, how                     | when                          |
// |------------------|-------------------|-------------------------------------|-------------------------------|
// | IDLE             | RESERVED          | any live thread, cmpxchg            | as a spare, before it is needed |
// | RESERVED         | WAITING           | owner, store                        | ticket taken, not admitted (R1) |
// | RESERVED         | AWAKE             | owner, store                        | the same for a promise (R1)   |
// | AWAKE            | WAITING           | owner, store                        | before the thread can sleep   |
// | WAITING, GRANTED | AWAKE, epoch+1    | owner, store                        | the front of the run is due   |
// | WAITING          | GRANTED           | releasing thread, cmpxchg           | grant >= start + n            |
// | WAITING          | CLOSED            | disposing thread, cmpxchg           | the object is disposed of     |
// | WAITING          | ASKED             | a thread in askAll, cmpxchg         | asked to leave (closing.ts)   |
// | ASKED            | WAITING           | owner, store                        | it cannot leave (parking.ts)  |
// | WAITING, GRANTED, CLOSED, ASKED, AWAKE | RESERVED or IDLE, epoch+1 | owner, store | the wait is over       |
// | RESERVED         | IDLE, epoch+1     | owner, store                        | the spare is given back       |
// | WAITING, ASKED   | TOMBSTONE         | owner, cmpxchg                      | cancelled (cancelling.ts)     |
// | TOMBSTONE        | CLAIMED           | any thread, cmpxchg                 | grant > start, or merged (R4) |
// | CLAIMED          | IDLE, epoch+1     | claiming thread, store              | grant += width (R3), or merged (R4) |
// | TOMBSTONE        | MERGING           | cancelling thread, cmpxchg          | to merge with the next one (R4) |
// | MERGING          | TOMBSTONE, epoch+1 | the same, store                    | merged; without epoch+1 if not |
// | RESERVED         | ATTACHED          | owner, store                        | a reference (attachments.ts)  |
// | ATTACHED         | IDLE, epoch+1     | owner, store                        | the thread detaches (R6)      |
// | RESERVED         | BORROWED          | owner, store                        | borrowed (borrowed.ts, nodes.ts) |
// | BORROWED         | IDLE, epoch+1     | the thread that keeps it, store     | not needed, or the thread ends |
// | any of a dead thread, but BORROWED | IDLE, epoch+1 | reaper, store             | see reaping.ts                |
// | WAITING, GRANTED, ASKED, AWAKE of a dead thread | TOMBSTONE | reaper, cmpxchg | cancelled in its name      |
//
// start and request are written only while RESERVED, start while AWAKE too. So a thread that reads (epoch, WAITING),
// then these two, and then succeeds in a cmpxchg from that very value has read the words of one owner. Only the owner
// and a merge write end; other threads read it to count, and to claim or merge a tombstone.
//
// A store to shared memory costs as much as a locked instruction, so what is written together is one word:
//     request   owner: 13 bits (ASYNC, thread) | object: 20 bits | width: 31 bits; 0 while IDLE
//     cells     address of the cell of the first ticket << 32 | address of the cell of the last; 0 if none
export const ELEMENT_SIZE: usize = 64;
export const E_STATE: usize = 0; // i64
export const E_START: usize = 8; // i64, first ticket; of a run, the first not settled yet
export const E_REQUEST: usize = 16; // i64
export const E_CELLS: usize = 24; // i64
export const E_END: usize = 32; // i64, of a run (runs.ts) or a tombstone: the ticket after its last
export const E_HELD: usize = 40; // i64, of an attachment: permits held of a robust object; of a mutex, 1 for the head
export const E_LEAVING: usize = 40; // i64, of a waiter, in the same place: ~start while it takes its tickets back
export const E_SINCE: usize = 48; // i32, when the waiter went to sleep: milliseconds, modulo 2^32

// The words of a BORROWED element, on which an algorithm waits:
//
// | word    | from -> to           | changed by, how                                                   |
// |---------|----------------------|-------------------------------------------------------------------|
// | gate    | any -> SHUT          | owner, store, while no other thread knows the element             |
// |         | SHUT -> PARKED       | owner, cmpxchg, before it sleeps on it                            |
// |         | SHUT, PARKED -> open | the one thread that shall wake it, exchange                       |
// | passed  | any                  | the same before that, exchange: the counter's value               |
// | below   | any                  | owner, store before it pushes; in a due chain, a notifying thread too |
// | counter, awaited | any         | owner, store before it pushes                                     |
export const E_AWAITED: usize = 8; // i64, the value that the counter must pass
export const E_COUNTER: usize = 32; // i32, address of that counter
export const E_BELOW: usize = 36; // i32, address of the next element of the chain
export const E_GATE: usize = 52; // i32: SHUT, PARKED, OPEN, or the address of the object whose counter was passed
export const E_PASSED: usize = 56; // i64

export const SHUT: u32 = 0;
export const PARKED: u32 = 1;
export const OPEN: u32 = 2;

// How a ChainSemaphore wakes.
export const WAKE_ALL: i32 = 0; // Listing 3: each woken waiter looks at grant
export const WAKE_PASS: i32 = 1; // the grant is passed along the chain
export const WAKE_DUE: i32 = 2; // the releasing thread wakes only waiters that are due

// How a semaphore of the algorithms spreads its tickets over the buckets: algorithms/hashes.ts.
export const HASH_MULTIPLIER: i32 = 0;
export const HASH_PAIRED: i32 = 1;
export const HASH_ORBIT: i32 = 2;
export const HASH_GRAY: i32 = 3;
export const HASH_MIXED: i32 = 4;
export const HASHES: i32 = 7; // the bits of these
export const ON_CHAINS: i32 = 8; // beside the hash of a TwaLock: its waiters stand on chains, not in buckets
export const SEQUESTERED: i32 = 16; // beside the hash of a TwaSemaphore: O_TAKEN counts its tickets, ticket stands still

export const OBJECT_SHIFT: i64 = 31;
export const OWNER_SHIFT: i64 = 51;
export const WIDTH_MASK: i64 = 0x7fffffff;
/** The bits of a request that tell its object, once it is shifted by OBJECT_SHIFT. */
export const OBJECT_BITS: usize = 0xfffff;

export const IDLE: i64 = 0;
export const RESERVED: i64 = 1;
export const WAITING: i64 = 2;
export const GRANTED: i64 = 3;
export const CLOSED: i64 = 4;
export const ASKED: i64 = 5;
export const AWAKE: i64 = 6;
export const TOMBSTONE: i64 = 7;
export const CLAIMED: i64 = 8;
export const MERGING: i64 = 9;
export const ATTACHED: i64 = 10;
export const BORROWED: i64 = 11;
export const STATE_MASK: i64 = 15;
export const EPOCH: i64 = 16; // one step of the epoch

// A queue node (algorithms/nodes.ts) has other words than a waiter, of i32 each.
export const Q_GATE: usize = 8; // 0; 1 if a thread is parked on it; else the value that opened it
export const Q_NEXT: usize = 12; // a node
export const Q_END: usize = 32; // a node
export const Q_LINK: usize = 36; // the next node of the thread's pool

/** The bit of an owner which says that a promise of the thread waits, not the thread itself. */
export const ASYNC: i32 = 0x1000;
export const THREAD_MASK: i32 = 0xfff; // so at most 4,095 threads, from 1 on

// --- What the exports answer ----------------------------------------------------------------------------
export const ADMITTED: i32 = 0;
export const OWNER_DIED: i32 = 1; // beginRead: as ADMITTED, and a writer has died
export const REFUSED: i32 = 2; // tryAcquire: not now; cancel: it is cancelled
export const QUEUED: i32 = 3; // acquire: enqueue must follow; enqueue: park must follow
export const MORE: i32 = 4; // release: finishRelease must follow
export const BEGUN: i32 = 7; // begin: the thread is the one to do it
export const ARRIVED: i32 = 16; // arriveAt: and the index of the arrival more
export const TIMED_OUT: i32 = 6; // parkFor: not yet
export const LEAVE: i32 = 9; // park, parkFor, compete: askAll has asked the thread to leave
export const HEAD: i32 = 8; // queue: compete must follow
export const CONTENDED: i32 = 7; // lock: queue must follow
export const MOVE: i32 = 10; // beginRead: the place is that of another lock
export const INTERRUPTED: i32 = 5; // acquire and release: as QUEUED and MORE, while an earlier call is pending
export const GONE: i32 = 0; // reap: not alive any more
export const REAPED: i32 = 1; // reap: dead from now on
export const STILL_AWAKE: i32 = 2; // reap: not asleep
export const ANSWER_CLOSED: i32 = -1;
export const ANSWER_FULL: i32 = -2; // no element, or no record for a thread
export const ANSWER_OVER_MAX: i32 = -3;
export const ANSWER_STALE: i32 = -4;
export const ANSWER_WRONG_KIND: i32 = -5;
export const ANSWER_NOT_FOUND: i32 = -6;
export const ANSWER_MISMATCH: i32 = -7;
export const ANSWER_NAMES_FULL: i32 = -8;
export const ANSWER_OBJECTS_FULL: i32 = -9; // createObject and openName: no room for another object
export const ANSWER_NOT_HELD: i32 = -10; // releaseRobust: the thread holds fewer; unlock: it does not hold the lock
export const ANSWER_BROKEN: i32 = -12; // of a barrier: somebody has left it
export const ANSWER_HELD: i32 = -11; // queue: the thread holds the lock already
