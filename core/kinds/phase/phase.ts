/**
 * The phase word: a Latch, a WaitGroup, an Event, a Barrier and a Once consist of this word alone. The word is also the
 * gate of a RwLock, with flags in place of the count (rw-lock.ts).
 *
 *     bits 63 to 32        31           30 to 0
 *     phase                SLEEPERS     count            closed: CLOSED_COUNTER more, so the word is far below 0
 *
 * A thread that waits waits for the next phase. Each change of the word is one compare-and-swap. A thread that opens
 * the object lets the waiters go on: in one exchange it increments the phase and clears SLEEPERS, and then it wakes all
 * threads that sleep on the phase. A thread that must wait sets SLEEPERS by an exchange, which fails if the word is not
 * the one at which the thread has looked. Then the thread sleeps on the upper half of the word, while this half is the
 * phase that the thread has seen:
 *
 *     waiter                                            opener
 *     word says wait: exchange it, with SLEEPERS         exchange the word: next phase, no SLEEPERS
 *     sleep while the phase is that of the word          if SLEEPERS was set: notify all who sleep on the phase
 *
 * Why no waiter sleeps for ever: one of the two exchanges comes first. If the exchange of the opener comes first, the
 * exchange of the waiter fails, and the waiter looks again. Otherwise the opener finds SLEEPERS. Then the waiter is
 * asleep and is woken, or it is about to sleep and finds another phase (D11). A waiter that is woken finds another
 * phase, whatever has happened since: its wait is over, even if the word says wait again by now. So no waiter misses an
 * opening, and no waiter overtakes another: all who wait for a phase go on together.
 *
 * The word does not count the sleepers. So a thread that dies in its sleep leaves nothing but SLEEPERS, and the next
 * opener makes a notify in vain. A notify wakes all sleepers, so no sleeper can swallow the wake-up of another. The
 * exchange of an opener and its notify lie in one uninterruptible section (R11), so a dead opener leaves nobody asleep.
 * The number of the phase goes round after 2^29 openings. A waiter would miss its wake-up if exactly 2^29 openings came
 * between its look and its sleep.
 *
 * Sources: the event counts of Reed and Kanodia (1979), where a thread waits until a number has been reached; a futex
 * word with a bit for sleepers, as in Drepper, Futexes Are Tricky (2011).
 */

import {
  ADMITTED,
  ANSWER_BROKEN,
  ANSWER_CLOSED,
  ANSWER_OVER_MAX,
  ARRIVED,
  BEGUN,
  QUEUED,
  TIMED_OUT,
} from '../../answers';
import { countHeld, recordOf } from '../../arena/attachments';
import { closeObject, isClosedCounter } from '../../arena/objects';
import { sleepOn } from '../../arena/threads';
import { CLOSED_COUNTER, E_END, E_HELD, E_SINCE, O_DEATHS, O_MAX } from '../../arena/words';
import { pause, pollsOf, pollsPaid, pollsWereVain } from '../../queue/polling';
import { ALL } from '../../queue/words';
import { GATE_DIED } from '../rw-lock/words';
import { KIND_BARRIER, KIND_ONCE, KIND_RW_LOCK, KIND_WAIT_GROUP } from '../words';
import { NEXT_PHASE, O_PHASE, PHASE_BITS, PHASE_COUNT, PHASE_FULL, PHASE_SLEEPERS } from './words';

/** The upper half of the word, on which threads sleep. */
const PHASE: usize = O_PHASE + 4;

/** The upper half of the word at which this thread has looked last, for `sleepInPhase` and `announce`. */
export let phaseSeen: i32 = 0;

/** Notes the phase of a word at which this thread has looked. */
export function saw(word: i64): void {
  phaseSeen = (word >> 32) as i32;
}

export function opened(word: i64, count: i64): i64 {
  return ((word + NEXT_PHASE) & PHASE_BITS) | count;
}

/**
 * Wakes those who wait for the end of the phase, if the exchange of `word` for `next` has ended the phase. Always
 * inlined: no death may come between the exchange and the notify (R11).
 * @inline
 */
export function wake(o: usize, word: i64, next: i64): void {
  if (word & ~next & PHASE_SLEEPERS) atomic.notify(o + PHASE, ALL);
}

/** Returns the count, 0 if the object is closed. It may be out of date at once. */
export function phaseCount(o: usize): i32 {
  const word = atomic.load<i64>(o, O_PHASE);
  return isClosedCounter(word) ? 0 : ((word & PHASE_COUNT) as i32);
}

