/**
 * The counter of a BinarySemaphore or CountingSemaphore: a value beside the queue of a Semaphore. A taker wants n of
 * the value, all or nothing. When it has all n, its call is through. A permit is handed on when it goes from the value
 * to the queue.
 *
 *     value word    waiting << 32 | value          the queue (ticket, grant): permits that were handed on
 *                       │         └── if the value is n or more, a taker subtracts n, and is through
 *                       └── otherwise a taker adds n to `waiting`, and acquires n permits of the queue
 *     signal n      value += n;  k = min(limit, value, waiting);  value -= k, waiting -= k, all in one exchange;
 *                   then k permits are released to the queue (R13)
 *                   limit: 0 for a signal of `none`; for `one`, the most that a taker ever waited for
 *
 * Source: P0514R1, 32.10. In this paper a signal of `none` may leave the value above 0 while threads sleep. The
 * counters of a Semaphore cannot express this, so the value is a word of its own. A signal acts as if the waiters that
 * it unblocks had taken the value in that instant. By the paper a taker takes 1 or `count` of the value (clause 12),
 * and an implementation may take `count` one by one. A taker here may take them one by one, too: the queue keeps the
 * permits that are handed on for its first taker, until this taker has all that it wants.
 *
 * A taker is counted from the moment when it has added its n to `waiting`. Invariant: waiting + permits handed on and
 * not acquired = the permits that counted takers still want. So in the end the queue gets as many permits as these
 * takers want. The queue (queue/queue.ts) loses no wake-up, and keeps a permit that comes before the ticket. It
 * serves in order, so lighter takers do not starve a heavy taker at its head.
 *
 * R13: the section from the exchange that takes k permits from the value to the add on grant is uninterruptible. So a
 * thread that dies in a signal has handed on nothing, or the permits are in the queue. In the second case its reaper
 * wakes the waiters that are due, as after a death in release. The core finishes the release (finishRelease): this
 * module shares the pending call with the core (scripts/build-core.mjs).
 *
 * A taker that must wait hands on at once what is in the value. If moreover every signal is of `all`, nobody waits
 * while value > 0, and newcomers overtake nobody.
 *
 * Cancelling: a taker subtracts as much of its n from `waiting` as it can. If `waiting` is less than n, a rest is left.
 * Then all that counted takers still want has been handed on, and with it the rest of this taker. But this taker has
 * left its place in the queue, so a later taker may get those permits. The later taker is then no longer short of
 * permits, though it is still counted in `waiting`. So this taker does not wait in the queue: it tries in turn to
 * subtract from `waiting`, and to acquire one permit. One of the two succeeds as soon as the signals that have handed
 * on have added to grant: the queue lacks permits only if somebody is counted in `waiting`. If in the end this taker
 * holds all n, it is through. Otherwise it tries once to take the rest from the value. If the value does not suffice, it
 * gives back what it holds (GIVE_BACK). This may carry the value past the maximum, if another thread signals in between.
 *
 * Closing leaves `waiting` as it is. Takers that find the queue closed subtract in the same way. If a taker can
 * subtract nothing, and has subtracted nothing before, all that it wants has been handed on, and it is through. If a
 * taker can subtract only a part, it is not through, and the rest is lost with the object.
 *
 * Dying: if a request is cancelled in the name of a dead thread, its tickets, which are as many as it wants, are
 * subtracted from `waiting`, whatever the value of `waiting`. If `waiting` falls below 0, the queue has permits for
 * which no taker is counted. The next taker that counts itself gets these permits, and tryCountDown does not find them.
 * If a thread dies after it has counted itself and before it takes tickets, `waiting` stays too high. Then after more
 * signals the queue also has permits for which no taker is counted. A reaper cannot die between its changes to the
 * tickets and to `waiting`: it changes both in R2 (queue/queue.ts).
 *
 * The core uses only uncountDead and isCounter. The module of the algorithms exports the rest.
 */
import { ADMITTED, ANSWER_CLOSED, ANSWER_OVER_MAX, MORE, QUEUED, REFUSED } from '../../answers';
import { isClosedCounter } from '../../arena/objects';
import { CLOSED_COUNTER, HAS_COUNT, HAS_QUEUE, O_COUNTER, O_KIND } from '../../arena/words';
import { release } from '../../queue/queue';
import {
  GIVE_BACK,
  HANDED_LATE,
  HANDED_MORE,
  MOST_WAITING,
  NOTIFY_NONE,
  NOTIFY_ONE,
  O_MOST,
  O_WIDEST,
  VALUE_MASK,
  WAITING_SHIFT,
} from './words';

/** Whether objects of this kind have a counter: a word of permits, and a queue of those who wait for them. */
export function isCounter(kind: i32): bool {
  return (kind & (HAS_COUNT | HAS_QUEUE)) === (HAS_COUNT | HAS_QUEUE);
}

/**
 * Subtracts what cancelled requests of a dead thread wanted: as many tickets as they had. The object may be of any
 * kind.
 * @inline
 */
export function uncountDead(s: usize, tickets: i64): void {
  if (isCounter(atomic.load<i32>(s, O_KIND))) atomic.sub<i64>(s, tickets << WAITING_SHIFT, O_COUNTER);
}

/** Returns how many permits a signal hands on if it may hand on so many: no more than the takers wait for. */
function mostToHandOn(word: i64, limit: i64): i64 {
  return max(0, min(limit, word >> WAITING_SHIFT));
}

