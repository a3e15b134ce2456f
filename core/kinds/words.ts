/**
 * The table of all kinds of objects. The low byte of a number, KIND_NUMBER, tells the kind from all others. The bits
 * above it say what is true of each object of the kind. So whoever has the word O_KIND of an object can ask for a trait,
 * in the core as in src/, and a new kind is a row here. The comment of a row names the folder of the kind, whose words.ts
 * has the words of the kind.
 *
 *     trait        an object of the kind                                                         who asks
 *     HAS_QUEUE    has requests in its queue: whoever disposes of it closes the queue            kinds.ts
 *     HAS_COUNT    has its permits in the word O_COUNTER, and none in the queue                  objects.ts, kinds.ts
 *     HAS_PHASE    has a phase word (phase/), and E_END of an attachment says how many calls     kinds.ts, reports
 *                  of the thread wait
 *     HAS_HEAD     has an owner, a head and a count of its waiters in M_WORD (mutex/)            kinds.ts, reports
 *     IS_END       is one end of a channel or of a watch, and goes with the other end            kinds.ts
 *     RECEIVES     is the end of those who receive, which has neither a name nor a handle        channel/, reports
 *     FLOWS        is as it was made once everything that was sent has been received             kinds.ts
 *     HOLDS        has in E_HELD of an attachment what the thread holds                          reports
 *     HAS_OWNER    has in O_OWNER the thread that has the lock                                   reports
 *     IS_ROBUST    is always robust. Another object is robust only if a program wants it         src/objects/
 *     CAN_MOVE     may get another place in the arena while no other thread can know it          src/runtime/
 *
 * HAS_HEAD and HOLDS exclude each other, because E_HELD is 1 for the head of a mutex. A Condition has neither: E_HELD
 * says which notifications the thread carries. Reports are src/look/ and src/report/.
 *
 * The core compares the number of a kind only where it calls the functions of this kind: in kinds.ts, and in the folder
 * of the kind.
 */
import {
  CAN_MOVE,
  FLOWS,
  HAS_COUNT,
  HAS_HEAD,
  HAS_OWNER,
  HAS_PHASE,
  HAS_QUEUE,
  HOLDS,
  IS_END,
  IS_ROBUST,
  RECEIVES,
} from '../arena/words';

export const KIND_NUMBER: i32 = 0xff;

export const KIND_SEMAPHORE: i32 = 1 | HAS_QUEUE | HOLDS | CAN_MOVE; // semaphore/
export const KIND_TICKET_SEMAPHORE: i32 = 2; // papers/
export const KIND_TWA_SEMAPHORE: i32 = 3; // papers/
export const KIND_CHAIN_SEMAPHORE: i32 = 4; // papers/
export const KIND_CHANNEL_SEMAPHORE: i32 = 5; // papers/
export const KIND_LOCATION_SEMAPHORE: i32 = 6; // papers/
export const KIND_EVENT_COUNT: i32 = 7; // papers/
export const KIND_SEQUENCER: i32 = 8; // papers/
export const KIND_ATOMIC_SEMAPHORE: i32 = 11; // papers/
export const KIND_MUTEX: i32 = 20 | HAS_QUEUE | HAS_HEAD | IS_ROBUST | CAN_MOVE; // mutex/
export const KIND_TTS_LOCK: i32 = 21; // papers/
export const KIND_TICKET_LOCK: i32 = 22 | HAS_OWNER; // papers/
export const KIND_TWA_LOCK: i32 = 23 | HAS_OWNER; // papers/
export const KIND_MCS_LOCK: i32 = 24 | HAS_OWNER; // papers/
export const KIND_CLH_LOCK: i32 = 25 | HAS_OWNER; // papers/
export const KIND_LIFO_LOCK: i32 = 26 | HAS_OWNER; // papers/
export const KIND_RECIPROCATING_LOCK: i32 = 27 | HAS_OWNER; // papers/
export const KIND_CAPACITOR: i32 = 28; // papers/
export const KIND_MULTILANE_SEMAPHORE: i32 = 29; // papers/
export const KIND_KEYED_MUTEX: i32 = 30 | IS_ROBUST; // keyed/
export const KIND_KEYED_SEMAPHORE: i32 = 31 | IS_ROBUST; // keyed/
export const KIND_RATE_LIMITER: i32 = 32; // keyed/
export const KIND_KEYED_RATE_LIMITER: i32 = 33; // keyed/
/** The sending end of a channel. Its handle is that of the channel. */
export const KIND_CHANNEL: i32 = 36 | HAS_QUEUE | IS_END | FLOWS | HOLDS | IS_ROBUST; // channel/
/** The receiving end of a channel. */
export const KIND_RECEIVING_END: i32 = 37 | HAS_QUEUE | IS_END | RECEIVES | FLOWS | HOLDS | IS_ROBUST; // channel/
/** The sending end of a watch: the turn of those who set the value. Its handle is that of the watch. */
export const KIND_WATCH: i32 = 38 | HAS_QUEUE | IS_END | HOLDS | IS_ROBUST; // channel/
/** The receiving end of a watch: the queue of those who wait for a newer value. */
export const KIND_WATCHING_END: i32 = 39 | HAS_QUEUE | IS_END | RECEIVES; // channel/
export const KIND_CONDITION: i32 = 40 | HAS_QUEUE | IS_ROBUST; // condition/
export const KIND_RW_LOCK: i32 = 41 | HAS_QUEUE | HAS_PHASE | HOLDS | IS_ROBUST; // rw-lock/
export const KIND_BARRIER: i32 = 42 | HAS_COUNT | HAS_PHASE | HOLDS | IS_ROBUST; // phase/
export const KIND_LATCH: i32 = 43 | HAS_COUNT | HAS_PHASE; // phase/
export const KIND_WAIT_GROUP: i32 = 44 | HAS_COUNT | HAS_PHASE | HOLDS | IS_ROBUST; // phase/
export const KIND_EVENT: i32 = 45 | HAS_COUNT | HAS_PHASE; // phase/
export const KIND_ONCE: i32 = 46 | HAS_COUNT | HAS_PHASE | HOLDS | IS_ROBUST; // phase/
export const KIND_BINARY_SEMAPHORE: i32 = 47 | HAS_QUEUE | HAS_COUNT; // counter/
export const KIND_COUNTING_SEMAPHORE: i32 = 48 | HAS_QUEUE | HAS_COUNT; // counter/
