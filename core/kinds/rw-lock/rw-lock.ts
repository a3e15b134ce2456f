/**
 * RwLock: many readers or one writer, phase-fair. It consists of three things:
 *
 *     the turn     the queue of the object, a robust semaphore of one permit (queue/queue.ts). The thread that has
 *                  the permit may write. So writers are first come, first served, and a dead writer gives its turn on
 *     the gate     the phase word (phase.ts), with flags in place of a count. Only the thread that has the turn shuts
 *                  the gate. Opening the gate begins the next phase, and wakes all readers that sleep
 *     seats        a thread says in a line of its own, T_SEATS, which locks it reads. Only the thread and its reaper
 *                  store to its seats
 *
 *     gate         phase | SLEEPERS | DIED DRAINING SHUT        seat         lock | WAITS READS | phase
 *
 *     reader                                               writer, which has the turn
 *     1. seat := READS                                     1. gate := SHUT, in phase w
 *     2. gate is not SHUT: in                              2. no seat of the lock is in the way: in
 *     3. SHUT in phase w: seat := WAITS for w              3. else gate := DRAINING; look at the seats again
 *     4. DRAINING: wake the writer                         4. sleep on O_DRAIN until a reader wakes it; look again
 *     5. sleep until phase w is over; seat := READS; in    5. to leave: gate := open, phase w + 1; wake the readers
 *     6. to leave: seat := 0; if DRAINING, wake the        6. give the turn back
 *        writer
 *
 * "in" means that the thread has the lock. To wake the writer, a reader adds 1 to O_DRAIN and notifies that word.
 *
 * A seat is in the way of the writer of phase w if the seat READS, or if it WAITS for a phase other than w. So when
 * phase w is over, a reader that has waited for its end counts as a reader, though it may not have woken yet. The next
 * writer shuts the gate at once, and waits for this reader. So a reader waits for one writer at most, and a reader that
 * comes after a writer has shut the gate does not go before this writer.
 *
 * Why the lock excludes, and why no thread sleeps for ever: in each pair one thread writes A and then reads B, and the
 * other thread writes B and then reads A. All accesses are sequentially consistent.
 *     D13  seat against SHUT: the writer sees the seat, or the reader sees SHUT. A reader that sees SHUT is not in, and
 *          takes READS back. A reader that has waited for the end of phase w is in the way of every later writer, from
 *          its wait on until it leaves. The look of the writer may miss a thread that registers meanwhile. But this
 *          thread has no seat yet, and sees SHUT when it begins to read
 *     D14  seat against DRAINING: a reader that goes, or begins to wait, stores its seat and then reads the gate. The
 *          writer reads O_DRAIN, sets DRAINING, and then looks at the seats. So the writer sees the seat, or the reader
 *          sees DRAINING, and changes O_DRAIN after the writer has read it
 * D11 (phase.ts) is the sleep of the readers.
 *
 * A thread that reads already may begin to read once more by a call that blocks, even while a writer waits: otherwise
 * the thread would wait for itself. The second read needs no access here, because the thread counts its readers in
 * JavaScript. So a thread whose blocking reads always overlap keeps a writer out for as long as it likes. This cannot
 * be bounded, because nobody knows whether the second read ends before the first. A call that tries looks at the gate
 * first (stampOf) and is refused, and a promise waits: neither keeps a writer out. Promises of the thread that wait to
 * read share the seat of the thread. If the thread also reads, its seat READS and WAITS. These promises become
 * readers together when the phase is over.
 *
 * A writer that gives up opens the gate like a writer that has written, so each writer uses up a phase. The number of
 * the phase goes round after 2^29 phases. This does harm only if a seat WAITS and its thread sleeps all the while, and
 * the number has come back to exactly that of the seat.
 *
 * The reaper of a dead reader clears its seat. A thread that lets go of the lock clears its seat itself
 * (rw-lock-seats.ts). The reaper of a dead writer opens the gate with DIED (endOfDead in phase.ts), and then the turn
 * goes on. DIED stays until another writer has written: until then what a reader reads may be half-written. Nothing
 * else has to be repaired. So the words of the turn and of the gate need not change in one section: a thread that dies
 * between the two changes has the turn, and its gate is open.
 *
 * Sources: the phases are those of PF-T in Brandenburg and Anderson, Spin-Based Reader-Writer Synchronization for
 * Multiprocessor Real-Time Systems (2010). The visible readers, each in a seat of its own, are from Dice and Kogan,
 * BRAVO (2019), without its hashing, its bias and its slow path. Waiting for a phase in a seat is this library's own.
 */

