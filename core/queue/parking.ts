/**
 * Parking: what a waiter does from the moment its request stands in the queue until the request is over.
 *
 * The waiter polls grant for a while if it is near the head (polling.ts), enters its element in the waiting array, and
 * looks at grant again. Then it sleeps on its own element until the element is granted or closed. tickets.ts has the
 * picture of both sides.
 */

import { ADMITTED, ANSWER_CLOSED, ANSWER_FULL, INTERRUPTED, LEAVE, QUEUED, REFUSED, TIMED_OUT } from '../answers';
import { countHeld } from '../arena/attachments';
import { leaveCells, reserveSecond, spare } from '../arena/elements';
import { objectOf, widthOf } from '../arena/requests';
import { count, sleepOn } from '../arena/threads';
import {
  ASKED,
  CLOSED,
  CLOSED_BELOW,
  E_ASLEEP,
  E_REQUEST,
  E_SINCE,
  E_START,
  E_STATE,
  EPOCH,
  GRANT,
  GRANTED,
  RESERVED,
  STATE_MASK,
  T_FUTILE_WAKES,
  WAITING,
} from '../arena/words';
import { admitted } from './hooks';
import { pause } from './pause';
import { callEnded, recover } from './pending-call';
import { isCrowded, isFar, markSleeper, pollsOf, pollsPaid, pollsWereVain } from './polling';
import { acquireRobust, tryAcquireRobust } from './tickets';
import { enterBoth } from './waiting-array';

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
 * @replaced by src/report/measure.ts
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
 * @replaced by src/host/deno-bun.ts, src/report/long-sleeps.ts, src/report/measure.ts
 */
export function park(now: i32, attachment: i32): i32 {
  return parkFor(FOREVER, now, attachment);
}

/**
 * Does the same as park, but for at most so many nanoseconds (below 0: for ever). If the wait ends without an answer,
 * parkFor returns TIMED_OUT, which may be early. The request then still stands: park or parkFor continues the wait, and
 * cancel cancels the request.
 * @answers ADMITTED | ANSWER_CLOSED | LEAVE | TIMED_OUT
 * @replaced by src/host/deno-bun.ts, src/report/measure.ts
 */
export function parkFor(nanoseconds: i64, now: i32, attachment: i32): i32 {
  atomic.store<i32>(spare, now, E_SINCE);
  const answer = sleep(spare, nanoseconds);
  if (answer < TIMED_OUT) leaveQueue(answer, attachment);
  return answer;
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
  polls = isCrowded(s, width) || isFar(s, start, width) ? 0 : pollsOf(s);
  if (pollGrant(s, due, (most + 1) * width)) return ADMITTED;
  if (most === 0) polls = 0;
  return enterUntilDue(s, e, start, due);
}

/**
 * Polls grant until grant has reached `due`, or is below `due` by more than `most`. Returns whether grant has reached
 * `due`.
 */
function pollGrant(s: usize, due: i64, most: i64): bool {
  return poll(s, s + GRANT, due, most, true);
}

/**
 * Polls an element that is WAITING until it is GRANTED, CLOSED or ASKED, which are above WAITING. Returns whether the
 * element has become one of these.
 */
function pollState(s: usize, e: usize, waiting: i64, counts: bool): bool {
  return poll(s, e + E_STATE, waiting + 1, 1, counts);
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

/** Does the same as untilDue, but does not poll. */
export function enterUntilDue(s: usize, e: usize, start: i64, due: i64): i32 {
  enterBoth(s, e, start, due); // D2 write
  return lookAtGrant(s, due);
}

/** Returns ADMITTED if a request is due, ANSWER_CLOSED if the object is closed, else QUEUED. */
function lookAtGrant(s: usize, due: i64): i32 {
  const ahead = atomic.load<i64>(s, GRANT) - due; // D2, D6, D12 read
  if (ahead >= 0) return ADMITTED;
  return ahead < CLOSED_BELOW ? ANSWER_CLOSED : QUEUED;
}

/** Returns the answer for the state of an element whose wait is over. CLOSED is one above GRANTED. */
export function answerOf(state: i64): i32 {
  return (GRANTED - state) as i32; // ADMITTED or ANSWER_CLOSED
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
    if (pollState(s, e, state, !slept)) continue;
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
