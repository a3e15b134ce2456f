/**
 * The counter of a BinarySemaphore or CountingSemaphore: a value beside the queue of a Semaphore.
 *
 *     value word    waiting << 32 | value          the queue (ticket, grant): permits that were handed on
 *                       │         └── takers, until it is 0 ──► through
 *                       └── then they count themselves here, and acquire a permit of the queue
 *     signal n      value += n;  k = 0 for none, min(1, value, waiting) for one, min(value, waiting) for all;
 *                   value -= k, waiting -= k, all in one exchange;  then the queue is given k permits
 *
 * Source: P0514R1, 32.10. There a signal of `none` leaves the value behind with sleepers beside it, which neither
 * of Semaphore's counters can say; so the value is a word of its own. What a signal hands on is as if those it
 * unblocks had taken it in that very instant. Who could not take anything would only go back to sleep, so is let sleep.
 *
 * Invariant: waiting + permits handed on and not acquired = those who have counted themselves and are not through.
 * So each of them is, or will be, handed a permit of its own, and the queue (core/semaphore.ts) loses no wake-up:
 * it remembers a permit that is handed on before its waiter has taken a ticket. While nobody signals with `one` or
 * `none`, value > 0 means that nobody is counted as waiting, so that no one who comes later finds one to take.
 *
 * Giving up: who can take itself out of `waiting` again holds nothing. If nobody is left there, a permit has been
 * handed to each, to the one that gives up too: it takes that, which is there or on its way. But having left its place
 * in the queue, it must not wait there without end: somebody who came later may take that permit, and then is counted
 * in its place. So it looks at both in turn, until one of them lets it go.
 *
 * Closing leaves `waiting` as it is, so that those who find the queue closed know by the same rule how many of them had
 * been handed a permit before: they are through.
 *
 * Dying: a request that is given up in a dead thread's name takes its one out of `waiting` whatever that is. If it
 * becomes -1, a permit lies in the queue for whoever waits next; tryCountDown does not find it until then. (A thread
 * that dies between counting itself and taking a ticket leaves `waiting` 1 too high: then the same, a signal later.)
 *
 * The core needs of this only forsake and isCounter; the rest is exported by the module of the algorithms.
 */
import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_OVER_MAX,
  CLOSED_COUNTER,
  COUNTER_CLOSED_BELOW,
  KIND_BINARY_SEMAPHORE,
  KIND_COUNTING_SEMAPHORE,
  NOTIFY_ALL,
  NOTIFY_NONE,
  O_COUNTER,
  O_KIND,
  O_MOST,
  ONE_WAITING,
  QUEUED,
  REFUSED,
  VALUE_MASK,
  WAITING_SHIFT,
} from '../memory/layout';

/** A closed counter lies so far below 0 as no number of dead waiters could push another. */
function isClosed(word: i64): bool {
  return word < COUNTER_CLOSED_BELOW;
}

/** Whether objects of this kind have a counter. */
export function isCounter(kind: i32): bool {
  return kind === KIND_BINARY_SEMAPHORE || kind === KIND_COUNTING_SEMAPHORE;
}

/** So many requests have been given up in the name of a thread, on an object of whatever kind. */
export function forsake(s: usize, requests: i64): void {
  if (isCounter(atomic.load<i32>(s, O_KIND))) atomic.sub<i64>(s, requests << WAITING_SHIFT, O_COUNTER);
}

/** Takes 1 of the value, or counts the caller as waiting. ADMITTED, QUEUED (acquire must follow) or ANSWER_CLOSED. */
export function countDown(s: usize): i32 {
  while (true) {
    const word = atomic.load<i64>(s, O_COUNTER);
    if (isClosed(word)) return ANSWER_CLOSED;
    const free = (word & VALUE_MASK) > 0;
    if (atomic.cmpxchg<i64>(s, word, free ? word - 1 : word + ONE_WAITING, O_COUNTER) === word)
      return free ? ADMITTED : QUEUED;
  }
}

/** Takes 1 of the value. ADMITTED, REFUSED if it is 0, or ANSWER_CLOSED. */
export function tryCountDown(s: usize): i32 {
  while (true) {
    const word = atomic.load<i64>(s, O_COUNTER);
    if (isClosed(word)) return ANSWER_CLOSED;
    if ((word & VALUE_MASK) === 0) return REFUSED;
    if (atomic.cmpxchg<i64>(s, word, word - 1, O_COUNTER) === word) return ADMITTED;
  }
}

/**
 * Who has counted itself as waiting will not wait any longer, or finds the queue closed. REFUSED: it is out, and holds
 * nothing. ADMITTED: it has been handed a permit, and must try to acquire of the queue; it is through if that is closed.
 */
export function withdraw(s: usize): i32 {
  while (true) {
    const word = atomic.load<i64>(s, O_COUNTER);
    if ((isClosed(word) ? word - CLOSED_COUNTER : word) < ONE_WAITING) return ADMITTED;
    if (atomic.cmpxchg<i64>(s, word, word - ONE_WAITING, O_COUNTER) === word) return REFUSED;
  }
}

/**
 * Adds n, 1 or more, to the value. How many permits the caller must release to the queue; ANSWER_OVER_MAX when the
 * value would pass the maximum (then nothing has changed); 0 when it is closed.
 */
export function countUp(s: usize, n: i32, notify: i32): i32 {
  const most = atomic.load<i32>(s, O_MOST) as i64;
  while (true) {
    const word = atomic.load<i64>(s, O_COUNTER);
    if (isClosed(word)) return 0;
    const value = (word & VALUE_MASK) + (n as i64);
    if (value > most) return ANSWER_OVER_MAX;
    const limit: i64 = notify === NOTIFY_ALL ? value : notify === NOTIFY_NONE ? 0 : 1;
    const handed = max(0, min(limit, word >> WAITING_SHIFT));
    const next = word + (n as i64) - handed - (handed << WAITING_SHIFT);
    if (atomic.cmpxchg<i64>(s, word, next, O_COUNTER) === word) return handed as i32;
  }
}

/** Closes it; to be called before the queue is disposed of. */
export function closeCounter(s: usize): void {
  while (true) {
    const word = atomic.load<i64>(s, O_COUNTER);
    if (isClosed(word) || atomic.cmpxchg<i64>(s, word, word + CLOSED_COUNTER, O_COUNTER) === word) return;
  }
}

/** The value now, 0 if it is closed. Racy by nature. */
export function counted(s: usize): i32 {
  const word = atomic.load<i64>(s, O_COUNTER);
  return isClosed(word) ? 0 : ((word & VALUE_MASK) as i32);
}