import { ADMITTED, ANSWER_CLOSED, MOVE, OWNER_DIED, QUEUED, REFUSED, TIMED_OUT } from '../../answers';
import { isClosedCounter } from '../../arena/objects';
import { me, mostThreads, sleepOn, threadRecord } from '../../arena/threads';
import { LINE, O_UNREPORTED_DEATHS, THREAD_SIZE } from '../../arena/words';
import { pause, pollsOf } from '../../queue/polling';
import { ALL } from '../../queue/words';
import { opened, saw, wake } from '../phase/phase';
import { O_PHASE } from '../phase/words';
import {
  GATE_DIED,
  GATE_DRAINING,
  GATE_SHUT,
  NO_STAMP,
  O_DRAIN,
  SEAT_FLAGS,
  SEAT_READS,
  SEAT_SIZE,
  SEAT_WAITS,
} from './words';

const OBJECT_BITS: i64 = 32;
/** The bits that are all 0 in a gate that lets a reader in without anything to report. A closed word is below 0. */
const UNUSUAL: i64 = (1 << 63) | GATE_SHUT | GATE_DIED;

/** The value that O_DRAIN had before this thread, as the writer, looked at the seats last. */
export let drainSeen: i32 = 0;

/**
 * A memory fence: it orders the plain accesses of the thread. The build replaces each call by the instruction
 * atomic.fence, because the compiler would write this instruction in an invalid way.
 */
declare function fence(): void;

// --- Readers --------------------------------------------------------------------------------------------

/** Returns the seat of this thread for the lock, or a free one; 0 if all are in use. */
export function seatFor(o: usize): usize {
  let free: usize = 0;
  const end = threadRecord(me + 1);
  for (let p = end - LINE; p < end; p += SEAT_SIZE) {
    const seat = atomic.load<i64>(p);
    if (isSeatOf(seat, o)) return p;
    if (seat === 0 && free === 0) free = p;
  }
  return free;
}

function isSeatOf(seat: i64, o: usize): bool {
  return (((seat >> OBJECT_BITS) as u32) & ~SEAT_FLAGS) === (o as u32);
}

/** Returns the word of a seat for the lock, with these flags and the phase of this word of the gate. */
function seatWord(o: usize, flags: i64, gate: i64): i64 {
  return ((o as i64) << OBJECT_BITS) | flags | ((gate as u64) >> 32);
}

/**
 * Begins to read, in this seat. The thread does not read the lock, and no promise of it waits to read it. Returns
 * ADMITTED. Returns OWNER_DIED: the thread reads, but what it reads may be half-written. Returns QUEUED: the thread
 * waits for the end of the phase (phaseSeen), and then endReadWait must follow. Returns ANSWER_CLOSED, or MOVE if the
 * seat is that of another lock.
 */
export function beginRead(o: usize, p: usize): i32 {
  const before = atomic.load<i64>(p);
  if (before !== 0 && !isSeatOf(before, o)) return MOVE;
  atomic.store<i64>(p, seatWord(o, SEAT_READS, 0)); // D13 write
  const word = atomic.load<i64>(o, O_PHASE); // D13 read
  if ((word & UNUSUAL) === 0) return ADMITTED;
  if (isClosedCounter(word)) {
    atomic.store<i64>(p, 0);
    return ANSWER_CLOSED;
  }
  if (!(word & GATE_SHUT)) return OWNER_DIED;
  saw(word);
  atomic.store<i64>(p, seatWord(o, SEAT_WAITS, word)); // D14 write, R12 begins
  wakeWriter(o); // R12 ends
  return QUEUED;
}

/**
 * Does the same as beginRead, but does not wait: it returns REFUSED if the gate is shut. Readers that try keep no
 * writer out.
 * @answers ADMITTED | OWNER_DIED | REFUSED | MOVE | ANSWER_CLOSED
 */
