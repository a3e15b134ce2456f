/**
 * The queue of every primitive: first come, first served; every waiter sleeps on a word of its own. This file has the
 * life of a request from its ticket to its end.
 *
 *     ticket  ──────────────────────────────►  taken so far      acquire(n) owns [t, t+n)
 *     grant   ───────────────►                 granted so far    admitted once grant >= t+n
 *                             └─ the waiters ─┘
 *
 *     waiter                                         releasing thread
 *     acquire   1. ticket += n                       release        1. grant += k
 *               2. grant >= t+n? then it is admitted                2. ticket <= old grant? then no request waits: done
 *               3. element := [t, t+n), WAITING      finishRelease  3. for each ticket just granted, look into its
 *     enqueue   4. poll grant (polling.ts), if near                    bucket (wakeDue): an element that is WAITING and
 *                  the head                                            due -> GRANTED, and wake its owner (endWait)
 *               5. enter the element in the ticket's                4. wake waiters that have come near (wakeNear):
 *                  bucket (waiting-array.ts)                           they poll until they are due
 *               6. grant >= t+n? then it is admitted
 *     park      7. sleep on the element until it is
 *                  GRANTED
 *     leaveQueue, or cancel
 *
 * The states of the element, which is the spare of the waiter (arena/elements.ts):
 *
 *     RESERVED ──step 3──► WAITING ──endWait──► GRANTED or CLOSED ──leaveQueue──► RESERVED, with the next epoch
 *                             │ ▲
 *                      askAll │ │ it cannot leave
 *                             ▼ │
 *                            ASKED
 *     WAITING ──leaveQueue──► RESERVED, if the waiter finds in step 4 or 6 that it is due
 *     WAITING or ASKED ──cancel──► TOMBSTONE, if later tickets have been taken. The waiter goes on with its second
 *                                  spare. Otherwise its tickets go back, and the element is RESERVED
 *
 * The promises of a thread stand in the same queue (runs.ts). closing.ts ends all waits on an object, or asks all to
 * leave. tombstones.ts says what becomes of a tombstone. pending-call.ts notes which call of the thread is not over yet.
 *
 * Why no waiter sleeps for ever: in every pair below, one thread writes A and then reads B, and the other thread writes
 * B and then reads A. So at least one of the two threads sees what the other has written. All accesses are sequentially
 * consistent.
 *     D1  ticket against grant: step 2 of the waiter sees the new grant, or step 2 of the release sees the ticket
 *     D2  cell against grant: step 6 sees the new grant, or step 3 of the release sees the cell, and the extent that
 *         covers it (waiting-array.ts)
 *     D3  TOMBSTONE against grant: the cancelling thread sees grant past start, or the releasing thread sees TOMBSTONE
 *     D4  the same after two tombstones have become one
 *     D5  WAITING against GRANTED: wait32 compares and sleeps in one step, against cmpxchg and notify. And the mark that
 *         the waiter may sleep against the state: the waiter stores the mark and then compares the state, and a thread
 *         that grants exchanges the state and then looks at the mark
 *     D6  mark and WAITING against CLOSED: step 6 sees the closed grant, or the disposer sees the mark of the part of
 *         the pool (arena/elements.ts), and then its pass over the pool sees the state
 *     D7  doorbell against due and grant: a thread reads its doorbell, then which of its runs are due, then grant, and
 *         sleeps on the doorbell; a releasing thread writes them in the opposite order
 * D8 is in reaping.ts, D9 and D10 are in mutex.ts, D11 is in phase.ts, D12 is in closing.ts, D13 and D14 are in
 * rw-lock.ts, D15 and D16 are in channel.ts, and D17 is in watch.ts.
 *
 * Why requests are admitted in order: a request is admitted only when grant has reached the end of its whole range of
 * tickets. So a heavy waiter holds up the lighter waiters behind it. tryAcquire takes tickets only if it is admitted
 * with them at once.
 *
 * Why two threads may wake at once: every thread may grant a request, and granting it twice does no harm. grant tells
 * which tickets are due, and the element tells who waits. The epoch in the state makes the cmpxchg of a slow thread fail
 * once the element has another owner. So several threads may look at the same buckets at once, and a survivor may finish
 * what a dead thread began (death/reaping.ts).
 *
 * Why a cancellation neither loses nor makes a permit: the tickets of the last request are taken back, as if they had
 * never been taken. Otherwise the element stays as a TOMBSTONE, and later its width goes to the waiters behind. A thread
 * cancels its own request because a time-out has passed, a signal has fired, or cancelAll has asked it to leave. A
 * thread also cancels the requests of a dead thread, in the name of the dead thread. The thread that leaves a tombstone
 * also settles it: it claims the tombstone if it is due, and else merges it with its neighbours. If an exception ends
 * this work, the cancellation stays the pending call, as a release from the first ticket of the tombstone on. So the
 * thread claims a due tombstone later. It does not merge it.
 *
 * No runtime can stop a thread in an uninterruptible section:
 *     R1  from the add on ticket to WAITING: while a thread has a ticket, other threads can find it
 *     R2  from the exchange that takes a ticket back to the element's leaving its cells
 *     R7  a change of ticket, grant or the state, together with the count of what the thread holds
 *     R9  from the exchange that ends a wait to the wake-up
 *
 * acquire and release are leaf functions: the build inlines the functions that they call, and enqueue, park and
 * finishRelease do the rare work. V8 enters a leaf function without a stack check. This saves a fifth of the cost of
 * the uncontended pair (docs/internals/measurements.md).
 *
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, Listings 1 and 2: ticket, grant, the array, and
 * the short-cut (step 2 of the release). All else, such as elements in cells, is this library's own.
 */

