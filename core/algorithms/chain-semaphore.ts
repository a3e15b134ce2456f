/**
 * The ticket semaphore over waiting chains: Listing 3 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
 *
 * A waiter waits under the key of its ticket until grant has passed the ticket. A release moves grant and signals the
 * keys of the tickets that became due. Without collisions that wakes their threads and no others. The object says how
 * chains are woken: WAKE_ALL is the listing, WAKE_PASS and WAKE_DUE are the refinements in its text.
 *
 * The short-cut of Listing 2 applies here too. A thread takes its ticket before it reads grant, and a release moves
 * grant before it reads ticket. So if there are no more tickets than grants, nobody waits.
 */
import { chainMask } from '../memory/arena';
import { ADMITTED, ANSWER_CLOSED, GRANT, O_SPIN, O_WAKE, TICKET, WAKE_DUE, WAKE_PASS } from '../memory/layout';
import { closeObject } from '../memory/objects';
import { addressSignal, addressSignalPolite, addressWaitUntil } from './chains';
import { setLastTicket } from './core';
import { dueSignal, dueWait } from './due-chains';
import { chainSlotOf, mostChains } from './hashes';

/** Takes a permit, and blocks until it is this thread's turn. Returns ADMITTED or ANSWER_CLOSED. */
export function chainAcquire(s: usize): i32 {
  const ticket = atomic.add<i64>(s, 1, TICKET);
  setLastTicket(ticket);
  const grant = atomic.load<i64>(s, GRANT);
  if (grant > ticket) return ADMITTED;
  if (grant < 0) return ANSWER_CLOSED;
  return wait(s, ticket) ? ADMITTED : ANSWER_CLOSED;
}

function wait(s: usize, ticket: i64): bool {
  const key = chainSlotOf(s, ticket);
  const polls = atomic.load<i32>(s, O_SPIN);
  const wakes = atomic.load<i32>(s, O_WAKE);
  if (wakes === WAKE_DUE) return dueWait(key, s, ticket, polls);
  return addressWaitUntil(key, s, ticket, polls, wakes === WAKE_PASS) > ticket;
}

/** Gives n permits back. It only reads a chain on which nobody waits, but with WAKE_DUE adds 1 to its due posts. */
export function chainRelease(s: usize, n: i32): void {
  const grant = atomic.add<i64>(s, n, GRANT);
  const waiting = atomic.load<i64>(s, TICKET) - grant;
  if (waiting <= 0) return;
  const wakes = atomic.load<i32>(s, O_WAKE);
  const count = mostChains(s, min(n as i64, waiting));
  for (let i: i64 = 0; i < count; i++) {
    const key = chainSlotOf(s, grant + i);
    if (wakes === WAKE_DUE) dueSignal(key);
    else addressSignalPolite(key, wakes === WAKE_PASS ? s : 0, grant + n);
  }
}

/** SemaPost as in the listing: exchanges the head of a chain each time, whether a thread waits or not. */
export function chainReleaseConservative(s: usize): void {
  const grant = atomic.add<i64>(s, 1, GRANT);
  const wakes = atomic.load<i32>(s, O_WAKE);
  const key = chainSlotOf(s, grant);
  if (wakes === WAKE_DUE) dueSignal(key);
  else addressSignal(key, wakes === WAKE_PASS ? s : 0, grant + 1);
}

/** Disposes of the semaphore and signals every key, so that each waiter reads its counter again. */
export function chainDispose(s: usize): void {
  if (!closeObject(s)) return;
  const isDue = atomic.load<i32>(s, O_WAKE) === WAKE_DUE;
  for (let key: u32 = 0; key <= chainMask; key++) {
    if (isDue) dueSignal(key);
    else addressSignalPolite(key, 0, 0);
  }
}
