/**
 * TicketLock: the ticket lock, as Dice, Capacitors, uses it for an inner lock.
 *
 * It is the ticket semaphore with one permit (ticket-semaphore.ts) and an owner. Exclusion and order are the
 * semaphore's: a permit goes to the lowest ticket that has none, and with one permit nobody is overtaken. An owner
 * is the thread whose ticket is grant - 1, and the word says so until it raises grant.
 */
import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_HELD,
  ANSWER_NOT_HELD,
  GRANT,
  REFUSED,
  TICKET,
} from '../memory/layout';
import { setLastTicket } from './core';
import { disown, holds, own } from './ownership';
import { ticketDispose, ticketGive, ticketTake } from './ticket-semaphore';

/** Takes the lock, blocking until it is this thread's turn. ADMITTED, ANSWER_CLOSED or ANSWER_HELD. */
export function ticketLock(s: usize): i32 {
  if (holds(s)) return ANSWER_HELD;
  const answer = ticketTake(s);
  if (answer === ADMITTED) own(s);
  return answer;
}

/** Takes the lock if it is free and nobody waits. ADMITTED, REFUSED or ANSWER_CLOSED. */
export function ticketTryLock(s: usize): i32 {
  const answer = takeIfDue(s);
  if (answer === ADMITTED) own(s);
  return answer;
}

/** Takes a ticket if it is due at once. */
export function takeIfDue(s: usize): i32 {
  const ticket = atomic.load<i64>(s, TICKET);
  const grant = atomic.load<i64>(s, GRANT);
  if (grant < 0) return ANSWER_CLOSED;
  if (grant <= ticket || atomic.cmpxchg<i64>(s, ticket, ticket + 1, TICKET) !== ticket) return REFUSED;
  setLastTicket(ticket);
  return ADMITTED;
}

/** Gives the lock back. ADMITTED or ANSWER_NOT_HELD. Never blocks. */
export function ticketUnlock(s: usize): i32 {
  if (!holds(s)) return ANSWER_NOT_HELD;
  disown(s);
  ticketGive(s, 1);
  return ADMITTED;
}

/** Disposes of it: every waiter is told. If the calling thread holds it, it does no more. */
export function ticketLockDispose(s: usize): void {
  ticketDispose(s);
  if (holds(s)) disown(s);
}