export function tryRead(o: usize, p: usize): i32 {
  if ((atomic.load<i64>(o, O_PHASE) & (UNUSUAL & ~GATE_DIED)) === GATE_SHUT) return REFUSED;
  const answer = beginRead(o, p);
  if (answer !== QUEUED) return answer;
  leave(o, p, SEAT_WAITS);
  return REFUSED;
}

/**
 * Begins to read for a promise of a thread that uses this seat already: the promise reads at once, or waits for the
 * end of the phase. Returns the same as beginRead.
 */
export function readToo(o: usize, p: usize): i32 {
  const word = atomic.load<i64>(o, O_PHASE);
  if (isClosedCounter(word)) return ANSWER_CLOSED;
  if (!(word & GATE_SHUT)) return word & GATE_DIED ? OWNER_DIED : ADMITTED;
  saw(word);
  atomic.store<i64>(p, seatWord(o, SEAT_READS | SEAT_WAITS, word));
  return QUEUED;
}

/**
 * Ends the wait of the thread in this seat, after the phase is over: the thread reads now. Returns ADMITTED or
 * OWNER_DIED.
 */
export function endReadWait(o: usize, p: usize): i32 {
  atomic.store<i64>(p, seatWord(o, SEAT_READS, 0));
  return atomic.load<i64>(o, O_PHASE) & GATE_DIED ? OWNER_DIED : ADMITTED;
}

/** Ends the reading of the thread in this seat. Promises of the thread that wait in this seat wait on. */
export function endRead(o: usize, p: usize): void {
  leave(o, p, SEAT_READS);
}

/** Ends the waiting of the thread in this seat. If it reads, it reads on. */
export function giveUpRead(o: usize, p: usize): void {
  leave(o, p, SEAT_WAITS);
}

/**
 * Takes a flag off a seat. If the seat has no other flag, it is free then. Always inlined (R12).
 * @inline
 */
function leave(o: usize, p: usize, flag: i64): void {
  const rest = atomic.load<i64>(p) & ~flag;
  atomic.store<i64>(p, rest & (SEAT_READS | SEAT_WAITS) ? rest : 0); // D14 write, R12 begins
  wakeWriter(o); // R12 ends
}

/**
 * Wakes the writer if it may sleep. Always inlined: no exception may come between the store to the seat and the
 * wake-up (R12).
 * @inline
 */
function wakeWriter(o: usize): void {
  if (!(atomic.load<i64>(o, O_PHASE) & GATE_DRAINING)) return; // D14 read
  atomic.add<i32>(o, 1, O_DRAIN);
  atomic.notify(o + O_DRAIN, ALL);
}

// --- The writer, which has the turn -----------------------------------------------------------------------

/**
 * Shuts the gate. Returns ADMITTED if nobody reads: the caller writes. Returns QUEUED if somebody reads: drainReaders
 * or openGate must follow. Returns ANSWER_CLOSED if the object is closed: then there is no gate to open any more.
 * phaseSeen is the phase of the caller.
 */
export function shutGate(o: usize): i32 {
  while (true) {
    const word = atomic.load<i64>(o, O_PHASE);
    if (isClosedCounter(word)) return ANSWER_CLOSED;
    if (atomic.cmpxchg<i64>(o, word, word | GATE_SHUT, O_PHASE) !== word) continue; // D13 write
    saw(word);
    return isDrained(o, (word >> 32) as i32) ? ADMITTED : QUEUED;
  }
}

/**
 * Returns whether no seat is in the way of the writer of this phase. The writer may then write by plain stores. The
 * fence ensures that no thread sees one of these stores before it sees SHUT: otherwise some processors would let a
 * plain store overtake SHUT, and a thread could see the store while isStamp does not see SHUT.
 */
export function isDrained(o: usize, phase: i32): bool {
  const end = threadRecord(mostThreads() + 1);
  for (let p = threadRecord(1) + LINE; p < end; p += SEAT_SIZE) {
    if (p % THREAD_SIZE === 0) p += LINE;
    const seat = atomic.load<i64>(p); // D13 read, D14 read
    if (isSeatOf(seat, o) && (seat & SEAT_READS || (seat as i32) !== phase)) return false;
  }
  fence();
  return true;
}

