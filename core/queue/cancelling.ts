/**
 * Cancelling: a request leaves the queue before it is admitted, and no permit is lost or made.
 *
 *     the last one     its tickets are taken back, as if they had never been taken
 *     otherwise        its element stays as a TOMBSTONE; later its width goes to the waiters behind (tombstones.ts)
 *
 * A thread cancels its own request because a time-out has passed, a signal has fired, or cancelAll has asked it to
 * leave (closing.ts). A thread also cancels the requests of a dead thread, in the name of the dead thread.
 *     D3  TOMBSTONE against grant: the cancelling thread sees grant past start, or the releasing thread sees TOMBSTONE
 *     D4  the same after two tombstones have become one
 * tickets.ts says what these pairs of accesses are for.
 *
 * The thread that leaves a tombstone also settles it: it claims the tombstone if it is due, and else merges it with its
 * neighbours. If an exception ends this work, the cancellation stays the pending call, as a release from the first
 * ticket of the tombstone on (pending-call.ts). So the thread claims a due tombstone later. It does not merge it.
 *
 * R2 is uninterruptible. So no runtime can stop a thread at a moment when a ticket has been taken back and its element
 * still stands in the queue.
 */

import { ADMITTED, MORE, REFUSED } from '../answers';
import {
  elementAt,
  freeElement,
  keepAsSpare,
  leaveCells,
  leaveCellsInlined,
  secondSpare,
  setSecondSpare,
  setSpare,
  spare,
} from '../arena/elements';
import { isAsync, objectOf, widthOf } from '../arena/requests';
import {
  CLOSED,
  CLOSED_BELOW,
  E_END,
  E_LEAVING,
  E_REQUEST,
  E_START,
  E_STATE,
  GRANT,
  GRANTED,
  O_TIMEOUTS,
  STATE_MASK,
  TICKET,
  TOMBSTONE,
} from '../arena/words';
import { cancelled, cancelledByDeath } from './hooks';
import { mark } from './marks';
import { answerOf, leaveQueue } from './parking';
import { beginRelease, beginToWake, callEnded, endWaking } from './pending-call';
import { enterRun, leaveArray } from './runs';
import { claim, findTombstone, grantAfterClaim, isTombstone, merge } from './tombstones';
import { enterBoth } from './waiting-array';
import { wakeDue } from './waking';

/**
 * Cancels the request for which this thread has blocked. Returns REFUSED if the request is cancelled. Returns ADMITTED
 * or ANSWER_CLOSED if the request was granted or closed first. The thread must have called reserveSecond before.
 *
 * The cancellation makes no promise of this thread due, so the thread has no promise to settle. The promises of the
 * thread on this semaphore took their tickets before the thread blocked. So the tickets of these promises are below
 * `start`. They are also below the first ticket of the tombstone into which this request may be merged, because merged
 * tombstones lie side by side. The thread adds the width of the tombstone to grant only when grant is past this first
 * ticket. By then the promises are due already: another thread has made them due, and rings the doorbell (endWait).
 * @answers REFUSED | ADMITTED | ANSWER_CLOSED
 * @replaced by src/report/measure.ts
 */
export function cancel(s: usize, attachment: i32): i32 {
  const e = spare;
  const start = atomic.load<i64>(e, E_START);
  const due = start + widthOf(atomic.load<i64>(e, E_REQUEST));
  if (takeBack(s, e, start, due, TO_SPARE, OF_THIS_THREAD)) {
    callEnded();
    atomic.add<i32>(s, 1, O_TIMEOUTS);
    return REFUSED;
  }
  const answer = leaveTombstone(s, e, 1, due);
  if (answer === REFUSED) {
    setSpare(secondSpare);
    setSecondSpare(0);
    beginRelease(s, start);
    atomic.add<i32>(s, 1, O_TIMEOUTS);
    settleTombstone(s, e, start);
    callEnded();
  } else leaveQueue(answer, attachment);
  return answer;
}

/** Where an element goes when its tickets are taken back. */
const TO_POOL: bool = false;
const TO_SPARE: bool = true;
/** Whose request takes its tickets back. */
const OF_THIS_THREAD: bool = false;
const OF_THE_DEAD: bool = true;