/** Returns ADMITTED if the count is 0, ANSWER_CLOSED, or QUEUED: the caller waits for the next phase. */
export function awaitZero(o: usize): i32 {
  const word = atomic.load<i64>(o, O_PHASE);
  phaseSeen = (word >> 32) as i32;
  return isClosedCounter(word) ? ANSWER_CLOSED : (word & PHASE_COUNT) === 0 ? ADMITTED : QUEUED;
}

/**
 * Says that a thread is about to sleep in the phase that it has seen. Returns QUEUED, ADMITTED if the phase is over, or
 * ANSWER_CLOSED if the phase has not ended and never will end.
 */
export function announce(o: usize, phase: i32): i32 {
  while (true) {
    const word = atomic.load<i64>(o, O_PHASE);
    if (((word >> 32) as i32) !== phase) return ended(word, phase);
    if (word & PHASE_SLEEPERS) return QUEUED;
    if (atomic.cmpxchg<i64>(o, word, word | PHASE_SLEEPERS, O_PHASE) === word) return QUEUED; // D11 read
  }
}

function ended(word: i64, phase: i32): i32 {
  return isClosedCounter(word) && (((word - CLOSED_COUNTER) >> 32) as i32) === phase ? ANSWER_CLOSED : ADMITTED;
}

/**
 * Waits for the end of a phase that the thread has seen: polls for a while, and then sleeps, for at most so many
 * nanoseconds (below 0: for ever). Returns ADMITTED, ANSWER_CLOSED, or TIMED_OUT, which may be early.
 * @answers ADMITTED | ANSWER_CLOSED | TIMED_OUT
 * @replaced by src/host/deno-bun.ts: calls this function, and throws if the thread was terminated in its sleep
 * @replaced by src/report/long-sleeps.ts: sleeps as this function does, for a second at first, then looks whether it waits in a
 *     deadlock, and sleeps on; may throw a DeadlockError, when the request has left
 */
export function sleepInPhase(o: usize, phase: i32, nanoseconds: i64): i32 {
  const polls = pollsOf(o);
  if (polls > 0) {
    let left = polls;
    for (; left > 0 && atomic.load<i32>(o, PHASE) === phase; left--) pause();
    if (left > 0) pollsPaid(o);
    else pollsWereVain(o);
  }
  while (true) {
    const answer = announce(o, phase);
    if (answer !== QUEUED) return answer;
    sleepOn(o + PHASE, phase, nanoseconds); // D11
    if (nanoseconds >= 0 && atomic.load<i32>(o, PHASE) === phase) return TIMED_OUT;
  }
}

/**
 * Takes n, 1 or more, from the count, and opens the object if the count is then 0. If `attachment` is not 0, its record
 * says afterwards that the thread holds n tasks fewer. `attachment` is 0 if no record says that a thread holds them.
 * Returns ADMITTED or ANSWER_CLOSED. Returns ANSWER_OVER_MAX, and changes nothing, if the count is less than n.
 */
export function takeOff(o: usize, n: i32, attachment: i32): i32 {
  while (true) {
    const word = atomic.load<i64>(o, O_PHASE);
    if (isClosedCounter(word)) return ANSWER_CLOSED;
    const count = (word & PHASE_COUNT) - (n as i64);
    if (count < 0) return ANSWER_OVER_MAX;
    const next = count === 0 ? opened(word, 0) : word - (n as i64);
    if (atomic.cmpxchg<i64>(o, word, next, O_PHASE) !== word) continue; // D11 write, R11 begins
    wake(o, word, next);
    countHeld(attachment, -(n as i64)); // R11 ends
    return ADMITTED;
  }
}

/**
 * Adds n to the count. If `attachment` is not 0, its record says afterwards that the thread holds n tasks more. Returns
 * ADMITTED, ANSWER_CLOSED or ANSWER_OVER_MAX.
 */
export function putOn(o: usize, n: i32, attachment: i32): i32 {
  while (true) {
    const word = atomic.load<i64>(o, O_PHASE);
    if (isClosedCounter(word)) return ANSWER_CLOSED;
    if ((word & PHASE_COUNT) + (n as i64) > PHASE_COUNT) return ANSWER_OVER_MAX;
    if (atomic.cmpxchg<i64>(o, word, word + (n as i64), O_PHASE) !== word) continue; // R11 begins
    countHeld(attachment, n as i64); // R11 ends
    return ADMITTED;
  }
}

/** Sets the count to 1 if it is 0. Returns ADMITTED or ANSWER_CLOSED. */
export function arm(o: usize): i32 {
  while (true) {
    const word = atomic.load<i64>(o, O_PHASE);
    if (isClosedCounter(word)) return ANSWER_CLOSED;
    if ((word & PHASE_COUNT) !== 0 || atomic.cmpxchg<i64>(o, word, word + 1, O_PHASE) === word) return ADMITTED;
  }
}