/**
 * First keeps the value of O_DRAIN in drainSeen and sets DRAINING, and then looks at the seats. So a reader that
 * leaves after the look changes O_DRAIN, and the writer does not sleep. Returns ADMITTED, QUEUED or ANSWER_CLOSED.
 */
export function announceDrain(o: usize, phase: i32): i32 {
  drainSeen = atomic.load<i32>(o, O_DRAIN);
  while (true) {
    const word = atomic.load<i64>(o, O_PHASE);
    if (isClosedCounter(word)) return ANSWER_CLOSED;
    if (word & GATE_DRAINING) break;
    if (atomic.cmpxchg<i64>(o, word, word | GATE_DRAINING, O_PHASE) === word) break; // D14 write
  }
  return isDrained(o, phase) ? ADMITTED : QUEUED;
}

/**
 * Waits until nobody is in the way of the writer of this phase: polls for a while, and then sleeps, for at most so many
 * nanoseconds (below 0: for ever). Returns ADMITTED, ANSWER_CLOSED, or TIMED_OUT, which may be early.
 * @answers ADMITTED | ANSWER_CLOSED | TIMED_OUT
 * @replaced by src/host/deno-bun.ts: calls this function, and throws if the thread was terminated in its sleep
 * @replaced by src/report/long-sleeps.ts: sleeps as this function does, for a second at first, then looks whether it waits in a
 *     deadlock, and sleeps on; may throw a DeadlockError, when the request has left
 */
export function drainReaders(o: usize, phase: i32, nanoseconds: i64): i32 {
  for (let left = pollsOf(o); left > 0; left--) {
    if (isDrained(o, phase)) return ADMITTED;
    pause();
  }
  while (true) {
    const answer = announceDrain(o, phase);
    if (answer !== QUEUED) return answer;
    sleepOn(o + O_DRAIN, drainSeen, nanoseconds);
    if (nanoseconds >= 0) return TIMED_OUT;
  }
}

/**
 * Opens the gate, which this thread has shut. `keepsDied` says that the thread has written nothing. Then DIED stays,
 * because data that a dead writer left half-written are still half-written.
 */
export function openGate(o: usize, keepsDied: bool): void {
  while (true) {
    const word = atomic.load<i64>(o, O_PHASE);
    if (isClosedCounter(word)) return;
    const next = opened(word, keepsDied ? word & GATE_DIED : 0);
    if (atomic.cmpxchg<i64>(o, word, next, O_PHASE) !== word) continue; // D11 write, R11 begins
    wake(o, word, next); // R11 ends
    return;
  }
}

// --- Stamps, and what diagnostics read ----------------------------------------------------------------------

/**
 * Returns a number for the present phase, from 1 on. Returns NO_STAMP if the gate is shut: a writer is in, or waits for
 * readers. Returns ANSWER_CLOSED if the object is closed.
 */
export function stampOf(o: usize): i32 {
  const word = atomic.load<i64>(o, O_PHASE);
  return isClosedCounter(word) ? ANSWER_CLOSED : word & GATE_SHUT ? NO_STAMP : ((word >> 32) as i32) + 1;
}

/**
 * Returns whether nobody has written since the thread had this stamp. The thread may have read the data by plain loads.
 * The fence makes these loads happen before the load of the gate. Without it, some processors would do the plain loads
 * after the atomic load of the gate.
 */
export function isStamp(o: usize, stamp: i32): bool {
  fence();
  return stampOf(o) === stamp;
}

/** Returns whether a thread reads the lock. */
export function readsBy(o: usize, thread: i32): bool {
  const end = threadRecord(thread + 1);
  for (let p = end - LINE; p < end; p += SEAT_SIZE) {
    const seat = atomic.load<i64>(p);
    if (isSeatOf(seat, o) && seat & SEAT_READS) return true;
  }
  return false;
}

/** Whether a writer has died, and no other has written since. */
export function hasDied(o: usize): bool {
  return (atomic.load<i64>(o, O_PHASE) & GATE_DIED) !== 0;
}

/** Returns how many deaths were not reported yet to any thread that has had the turn since. */
export function unreportedDeaths(o: usize): i32 {
  return atomic.load<i32>(o, O_UNREPORTED_DEATHS);
}
