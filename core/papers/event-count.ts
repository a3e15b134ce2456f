/**
 * Event counts and sequencers. Source: Reed and Kanodia, Synchronization with Eventcounts and Sequencers. Dice and
 * Kogan, Semaphores Augmented with a Waiting Array, remark that the waiting array fits them.
 *
 *     event count   count (GRANT)     advance adds to it; await sleeps until it has reached a value
 *     sequencer     next (TICKET)     ticket takes one: a total order of the callers
 *
 * A ticket semaphore is an event count and a sequencer in one object: acquire takes a ticket and awaits ticket + 1, and
 * release is advance. An event count alone has no tickets that tell who waits, and many threads may wait for one value.
 * So a thread waits under a key made of event count and value. Its chain is woken as a whole, and the count is passed
 * along the chain (chains.ts). advance looks into the chain of each value that the count has reached.
 */

import { ADMITTED, ANSWER_CLOSED } from '../answers';
import { chainMask } from '../arena/arena';
import { closeObject } from '../arena/objects';
import { GRANT, O_SPIN, TICKET } from '../arena/words';
import { keyOf } from '../queue/waiting-array';
import { addressSignalPolite, addressWaitUntil, satisfied } from './chains';

/** Adds n, 1 or more, and wakes the waiters for values that have been reached. */
export function eventAdvance(o: usize, n: i32): void {
  const before = atomic.add<i64>(o, n, GRANT);
  // Consecutive values go round all the chains, so that many steps meet each of them.
  const count = min(n as i64, (chainMask as i64) + 1);
  for (let i: i64 = 1; i <= count; i++) addressSignalPolite(keyOf(o, before + i), o, before + n);
}

/** Returns the count, below 0 if it is closed. */
export function eventRead(o: usize): i64 {
  return atomic.load<i64>(o, GRANT);
}

/**
 * Waits until the count has reached the value. Returns ADMITTED or ANSWER_CLOSED.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that must not block
 */
export function eventAwait(o: usize, value: i64): i32 {
  let count = eventRead(o);
  if (!satisfied(count, value - 1)) {
    count = addressWaitUntil(keyOf(o, value), o, value - 1, atomic.load<i32>(o, O_SPIN), true);
  }
  return count < 0 ? ANSWER_CLOSED : ADMITTED;
}

/** Disposes of the event count, and wakes its waiters. */
export function eventDispose(o: usize): void {
  if (!closeObject(o)) return;
  for (let key: u32 = 0; key <= chainMask; key++) addressSignalPolite(key, 0, 0);
}

/** Takes the next ticket. Tickets are consecutive. */
export function sequencerTicket(o: usize): i64 {
  return atomic.add<i64>(o, 1, TICKET);
}

/** Disposes of the sequencer, for which nobody waits. */
export function sequencerDispose(o: usize): void {
  closeObject(o);
}