/**
 * Takes the tickets of a request back, if no later ticket has been taken. Returns whether it has done so. If it has,
 * the element has left its cells.
 */
function takeBack(s: usize, e: usize, start: i64, end: i64, to: bool, whose: bool): bool {
  // Other requests may get these tickets soon. This store tells a releasing thread that the tickets may no longer be
  // those of this request (wakeDue).
  atomic.store<i64>(e, ~start, E_LEAVING);
  if (atomic.cmpxchg<i64>(s, end, start, TICKET) !== end) return false; // R2 begins
  cancelled(s, end - start);
  if (whose === OF_THE_DEAD) cancelledByDeath(s, end - start);
  leaveCellsInlined(e);
  if (to === TO_SPARE) keepAsSpare(e);
  else freeElement(e); // R2 ends
  return true;
}

/**
 * Moves an element that stands for this number of requests from WAITING or ASKED to TOMBSTONE, and returns REFUSED.
 * Returns ADMITTED or ANSWER_CLOSED if the element was granted or closed first.
 */
function leaveTombstone(s: usize, e: usize, requests: i64, end: i64): i32 {
  atomic.store<i64>(e, end, E_END);
  while (true) {
    const state = atomic.load<i64>(e, E_STATE);
    const is = state & STATE_MASK;
    if (is === GRANTED || is === CLOSED) return answerOf(is);
    // It is WAITING or ASKED.
    if (atomic.cmpxchg<i64>(e, state, (state & ~STATE_MASK) + TOMBSTONE, E_STATE) !== state) continue; // R2 begins. D3 write
    cancelled(s, requests); // R2 ends
    return REFUSED;
  }
}

/** The object and the first ticket of the tombstone for which a second call of cancelRun must follow. */
let leftIn: usize = 0;
let leftFrom: i64 = 0;

/**
 * Cancels a run of promises. Returns REFUSED if the run is cancelled. Returns MORE if the run has become a tombstone:
 * the run is cancelled, and a second call, with the negative number, must follow. Returns ADMITTED or ANSWER_CLOSED if
 * the first promise of the run is due or the semaphore is closed: then the run still stands, and settle must follow.
 * ADMITTED alone does not say which of the two has happened.
 *
 * The caller notes between the two calls that the run is over. So an exception that ends the second call midway does
 * not leave the caller with the number of an element that is another thread's by then.
 * @param number of the run; or the negative number, to settle the tombstone. The second call returns REFUSED.
 * @answers REFUSED | MORE | ADMITTED | ANSWER_CLOSED
 * @replaced by src/report/measure.ts
 */
export function cancelRun(number: i32): i32 {
  const e = elementAt((abs(number) - 1) as u32);
  if (number < 0) {
    settleTombstone(leftIn, e, leftFrom);
    endWaking();
    return REFUSED;
  }
  const s = objectOf(atomic.load<i64>(e, E_REQUEST));
  const start = atomic.load<i64>(e, E_START);
  const end = atomic.load<i64>(e, E_END);
  const last = takeBack(s, e, start, end, TO_POOL, OF_THIS_THREAD);
  if (!last) {
    if (enterRun(number)) return ADMITTED;
    // A run is entered under its first promise only. A tombstone is entered under both ends, where releasing threads and
    // the tombstones beside it find it.
    leaveArray(e);
    enterBoth(s, e, start, end);
    const answer = leaveTombstone(s, e, end - start, end);
    if (answer !== REFUSED) return answer;
    leftIn = s;
    leftFrom = start;
    beginToWake(s, start);
  }
  atomic.add<i32>(s, 1, O_TIMEOUTS);
  return last ? REFUSED : MORE;
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
    if (takeBack(s, e, start, end, TO_POOL, OF_THE_DEAD)) return;
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

/**
 * Ends a cancellation. If grant has passed the start of the new tombstone, the thread adds the width of the tombstone
 * to grant. Otherwise the thread merges the tombstone with neighbours that are tombstones, too. If two cancelling
 * threads try the same merge, one of them succeeds. This thread looks at the neighbours of the merged tombstone again,
 * so the other thread need not.
 */
function settleTombstone(s: usize, tombstone: usize, first: i64): void {
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