/** The word after so many permits have been handed on, from the value to takers that wait. */
function afterHanding(word: i64, permits: i64): i64 {
  return word - permits - (permits << WAITING_SHIFT);
}

/**
 * Releases to the queue the permits that an exchange has just taken from the value. Returns their number. If the core
 * must finish the release, the answer is HANDED_MORE more, or HANDED_LATE more if an earlier call is still pending.
 * @inline
 */
function handOn(s: usize, handed: i64): i32 {
  if (handed === 0) return 0;
  const permits = handed as i32;
  const answer = release(s, permits); // R13 ends
  if (answer === ADMITTED) return permits;
  return permits + (answer === MORE ? HANDED_MORE : HANDED_LATE);
}

/** Notes the width of a taker that may have to wait. */
function widen(s: usize, n: i32): void {
  while (true) {
    const widest = atomic.load<i32>(s, O_WIDEST);
    if (n <= widest || atomic.cmpxchg<i32>(s, widest, n, O_WIDEST) === widest) return;
  }
}

/**
 * Takes n of the value, or counts the caller as waiting for n. Returns ADMITTED or ANSWER_CLOSED. Returns
 * ANSWER_OVER_MAX, and changes nothing, if the takers would wait for more than MOST_WAITING. Otherwise it returns the
 * sum of QUEUED and the answer of handOn. If this answer says that a release is unfinished, the caller must first
 * finish the release. Then the caller must acquire n permits of the queue.
 */
export function countDown(s: usize, n: i32): i32 {
  const wanted = n as i64;
  while (true) {
    const word = atomic.load<i64>(s, O_COUNTER);
    if (isClosedCounter(word)) return ANSWER_CLOSED;
    const value = word & VALUE_MASK;
    if (value >= wanted) {
      if (atomic.cmpxchg<i64>(s, word, word - wanted, O_COUNTER) === word) return ADMITTED;
      continue;
    }
    if ((word >> WAITING_SHIFT) + wanted > MOST_WAITING) return ANSWER_OVER_MAX;
    if (n > 1) widen(s, n);
    const counted = word + (wanted << WAITING_SHIFT);
    const handed = mostToHandOn(counted, value);
    // R13 begins
    if (atomic.cmpxchg<i64>(s, word, afterHanding(counted, handed), O_COUNTER) === word)
      return QUEUED + handOn(s, handed);
  }
}

/** Takes n of the value. Returns ADMITTED, REFUSED if the value is less, or ANSWER_CLOSED. */
export function tryCountDown(s: usize, n: i32): i32 {
  while (true) {
    const word = atomic.load<i64>(s, O_COUNTER);
    if (isClosedCounter(word)) return ANSWER_CLOSED;
    if ((word & VALUE_MASK) < (n as i64)) return REFUSED;
    if (atomic.cmpxchg<i64>(s, word, word - (n as i64), O_COUNTER) === word) return ADMITTED;
  }
}

/**
 * Subtracts as much of n from `waiting` as it can, for a counted caller that is cancelled or finds the queue closed.
 * Returns how many of the n are left. As many permits have been handed on for the caller, and the caller must try to
 * acquire them from the queue. If the queue is closed and all n have been handed on, the caller is through.
 */
export function cancelWaiting(s: usize, n: i32): i32 {
  while (true) {
    const word = atomic.load<i64>(s, O_COUNTER);
    const waiting = (isClosedCounter(word) ? word - CLOSED_COUNTER : word) >> WAITING_SHIFT;
    const out = min(n as i64, waiting);
    if (out <= 0) return n;
    if (atomic.cmpxchg<i64>(s, word, word - (out << WAITING_SHIFT), O_COUNTER) === word) return n - (out as i32);
  }
}

/**
 * Adds n, 0 or more, to the value. Returns the answer of handOn, or 0 if the queue is closed. Returns ANSWER_OVER_MAX,
 * and changes nothing, if n is not 0 and the value would pass the maximum. With GIVE_BACK the value may pass the
 * maximum.
 */
export function countUp(s: usize, n: i32, notify: i32): i32 {
  const most = atomic.load<i32>(s, O_MOST) as i64;
  while (true) {
    const word = atomic.load<i64>(s, O_COUNTER);
    if (isClosedCounter(word)) return 0;
    const raised = word + (n as i64);
    let limit = (word & VALUE_MASK) + (n as i64);
    if (limit > most && n !== 0 && notify !== GIVE_BACK) return ANSWER_OVER_MAX;
    if (notify === NOTIFY_NONE) limit = 0;
    if (notify === NOTIFY_ONE) limit = min(limit, max(1, atomic.load<i32>(s, O_WIDEST)) as i64);
    const handed = mostToHandOn(raised, limit);
    // R13 begins
    if (atomic.cmpxchg<i64>(s, word, afterHanding(raised, handed), O_COUNTER) === word) return handOn(s, handed);
  }
}

/** Closes the counter. The caller does so before it disposes of the queue. */
export function closeCounter(s: usize): void {
  while (true) {
    const word = atomic.load<i64>(s, O_COUNTER);
    if (isClosedCounter(word) || atomic.cmpxchg<i64>(s, word, word + CLOSED_COUNTER, O_COUNTER) === word) return;
  }
}

/** Returns the value, 0 if the counter is closed. It may be out of date at once. */
export function counted(s: usize): i32 {
  const word = atomic.load<i64>(s, O_COUNTER);
  return isClosedCounter(word) ? 0 : ((word & VALUE_MASK) as i32);
}