import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_FULL,
  ANSWER_NOT_HELD,
  ANSWER_OVER_MAX,
  CANCELLED,
  INTERRUPTED,
  LEAVE,
  MORE,
  QUEUED,
  REFUSED,
  TIMED_OUT,
} from '../answers';
import { bucketMask } from '../arena/arena';
import { countHeld, isAttached, recordOf } from '../arena/attachments';
import {
  elementAt,
  freeElement,
  indexOf,
  isAsync,
  keepAsSpare,
  leaveCells,
  leaveCellsInlined,
  mark,
  objectOf,
  requester,
  requestOf,
  reserve,
  reserveSecond,
  secondSpare,
  setSecondSpare,
  setSpare,
  spare,
  usedElements,
  widthOf,
} from '../arena/elements';
import { count, me, owner, setLastTicket, sleepOn, stayAwake, threadRecord } from '../arena/threads';
import {
  ASKED,
  ASYNC,
  CLOSED,
  CLOSED_BELOW,
  E_ASLEEP,
  E_END,
  E_HELD,
  E_LEAVING,
  E_REQUEST,
  E_SINCE,
  E_START,
  E_STATE,
  EPOCH,
  GRANT,
  GRANTED,
  LINE,
  O_ADDED,
  O_MAX,
  O_TIMEOUTS,
  RESERVED,
  STATE_MASK,
  T_DOORBELL,
  T_DUE,
  T_FUTILE_WAKES,
  THREAD_MASK,
  TICKET,
  TOMBSTONE,
  WAITING,
} from '../arena/words';
import { abandonHead, abandonRequest, admitted, cancelled, cancelledByDeath, finishUnlock } from '../kinds/kinds';
import {
  AT_HEAD,
  beginLateRelease,
  beginParking,
  beginRelease,
  callEnded,
  grantBefore,
  grantLate,
  headAttachment,
  headOf,
  isLate,
  lateEnded,
  NOTHING,
  pendingCall,
  RELEASING,
  released,
  UNLOCKING,
} from './pending-call';
import {
  AHEAD,
  isAdaptive,
  isCrowded,
  markSleeper,
  mayWake,
  near,
  noSleepers,
  pause,
  pollsOf,
  pollsOnArrival,
  pollsPaid,
  pollsWereVain,
} from './polling';
import { claim, findTombstone, grantAfterClaim, isTombstone, merge } from './tombstones';
import { bucketOf, enterBoth, extentOf, lineAfter, trim } from './waiting-array';
import { ALL, B_CELLS, LIMIT } from './words';

// --- A request -----------------------------------------------------------------------------------------------------

/**
 * Takes one permit. This usual request has a function of its own: without the width as an argument, V8 makes the call
 * faster (docs/internals/what-was-tried.md).
 * @replaced by src/runtime/membership.ts: throws, in a thread that must not block
 */
export function acquireOne(s: usize): i32 {
  return acquire(s, 1);
}

/**
 * Takes n tickets. Returns ADMITTED or ANSWER_CLOSED. Returns QUEUED if the spare element now stands for the tickets in
 * the queue. Returns INTERRUPTED, and takes no ticket, if an earlier call is still pending: then no element could stand
 * for the tickets. After QUEUED and INTERRUPTED enqueue must follow. Calls nothing and never blocks.
 * @inline
 * @replaced by src/runtime/membership.ts: throws, in a thread that must not block
 */
export function acquire(s: usize, n: i32): i32 {
  if (pendingCall !== NOTHING) return INTERRUPTED;
  const width = n as i64;
  const start = atomic.add<i64>(s, width, TICKET); // R1 begins. D1 write
  setLastTicket(start);
  const free = atomic.load<i64>(s, GRANT) - start; // D1 read
  if (free < width) {
    if (free < CLOSED_BELOW) {
      atomic.sub<i64>(s, width, TICKET);
      return ANSWER_CLOSED;
    }
    queueSpare(s, start, width); // R1 ends
    return QUEUED;
  }
  return ADMITTED;
}

/**
 * Does the same as acquire, for a robust semaphore.
 * @replaced by src/runtime/membership.ts: throws, in a thread that must not block
 */
export function acquireRobust(s: usize, n: i32, attachment: i32): i32 {
  const answer = acquire(s, n); // R7 begins
  if (answer === ADMITTED) countHeld(attachment, n); // R7 ends
  return answer;
}

/**
 * Records the request of these tickets in the spare, which then stands in the queue. It is inlined, so that no call
 * lies in R1.
 * @inline
 */
export function queueSpare(s: usize, start: i64, width: i64): void {
  const e = spare;
  mark(s, e);
  atomic.store<i64>(e, start, E_START);
  atomic.store<i64>(e, requestOf(owner, s, width), E_REQUEST);
  atomic.store<i64>(e, atomic.load<i64>(e, E_STATE) + (WAITING - RESERVED), E_STATE);
  beginParking();
}

/**
 * Takes n permits if they are free and no request waits. Returns ADMITTED, REFUSED or ANSWER_CLOSED. Never blocks.
 * @inline
 */
export function tryAcquire(s: usize, n: i32): i32 {
  const width = n as i64;
  while (true) {
    const start = atomic.load<i64>(s, TICKET);
    const ahead = atomic.load<i64>(s, GRANT) - start - width;
    if (ahead < 0) return ahead < CLOSED_BELOW ? ANSWER_CLOSED : REFUSED;
    if (atomic.cmpxchg<i64>(s, start, start + width, TICKET) === start) {
      setLastTicket(start);
      return ADMITTED;
    }
  }
}