/**
 * Arrives at a barrier. Returns ARRIVED plus the index of the arrival, and records that the thread is one of the
 * parties. Returns QUEUED if all parties of this phase have arrived and the last one still runs the action: then the
 * caller waits for the next phase, and arrives in that phase. Returns ANSWER_BROKEN or ANSWER_CLOSED. The last thread
 * to arrive opens the barrier here if it has no action. If it has an action, finishAction must follow.
 */
export function arriveAt(o: usize, hasAction: bool, attachment: i32): i32 {
  const parties = atomic.load<i32>(o, O_MAX) as i64;
  while (true) {
    const word = atomic.load<i64>(o, O_PHASE);
    const left = word & PHASE_COUNT;
    phaseSeen = (word >> 32) as i32;
    if (isClosedCounter(word)) return ANSWER_CLOSED;
    if (left === 0) return ANSWER_BROKEN;
    if (word & PHASE_FULL) return QUEUED;
    const next = left > 1 ? word - 1 : hasAction ? word | PHASE_FULL : opened(word, parties);
    if (atomic.cmpxchg<i64>(o, word, next, O_PHASE) !== word) continue; // D11 write, R11 begins
    wake(o, word, next);
    setHeld(attachment, 1); // R11 ends
    return ARRIVED + ((parties - left) as i32);
  }
}

/**
 * Opens the barrier after this thread has run its action in this phase. Returns ADMITTED, ANSWER_BROKEN or
 * ANSWER_CLOSED.
 */
export function finishAction(o: usize, phase: i32): i32 {
  while (true) {
    const word = atomic.load<i64>(o, O_PHASE);
    if (((word >> 32) as i32) !== phase) return isClosedCounter(word) ? ANSWER_CLOSED : ANSWER_BROKEN;
    const next = opened(word, atomic.load<i32>(o, O_MAX) as i64);
    if (atomic.cmpxchg<i64>(o, word, next, O_PHASE) !== word) continue; // D11 write, R11 begins
    wake(o, word, next); // R11 ends
    return ADMITTED;
  }
}

/** Returns whether this phase of a barrier, which is over, has ended because the barrier was broken in it. */
export function wasBroken(o: usize, phase: i32): bool {
  const word = atomic.load<i64>(o, O_PHASE);
  const open = isClosedCounter(word) ? word - CLOSED_COUNTER : word;
  return (open & PHASE_COUNT) === 0 && ((open ^ (((phase as i64) << 32) + NEXT_PHASE)) & PHASE_BITS) === 0;
}

/**
 * Breaks a barrier in this phase for ever. Returns whether it has done so: it has not if the phase had ended before.
 */
export function breakPhase(o: usize, phase: i32): bool {
  while (true) {
    const word = atomic.load<i64>(o, O_PHASE);
    if (((word >> 32) as i32) !== phase || (word & PHASE_COUNT) === 0) return false;
    const next = opened(word, 0);
    if (atomic.cmpxchg<i64>(o, word, next, O_PHASE) !== word) continue; // D11 write, R11 begins
    wake(o, word, next); // R11 ends
    return true;
  }
}

/** Records that the thread is not one of the parties of the barrier any more. */
export function leaveBarrier(attachment: i32): void {
  setHeld(attachment, 0);
}

/** @inline */
function setHeld(attachment: i32, held: i64): void {
  atomic.store<i64>(recordOf(attachment), held, E_HELD);
}

/**
 * Begins the work of a `Once`: the count is 1 before the work, 2 during the work, and 0 after it. Returns ADMITTED if
 * the work has been done, also if the object has been closed since. Returns BEGUN if this thread does the work from now
 * on, which the attachment records. Returns QUEUED if another thread does the work, or ANSWER_CLOSED.
 */
export function begin(o: usize, attachment: i32): i32 {
  while (true) {
    const word = atomic.load<i64>(o, O_PHASE);
    const count = word & PHASE_COUNT;
    phaseSeen = (word >> 32) as i32;
    if (isClosedCounter(word) && count !== 0) return ANSWER_CLOSED;
    if (count !== 1) return count === 0 ? ADMITTED : QUEUED;
    if (atomic.cmpxchg<i64>(o, word, word + 1, O_PHASE) !== word) continue; // R11 begins
    setHeld(attachment, 1); // R11 ends
    return BEGUN;
  }
}

/**
 * Ends the work that this thread has begun: the work is done, or another thread may begin it. Wakes the threads that
 * wait for the end of the work.
 */
export function end(o: usize, isDone: bool, attachment: i32): void {
  endFor(o, isDone ? 0 : 1, recordOf(attachment));
}

