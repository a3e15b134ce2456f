/**
 * The counter of a BinarySemaphore or CountingSemaphore: a value beside the queue of a Semaphore. A taker wants 1 of
 * the value, and is through when it has it. A permit is handed on when a signal gives it to the queue.
 *
 *     value word    waiting << 32 | value          the queue (ticket, grant): permits that were handed on
 *                       │         └── a taker subtracts 1 while it is above 0, and is through
 *                       └── any other taker counts itself here, and acquires a permit of the queue
 *     signal n      value += n;  k = 0 for none, min(1, value, waiting) for one, min(value, waiting) for all;
 *                   value -= k, waiting -= k, all in one exchange;  then the queue is given k permits
 *
 * Source: P0514R1, 32.10. There a signal of `none` may leave the value above 0 while threads sleep. The counters of a
 * Semaphore cannot express that, so the value is a word of its own. A signal acts as if the waiters that it unblocks
 * had taken the value in that instant. It wakes no waiter that could take nothing.
 *
 * Invariant: waiting + permits handed on and not acquired = takers that have counted themselves and are not through. So
 * each of them gets a permit of its own. The queue (queue/tickets.ts) loses no wake-up: it keeps a permit that comes
 * before the ticket. Without signals of `one` or `none`, nobody waits while value > 0, so newcomers overtake nobody.
 *
 * Cancelling: a taker that can subtract itself from `waiting` holds nothing. If `waiting` is 0, each counted taker has
 * been handed a permit, and so has the one that cancels. But it has left its place in the queue, and a later taker may
 * take that permit and be counted in its place. So it does not wait there: it tries in turn to subtract itself and to
 * acquire, until one succeeds.
 *
 * Closing leaves `waiting` as it is. By the same rule, takers that find the queue closed learn how many of them had
 * been handed a permit before. Those are through.
 *
 * Dying: a request that is cancelled in the name of a dead thread subtracts 1 from `waiting`, whatever its value. If
 * that gives -1, the queue has a permit that no taker is counted for. The next taker that counts itself gets it, and
 * tryCountDown does not find it. A thread that dies after it has counted itself and before it takes a ticket leaves
 * `waiting` 1 too high; after one more signal the queue has such a permit, too.
 *
 * The core uses only uncountDead and isCounter. The module of the algorithms exports the rest.
 */
import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_OVER_MAX,
  CLOSED_COUNTER,
  COUNTER_CLOSED_BELOW,
  GIVE_BACK,
  KIND_BINARY_SEMAPHORE,
  KIND_COUNTING_SEMAPHORE,
  MOST_WAITING,
  NOTIFY_NONE,
  NOTIFY_ONE,
  O_COUNTER,
  O_KIND,
  O_MOST,
  O_WIDEST,
  QUEUED,
  REFUSED,
  VALUE_MASK,
  WAITING_SHIFT,
} from '../memory/layout';

/** A closed counter is so far below 0 that no number of dead waiters can bring an open one there. */
function isClosed(word: i64): bool {
  return word < COUNTER_CLOSED_BELOW;
}

/** Whether objects of this kind have a counter. */
export function isCounter(kind: i32): bool {
  return kind === KIND_BINARY_SEMAPHORE || kind === KIND_COUNTING_SEMAPHORE;
}

/** Subtracts what cancelled requests of a dead thread wanted: as many tickets as they had. The object may be of any kind. */
export function uncountDead(s: usize, tickets: i64): void {
  if (isCounter(atomic.load<i32>(s, O_KIND))) atomic.sub<i64>(s, tickets << WAITING_SHIFT, O_COUNTER);
}

/** How many permits a signal hands on that may hand on so many: no more than the takers wait for. */
function handedOn(word: i64, limit: i64): i64 {
  return max(0, min(limit, word >> WAITING_SHIFT));
}

/** The word after so many permits have been handed on, from the value to takers that wait. */
function afterHanding(word: i64, permits: i64): i64 {
  return word - permits - (permits << WAITING_SHIFT);
}

/** Notes the width of a taker that may have to wait. */
function widen(s: usize, n: i32): void {
  while (true) {
    const widest = atomic.load<i32>(s, O_WIDEST);
    if (n <= widest || atomic.cmpxchg<i32>(s, widest, n, O_WIDEST) === widest) return;
  }
}