/** Does the same as tryAcquire, for a robust semaphore. */
export function tryAcquireRobust(s: usize, n: i32, attachment: i32): i32 {
  const answer = tryAcquire(s, n); // R7 begins at its cmpxchg
  if (answer === ADMITTED) countHeld(attachment, n); // R7 ends
  return answer;
}

/**
 * Takes all permits that are free, if no request waits. Returns how many it has taken, or ANSWER_CLOSED. It takes all
 * permits that are free at the moment when it reads grant, because ticket does not change between the load before this
 * read and the exchange after it. Never blocks.
 */
export function drain(s: usize, attachment: i32): i32 {
  while (true) {
    const start = atomic.load<i64>(s, TICKET);
    // A release may have made more than LIMIT permits available, and may be about to take its permits back.
    const free = min(atomic.load<i64>(s, GRANT) - start, LIMIT);
    if (free <= 0) return free < CLOSED_BELOW ? ANSWER_CLOSED : 0;
    if (atomic.cmpxchg<i64>(s, start, start + free, TICKET) === start) {
      // R7 begins
      countHeld(attachment, free); // R7 ends
      setLastTicket(start);
      return free as i32;
    }
  }
}

/**
 * Takes n permits away for good. It takes those that are free at once, and the others when they are granted, after the
 * requests that wait now. No request stands for the tickets that it takes. So R1 and D1 do not matter here: there is
 * nobody to wake. Returns ADMITTED or ANSWER_CLOSED. Calls nothing and never blocks.
 */
export function reduce(s: usize, n: i32): i32 {
  const width = n as i64;
  const start = atomic.add<i64>(s, width, TICKET); // R7 begins
  if (atomic.load<i64>(s, GRANT) - start < CLOSED_BELOW) {
    atomic.sub<i64>(s, width, TICKET);
    return ANSWER_CLOSED;
  }
  atomic.sub<i32>(s, n, O_ADDED); // R7 ends
  return ADMITTED;
}

// --- A wait --------------------------------------------------------------------------------------------------------

const FOREVER: i64 = -1;

/**
 * A thread that was woken early polls for a part of the usual time only: for this time shifted right by WOKEN_SHIFT.
 */
const WOKEN_SHIFT: i32 = 2;

/**
 * A waiter polls grant only if at most this many requests are before it. The more threads poll grant, the slower a
 * release is: its store to grant has to take the cache line from all of them.
 */
const NEXT: i64 = 1;

/** How often the waiter may still poll before it sleeps. */
let polls: i32 = 0;

/**
 * Continues an acquire(s, n) that has returned `taken`: the thread polls, and then enters its element in the array.
 * Returns QUEUED: park must follow. Returns ADMITTED if the request is due by now, ANSWER_CLOSED, or ANSWER_FULL if an
 * interrupted thread finds no spare and would have to wait. `attachment` counts the permits of a robust semaphore. It
 * is 0 for other semaphores.
 * @answers ADMITTED | QUEUED | ANSWER_CLOSED | ANSWER_FULL
 * @replaced by src/report/measure.ts: calls this function, and notes how long the wait lasts
 */
export function enqueue(s: usize, n: i32, taken: i32, attachment: i32): i32 {
  if (taken === INTERRUPTED) {
    if (!recover()) {
      const answer = tryAcquireRobust(s, n, attachment);
      return answer === REFUSED ? ANSWER_FULL : answer;
    }
    return enqueue(s, n, acquireRobust(s, n, attachment), attachment);
  }
  if (taken !== QUEUED) return taken;
  const answer = untilDue(s, spare, NEXT);
  if (answer !== QUEUED) leaveQueue(answer, attachment);
  return answer;
}

/**
 * Blocks until the request of the thread, which is QUEUED, is due or closed. `now` is the time when the wait begins, in
 * milliseconds; it is kept for diagnostics. Returns ADMITTED or ANSWER_CLOSED. Returns LEAVE if the thread is asked to
 * leave: cancel must follow.
 * @answers ADMITTED | ANSWER_CLOSED | LEAVE
 * @replaced by src/host/deno-bun.ts: calls this function, and throws if the thread was terminated in its sleep
 * @replaced by src/report/long-sleeps.ts: sleeps as this function does, for a second at first, then looks whether it waits in a
 *     deadlock, and sleeps on; may throw a DeadlockError, when the request has left
 * @replaced by src/report/measure.ts: calls this function, and notes how long the wait lasts
 */
export function park(now: i32, attachment: i32): i32 {
  return parkFor(FOREVER, now, attachment);
}

/**
 * Does the same as park, but for at most so many nanoseconds (below 0: for ever). If the wait ends without an answer,
 * parkFor returns TIMED_OUT, which may be early. The request then still stands: park or parkFor continues the wait, and
 * cancel cancels the request.
 * @answers ADMITTED | ANSWER_CLOSED | LEAVE | TIMED_OUT
 * @replaced by src/host/deno-bun.ts: calls this function, and throws if the thread was terminated in its sleep
 * @replaced by src/report/measure.ts: calls this function, and notes how long the wait lasts
 */
export function parkFor(nanoseconds: i64, now: i32, attachment: i32): i32 {
  atomic.store<i32>(spare, now, E_SINCE);
  const answer = sleep(spare, nanoseconds);
  if (answer !== TIMED_OUT && answer !== LEAVE) leaveQueue(answer, attachment);
  return answer;
}

/**
 * First polls grant, if at most `most` requests of the same width are before this one and the queue is not crowded.
 * Afterwards enters the request in the waiting array. Returns ADMITTED or ANSWER_CLOSED if the wait is over already,
 * else QUEUED. If a waiter is near, but has more than `most` requests before it, it polls its element later, in
 * `sleep`. A waiter of a mutex, for which `most` is 0, does not poll its element.
 */
