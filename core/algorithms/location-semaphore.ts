/**
 * The ticket semaphore over locations: Listing 5 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
 *
 * A waiter waits at the location of its ticket until grant has passed that; a release moves grant and wakes all at
 * the locations of the tickets that became due, unless there are no more tickets than grants.
 */
import { bucketMask } from '../arena';
import { ADMITTED, ANSWER_CLOSED, GRANT, O_SPIN, TICKET } from '../layout';
import { closeObject } from '../objects';
import { keyOf } from '../waiting-array';
import { chainOf, satisfied } from './chains';
import { setLastTicket } from './core';
import { locationWait, locationWakeAll, locationWakeAllPolite } from './locations';

/** Takes a permit, blocking until it is this thread's turn. ADMITTED or ANSWER_CLOSED. */
export function locationAcquire(s: usize): i32 {
  const ticket = atomic.add<i64>(s, 1, TICKET);
  setLastTicket(ticket);
  const grant = atomic.load<i64>(s, GRANT);
  if (grant > ticket) return ADMITTED;
  return wait(s, ticket) > ticket ? ADMITTED : ANSWER_CLOSED;
}

function wait(s: usize, ticket: i64): i64 {
  const location = chainOf(keyOf(s, ticket));
  const polls = atomic.load<i32>(s, O_SPIN);
  while (true) {
    locationWait(location, polls);
    const grant = atomic.load<i64>(s, GRANT);
    if (satisfied(grant, ticket)) return grant;
  }
}

/** Gives n permits back. Chains on which nobody waits are read at most. */
export function locationRelease(s: usize, n: i32): void {
  const grant = atomic.add<i64>(s, n, GRANT);
  const waiting = atomic.load<i64>(s, TICKET) - grant;
  // Tickets in a row go round all the locations, so that many steps meet each of them.
  const count = min(min(n as i64, waiting), (bucketMask as i64) + 1);
  for (let i: i64 = 0; i < count; i++) locationWakeAllPolite(chainOf(keyOf(s, grant + i)));
}

/** The same for one permit, without the short-cut. */
export function locationReleaseConservative(s: usize): void {
  locationWakeAll(chainOf(keyOf(s, atomic.add<i64>(s, 1, GRANT))));
}

/** Disposes of it and wakes all everywhere: whoever waits looks at its counter again. */
export function locationDispose(s: usize): void {
  if (!closeObject(s)) return;
  for (let key: u32 = 0; key <= bucketMask; key++) locationWakeAllPolite(chainOf(key));
}