/** Opens the object, gives it this count, and records that the thread of this attachment holds nothing any more. */
function endFor(o: usize, count: i64, e: usize): void {
  while (true) {
    const word = atomic.load<i64>(o, O_PHASE);
    if (isClosedCounter(word)) return;
    const next = opened(word, count);
    if (atomic.cmpxchg<i64>(o, word, next, O_PHASE) !== word) continue; // D11 write, R11 begins
    wake(o, word, next);
    atomic.store<i64>(e, 0, E_HELD); // R11 ends
    return;
  }
}

/**
 * Returns the count that an object of this kind has after the death of a thread which held so much of it:
 *
 *     WaitGroup    less by what the thread held: its tasks count as done. The phase ends if the count is 0
 *     Barrier      0: the barrier is broken
 *     Once         1: the work may be begun again
 *     RwLock       GATE_DIED: the gate is open, and says that a writer has died
 * @inline
 */
function leftByDead(kind: i32, count: i64, held: i64): i64 {
  if (kind === KIND_RW_LOCK) return GATE_DIED;
  if (kind === KIND_ONCE) return 1;
  return kind === KIND_BARRIER ? 0 : max(0, count - held);
}

/**
 * Ends what a dead or ending thread had to do, as its attachment records (leftByDead). Returns whether the caller must
 * also give back what the thread holds, which is the turn of a writer of a RwLock. If the caller dies, another thread
 * may call this function again: opening an open gate only ends a phase in which nobody waits.
 */
export function endOfDead(o: usize, e: usize, kind: i32): bool {
  const held = atomic.load<i64>(e, E_HELD);
  const isLock = kind === KIND_RW_LOCK;
  // The death is counted before the exchange. So a thread that goes on after the exchange finds the death counted. If
  // the caller dies between the two, the death is counted twice.
  if (held !== 0 && !isLock) atomic.add<i32>(o, 1, O_DEATHS);
  while (held !== 0) {
    const word = atomic.load<i64>(o, O_PHASE);
    const count = word & PHASE_COUNT;
    if (isClosedCounter(word) || count === 0) break;
    const left = leftByDead(kind, count, held);
    const next = left === 0 || kind !== KIND_WAIT_GROUP ? opened(word, left) : word - count + left;
    if (atomic.cmpxchg<i64>(o, word, next, O_PHASE) !== word) continue; // D11 write, R11 begins
    wake(o, word, next);
    if (isLock) break;
    atomic.store<i64>(e, 0, E_HELD); // R11 ends
    break;
  }
  return isLock;
}

/**
 * Closes the object for ever, and wakes those who wait. A reaper may call this function again, also for a counter: its
 * word has the same place and is closed by the same bit.
 */
export function disposePhase(o: usize): void {
  if (!closeObject(o)) return;
  while (true) {
    const word = atomic.load<i64>(o, O_PHASE);
    if (isClosedCounter(word)) return;
    const next = (word & ~PHASE_SLEEPERS) + CLOSED_COUNTER;
    if (atomic.cmpxchg<i64>(o, word, next, O_PHASE) !== word) continue; // D11 write, R11 begins
    wake(o, word, next); // R11 ends
    return;
  }
}

/**
 * Records for diagnostics that so many more calls of this thread wait. If none waited before, their wait begins at
 * `now`, a time as in park (queue/queue.ts).
 * @replaced by src/report/measure.ts: calls this function, and notes how long the wait lasts
 */
export function waitsBegin(attachment: i32, calls: i32, now: i32): void {
  const e = recordOf(attachment);
  if (atomic.load<i64>(e, E_END) === 0) atomic.store<i32>(e, now, E_SINCE);
  waitsEnd(attachment, -calls, 0);
}

/**
 * Records that so many of these calls wait no more. The function that takes the place of this one counts `how` the calls
 * have ended.
 * @replaced by src/report/measure.ts: calls this function, and notes how long the wait lasts
 */
// biome-ignore lint/correctness/noUnusedFunctionParameters: the function that takes its place reads it
export function waitsEnd(attachment: i32, calls: i32, how: i32): void {
  const e = recordOf(attachment);
  atomic.store<i64>(e, atomic.load<i64>(e, E_END) - (calls as i64), E_END);
}

export function heldByAttachment(attachment: i32): i32 {
  return atomic.load<i64>(recordOf(attachment), E_HELD) as i32;
}

/** Returns how many threads have died, or ended, with something to do for the object. */
export function deathsOf(o: usize): i32 {
  return atomic.load<i32>(o, O_DEATHS);
}

/** Whether all have arrived at the barrier, and the last of them runs the action. */
export function isFull(o: usize): bool {
  return (atomic.load<i64>(o, O_PHASE) & PHASE_FULL) !== 0;
}

/** Records that the thread holds one task less. */
export function dropTask(attachment: i32): void {
  countHeld(attachment, -1);
}