export function untilDue(s: usize, e: usize, most: i64): i32 {
  const start = atomic.load<i64>(e, E_START);
  const width = widthOf(atomic.load<i64>(e, E_REQUEST));
  const due = start + width;
  polls = pollsOnArrival(s, start, width);
  if (poll(s, s + GRANT, due, (most + 1) * width, true)) return ADMITTED;
  if (most === 0) polls = 0;
  enterBoth(s, e, start, due); // D2 write
  return lookAtGrant(s, due);
}

/** Returns ADMITTED if a request is due, ANSWER_CLOSED if the object is closed, else QUEUED. */
function lookAtGrant(s: usize, due: i64): i32 {
  const ahead = atomic.load<i64>(s, GRANT) - due; // D2, D6, D12 read
  if (ahead >= 0) return ADMITTED;
  return ahead < CLOSED_BELOW ? ANSWER_CLOSED : QUEUED;
}

/**
 * Polls a word, as often as `polls` says, until the word has reached a value or is below the value by more than `most`.
 * Returns whether the word has reached the value. If `counts`, vain polls are counted.
 */
function poll(s: usize, word: usize, value: i64, most: i64, counts: bool): bool {
  if (polls <= 0) return false;
  do {
    const ahead = atomic.load<i64>(word) - value;
    if (ahead >= 0) {
      pollsPaid(s);
      return true;
    }
    if (ahead < -most) return false;
    pause();
  } while (--polls > 0);
  if (counts) pollsWereVain(s);
  return false;
}

/**
 * Sleeps until the element is granted or closed, or until the thread is asked to leave and can leave: it needs a second
 * spare, because the element that it has now may stay in the queue as a tombstone. A timed sleep may end early. The
 * caller has the clock, and sleeps again if time is left.
 */
function sleep(e: usize, nanoseconds: i64): i32 {
  let slept = false;
  while (true) {
    const state = atomic.load<i64>(e, E_STATE);
    const is = state & STATE_MASK;
    if (is === GRANTED || is === CLOSED) return answerOf(is);
    const request = atomic.load<i64>(e, E_REQUEST);
    const s = objectOf(request);
    if (is === ASKED) {
      if (reserveSecond()) return LEAVE;
      atomic.store<i64>(e, state - (ASKED - WAITING), E_STATE); // D12 write
      const answer = lookAtGrant(s, atomic.load<i64>(e, E_START) + widthOf(request));
      if (answer !== QUEUED) return answer;
      continue;
    }
    if (slept) polls = pollsOf(s) >> WOKEN_SHIFT;
    // It is WAITING. GRANTED, CLOSED and ASKED are above WAITING.
    if (poll(s, e + E_STATE, state + 1, 1, !slept)) continue;
    if (slept) {
      if (nanoseconds >= 0) return TIMED_OUT;
      count(T_FUTILE_WAKES);
    }
    markSleeper(s);
    atomic.store<i32>(e, 1, E_ASLEEP); // D5 write
    sleepOn(e + E_STATE, state as i32, nanoseconds);
    atomic.store<i32>(e, 0, E_ASLEEP);
    slept = true;
  }
}

/** Returns the answer for the state of an element whose wait is over. CLOSED is one above GRANTED. */
export function answerOf(state: i64): i32 {
  return (GRANTED - state) as i32; // ADMITTED or ANSWER_CLOSED
}

/**
 * Records for diagnostics when a wait began: in milliseconds. The number is that of the attachment of the thread, for a
 * thread or a promise that waits for a mutex; or that of a run, for its first promise.
 */
export function waitsSince(number: i32, now: i32): void {
  atomic.store<i32>(elementAt((number - 1) as u32), now, E_SINCE);
}

/**
 * Ends the request of the thread. If `answer` is ADMITTED, the thread has its permits. The element is the spare of the
 * thread again.
 */
export function leaveQueue(answer: i32, attachment: i32): void {
  const e = spare;
  leaveCells(e);
  const state = atomic.load<i64>(e, E_STATE);
  const request = atomic.load<i64>(e, E_REQUEST);
  if (answer === ADMITTED) countHeld(attachment, widthOf(request)); // R7 begins
  atomic.store<i64>(e, (state & ~STATE_MASK) + EPOCH + RESERVED, E_STATE); // R7 ends
  callEnded();
  if (answer === ADMITTED) admitted(objectOf(request), attachment);
}

// --- A release -----------------------------------------------------------------------------------------------------

/** Gives one permit back. */
export function releaseOne(s: usize): i32 {
  return release(s, 1);
}

/**
 * Gives n permits back. Returns ADMITTED if nothing is left to do: no request waits, and no more than LIMIT permits are
 * available. Otherwise it returns MORE, or INTERRUPTED if an earlier call is still pending. After MORE and INTERRUPTED
 * finishRelease must follow. Calls nothing and never blocks.
 * @inline
 */
export function release(s: usize, n: i32): i32 {
  const width = n as i64;
  const grant = atomic.add<i64>(s, width, GRANT); // D1, D2 write
  // One comparison finds two cases, a waiter or too many permits: if a request waits, the surplus is negative, and a
  // negative number is huge as an unsigned one.
  const surplus = grant - atomic.load<i64>(s, TICKET); // D1 read
  if ((surplus as u64) > ((LIMIT - width) as u64)) {
    if (pendingCall !== NOTHING) {
      beginLateRelease(grant);
      return INTERRUPTED;
    }
    beginRelease(s, grant);
    return MORE;
  }
  return ADMITTED;
}

