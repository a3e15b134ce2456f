/**
 * Event counts and sequencers. Source: Reed and Kanodia, Synchronization with Eventcounts and Sequencers. Dice and
 * Kogan, Semaphores Augmented with a Waiting Array, remark that their transformation fits both.
 *
 *     event count   count (GRANT)     advance adds to it; await sleeps until it has reached a value
 *     sequencer     next (TICKET)     ticket takes one: a total order of the callers
 *
 * A ticket semaphore is an event count and a sequencer in one object: acquire takes a ticket and awaits ticket + 1, and
 * release is advance. So an event count waits and wakes by the functions of such a semaphore (near-and-far.ts), with near
 * waiters if it has a threshold. A thread that awaits a value waits on the chain of ticket value - 1. An event count has
 * no tickets that tell who waits, and many threads may wait for one value. So advance has no short-cut: it looks into the
 * chain of each value that the count has reached or come near to. A chain is woken as a whole, and the count is passed
 * along it (O_WAKE is WAKE_PASS).
 */

import { ADMITTED, ANSWER_CLOSED } from '../answers';
import { closeObject } from '../arena/objects';
import { GRANT, TICKET } from '../arena/words';
import { satisfied } from './chains';
import { awaitTurn, post } from './near-and-far';

/** Adds n, 1 or more, and wakes the waiters for values that have been reached or have come near. */
export function eventAdvance(o: usize, n: i32): void {
  post(o, atomic.add<i64>(o, n, GRANT), n, i64.MAX_VALUE);
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
  const count = eventRead(o);
  if (!satisfied(count, value - 1)) return awaitTurn(o, value - 1, count);
  return count < 0 ? ANSWER_CLOSED : ADMITTED;
}

/** Takes the next ticket. Tickets are consecutive. */
export function sequencerTicket(o: usize): i64 {
  return atomic.add<i64>(o, 1, TICKET);
}

/** Disposes of the sequencer, for which nobody waits. */
export function sequencerDispose(o: usize): void {
  closeObject(o);
}
