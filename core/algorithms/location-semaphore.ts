/**
 * The ticket semaphore over locations: Listing 5 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
 *
 * A waiter waits at the location of its ticket until grant has passed the ticket. A release moves grant and wakes all
 * at the locations of the tickets that became due, unless there are no more tickets than grants.
 */
import { chainMask } from '../memory/arena';
import { ADMITTED, ANSWER_CLOSED, GRANT, O_SPIN, TICKET } from '../memory/layout';
import { closeObject } from '../memory/objects';
import { chainOf, satisfied } from './chains';
import { setLastTicket } from './core';
import { countFutileWake } from './counting';
import { chainSlotOf, mostChains } from './hashes';
import { isEmplacedAt, locationWait, locationWakeAll, locationWakeAllPolite } from './locations';

/** Takes a permit, and blocks until it is this thread's turn. Returns ADMITTED or ANSWER_CLOSED. */
export function locationAcquire(s: usize): i32 {
  const ticket = atomic.add<i64>(s, 1, TICKET);
  setLastTicket(ticket);
  const grant = atomic.load<i64>(s, GRANT);
  if (grant > ticket) return ADMITTED;
  return wait(s, ticket) > ticket ? ADMITTED : ANSWER_CLOSED;
}

function wait(s: usize, ticket: i64): i64 {
  const location = chainOf(chainSlotOf(s, ticket));
  const polls = atomic.load<i32>(s, O_SPIN);
  // Every other call waits. The first emplaces the thread, or waits if the thread is emplaced there from before.
  let waits = isEmplacedAt(location);
  while (true) {
    locationWait(location, polls);
    const grant = atomic.load<i64>(s, GRANT);
    if (satisfied(grant, ticket)) return grant;
    if (waits) countFutileWake();
    waits = !waits;
  }
}

/** Gives n permits back. It only reads a chain on which nobody waits. */
export function locationRelease(s: usize, n: i32): void {
  const grant = atomic.add<i64>(s, n, GRANT);
  const waiting = atomic.load<i64>(s, TICKET) - grant;
  const count = mostChains(s, min(n as i64, waiting));
  for (let i: i64 = 0; i < count; i++) locationWakeAllPolite(chainOf(chainSlotOf(s, grant + i)));
}

/** Gives one permit back, without the short-cut. */
export function locationReleaseConservative(s: usize): void {
  locationWakeAll(chainOf(chainSlotOf(s, atomic.add<i64>(s, 1, GRANT))));
}

/** Disposes of the semaphore and wakes all everywhere, so that each waiter reads its counter again. */
export function locationDispose(s: usize): void {
  if (!closeObject(s)) return;
  for (let key: u32 = 0; key <= chainMask; key++) locationWakeAllPolite(chainOf(key));
}
