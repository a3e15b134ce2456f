/**
 * Where everything lies in an arena's memory, and which threads may change each word.
 *
 *     0        header line: magic, version, sizes and bases (written once, by create)
 *     64       bump counters, one line each: elements, objects, threads
 *     512      the closed object: a semaphore that is disposed of for ever (see objects.ts)
 *     1024     heads        8 bytes each   of the lists of names: 256 at least, and as many as there are objects
 *     ...      objects    128 bytes each   of every kind: semaphores, mutexes, locks and others
 *     ...      names      128 bytes each   one for each object, and one for each thread
 *     ...      threads    128 bytes each   the registry
 *     ...      chains      64 bytes each   a second waiting array, for the algorithms, a power of two of them
 *     ...      buckets     64 bytes each   the waiting array, a power of two of them
 *     ...      lines       64 bytes each   overflow of each bucket, as many for one as for another
 *     ...      common      64 bytes each   overflow of the overflow, shared by all buckets
 *     ...      elements    64 bytes each   wait elements
 *     end      labels      32 bytes each   the name of each thread, for reports (src/look/labels.ts)
 *     the last 128 KiB     256 bytes each  how long threads have waited, if they count it (src/report/series.ts)
 *
 * Chains and buckets begin at the start of a page (arena.ts), as the papers ask. A region is touched only as it comes
 * into use, so unused capacity costs address space alone. Every shared access is a sequentially consistent atomic one.
 * The few plain accesses are to the drafts of names, of which each belongs to one thread.
 *
 * The words of a bucket are in queue/words.ts. Most words that only some kinds of objects have are in the words.ts of
 * these kinds. A few of them are in this file, because objects.ts sets them in each new object of any kind: for example
 * O_COUNTER, O_PARKED and O_OWNER. The build compares all words: two words of one object may overlap only where the
 * comment of one of them says so (scripts/words.mjs).
 */

export const MAGIC: i32 = 0x746b7473;
export const VERSION: i32 = 5; // of this layout, and of what copies of the package share (src/runtime/common.ts)
export const LINE: usize = 64;

// --- Header ---------------------------------------------------------------------------------------------
export const H_MAGIC: usize = 0; // written last by create: a thread that sees it may read the rest
export const H_VERSION: usize = 4;
export const H_ID: usize = 8; // i64, random: tells one arena from another
export const H_OBJECTS: usize = 16; // capacities
export const H_THREADS: usize = 20;
export const H_BUCKETS: usize = 24;
export const H_CHAINS: usize = 28;
export const H_ELEMENTS: usize = 32;
export const H_END: usize = 36; // bytes of the whole arena, without labels, pages of channels and metrics
/** The last bytes of the memory of an arena, in which threads count how long they wait (src/report/series.ts). */
export const METRICS_SIZE: usize = 131072;
// What happens when a deadlock is found, when a thread looks for one, and whether threads count their waits; 0: the
// usual (src/report/settings.ts).
export const H_DEADLOCKS: usize = 40; // i32

// Bump counters: how many of each were ever in use. They grow by compare-and-swap up to the capacity and never shrink.
// A search below the counter finds again what was given back.
export const USED_ELEMENTS: usize = 64;
export const USED_OBJECTS: usize = 128;
export const USED_THREADS: usize = 192;

