/**
 * Ticket-Semaphore, Listing 1 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
 *
 * Every waiter polls grant, as the listing's global spinning has it; when its budget is spent it parks on
 * grant itself, so a release wakes the whole herd and all but one go back to sleep. It is the baseline the
 * waiting array is measured against.
 *
 * The wait compares all 64 bits of grant with the value that was too small, in one step with going to
 * sleep; the poster changes grant before it notifies. So a waiter sees the new grant or is woken.
 */
import { ADMITTED, ANSWER_CLOSED, GRANT, MORE, O_SPIN, QUEUED, TICKET } from '../memory/layout';
import { closeObject } from '../memory/objects';
import { lastTicket, setLastTicket } from './core';
import { countFutileWake } from './counting';
import { relax } from './relax';

/** Takes a ticket. ADMITTED if it is due, or QUEUED: then ticketAwait must follow. Calls nothing and never blocks. */
export function ticketAcquire(s: usize): i32 {
  const ticket = atomic.add<i64>(s, 1, TICKET);
  setLastTicket(ticket);
  return atomic.load<i64>(s, GRANT) > ticket ? ADMITTED : QUEUED;
}

/** Blocks until it is the turn of the ticket just taken. ADMITTED or ANSWER_CLOSED. */
export function ticketAwait(s: usize): i32 {
  const ticket = lastTicket();
  let grant = atomic.load<i64>(s, GRANT);
  let polls = atomic.load<i32>(s, O_SPIN);
  while (true) {
    if (grant > ticket) return ADMITTED;
    if (grant < 0) return ANSWER_CLOSED;
    if (polls !== 0) {
      polls = relax(polls);
      grant = atomic.load<i64>(s, GRANT);
    } else {
      atomic.wait<i64>(s + GRANT, grant, -1);
      grant = atomic.load<i64>(s, GRANT);
      if (grant <= ticket) countFutileWake();
    }
  }
}

/** Both. */
export function ticketTake(s: usize): i32 {
  return ticketAcquire(s) === ADMITTED ? ADMITTED : ticketAwait(s);
}

/**
 * Gives n permits back in one step. ADMITTED if nobody waits, or MORE: then ticketPost must follow. Calls nothing and
 * never blocks.
 */
export function ticketRelease(s: usize, n: i32): i32 {
  const grant = atomic.add<i64>(s, n, GRANT);
  return atomic.load<i64>(s, TICKET) > grant ? MORE : ADMITTED;
}

/** Wakes everybody who waits. */
export function ticketPost(s: usize): void {
  wakeAll(s);
}

/** Gives n permits back in one step, and wakes everybody if anybody waits. */
export function ticketGive(s: usize, n: i64): void {
  const grant = atomic.add<i64>(s, n, GRANT);
  if (atomic.load<i64>(s, TICKET) > grant) wakeAll(s);
}

/** Disposes of it: every waiter is told. */
export function ticketDispose(s: usize): void {
  if (closeObject(s)) wakeAll(s);
}

function wakeAll(s: usize): void {
  atomic.notify(s + GRANT, -1);
}
