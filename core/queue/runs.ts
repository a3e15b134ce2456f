/**
 * Runs: promises of one thread that took consecutive tickets of one semaphore share one wait element.
 *
 *     tickets     ... | 40 41 42 | 43 | 44 45 46 47 | ...
 *                       this run   another's    the thread's next run
 *                       start ──► end           of its runs on this semaphore, only the first is in the array
 *
 *     AWAKE     the thread looks after the run itself: the run is in no cell, and no thread rings for it
 *     WAITING   the run is in the waiting array, for the tickets [start, start + width) of its first promise only. When
 *               these are due, a releasing thread rings the doorbell of the thread that has the run
 *
 * All promises of a run ask for the same number of permits, which is the width in the request. A promise of another
 * width begins another run. So start and end tell how many promises the run has. A promise comes and goes with two
 * stores: the thread raises end when the promise takes its ticket, and start when it settles the promise.
 *
 * Why no promise is forgotten: before a thread sleeps, it enters its first run on each semaphore in the array, and then
 * reads grant again (D2, D6). Before that, the thread is awake and settles its promises without being told. The thread
 * need not enter its later runs, because they are due later than the first.
 *
 * A thread may settle the first promises of a run that is in the array. Before it does so, it takes the run out of the
 * array, and increments the epoch of the element. A releasing thread may have read the old start of the run. Then the
 * exchange of the releasing thread fails, because the epoch has changed.
 *
 * R1 ends with the store of end or of AWAKE. So whenever a runtime can stop the thread, each ticket that it has taken
 * lies in [start, end) of an element that is AWAKE, WAITING, GRANTED or CLOSED.
 */

import { ADMITTED, ANSWER_CLOSED, ANSWER_FULL, CANCELLED, INTERRUPTED, MORE, REFUSED } from '../answers';
import { countHeld, recordOf } from '../arena/attachments';
import {
  elementAt,
  freeElement,
  indexOf,
  leaveCells,
  mark,
  objectOf,
  requestOf,
  reserveSecond,
  secondSpare,
  setSecondSpare,
  setSpare,
  spare,
  widthOf,
} from '../arena/elements';
import { me, setLastTicket } from '../arena/threads';
import {
  ASYNC,
  AWAKE,
  CLOSED_BELOW,
  E_END,
  E_HELD,
  E_REQUEST,
  E_SINCE,
  E_START,
  E_STATE,
  EPOCH,
  GRANT,
  O_TIMEOUTS,
  RESERVED,
  STATE_MASK,
  TICKET,
  WAITING,
} from '../arena/words';
import { countWaiter, hasHead, mayQueue } from '../kinds/kinds';
import { beginToWake, callEnded, endWaking, grantBefore, NOTHING, pendingCall } from './pending-call';
import {
  finishPendingCall,
  leaveTombstone,
  OF_RUN,
  settleTombstone,
  takeBack,
  tryAcquireRobust,
  wakeReleased,
} from './queue';
import { enterBoth } from './waiting-array';

/**
 * Queues a promise. Returns ADMITTED, ANSWER_CLOSED, ANSWER_FULL (no ticket is taken), or the number of the run in
 * which the promise stands. This number is above ADMITTED. `last` is the run that the thread began last on this
 * semaphore, or 0 if this run is over. The promise joins `last`, or begins a new run, which is AWAKE. `attachment` is
 * the same as in enqueue. Never blocks.
 */
export function arrive(s: usize, n: i32, last: i32, attachment: i32): i32 {
  // If the object is a lock with a head, the caller has tried to take the lock already. A request that the queue of the
  // lock admits becomes the head, and does not have the lock yet.
  const isHeadKind = hasHead(s);
  if (isHeadKind) {
    const room = mayQueue(s);
    if (room !== ADMITTED) return room;
  } else {
    const answer = tryAcquireRobust(s, n, attachment);
    if (answer !== REFUSED) return answer;
  }
  if (!finishPendingCall()) return ANSWER_FULL;
  if (!reserveSecond()) return ANSWER_FULL;
  const width = n as i64;
  const request = requestOf((me | ASYNC) as i64, s, width);
  const run = elementAt((last - 1) as u32);
  const alike = last !== 0 && atomic.load<i64>(run, E_REQUEST) === request;

  if (isHeadKind) countWaiter(s); // R8 begins, and ends with R1
  const start = atomic.add<i64>(s, width, TICKET); // R1 begins. D1 write
  setLastTicket(start);
  const due = start + width;
  const ahead = atomic.load<i64>(s, GRANT) - due; // D1 read
  if (ahead >= 0) {
    countHeld(attachment, width);
    return ADMITTED;
  }
  if (ahead < CLOSED_BELOW) {
    atomic.sub<i64>(s, width, TICKET);
    return ANSWER_CLOSED;
  }
  if (alike && atomic.load<i64>(run, E_END) === start) {
    atomic.store<i64>(run, due, E_END); // R1 ends
    return last;
  }
  const e = spare;
  atomic.store<i64>(e, request, E_REQUEST);
  atomic.store<i64>(e, start, E_START);
  atomic.store<i64>(e, due, E_END);
  // The thread records the time soon (waitsSince). Until then nobody may read the time of an earlier wait.
  atomic.store<i32>(e, 0, E_SINCE);
  atomic.store<i64>(e, atomic.load<i64>(e, E_STATE) + (AWAKE - RESERVED), E_STATE); // R1 ends
  setSpare(secondSpare);
  setSecondSpare(0);
  return (indexOf(e) + 1) as i32;
}