/**
 * Does the same as release, for a robust semaphore. Returns ANSWER_NOT_HELD, and changes nothing, if the thread holds
 * fewer than n permits.
 */
export function releaseRobust(s: usize, n: i32, attachment: i32): i32 {
  if (atomic.load<i64>(recordOf(attachment), E_HELD) < (n as i64)) return ANSWER_NOT_HELD;
  const answer = release(s, n); // R7 begins
  countHeld(attachment, -n); // R7 ends
  return answer;
}

/** Makes n permits. Otherwise it does the same as release. */
export function add(s: usize, n: i32): i32 {
  const answer = release(s, n); // R7 begins
  atomic.add<i32>(s, n, O_ADDED); // R7 ends
  return answer;
}

/**
 * Gives n permits back if there is room for them below the max. Otherwise it returns ANSWER_OVER_MAX, and changes
 * nothing. Two threads that give back too many at the same instant may both pass. Calls nothing and never blocks.
 * @inline
 */
export function releaseWithin(s: usize, n: i32): i32 {
  return exceeds(s, n) ? ANSWER_OVER_MAX : release(s, n);
}

/** Gives one permit back as releaseWithin does. */
export function releaseOneWithin(s: usize): i32 {
  return releaseWithin(s, 1);
}

/**
 * Whether n more permits would exceed the max of the semaphore.
 * @inline
 */
export function exceeds(s: usize, n: i32): bool {
  // The function reads grant before ticket. Ticket may rise between the two loads, and then the number of available
  // permits comes out too small, never too large. So no release is refused wrongly.
  const grant = atomic.load<i64>(s, GRANT);
  return grant - atomic.load<i64>(s, TICKET) + (n as i64) > (atomic.load<i32>(s, O_MAX) as i64);
}

/**
 * Finishes a release that returned `answered`: wakes every waiter that the release has made due, except promises of this
 * thread. If such promises wait, finishReleaseAndSettle (runs.ts) does it instead.
 *
 * If more than LIMIT permits are available, the function takes the n permits back and returns ANSWER_OVER_MAX. The
 * attachment to a robust semaphore then counts these permits as held again. If the semaphore is disposed of, the
 * function takes the n permits back and returns ADMITTED.
 */
export function finishRelease(s: usize, n: i32, answered: i32, attachment: i32): i32 {
  const answer = wakeReleased(s, n, answered, attachment);
  if (answered !== INTERRUPTED) callEnded();
  return answer;
}

/** Does the same as finishRelease, and does not end the pending call. */
export function wakeReleased(s: usize, n: i32, answered: i32, attachment: i32): i32 {
  let before = grantBefore;
  if (answered === INTERRUPTED) {
    before = grantLate;
    if (pendingCall === RELEASING) recover();
  }
  const width = n as i64;
  while (true) {
    const ticket = atomic.load<i64>(s, TICKET);
    const surplus = before - ticket;
    if (surplus < CLOSED_BELOW) {
      atomic.sub<i64>(s, width, GRANT);
      return ADMITTED;
    }
    if (surplus < 0) {
      wakeDue(s, before, width);
      wakeNear(s, width);
      return ADMITTED;
    }
    // No request waits. If there are too many permits, this thread takes n of them back, as a request takes permits.
    if (atomic.load<i64>(s, GRANT) - ticket <= LIMIT) return ADMITTED;
    if (atomic.cmpxchg<i64>(s, ticket, ticket + width, TICKET) === ticket) {
      // R7 begins
      countHeld(attachment, width); // R7 ends
      return ANSWER_OVER_MAX;
    }
  }
}

// --- Who is due, and is woken --------------------------------------------------------------------------------------

/** What visit returns, unless it returns the width of the request that begins with the ticket `first`. */
export const CLAIMED_TOMBSTONE: i64 = 0; // more tickets are due than before: look again

const ONE_TICKET: i64 = 1; // only `first` itself needs no further look

/** A release hops over at most so many heavy requests. After them it looks into every bucket instead. */
const HOPS: i32 = 16;

/**
 * Wakes the waiters that are due among the tickets from `from` to `from + width`. The thread looks into the buckets of
 * these tickets, as far as the tickets have been taken, and once into each bucket. If it claims a tombstone, more
 * tickets are granted, and it looks again into the bucket where it has found the tombstone.
 *
 * A look into a bucket does not stop at the request that has the ticket. This request may have just taken its tickets
 * back, and the request that has the tickets now may be in the same bucket.
 *
 * A heavy request costs no more than a light one: if the thread finds a request under its first ticket, and the request
 * is not about to take its tickets back, the thread hops over the other tickets of the request. No other waiter is
 * missed by that. The request still had these tickets after grant had been moved. If another request has one of the
 * tickets now, it took the ticket after grant had been moved, so it sees the moved grant by itself (D1). After HOPS
 * hops, the thread looks into all the buckets that may be left.
 */
export function wakeDue(s: usize, from: i64, width: i64): void {
  const all = (bucketMask as i64) + 1;
  let hops = HOPS;
  let next = from;
  let to = from + width;
  let end = next + min(min(width, atomic.load<i64>(s, TICKET) - next), all);
  while (end - next > 0) {
    const tickets = visit(s, bucketOf(s, next), to, next);
    if (tickets === CLAIMED_TOMBSTONE) to = grantAfterClaim;
    else if (tickets === ONE_TICKET || hops === 0) {
      next++;
      continue;
    } else {
      next += tickets;
      hops--;
    }
    end = next + min(min(to - next, atomic.load<i64>(s, TICKET) - next), all);
  }
}