// i64: the thread that reaps, its index << 32 | life; 0 when no thread reaps. See reaping.ts.
export const REAPER: usize = 384;
// i32: the runtime id of the keeper, which is the thread that notices deaths in this arena. 0 if the arena has no
// keeper yet. UNWATCHED from the start if it never gets one. The first thread that shares the arena sets the word by
// cmpxchg (src/host/keeper.ts). -2 means that the keeper is about to set the word (src/host/ports.ts).
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
// | word              | changed by                                     | how                                         |
// |-------------------|------------------------------------------------|---------------------------------------------|
// | all               | buildObject, before the object is LIVE         | store                                       |
// | all but life      | attach in src/runtime/membership.ts: see below | plain store                                 |
// | ticket            | acquire, arrive, queue                         | add n                                       |
// |                   | reduce                                         | add n, for which no request stands          |
// |                   | acquire, arrive, queue, reduce, if closed      | sub n, which they have just added           |
// |                   | tryAcquire, drain, arrive; tryClaim            | cmpxchg t -> t+n, only while grant >= t+n   |
// |                   | finishRelease, if too many permits are free    | the same                                    |
// |                   | settleUp, of a Condition or a watch            | cmpxchg t -> grant                          |
// |                   | takeBack: a request is cancelled               | cmpxchg t+n -> t                            |
// | grant             | release, add; handOn, of a counter; passOn     | add n                                       |
// |                   | claim                                          | add the width of the tombstone              |
// |                   | takeLock, returnHeadPermit, of a Mutex         | add 1: the head stops waiting               |
// |                   | notify, of a Condition                         | cmpxchg g -> g+n                            |
// |                   | putDown, passOn, of a Condition                | add the notifications that a thread carried |
// |                   | releaseOfDead                                  | add the permits that a dead thread held     |
// |                   | finishRelease, on a disposed object            | sub n, which release has just added         |
// |                   | closeObject, closeQueue                        | store ticket + CLOSED_DISTANCE              |
// | life              | whoever makes, attaches, detaches or disposes  | cmpxchg, store; see objects.ts              |
// | unreported deaths | a reaper of a dead owner                       | add 1                                       |
// |                   | restoreOwnerDeaths                             | add the deaths that it cannot report        |
// |                   | ownersDied: a thread that has acquired         | exchange for 0                              |
// | deaths            | a reaper of a dead owner                       | add 1, for diagnostics                      |
// | timeouts          | cancel, cancelRun, cancelHead                  | add 1, for diagnostics                      |
// | added             | add, reduce                                    | add n; sub n, for diagnostics               |
// | vain polls        | a waiter that has polled                       | store: 1 more, or 0; see polling.ts         |
// | sleepers          | a waiter before it sleeps; wakeNear            | store 1                                     |
// |                   | wakeNear, if all waiters are near              | store 0, before it looks whether one sleeps |
// | name              | openName, before it publishes the name         | store the head of the list                  |
// | asks              | askAll                                         | add 1                                       |
// | where             | before an element becomes WAITING or TOMBSTONE | or, a bit; see elements.ts                  |
//
// n is the number of permits of the call. In drain, n is all permits that are free. In handOn, n is the permits that
// the call hands on. In notify, n is the waiters that the call notifies. What is said of a dead thread is also true of
// a thread that ends, because this thread does the work of its own reaper. A thread may evict an object that no other
// thread knows: the thread keeps the words, and `attach` later copies the words into another object of the same kind.
// papers/words.ts says how the objects of core/papers/ use ticket and grant.
//
// The grant of a live object never falls, but for that of an end of a closed channel (closeQueue). Bytes 40 to 63 are
// for the words of the kind. They are 0 in a new object, but for the counter, the variant and the place that objects.ts
// sets, and for the bytes 52 to 55, which it does not set.
export const OBJECT_SIZE: usize = 128;
export const TICKET: usize = 0; // i64
export const GRANT: usize = 8; // i64
export const O_KIND: usize = 16; // i32, one of KIND_* (kinds/words.ts)
// What is true of a kind: bits of its number. kinds/words.ts is the table of the kinds, and says what each bit means.
export const HAS_QUEUE: i32 = 0x100;
export const HAS_COUNT: i32 = 0x200;
export const HAS_PHASE: i32 = 0x400;
export const HAS_HEAD: i32 = 0x800;
export const IS_END: i32 = 0x1000;
export const RECEIVES: i32 = 0x2000;
export const FLOWS: i32 = 0x4000;
export const HOLDS: i32 = 0x8000;
export const HAS_OWNER: i32 = 0x10000;
export const IS_ROBUST: i32 = 0x20000;
export const CAN_MOVE: i32 = 0x40000;
export const O_MAX: usize = 20; // i32, most permits that may be available at once; of a mutex, the bypass bound
export const O_SPIN: usize = 24; // i32, polls before parking; -1: as many as pay (polling.ts)
export const O_THRESHOLD: usize = 28; // i32, of an object of the algorithms: LongTermThreshold, with FAR_PARKS
export const O_INITIAL: usize = 32; // i32, permits at creation
export const O_ROBUST: usize = 36; // i32, 1: the permits that each thread holds are recorded
export const O_COUNTER: usize = 40; // i64, of a BinarySemaphore or CountingSemaphore: waiting << 32 | value
export const O_PARKED: usize = 48; // i32, of an AtomicSemaphore: its sleepers (papers/places.ts)
// The last words that a kind has for itself. buildObject sets them to 0.
export const O_OWN_LAST: usize = 56; // i64
export const O_LIFE: usize = 64; // i64, on the second line: attaching disturbs no thread that acquires
/** The bit of `life` which says that the handle of the object was taken (objects.ts). The references are below it. */
export const KEPT: u32 = 0x800000;
// How a thread lets go of an object (letGo in kinds/kinds.ts).
export const GOES: i32 = 0;
export const MAY_STAY: i32 = 1;
export const UNNAMED: i32 = 2;
export const O_UNREPORTED_DEATHS: usize = 72; // i32, owners that died and were not reported yet
export const O_DEATHS: usize = 76; // i32, owners that died
export const O_TIMEOUTS: usize = 80; // i32, requests cancelled by a time-out, a signal or cancelAll
export const O_ADDED: usize = 84; // i32, of a semaphore: permits added, less those that reduce has taken
export const O_WHERE: usize = 88; // i32, in which parts of the pool its waiters are or were (elements.ts)
export const O_VAIN_POLLS: usize = 92; // i32, vain polls since a poll last paid; see polling.ts
export const O_OWNER: usize = 96; // i64, of a lock: queue node << 32 | thread, 0 if no thread holds it (ownership.ts)
export const O_SLEEPERS: usize = 104; // i32, a hint: 1 if a waiter may sleep; see polling.ts
// The address of the head of the list in which its name stands or stood, 0 if it never had a name (names.ts).
export const O_NAME: usize = 108; // i32
// A word that a kind has for itself on the second line. buildObject sets it to 0.
export const O_OWN_LATE: usize = 112; // i64
// How often all waiters have been asked to leave, modulo 2^32.
export const O_ASKS: usize = 124; // i32, not set in a new object

