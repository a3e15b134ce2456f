/**
 * Releasing: what follows when release has found that a request waits, or that there are too many permits.
 */

import { ANSWER_OVER_MAX, INTERRUPTED } from '../answers';
import { countHeld } from '../arena/attachments';
import { CLOSED_BELOW, GRANT, TICKET } from '../arena/words';
import { callEnded, grantBefore, grantLate, pendingCall, RELEASING, recover } from './pending-call';
import { covers, settle } from './runs';
import { wakeDue, wakeNear } from './waking';
import { LIMIT } from './words';

/**
 * Finishes a release that returned `answered`. It wakes every waiter that the release has made due, except promises of
 * this thread. `run` is the first run of promises of this thread on the semaphore, or 0 if no promise of the thread
 * waits. The function settles the promises in `run` that are due, and returns how many it has settled.
 *
 * If more than LIMIT permits are available, the function takes the n permits back and returns ANSWER_OVER_MAX. The
 * attachment to a robust semaphore then counts these permits as held again. If the semaphore is disposed of, the
 * function takes the n permits back and returns 0.
 * @replaced by src/report/measure.ts
 */
export function finishRelease(s: usize, n: i32, answered: i32, run: i32, attachment: i32): i32 {
  const width = n as i64;
  let answer = 0;
  if (answered === INTERRUPTED) {
    const late = grantLate;
    if (pendingCall === RELEASING) recover();
    answer = settleRelease(s, width, late, attachment);
  } else {
    // If all granted tickets are in the run of this thread, no other waiter is due.
    if (run === 0 || !covers(run, grantBefore, width)) answer = settleRelease(s, width, grantBefore, attachment);
  }
  if (run !== 0 && answer === 0) answer = max(settle(run, attachment), 0);
  if (answered !== INTERRUPTED) callEnded();
  return answer;
}

function settleRelease(s: usize, width: i64, before: i64, attachment: i32): i32 {
  while (true) {
    const ticket = atomic.load<i64>(s, TICKET);
    const surplus = before - ticket;
    if (surplus < CLOSED_BELOW) {
      atomic.sub<i64>(s, width, GRANT);
      return 0;
    }
    if (surplus < 0) {
      wakeDue(s, before, width);
      wakeNear(s, width);
      return 0;
    }
    // No request waits. If there are too many permits, this thread takes n of them back, as a request takes permits.
    if (atomic.load<i64>(s, GRANT) - ticket <= LIMIT) return 0;
    if (atomic.cmpxchg<i64>(s, ticket, ticket + width, TICKET) === ticket) {
      // R7 begins
      countHeld(attachment, width); // R7 ends
      return ANSWER_OVER_MAX;
    }
  }
}