/**
 * Wakes the waiters of a bucket that are due. Returns how many tickets, from `first` on, need no further look: the
 * width of the request that begins with `first`, or ONE_TICKET. Returns CLAIMED_TOMBSTONE if it has claimed a
 * tombstone.
 *
 * A woken thread leaves its cell at once, and so takes the line to its own cache. Therefore the look goes from the last
 * cell to the first. Waiters enter the first free cell, so in the usual bucket, which has one waiter, the thread has
 * read the whole line before it wakes this waiter. Any order is right, because each cell is read after grant has been
 * moved (D2).
 */
export function visit(s: usize, bucket: usize, to: i64, first: i64): i64 {
  let tickets = ONE_TICKET;
  let left = extentOf(bucket);
  let line = bucket;
  while (true) {
    let isEmpty = true;
    for (let cell = line + LINE - 4; cell >= line + B_CELLS; cell -= 4) {
      const number = atomic.load<u32>(cell); // D2 read
      if (number === 0) continue;
      isEmpty = false;
      const found = grantIfDue(s, elementAt(number - 1), to, first);
      if (found === CLAIMED_TOMBSTONE) return found;
      tickets = max(tickets, found);
    }
    if (left === 0) {
      if (isEmpty && line !== bucket) trim(bucket);
      return tickets;
    }
    left--;
    line = lineAfter(line);
  }
}

/** Grants the request of an element if it is due, or claims a tombstone. Returns the same as visit. */
function grantIfDue(s: usize, e: usize, to: i64, first: i64): i64 {
  const state = atomic.load<i64>(e, E_STATE); // D3, D4 read
  const is = state & STATE_MASK;
  if (is !== WAITING && is !== TOMBSTONE) return ONE_TICKET;
  // The element may have the next owner by now. Then the cmpxchg below fails, since the epoch differs.
  const request = atomic.load<i64>(e, E_REQUEST);
  if (objectOf(request) !== s) return ONE_TICKET;
  const start = atomic.load<i64>(e, E_START);
  const ahead = to - start;
  if (is === TOMBSTONE) return ahead <= 0 || claim(s, e, state) === 0 ? ONE_TICKET : CLAIMED_TOMBSTONE;
  const width = widthOf(request);
  if (ahead >= width) endWait(e, state, GRANTED, request); // D5
  if (start !== first || atomic.load<i64>(e, E_LEAVING) === ~start) return ONE_TICKET;
  // If the epoch is still the same, one owner wrote all these words, and had the tickets when this thread read
  // E_LEAVING.
  return (atomic.load<i64>(e, E_STATE) ^ state) & ~STATE_MASK ? ONE_TICKET : width;
}

/**
 * Moves an element from WAITING to the next state, once, and wakes its owner.
 *
 * A promise of the calling thread stays WAITING, and the thread does not ring its own doorbell. If this thread makes
 * the promise due or closes it, the thread also settles it before the call returns (release, dispose, a promise that is
 * cancelled), or rings for itself (reap, recover). A thread that cancels the request for which it blocks makes none of
 * its own promises due (cancel). The promise has to stay WAITING because another thread may have just
 * made it due: the other thread rings only if it finds the promise WAITING.
 *
 * R9: the section from the exchange to the wake-up is uninterruptible. So neither an exception (an exhausted stack) nor
 * a death can come between the two: no other thread would wake the owner then. The thread notes the run before it
 * rings. So the owner finds the note when the doorbell rings.
 */
export function endWait(e: usize, state: i64, next: i64, request: i64): void {
  const who = requester(request);
  if (who & ASYNC) {
    note(who, indexOf(e) + 1);
    if ((who & THREAD_MASK) === me) return;
  }
  if (atomic.cmpxchg<i64>(e, state, state + (next - WAITING), E_STATE) === state) wakeOwner(e, request); // R9
}

/**
 * Wakes the thread that has made a request. A thread that polls needs no notification, and a notification takes a lock
 * that all threads of the process share. So the function first looks whether the thread may sleep: the thread stores
 * this in its element before it compares the state and sleeps, and the caller has changed the state before this look
 * (D5).
 * @inline
 */
export function wakeOwner(e: usize, request: i64): void {
  const who = requester(request);
  if (who & ASYNC) ring(who & THREAD_MASK);
  else if (atomic.load<i32>(e, E_ASLEEP) === 1) atomic.notify(e + E_STATE, ALL); // D5 read
}

/**
 * Notes where the thread of this owner has to look when its doorbell rings: at the run with this number, or at the lock
 * with this number, whose head is a promise of the thread. A thread that sees the note also sees that grant has been
 * moved, or that the lock is free. The function is always inlined: no death may come between the note and the exchange
 * which says that a head has been woken.
 * @inline
 */
export function note(who: i32, number: u32): void {
  const words = threadRecord(who & THREAD_MASK) + T_DUE;
  atomic.or<i32>(words + (((number >> 5) & 7) << 2), 1 << number); // D7 write
}

/** @inline */
export function ring(thread: i32): void {
  const bell = threadRecord(thread) + T_DOORBELL;
  atomic.add<i32>(bell, 1); // D7 write
  atomic.notify(bell, ALL);
}

/**
 * Wakes sleeping waiters that have come near, so that they are awake when they are due. Nothing depends on this
 * function: a woken thread looks at its element, polls, and sleeps on. A heavy waiter is found by its first ticket.
 *
 * A look at a waiter reads two cache lines. So the function looks only if a waiter has gone to sleep, or was found
 * asleep, since the last look. If the first waiter sleeps, the queue is a convoy, in which each waiter sleeps before its
 * turn: then all near waiters are woken, since a convoy comes loose only if they all poll at once. Otherwise one look
 * is enough, at the last waiter that is woken early: the waiters before it were the last at earlier releases.
 */