// Counters are compared by their difference, so it does no harm if they overflow. The grant of a disposed semaphore
// lies so far below its ticket that no number of releases could make up for the distance.
export const CLOSED_DISTANCE: i64 = -0x4000000000000000;
export const CLOSED_BELOW: i64 = -0x2000000000000000;
// The same two numbers for a counter.
export const CLOSED_COUNTER: i64 = -0x4000000000000000;
export const COUNTER_CLOSED_BELOW: i64 = -0x2000000000000000;
// The bit which says, in a word instead of O_COUNTER that is no counter, that the object is closed.
export const CLOSED_BIT: i64 = 0x4000;

// --- Name -----------------------------------------------------------------------------------------------
//
// The entry of an object is at the same place among the names as the object is among the objects.
export const NAME_SIZE: usize = OBJECT_SIZE;
export const N_NEXT: usize = 0; // i64: a link: tag << 32 | address of the next entry of the list, 0 at its end | GONE
export const N_LENGTH: usize = 8; // i32: bytes of UTF-8 in the name, from 1 on
export const N_BYTES: usize = 12; // UTF-8, and zeros to the end of the last word
export const NAME_ROOM: usize = NAME_SIZE - N_BYTES; // bytes of UTF-8 in a name, at most
// The first byte in the name of a key (src/keyed/key-names.ts). No UTF-8 has this byte, so no user gives such a name.
export const N_KEY: u32 = 0xff;

