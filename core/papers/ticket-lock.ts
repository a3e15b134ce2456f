/**
 * TicketLock: the ticket lock, as Dice, Capacitors, uses it for an inner lock.
 *
 * It is the ticket semaphore with one permit (ticket-semaphore.ts) and an owner. Exclusion and order are those of the
 * semaphore: a permit goes to the lowest ticket that has none, and with one permit nobody is overtaken. The owner is
 * the thread whose ticket is grant - 1, until it raises grant.
 */
import { ADMITTED, ANSWER_CLOSED, ANSWER_HELD, ANSWER_NOT_HELD, REFUSED } from '../answers';
import { setLastTicket } from '../arena/threads';
import { GRANT, TICKET } from '../arena/words';
import { disown, holds, own } from './ownership';
import { ticketDispose, ticketGive, ticketTake } from './ticket-semaphore';

/**
 * Blocks until this thread has the lock. Returns ADMITTED, ANSWER_CLOSED or ANSWER_HELD.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that must not block
 */
export function ticketLock(s: usize): i32 {
  if (holds(s)) return ANSWER_HELD;
  const answer = ticketTake(s);
  if (answer === ADMITTED) own(s);
  return answer;
}

/** Takes the lock if it is free and nobody waits. Returns ADMITTED, REFUSED or ANSWER_CLOSED. */
export function ticketTryLock(s: usize): i32 {
  const answer = takeIfDue(s);
  if (answer === ADMITTED) own(s);
  return answer;
}

/** Takes a ticket if it is due at once. Returns ADMITTED, REFUSED or ANSWER_CLOSED. */
export function takeIfDue(s: usize): i32 {
  const ticket = atomic.load<i64>(s, TICKET);
  const grant = atomic.load<i64>(s, GRANT);
  if (grant < 0) return ANSWER_CLOSED;
  if (grant <= ticket || atomic.cmpxchg<i64>(s, ticket, ticket + 1, TICKET) !== ticket) return REFUSED;
  setLastTicket(ticket);
  return ADMITTED;
}

/** Gives the lock back. Returns ADMITTED or ANSWER_NOT_HELD. Never blocks. */
export function ticketUnlock(s: usize): i32 {
  if (!holds(s)) return ANSWER_NOT_HELD;
  disown(s);
  ticketGive(s, 1);
  return ADMITTED;
}

/** Disposes of the lock, and wakes its waiters. The calling thread then no longer holds it. */
export function ticketLockDispose(s: usize): void {
  ticketDispose(s);
  if (holds(s)) disown(s);
}