export function wakeNear(s: usize, width: i64): void {
  if (!isAdaptive(s) || isCrowded(s, width) || !mayWake(s)) return;
  const first = atomic.load<i64>(s, GRANT);
  let last = min(atomic.load<i64>(s, TICKET) - first, near) - 1;
  noSleepers(s);
  for (let i: i64 = 0; i <= last; i++) {
    if (wakeWaiter(s, first + i) || i > 0) continue;
    last = min(last, AHEAD - 1);
    i = max(last - 1, 0);
  }
}

/** Wakes the thread whose request has this first ticket, if the thread sleeps. Returns whether it slept. */
function wakeWaiter(s: usize, ticket: i64): bool {
  const bucket = bucketOf(s, ticket);
  for (let cell = bucket + B_CELLS; cell < bucket + LINE; cell += 4) {
    const number = atomic.load<u32>(cell);
    if (number === 0) continue;
    const e = elementAt(number - 1);
    if ((atomic.load<i64>(e, E_STATE) & STATE_MASK) !== WAITING) continue;
    const request = atomic.load<i64>(e, E_REQUEST);
    if (objectOf(request) !== s || atomic.load<i64>(e, E_START) !== ticket) continue;
    if (requester(request) & ASYNC || atomic.load<i32>(e, E_ASLEEP) === 0) return false;
    markSleeper(s);
    atomic.notify(e + E_STATE, ALL);
    return true;
  }
  return false;
}

/**
 * Wakes the waiters that are due of all objects to which the thread is attached. An element may have another request by
 * now than the one whose object was read. This does no harm: only tickets below grant of an object count as due.
 */
export function wakeAllDue(thread: i32): void {
  const used = usedElements();
  for (let i: u32 = 0; i < used; i++) {
    const e = elementAt(i);
    const is = atomic.load<i64>(e, E_STATE) & STATE_MASK;
    if (is !== WAITING && is !== TOMBSTONE) continue;
    const request = atomic.load<i64>(e, E_REQUEST);
    const s = objectOf(request);
    if (!isAttached(thread, s, elementAt(0))) continue;
    const start = atomic.load<i64>(e, E_START);
    const granted = atomic.load<i64>(s, GRANT) - start;
    if (granted > 0) wakeDue(s, start, min(granted, widthOf(request)));
  }
}

// --- A cancellation ------------------------------------------------------------------------------------------------

/**
 * Cancels the request for which this thread has blocked. Returns CANCELLED if the request is cancelled. Returns ADMITTED
 * or ANSWER_CLOSED if the request was granted or closed first. The thread must have called reserveSecond before.
 *
 * The cancellation makes no promise of this thread due, so the thread has no promise to settle. The promises of the
 * thread on this semaphore took their tickets before the thread blocked. So the tickets of these promises are below
 * `start`. They are also below the first ticket of the tombstone into which this request may be merged, because merged
 * tombstones lie side by side. The thread adds the width of the tombstone to grant only when grant is past this first
 * ticket. By then the promises are due already: another thread has made them due, and rings the doorbell (endWait).
 * @answers CANCELLED | ADMITTED | ANSWER_CLOSED
 * @replaced by src/report/measure.ts: calls this function, and notes how long the wait lasts
 */
export function cancel(s: usize, attachment: i32): i32 {
  const e = spare;
  const start = atomic.load<i64>(e, E_START);
  const due = start + widthOf(atomic.load<i64>(e, E_REQUEST));
  if (takeBack(s, e, start, due, OF_BLOCKED)) {
    callEnded();
    atomic.add<i32>(s, 1, O_TIMEOUTS);
    return CANCELLED;
  }
  const answer = leaveTombstone(s, e, 1, due);
  if (answer === CANCELLED) {
    setSpare(secondSpare);
    setSecondSpare(0);
    beginRelease(s, start);
    atomic.add<i32>(s, 1, O_TIMEOUTS);
    settleTombstone(s, e, start);
    callEnded();
  } else leaveQueue(answer, attachment);
  return answer;
}

/**
 * Cancels a request, or a run with all its promises, in the name of a thread that is dead or ends. If permits were
 * granted to the request and the thread has not seen that, these permits go to the waiters behind the request. If the
 * caller dies, another thread may call this function again.
 */
export function cancelFor(e: usize): void {
  const request = atomic.load<i64>(e, E_REQUEST);
  const s = objectOf(request);
  const start = atomic.load<i64>(e, E_START);
  const end = isAsync(request) ? atomic.load<i64>(e, E_END) : start + widthOf(request);
  while (true) {
    const state = atomic.load<i64>(e, E_STATE);
    if ((state & STATE_MASK) === CLOSED) {
      leaveCells(e);
      freeElement(e);
      return;
    }
    if (takeBack(s, e, start, end, OF_DEAD)) return;
    // A run was entered under its first promise only, or not at all. A tombstone is entered under both ends.
    leaveCells(e);
    mark(s, e);
    enterBoth(s, e, start, end);
    atomic.store<i64>(e, end, E_END);
    const tombstone = (state & ~STATE_MASK) + TOMBSTONE;
    if (atomic.cmpxchg<i64>(e, state, tombstone, E_STATE) === state) break; // R2 begins. D3 write
  }
  cancelled(s, end - start);
  cancelledByDeath(s, end - start); // R2 ends
  settleTombstone(s, e, start);
}

/** Whose tickets go back, and so what becomes of the element. */
export const OF_RUN: i32 = 0; // of promises of this thread: the element is free
const OF_BLOCKED: i32 = 1; // of this thread, which has blocked for them: the element is its spare again
const OF_DEAD: i32 = 2; // of a thread that is dead or ends: the element is free, and the kind of the object is told

