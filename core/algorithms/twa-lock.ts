/**
 * TwaLock: the ticket lock augmented with a waiting array, by Dice and Kogan, from which the TWA-Semaphore is made.
 *
 * It is that semaphore with one permit (twa-semaphore.ts) and an owner. Exclusion and order are those of the semaphore.
 * The waiter next in line polls grant and the others wait in the array, so a hand-over disturbs two at most.
 */
import { ADMITTED, ANSWER_HELD, ANSWER_NOT_HELD } from '../memory/layout';
import { disown, holds, own } from './ownership';
import { ticketTryLock } from './ticket-lock';
import { twaDispose, twaGive, twaTake } from './twa-semaphore';

/** Blocks until this thread has the lock. Returns ADMITTED, ANSWER_CLOSED or ANSWER_HELD. */
export function twaLock(s: usize): i32 {
  if (holds(s)) return ANSWER_HELD;
  const answer = twaTake(s);
  if (answer === ADMITTED) own(s);
  return answer;
}

/** Takes the lock if it is free and nobody waits. Returns ADMITTED, REFUSED or ANSWER_CLOSED. */
export function twaTryLock(s: usize): i32 {
  return ticketTryLock(s);
}

/** Gives the lock back. Returns ADMITTED or ANSWER_NOT_HELD. Never blocks. */
export function twaUnlock(s: usize): i32 {
  if (!holds(s)) return ANSWER_NOT_HELD;
  disown(s);
  twaGive(s, 1);
  return ADMITTED;
}

/** Disposes of the lock, and wakes its waiters. The calling thread then no longer holds it. */
export function twaLockDispose(s: usize): void {
  twaDispose(s);
  if (holds(s)) disown(s);
}
