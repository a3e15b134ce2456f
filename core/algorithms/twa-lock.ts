/**
 * TwaLock: the ticket lock augmented with a waiting array, by Dice and Kogan, of which the TWA-Semaphore is made.
 *
 * It is that semaphore with one permit (twa-semaphore.ts) and an owner; exclusion and order are the semaphore's. A
 * waiter next in line polls grant, the others wait in the array, so that a hand-over disturbs two waiters at most.
 */
import { ADMITTED, ANSWER_HELD, ANSWER_NOT_HELD } from '../memory/layout';
import { disown, holds, own } from './ownership';
import { ticketTryLock } from './ticket-lock';
import { twaDispose, twaGive, twaTake } from './twa-semaphore';

/** Takes the lock, blocking until it is this thread's turn. ADMITTED, ANSWER_CLOSED or ANSWER_HELD. */
export function twaLock(s: usize): i32 {
  if (holds(s)) return ANSWER_HELD;
  const answer = twaTake(s);
  if (answer === ADMITTED) own(s);
  return answer;
}

/** Takes the lock if it is free and nobody waits. ADMITTED, REFUSED or ANSWER_CLOSED. */
export function twaTryLock(s: usize): i32 {
  return ticketTryLock(s);
}

/** Gives the lock back. ADMITTED or ANSWER_NOT_HELD. Never blocks. */
export function twaUnlock(s: usize): i32 {
  if (!holds(s)) return ANSWER_NOT_HELD;
  disown(s);
  twaGive(s, 1);
  return ADMITTED;
}

/** Disposes of it: every waiter is told. If the calling thread holds it, it does no more. */
export function twaLockDispose(s: usize): void {
  twaDispose(s);
  if (holds(s)) disown(s);
}