/**
 * Takes the tickets of a request back, if no later ticket has been taken. Returns whether it has done so. If it has,
 * the element has left its cells. `whose` is one of the numbers above.
 */
export function takeBack(s: usize, e: usize, start: i64, end: i64, whose: i32): bool {
  // Other requests may get these tickets soon. This store tells a releasing thread that the tickets may no longer be
  // those of this request (wakeDue).
  atomic.store<i64>(e, ~start, E_LEAVING);
  if (atomic.cmpxchg<i64>(s, end, start, TICKET) !== end) return false; // R2 begins
  cancelled(s, end - start);
  if (whose === OF_DEAD) cancelledByDeath(s, end - start);
  leaveCellsInlined(e);
  if (whose === OF_BLOCKED) keepAsSpare(e);
  else freeElement(e); // R2 ends
  return true;
}

/**
 * Moves an element that stands for this number of requests from WAITING or ASKED to TOMBSTONE, and returns CANCELLED.
 * Returns ADMITTED or ANSWER_CLOSED if the element was granted or closed first.
 */
export function leaveTombstone(s: usize, e: usize, requests: i64, end: i64): i32 {
  atomic.store<i64>(e, end, E_END);
  while (true) {
    const state = atomic.load<i64>(e, E_STATE);
    const is = state & STATE_MASK;
    if (is === GRANTED || is === CLOSED) return answerOf(is);
    // It is WAITING or ASKED.
    if (atomic.cmpxchg<i64>(e, state, (state & ~STATE_MASK) + TOMBSTONE, E_STATE) !== state) continue; // R2 begins. D3 write
    cancelled(s, requests); // R2 ends
    return CANCELLED;
  }
}

/**
 * Ends a cancellation. If grant has passed the start of the new tombstone, the thread adds the width of the tombstone
 * to grant. Otherwise the thread merges the tombstone with neighbours that are tombstones, too. If two cancelling
 * threads try the same merge, one of them succeeds. This thread looks at the neighbours of the merged tombstone again,
 * so the other thread need not.
 */
export function settleTombstone(s: usize, tombstone: usize, first: i64): void {
  let e = tombstone;
  let start = first;
  while (true) {
    const state = atomic.load<i64>(e, E_STATE);
    // Another thread may have claimed or merged the tombstone, and its element may have the next owner by now.
    if (!isTombstone(s, e, state, E_START, start)) return;
    if (claimIfDue(s, e, state, start)) return;
    const end = atomic.load<i64>(e, E_END);
    const right = findTombstone(s, end, E_START, end);
    if (right) {
      const its = atomic.load<i64>(right, E_STATE);
      if (isTombstone(s, right, its, E_START, end)) merge(e, state, right, its);
      continue;
    }
    const left = findTombstone(s, start - 1, E_END, start);
    if (left === 0) return;
    const its = atomic.load<i64>(left, E_STATE);
    if (!isTombstone(s, left, its, E_END, start)) continue;
    const from = atomic.load<i64>(left, E_START);
    if (merge(left, its, e, state)) {
      e = left;
      start = from;
    } else {
      const now = atomic.load<i64>(left, E_STATE);
      if (isTombstone(s, left, now, E_START, from)) claimIfDue(s, left, now, from);
    }
  }
}

/**
 * Claims a tombstone if grant has passed its start, or if the semaphore is closed. Then wakes the waiters that the
 * claim has made due. Returns whether grant has passed the start or the semaphore is closed.
 */
export function claimIfDue(s: usize, e: usize, state: i64, start: i64): bool {
  const ahead = atomic.load<i64>(s, GRANT) - start; // D3, D4 read
  if (ahead <= 0 && ahead >= CLOSED_BELOW) return false;
  const width = claim(s, e, state);
  if (width) wakeDue(s, grantAfterClaim - width, width);
  return true;
}

// --- After a call that was cut short -------------------------------------------------------------------------------

/**
 * Finishes what an earlier call of this thread has left, if an exception has cut that call short (recover). Returns false
 * if the thread has no spare element afterwards. Otherwise no call is pending. Never blocks.
 * @inline
 */
export function finishPendingCall(): bool {
  return pendingCall === NOTHING || recover();
}

/**
 * Completes or cancels the interrupted call. It finishes a release or an unlock. It cancels a request, also that of a
 * head (abandonRequest in kinds/kinds.ts).
 *
 * The element of a request that waited was the spare of the thread. So after such a request the thread takes another
 * spare. Returns false if the arena has no element for this spare. Then the interrupted call stays the pending call, and
 * the thread has no spare until a later call finds one. A request for an object with a head is cancelled even if no spare
 * is found: if the request stayed in the queue, the requests behind it would wait for ever, and they may hold all
 * elements of the arena.
 */
export function recover(): bool {
  if (isLate) {
    wakeAllDue(me);
    ring(me);
    lateEnded();
  }
  if (pendingCall === RELEASING) {
    wakeDue(released, grantBefore, atomic.load<i64>(released, GRANT) - grantBefore);
    // The release may have made promises of this thread due, and wakeDue rings for no promise of the calling thread.
    // The doorbell makes the thread look at its promises later.
    ring(me);
  } else if (pendingCall === UNLOCKING) finishUnlock(released);
  else {
    // The exception may have ended a sleep of the thread. In this sleep the thread may have been declared dead.
    stayAwake();
    if (pendingCall === AT_HEAD) abandonHead(headOf, headAttachment);
    else {
      if (spare !== 0) abandonRequest(spare);
      setSpare(reserve());
      if (spare === 0) return false;
    }
  }
  callEnded();
  return true;
}
