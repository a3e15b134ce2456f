/**
 * The queue of every primitive: first come, first served; every waiter sleeps on a word of its own.
 *
 *     ticket  ──────────────────────────────►  taken so far      acquire(n) owns [t, t+n)
 *     grant   ───────────────►                 granted so far    admitted once grant >= t+n
 *                             └─ the waiters ─┘
 *
 *     waiter                                      releasing thread
 *     1. ticket += n                              1. grant += k
 *     2. grant >= t+n? then it is admitted        2. ticket <= old grant? then no request waits: done
 *     3. element := [t, t+n), WAITING             3. for each ticket just granted, look into its bucket:
 *     4. poll grant (polling.ts), if near the head   an element that is WAITING and due
 *     5. enter the element in the ticket's bucket      -> GRANTED, and wake its owner
 *     6. grant >= t+n? then it is admitted        4. wake waiters that have come near: they poll until they are due
 *     7. sleep on the element until it is GRANTED
 *
 * tickets.ts has steps 1 to 3 of the waiter, and steps 1 and 2 of the releasing thread. parking.ts has the other steps
 * of the waiter. releasing.ts and waking.ts have the other steps of the releasing thread.
 *
 * Why no waiter sleeps for ever: in every pair below, one thread writes A and then reads B, and the other thread writes
 * B and then reads A. So at least one of the two threads sees what the other has written. All accesses are sequentially
 * consistent.
 *     D1  ticket against grant: step 2 of the waiter sees the new grant, or step 2 of the release sees the ticket
 *     D2  cell against grant: step 6 sees the new grant, or step 3 of the release sees the cell, and the extent that
 *         covers it (waiting-array.ts)
 *     D5  WAITING against GRANTED: wait32 compares and sleeps in one step, against cmpxchg and notify. And the mark that
 *         the waiter may sleep against the state: the waiter stores the mark and then compares the state, and a thread
 *         that grants exchanges the state and then looks at the mark
 *     D6  mark and WAITING against CLOSED: step 6 sees the closed grant, or the disposer sees the mark (marks.ts), and
 *         then its pass over the pool sees the state
 *     D7  doorbell against due and grant: a thread reads its doorbell, then which of its runs are due, then grant, and
 *         sleeps on the doorbell; a releasing thread writes them in the opposite order
 * D3 and D4 are in cancelling.ts, D8 is in reaping.ts, D9 and D10 are in mutex.ts, D11 is in phase.ts, D12 is in
 * closing.ts, D13 and D14 are in rw-lock.ts, D15 and D16 are in channel.ts, and D17 is in watch.ts.
 * docs/internals/adding-a-primitive.md has a table of all pairs.
 *
 * Why requests are admitted in order: a request is admitted only when grant has reached the end of its whole range of
 * tickets. So a heavy waiter holds up the lighter waiters behind it. tryAcquire takes tickets only if it is admitted
 * with them at once.
 *
 * R1: the section from the add on ticket to WAITING is uninterruptible. So no runtime can stop a thread while it has a
 * ticket that no other thread can find.
 *
 * acquire and release are leaf functions: the build inlines the functions that they call, and enqueue, park and
 * finishRelease do the rare work. V8 enters a leaf function without a stack check. This saves a fifth of the cost of
 * the uncontended pair (docs/internals/measurements.md).
 *
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, Listings 1 and 2: ticket, grant, the array, and
 * the short-cut (step 2 of the release). All else, such as elements in cells, is this library's own.
 */

import { ADMITTED, ANSWER_CLOSED, ANSWER_NOT_HELD, INTERRUPTED, MORE, QUEUED, REFUSED } from '../answers';
import { countHeld, recordOf } from '../arena/attachments';
import { spare } from '../arena/elements';
import { setLastTicket } from '../arena/last-ticket';
import { requestOf } from '../arena/requests';
import { owner } from '../arena/threads';
import {
  CLOSED_BELOW,
  E_HELD,
  E_REQUEST,
  E_START,
  E_STATE,
  GRANT,
  O_ADDED,
  RESERVED,
  TICKET,
  WAITING,
} from '../arena/words';
import { mark } from './marks';
import { beginLateRelease, beginParking, beginRelease, NOTHING, pendingCall } from './pending-call';
import { LIMIT } from './words';

/**
 * Takes n tickets. Returns ADMITTED or ANSWER_CLOSED. Returns QUEUED if the spare element now stands for the tickets in
 * the queue. Returns INTERRUPTED, and takes no ticket, if an earlier call is still pending: then no element could stand
 * for the tickets. After QUEUED and INTERRUPTED enqueue must follow. Calls nothing and never blocks.
 * @inline
 * @replaced by src/runtime/membership.ts
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

/** Makes n permits. Otherwise it does the same as release. */
export function add(s: usize, n: i32): i32 {
  const answer = release(s, n); // R7 begins
  atomic.add<i32>(s, n, O_ADDED); // R7 ends
  return answer;
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
 * Does the same as acquire, for a robust semaphore.
 * @replaced by src/runtime/membership.ts
 */
export function acquireRobust(s: usize, n: i32, attachment: i32): i32 {
  const answer = acquire(s, n); // R7 begins
  if (answer === ADMITTED) countHeld(attachment, n); // R7 ends
  return answer;
}

/** Does the same as tryAcquire, for a robust semaphore. */
export function tryAcquireRobust(s: usize, n: i32, attachment: i32): i32 {
  const answer = tryAcquire(s, n); // R7 begins at its cmpxchg
  if (answer === ADMITTED) countHeld(attachment, n); // R7 ends
  return answer;
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