// --- Thread record: two lines ---------------------------------------------------------------------------
//
// | word         | from -> to             | changed by, how                                                         |
// |--------------|------------------------|-------------------------------------------------------------------------|
// | life         | FREE -> ALIVE          | the thread that registers, cmpxchg                                      |
// |              | ALIVE -> FREE, epoch+1 | the thread itself when it ends, cmpxchg                                 |
// |              | ALIVE -> ASLEEP        | the thread itself before it sleeps, or looks for a deadlock in the      |
// |              |                        | middle of a wait (src/report/long-sleeps.ts), cmpxchg                   |
// |              | ASLEEP -> ALIVE        | the same when it wakes, cmpxchg. If one of the two fails, it sleeps for |
// |              |                        | ever                                                                    |
// |              | ALIVE, ASLEEP -> DEAD  | another thread, which knows that it has died (reap), cmpxchg            |
// |              | DEAD -> FREE, epoch+1  | the reaper, when nothing is left in its name, cmpxchg                   |
// | wake         | any -> 0               | the thread itself before it sleeps as the head of a mutex, store        |
// |              | any -> 1               | the thread that wakes it (wakeHead), store                              |
// | runtime id   | any                    | the thread that registers, store                                        |
// |              | any -> 0               | the thread itself when it ends, or its reaper, store                    |
// | doorbell     | d -> d+1               | a thread that makes a promise of the thread due, closes it, or asks it  |
// |              |                        | to leave; the waker of the head of a mutex; the thread itself (recover, |
// |              |                        | reap): add                                                              |
// | due          | 0 -> 1 of a bit        | the other thread before that, or: the bit of the run, or of the mutex   |
// |              | any -> 0               | the thread itself after it has read the doorbell, exchange              |
// | collisions,  | c -> c+1               | the thread itself: add. Later threads of the record count on            |
// | futile wakes |                        |                                                                         |
// | sleeps on    | any                    | the thread itself before it sleeps, store                               |
// | sleeps       | n -> n+1               | the same, after that store and before it is ASLEEP: add                 |
// | place        | any                    | the thread itself, or its reaper, store; see rw-lock.ts                 |
//
// life is epoch << 2 | state. With ALIVE, it tells a thread from all that have had its record before.
// Only the thread of the record sleeps on wake, as the head of a mutex.
// The index 0 means no thread. Its record is DEAD for ever, which create stores, and no thread takes or reaps it. The
// keeper reaps under this index (death/reaping.ts).
export const THREAD_SIZE: usize = 128;
export const T_LIFE: usize = 0; // i32
export const T_DOORBELL: usize = 4; // i32
export const T_RUNTIME_ID: usize = 8; // i32, the number by which the runtime knows the thread, and 1 more; 0 if it has none
export const T_WAKE: usize = 12; // i32
export const T_COLLISIONS: usize = 16; // i32, how often it has come to a bucket or chain in which another waiter stood
export const T_FUTILE_WAKES: usize = 20; // i32, how often it was woken early, with no time-out, and waited again
// The word on which it sleeps or slept last, and in its last two bits how: see sleepOn in threads.ts.
export const T_SLEEPS_ON: usize = 24; // i32
export const T_SLEEPS: usize = 28; // i32, how often the thread of this record has gone to sleep, modulo 2^32
export const T_DUE: usize = 32; // i32 each, to the end of the line: 256 bits, one for each number modulo 256

export const LIFE_STATE: i32 = 3;
export const FREE: i32 = 0;
export const ALIVE: i32 = 1;
export const ASLEEP: i32 = 2;
export const DEAD: i32 = 3;
export const LIFE_EPOCH: i32 = 4;
export const THREAD_MASK: i32 = 0xfff; // so at most 4,095 threads, from 1 on

