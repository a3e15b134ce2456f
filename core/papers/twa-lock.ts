/**
 * TwaLock: the ticket lock augmented with a waiting array, by Dice and Kogan, from which the TWA-Semaphore is made.
 *
 * The lock is a TWA-Semaphore with one permit (twa-semaphore.ts) and an owner. Exclusion and order are those of the
 * semaphore. The first waiter polls grant and the others wait in the array, so a hand-over disturbs at most two
 * threads.
 *
 * The waiters of the lock stand in buckets, or on chains as the waiters of the semaphore in near-and-far.ts do: the
 * mark ON_CHAINS beside the hash says which. Ticket and grant are the same in both cases, so only a thread that waits
 * or wakes reads this mark.
 */
import { ADMITTED, ANSWER_HELD, ANSWER_NOT_HELD } from '../answers';
import { ticketTaken } from '../arena/threads';
import { GRANT } from '../arena/words';
import { awaitTurn, dispose, post } from './near-and-far';
import { disown, holds, own } from './ownership';
import { ticketTryLock } from './ticket-lock';
import { grantBefore, twaAcquire, twaAwait, twaDispose, twaPost, twaRelease, waiters } from './twa-semaphore';
import { O_HASH, ON_CHAINS } from './words';

/** Whether the waiters of the lock stand on chains, and each needs an element (borrowed.ts). */
export function twaIsOnChains(s: usize): bool {
  return (atomic.load<i32>(s, O_HASH) & ON_CHAINS) !== 0;
}

function awaitLock(s: usize): i32 {
  return twaIsOnChains(s) ? awaitTurn(s, ticketTaken, atomic.load<i64>(s, GRANT)) : twaAwait(s);
}

/**
 * Blocks until this thread has the lock. Returns ADMITTED, ANSWER_CLOSED or ANSWER_HELD.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that must not block
 */
export function twaLock(s: usize): i32 {
  if (holds(s)) return ANSWER_HELD;
  const answer = twaAcquire(s) === ADMITTED ? ADMITTED : awaitLock(s);
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
  if (twaRelease(s, 1) !== ADMITTED) {
    if (twaIsOnChains(s)) post(s, grantBefore, 1, waiters);
    else twaPost(s);
  }
  return ADMITTED;
}

/** Disposes of the lock, and wakes its waiters. The calling thread then no longer holds it. */
export function twaLockDispose(s: usize): void {
  if (twaIsOnChains(s)) dispose(s);
  else twaDispose(s);
  if (holds(s)) disown(s);
}
