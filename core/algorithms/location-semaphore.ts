/**
 * The ticket semaphore over locations: Listing 5 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
 *
 * A waiter waits at the location of its ticket until grant has passed that; a release moves grant and wakes all at
 * the locations of the tickets that became due, unless there are no more tickets than grants.
 */
import { bucketMask } from '../memory/arena';
import { ADMITTED, ANSWER_CLOSED, GRANT, O_SPIN, TICKET } from '../memory/layout';
import { closeObject } from '../memory/objects';
import { chainOf, satisfied } from './chains';
import { setLastTicket } from './core';
import { countFutileWake } from './counting';
import { mostTickets, slotOf } from './hashes';
import { isEmplacedAt, locationWait, locationWakeAll, locationWakeAllPolite } from './locations';

/** Takes a permit, blocking until it is this thread's turn. ADMITTED or ANSWER_CLOSED. */
export function locationAcquire(s: usize): i32 {
  const ticket = atomic.add<i64>(s, 1, TICKET);
  setLastTicket(ticket);
  const grant = atomic.load<i64>(s, GRANT);
  if (grant > ticket) return ADMITTED;
  return wait(s, ticket) > ticket ? ADMITTED : ANSWER_CLOSED;
}

function wait(s: usize, ticket: i64): i64 {
  const location = chainOf(slotOf(s, ticket));
  const polls = atomic.load<i32>(s, O_SPIN);
  // Every other call waits; the first emplaces the thread, or waits where it was left from the last time.
  let waits = isEmplacedAt(location);
  while (true) {
    locationWait(location, polls);
    const grant = atomic.load<i64>(s, GRANT);
    if (satisfied(grant, ticket)) return grant;
    if (waits) countFutileWake();
    waits = !waits;
  }
}

/** Gives n permits back. Chains on which nobody waits are read at most. */
export function locationRelease(s: usize, n: i32): void {
  const grant = atomic.add<i64>(s, n, GRANT);
  const waiting = atomic.load<i64>(s, TICKET) - grant;
  const count = mostTickets(s, min(n as i64, waiting));
  for (let i: i64 = 0; i < count; i++) locationWakeAllPolite(chainOf(slotOf(s, grant + i)));
}

/** The same for one permit, without the short-cut. */
export function locationReleaseConservative(s: usize): void {
  locationWakeAll(chainOf(slotOf(s, atomic.add<i64>(s, 1, GRANT))));
}

/** Disposes of it and wakes all everywhere: whoever waits looks at its counter again. */
export function locationDispose(s: usize): void {
  if (!closeObject(s)) return;
  for (let key: u32 = 0; key <= bucketMask; key++) locationWakeAllPolite(chainOf(key));
}