// --- Wait element: one line -----------------------------------------------------------------------------
//
// state is epoch << 4 | s. A parked thread waits on its low 32 bits.
//
// | from               | to                 | changed by, how                   | when                             |
// |--------------------|--------------------|-----------------------------------|----------------------------------|
// | IDLE               | RESERVED           | any live thread, cmpxchg          | as a spare, or when it is needed |
// | RESERVED           | WAITING            | owner, store                      | ticket taken, not admitted (R1)  |
// | RESERVED           | AWAKE              | owner, store                      | the same for a promise (R1)      |
// | AWAKE              | WAITING            | owner, store                      | before the thread can sleep      |
// | WAITING, GRANTED   | AWAKE, epoch+1     | owner, store                      | the front of the run is due      |
// | WAITING            | GRANTED            | releasing thread, reaper, cmpxchg | grant >= start + n               |
// | WAITING            | CLOSED             | disposing thread, reaper, cmpxchg | the object is disposed of        |
// | WAITING            | ASKED              | a thread in askAll, cmpxchg       | asked to leave (closing.ts)      |
// | ASKED              | WAITING            | owner, store                      | it cannot leave (queue.ts)       |
// | a wait: see below  | RESERVED, epoch+1  | owner, store                      | the wait is over                 |
// | a wait             | IDLE, epoch+1      | owner, store                      | the wait is over                 |
// | RESERVED           | IDLE, epoch+1      | owner, store                      | it is not needed any more        |
// | WAITING, ASKED     | TOMBSTONE          | owner, cmpxchg                    | cancelled (queue.ts)             |
// | TOMBSTONE          | CLAIMED            | any thread, cmpxchg               | grant > start, closed, or merged |
// | CLAIMED            | IDLE, epoch+1      | claiming thread, store            | grant += width (R3); merged (R4) |
// | TOMBSTONE          | MERGING            | cancelling thread, cmpxchg        | to merge with the next one (R4)  |
// | MERGING            | TOMBSTONE, epoch+1 | the same, store                   | merged; without epoch+1 if not   |
// | RESERVED           | ATTACHED           | owner, store                      | a reference (attachments.ts)     |
// | ATTACHED           | IDLE, epoch+1      | owner, store                      | the thread detaches (R6)         |
// | RESERVED           | BORROWED           | owner, store                      | borrowed (borrowed.ts, nodes.ts) |
// | BORROWED           | IDLE, epoch+1      | the thread that keeps it, store   | not needed, or the thread ends   |
// | a wait             | IDLE, epoch+1      | reaper, store                     | of a dead thread (reaping.ts)    |
// | RESERVED, ATTACHED | IDLE, epoch+1      | reaper, store                     | the same                         |
// | a wait, not CLOSED | TOMBSTONE          | reaper, cmpxchg                   | the same: cancelled in its name  |
//
// "A wait" is WAITING, GRANTED, CLOSED, ASKED or AWAKE. A thread that ends makes the last three changes itself. A
// thread also makes the last change itself if an exception has ended its wait (abandonRequest in kinds/kinds.ts).
//
// start and request are written only while the element is RESERVED; start also while it is AWAKE. Besides, request
// becomes 0 just before the element becomes IDLE. A thread that grants a request reads the state (epoch, WAITING), then
// start and request, and then makes a cmpxchg from the state that it has read. If the cmpxchg succeeds, the element had
// one owner all the while, so start and request belong to one request. Only the owner, its reaper and a merge write
// end. Other threads read end to count, and to claim or merge a tombstone.
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
export const E_LEAVING: usize = 40; // i64, of a waiter, instead of E_HELD: ~start while it takes its tickets back
// When the first request of the element began to wait, or went to sleep if it blocks its thread; 0: not known yet.
export const E_SINCE: usize = 48; // i32, milliseconds, modulo 2^32
// i32, 1 if the waiter in the queue to which the element belongs may sleep: whoever ends its wait must notify it. The
// waiter stores 1 before it sleeps, and 0 when it has woken. An exception may leave the 1. An element that has served a
// chain may have another value here, instead of E_GATE (papers/words.ts).
export const E_ASLEEP: usize = 52;

export const OBJECT_SHIFT: i64 = 31;
export const OWNER_SHIFT: i64 = 51;
export const WIDTH_MASK: i64 = 0x7fffffff;
/** The bits of a request that tell its object, once it is shifted by OBJECT_SHIFT. */
export const OBJECT_BITS: usize = 0xfffff;
/** The bit of an owner which says that a promise of the thread waits, not the thread itself. */
export const ASYNC: i32 = 0x1000;

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
