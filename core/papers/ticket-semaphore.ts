/**
 * Ticket-Semaphore, Listing 1 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
 *
 *     acquire   takes ticket t  ►  waits until grant > t
 *     release   adds n to grant  ►  wakes all waiters, if there is one
 *
 * Every waiter polls grant, as in the listing (global spinning). When the budget of a waiter is spent, the waiter parks
 * on grant itself. So a release of one permit wakes all parked waiters, and all but one go back to sleep. If the waiters
 * poll for ever, nobody parks, and a release only adds to grant, as in the listing. This semaphore is the baseline for
 * the semaphores that use the waiting array.
 *
 * Between two looks at grant a waiter may pause in proportion to its distance, as a comment of the listing proposes. It
 * makes O_DELAY pauses for each ticket ahead of it, and none by default. So waiters that are far disturb the cache line
 * of grant less often than the next waiter in the queue. The pauses between two looks are bounded, and each look costs
 * one poll of the budget. So a waiter soon sees that it has come near or that its semaphore is disposed of, and in the
 * end it parks as without a delay.
 *
 * Why no waiter sleeps for ever. The wait compares all 64 bits of grant with the value that was too small, and goes to
 * sleep in the same step. The releasing thread changes grant before it notifies. So a waiter sees the new grant or is
 * woken.
 */
import { ADMITTED, ANSWER_CLOSED, MORE, QUEUED } from '../answers';
import { closeObject } from '../arena/objects';
import { setLastTicket, ticketTaken } from '../arena/threads';
import { GRANT, O_SPIN, TICKET } from '../arena/words';
import { pause } from '../queue/polling';
import { countFutileWake } from './counting';
import { relax } from './relax';
import { FOR_EVER, O_DELAY } from './words';

/** The most pauses between two looks at grant: about a millisecond. */
const LONGEST: i64 = 100_000;

/**
 * Takes a ticket. ADMITTED if it is due, or QUEUED: ticketAwait must follow. Calls nothing and never blocks.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that must not block
 */
export function ticketAcquire(s: usize): i32 {
  const ticket = atomic.add<i64>(s, 1, TICKET);
  setLastTicket(ticket);
  return atomic.load<i64>(s, GRANT) > ticket ? ADMITTED : QUEUED;
}

/** Blocks until it is the turn of the ticket just taken. Returns ADMITTED or ANSWER_CLOSED. */
export function ticketAwait(s: usize): i32 {
  return awaitTurn(s, 0);
}

/**
 * Returns how much longer a waiter pauses between two looks for each ticket ahead. If it is not 0, the waiter calls
 * ticketAwaitDelayed.
 */
export function ticketDelay(s: usize): i32 {
  return atomic.load<i32>(s, O_DELAY);
}

/**
 * Does the same as ticketAwait, with the delay of ticketDelay. The objects of other kinds that use this file have no
 * delay.
 */
export function ticketAwaitDelayed(s: usize): i32 {
  return awaitTurn(s, ticketDelay(s));
}

function awaitTurn(s: usize, delay: i64): i32 {
  const ticket = ticketTaken;
  let grant = atomic.load<i64>(s, GRANT);
  let polls = atomic.load<i32>(s, O_SPIN);
  while (true) {
    if (grant > ticket) return ADMITTED;
    if (grant < 0) return ANSWER_CLOSED;
    if (polls !== 0) {
      polls = relax(polls);
      // The distance is bounded too, so that the product cannot overflow.
      for (let left = min(min(ticket - grant, LONGEST) * delay, LONGEST); left > 0; left--) pause();
      grant = atomic.load<i64>(s, GRANT);
    } else {
      atomic.wait<i64>(s + GRANT, grant, -1);
      grant = atomic.load<i64>(s, GRANT);
      if (grant <= ticket) countFutileWake();
    }
  }
}

/** Calls ticketAcquire, and ticketAwait if that must follow. */
export function ticketTake(s: usize): i32 {
  return ticketAcquire(s) === ADMITTED ? ADMITTED : ticketAwait(s);
}

/**
 * Gives n permits back at once. ADMITTED if nobody waits, or MORE: ticketPost must follow. Calls nothing, never blocks.
 */
export function ticketRelease(s: usize, n: i32): i32 {
  const grant = atomic.add<i64>(s, n, GRANT);
  return mayPark(s) && atomic.load<i64>(s, TICKET) > grant ? MORE : ADMITTED;
}

/** Whether a waiter may park. */
function mayPark(s: usize): bool {
  return atomic.load<i32>(s, O_SPIN) !== FOR_EVER;
}

/** Wakes every waiter. */
export function ticketPost(s: usize): void {
  wakeAll(s);
}

/** Gives n permits back in one step, and wakes every waiter, if there is one. */
export function ticketGive(s: usize, n: i64): void {
  const grant = atomic.add<i64>(s, n, GRANT);
  if (mayPark(s) && atomic.load<i64>(s, TICKET) > grant) wakeAll(s);
}

/** Disposes of the semaphore, and wakes its waiters. */
export function ticketDispose(s: usize): void {
  if (closeObject(s)) wakeAll(s);
}

function wakeAll(s: usize): void {
  atomic.notify(s + GRANT, -1);
}
