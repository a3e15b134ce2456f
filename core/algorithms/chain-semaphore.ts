/**
 * The ticket semaphore over waiting chains: Listing 3 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
 *
 * A waiter waits under the key of its ticket until grant has passed that; a release moves grant and signals the
 * keys of the tickets that became due. Absent collisions that wakes those threads and no others. The object says
 * how chains are woken: WAKE_ALL as in the listing, WAKE_PASS and WAKE_DUE with its text's refinements.
 *
 * The short-cut of Listing 2 applies here too: whoever takes a ticket does so before it looks at grant, and a
 * release moves grant before it looks at ticket, so when there are no more tickets than grants nobody waits.
 */
import { bucketMask } from '../memory/arena';
import {
  ADMITTED,
  ANSWER_CLOSED,
  GRANT,
  O_SPIN,
  O_WAKE,
  TICKET,
  WAKE_DUE,
  WAKE_PASS,
} from '../memory/layout';
import { closeObject } from '../memory/objects';
import { addressSignal, addressSignalPolite, addressWaitUntil } from './chains';
import { setLastTicket } from './core';
import { dueSignal, dueWait } from './due-chains';
import { mostTickets, slotOf } from './hashes';

/** Takes a permit, blocking until it is this thread's turn. ADMITTED or ANSWER_CLOSED. */
export function chainAcquire(s: usize): i32 {
  const ticket = atomic.add<i64>(s, 1, TICKET);
  setLastTicket(ticket);
  const grant = atomic.load<i64>(s, GRANT);
  if (grant > ticket) return ADMITTED;
  if (grant < 0) return ANSWER_CLOSED;
  return wait(s, ticket) ? ADMITTED : ANSWER_CLOSED;
}

function wait(s: usize, ticket: i64): bool {
  const key = slotOf(s, ticket);
  const polls = atomic.load<i32>(s, O_SPIN);
  const wakes = atomic.load<i32>(s, O_WAKE);
  if (wakes === WAKE_DUE) return dueWait(key, s, ticket, polls);
  return addressWaitUntil(key, s, ticket, polls, wakes === WAKE_PASS) > ticket;
}

/** Gives n permits back. Chains on which nobody waits are read at most. */
export function chainRelease(s: usize, n: i32): void {
  const grant = atomic.add<i64>(s, n, GRANT);
  const waiting = atomic.load<i64>(s, TICKET) - grant;
  if (waiting <= 0) return;
  const wakes = atomic.load<i32>(s, O_WAKE);
  const count = mostTickets(s, min(n as i64, waiting));
  for (let i: i64 = 0; i < count; i++) {
    const key = slotOf(s, grant + i);
    if (wakes === WAKE_DUE) dueSignal(key);
    else addressSignalPolite(key, wakes === WAKE_PASS ? s : 0, grant + n);
  }
}

/** SemaPost as the listing has it: exchanges the head of a chain each time, whether anybody waits or not. */
export function chainReleaseConservative(s: usize): void {
  const grant = atomic.add<i64>(s, 1, GRANT);
  const wakes = atomic.load<i32>(s, O_WAKE);
  const key = slotOf(s, grant);
  if (wakes === WAKE_DUE) dueSignal(key);
  else addressSignal(key, wakes === WAKE_PASS ? s : 0, grant + 1);
}

/** Disposes of it and signals every key: whoever waits anywhere looks at its counter again. */
export function chainDispose(s: usize): void {
  if (!closeObject(s)) return;
  const isDue = atomic.load<i32>(s, O_WAKE) === WAKE_DUE;
  for (let key: u32 = 0; key <= bucketMask; key++) {
    if (isDue) dueSignal(key);
    else addressSignalPolite(key, 0, 0);
  }
}