/**
 * Takes n of the value, or counts the caller as waiting for n. Returns ADMITTED; ANSWER_CLOSED; ANSWER_OVER_MAX, with
 * nothing changed, if the takers would wait for more than MOST_WAITING; or QUEUED and k more: the caller must release k
 * permits to the queue, which it has handed on, and then acquire n.
 */
export function countDown(s: usize, n: i32): i32 {
  const wanted = n as i64;
  while (true) {
    const word = atomic.load<i64>(s, O_COUNTER);
    if (isClosed(word)) return ANSWER_CLOSED;
    const value = word & VALUE_MASK;
    let next = word - wanted;
    let answer = ADMITTED;
    if (value < wanted) {
      if ((word >> WAITING_SHIFT) + wanted > MOST_WAITING) return ANSWER_OVER_MAX;
      if (n > 1) widen(s, n);
      const counted = word + (wanted << WAITING_SHIFT);
      const handed = handedOn(counted, value);
      next = afterHanding(counted, handed);
      answer = QUEUED + (handed as i32);
    }
    if (atomic.cmpxchg<i64>(s, word, next, O_COUNTER) === word) return answer;
  }
}

/** Takes n of the value. Returns ADMITTED, REFUSED if the value is less, or ANSWER_CLOSED. */
export function tryCountDown(s: usize, n: i32): i32 {
  while (true) {
    const word = atomic.load<i64>(s, O_COUNTER);
    if (isClosed(word)) return ANSWER_CLOSED;
    if ((word & VALUE_MASK) < (n as i64)) return REFUSED;
    if (atomic.cmpxchg<i64>(s, word, word - (n as i64), O_COUNTER) === word) return ADMITTED;
  }
}

/**
 * Subtracts what it can of n from `waiting`, for a counted caller that is cancelled or finds the queue closed. Returns
 * how many of the n are left. So many permits have been handed on for the caller, who must try to acquire them from the
 * queue. If the queue is closed, the caller is through when all that it wanted has been handed on.
 */
export function cancelWaiting(s: usize, n: i32): i32 {
  while (true) {
    const word = atomic.load<i64>(s, O_COUNTER);
    const waiting = (isClosed(word) ? word - CLOSED_COUNTER : word) >> WAITING_SHIFT;
    const out = min(n as i64, waiting);
    if (out <= 0) return n;
    if (atomic.cmpxchg<i64>(s, word, word - (out << WAITING_SHIFT), O_COUNTER) === word) return n - (out as i32);
  }
}

/**
 * Adds n, 0 or more, to the value. Returns how many permits the caller must release to the queue, 0 if it is closed; or
 * ANSWER_OVER_MAX, with nothing changed, if n is not 0 and the value would pass the maximum. GIVE_BACK may pass it.
 */
export function countUp(s: usize, n: i32, notify: i32): i32 {
  const most = atomic.load<i32>(s, O_MOST) as i64;
  while (true) {
    const word = atomic.load<i64>(s, O_COUNTER);
    if (isClosed(word)) return 0;
    const raised = word + (n as i64);
    let limit = (word & VALUE_MASK) + (n as i64);
    if (limit > most && n !== 0 && notify !== GIVE_BACK) return ANSWER_OVER_MAX;
    if (notify === NOTIFY_NONE) limit = 0;
    if (notify === NOTIFY_ONE) limit = min(limit, max(1, atomic.load<i32>(s, O_WIDEST)) as i64);
    const handed = handedOn(raised, limit);
    if (atomic.cmpxchg<i64>(s, word, afterHanding(raised, handed), O_COUNTER) === word) return handed as i32;
  }
}

/** Closes the counter. The caller does so before it disposes of the queue. */
export function closeCounter(s: usize): void {
  while (true) {
    const word = atomic.load<i64>(s, O_COUNTER);
    if (isClosed(word) || atomic.cmpxchg<i64>(s, word, word + CLOSED_COUNTER, O_COUNTER) === word) return;
  }
}

/** Returns the value, 0 if the counter is closed. It may be out of date at once. */
export function counted(s: usize): i32 {
  const word = atomic.load<i64>(s, O_COUNTER);
  return isClosed(word) ? 0 : ((word & VALUE_MASK) as i32);
}