/**
 * Settles the due promises of a run, and ends the run if no promise is left. Returns how many it has settled, or
 * ANSWER_CLOSED.
 * @replaced by src/report/measure.ts: calls this function, and notes how long the wait lasts
 */
export function settle(number: i32, attachment: i32): i32 {
  const e = elementAt((number - 1) as u32);
  const request = atomic.load<i64>(e, E_REQUEST);
  const width = widthOf(request);
  const start = atomic.load<i64>(e, E_START);
  const ahead = atomic.load<i64>(objectOf(request), GRANT) - start; // D2, D6, D7 read
  if (ahead < width) return ahead < CLOSED_BELOW ? ANSWER_CLOSED : 0;
  const length = atomic.load<i64>(e, E_END) - start;
  const count = ahead < width + width ? 1 : min(ahead, length) / width;
  const settled = count * width;
  // The promise becomes the head, and waits on.
  if (hasHead(objectOf(request))) atomic.store<i32>(recordOf(attachment), atomic.load<i32>(e, E_SINCE), E_SINCE);
  if (settled === length) {
    endRun(e, settled, attachment);
  } else {
    leaveArray(e);
    countHeld(attachment, settled); // R7 begins
    atomic.store<i64>(e, start + settled, E_START); // R7 ends
  }
  return count as i32;
}

/**
 * Takes a run out of the array if it is there. Afterwards the run is AWAKE: the thread looks after it itself again. The
 * run is AWAKE before it leaves its cells. So a run that is WAITING stands in all its cells, also if an exception ends
 * this call.
 */
export function leaveArray(e: usize): void {
  const state = atomic.load<i64>(e, E_STATE);
  if ((state & STATE_MASK) === AWAKE) return;
  atomic.store<i64>(e, (state & ~STATE_MASK) + EPOCH + AWAKE, E_STATE);
  leaveCells(e);
}

/**
 * Drops a run of a closed semaphore, with all its promises.
 * @replaced by src/report/measure.ts: calls this function, and notes how long the wait lasts
 */
export function dropRun(number: i32): void {
  endRun(elementAt((number - 1) as u32), 0, 0);
}

/** Ends a run whose last promises have just got `settled` permits in all. Its element becomes a spare, or free. */
function endRun(e: usize, settled: i64, attachment: i32): void {
  leaveCells(e);
  const state = atomic.load<i64>(e, E_STATE);
  countHeld(attachment, settled); // R7 begins
  atomic.store<i64>(e, (state & ~STATE_MASK) + EPOCH + RESERVED, E_STATE); // R7 ends
  keepElement(e);
}

/**
 * Makes the element of a run that has ended a spare, or free.
 * @inline
 */
export function keepElement(e: usize): void {
  if (secondSpare === 0) setSecondSpare(e);
  else freeElement(e);
}

/**
 * Gives n permits of this thread back to the first promise of its run `number`, and settles the promise, if no other
 * request is before the promise. Returns whether it has done so: if not, nothing has changed.
 *
 * This call stands for `release` and `finishReleaseAndSettle`. It needs fewer steps, since all permits go to a promise
 * of this thread: no other thread has to be woken, and a robust semaphore counts as many permits for the thread as before.
 * @replaced by src/report/measure.ts: calls this function, and notes how long the wait lasts
 */
export function releaseToOwn(s: usize, n: i32, number: i32, attachment: i32): bool {
  const width = n as i64;
  if (attachment !== 0 && atomic.load<i64>(recordOf(attachment), E_HELD) < width) return false;
  const e = nextOfOwn(s, width, number);
  if (e === 0) return false;
  const start = atomic.load<i64>(e, E_START);
  const state = atomic.load<i64>(e, E_STATE);
  const isLast = atomic.load<i64>(e, E_END) === start + width;
  if (atomic.cmpxchg<i64>(s, start, start + width, GRANT) !== start) return false; // R7 begins
  leaveRun(e, start + width, state, isLast); // R7 ends
  if (isLast) keepElement(e);
  return true;
}

/**
 * Returns the element of this run of the thread, if its first promise asks for `width` permits and gets the next permits
 * that the object has. Then the run is AWAKE. Returns 0 otherwise, or if a call of the thread is pending.
 */
export function nextOfOwn(o: usize, width: i64, number: i32): usize {
  const e = elementAt((number - 1) as u32);
  if (
    pendingCall !== NOTHING ||
    atomic.load<i64>(e, E_REQUEST) !== requestOf((me | ASYNC) as i64, o, width) ||
    atomic.load<i64>(e, E_START) !== atomic.load<i64>(o, GRANT)
  )
    return 0;
  leaveArray(e);
  // An exception may have ended an earlier call when the run stood in some of its cells.
  leaveCells(e);
  return e;
}

/**
 * Takes the first promise out of a run that is AWAKE, in the uninterruptible section that moves grant (R7, R8). The run
 * goes on from the ticket `next`, or ends. Then keepElement must follow.
 * @inline
 */
export function leaveRun(e: usize, next: i64, state: i64, isLast: bool): void {
  if (isLast) atomic.store<i64>(e, (state & ~STATE_MASK) + EPOCH + RESERVED, E_STATE);
  else atomic.store<i64>(e, next, E_START);
}

/**
 * Enters a run in the array. From then on a releasing thread rings when the first promise of the run is due. At the
 * last look of the caller no promise of the run was due. Returns true if by now the first promise is due or the
 * semaphore is closed: then settle must follow.
 */
export function enterRun(number: i32): bool {
  // Before the thread sleeps, it ends a call that is pending.
  finishPendingCall();
  const e = elementAt((number - 1) as u32);
  const state = atomic.load<i64>(e, E_STATE);
  const is = state & STATE_MASK;
  if (is !== AWAKE) return is !== WAITING;
  const request = atomic.load<i64>(e, E_REQUEST);
  const s = objectOf(request);
  const start = atomic.load<i64>(e, E_START);
  const due = start + widthOf(request);
  mark(s, e);
  // An exception may have ended an earlier call when the run stood in some of its cells.
  leaveCells(e);
  enterBoth(s, e, start, due); // D2 write
  atomic.store<i64>(e, (state & ~STATE_MASK) + WAITING, E_STATE); // D2 write, D6 write
  const ahead = atomic.load<i64>(s, GRANT) - due; // D2 read, D6 read
  return ahead >= 0 || ahead < CLOSED_BELOW;
}

/**
 * Finishes a release that returned `answered`, in a thread whose promises wait on the object. Wakes every waiter that the
 * release has made due, and settles the promises in `run`, the first run of this thread, that are due. Returns how many
 * promises it has settled, or ANSWER_OVER_MAX, which means the same as in finishRelease (queue.ts).
 * @replaced by src/report/measure.ts: calls this function, and notes how long the wait lasts
 */
export function finishReleaseAndSettle(s: usize, n: i32, answered: i32, run: i32, attachment: i32): i32 {
  let answer = ADMITTED;
  // If all granted tickets are in the run of this thread, no other waiter is due.
  if (answered === INTERRUPTED || !covers(run, grantBefore, n)) answer = wakeReleased(s, n, answered, attachment);
  if (answer === ADMITTED) answer = max(settle(run, attachment), 0);
  if (answered !== INTERRUPTED) callEnded();
  return answer;
}

/** Returns whether all `width` tickets from `from` on are in this run, and none of them is settled. */
function covers(number: i32, from: i64, width: i64): bool {
  const e = elementAt((number - 1) as u32);
  return from - atomic.load<i64>(e, E_START) >= 0 && atomic.load<i64>(e, E_END) - from - width >= 0;
}

/** The object, the element and the first ticket of the tombstone for which finishCancelRun must follow. */
let leftIn: usize = 0;
let leftAs: usize = 0;
let leftFrom: i64 = 0;

/**
 * Cancels a run of promises. Returns CANCELLED if the run is cancelled. Returns MORE if the run has become a tombstone:
 * the run is cancelled, and finishCancelRun must follow. Returns ADMITTED or ANSWER_CLOSED if the first promise of the
 * run is due or the semaphore is closed: then the run still stands, and settle must follow. ADMITTED alone does not say
 * which of the two has happened.
 *
 * The caller notes between the two calls that the run is over. So an exception that ends the second call midway does
 * not leave the caller with the number of an element that is another thread's by then.
 * @answers CANCELLED | MORE | ADMITTED | ANSWER_CLOSED
 * @replaced by src/report/measure.ts: calls this function, and notes how long the wait lasts
 */
export function cancelRun(number: i32): i32 {
  const e = elementAt((number - 1) as u32);
  const s = objectOf(atomic.load<i64>(e, E_REQUEST));
  const start = atomic.load<i64>(e, E_START);
  const end = atomic.load<i64>(e, E_END);
  const last = takeBack(s, e, start, end, OF_RUN);
  if (!last) {
    if (enterRun(number)) return ADMITTED;
    // A run is entered under its first promise only. A tombstone is entered under both ends, where releasing threads and
    // the tombstones beside it find it.
    leaveArray(e);
    enterBoth(s, e, start, end);
    const answer = leaveTombstone(s, e, end - start, end);
    if (answer !== CANCELLED) return answer;
    leftIn = s;
    leftAs = e;
    leftFrom = start;
    beginToWake(s, start);
  }
  atomic.add<i32>(s, 1, O_TIMEOUTS);
  return last ? CANCELLED : MORE;
}

/** Settles the tombstone that the last cancelRun has left, after its answer MORE. */
export function finishCancelRun(): void {
  settleTombstone(leftIn, leftAs, leftFrom);
  endWaking();
}
