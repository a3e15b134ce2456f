/**
 * Event counts and sequencers. Source: Reed and Kanodia, Synchronization with Eventcounts and Sequencers; that the
 * waiting array fits them is a remark of Dice and Kogan, Semaphores Augmented with a Waiting Array.
 *
 *     event count   count (GRANT)     advance adds to it; await sleeps until it has reached a value
 *     sequencer     next (TICKET)     ticket takes one: a total order for those who ask
 *
 * A ticket semaphore is the two of them in one object: acquire is await(ticket + 1), release is advance. Here an
 * event count has no tickets to tell who waits, and many may wait for one value. So a thread waits under the key of
 * (event count, value), on a chain that is woken as a whole, with the count passed along (chains.ts); and advance
 * looks into the chain of each value it has reached.
 */
import { bucketMask } from '../memory/arena';
import { ADMITTED, ANSWER_CLOSED, GRANT, O_SPIN, TICKET } from '../memory/layout';
import { closeObject } from '../memory/objects';
import { keyOf } from '../queue/waiting-array';
import { addressSignalPolite, addressWaitUntil, satisfied } from './chains';

/** Adds n, from 1 on, and wakes whoever waits for a value that has been reached. */
export function eventAdvance(o: usize, n: i32): void {
  const before = atomic.add<i64>(o, n, GRANT);
  // Values in a row go round all the chains, so that many steps meet each of them.
  const count = min(n as i64, (bucketMask as i64) + 1);
  for (let i: i64 = 1; i <= count; i++) addressSignalPolite(keyOf(o, before + i), o, before + n);
}

/** The count; below 0 if it is closed. */
export function eventRead(o: usize): i64 {
  return atomic.load<i64>(o, GRANT);
}

/** Waits until the count has reached the value. ADMITTED or ANSWER_CLOSED. */
export function eventAwait(o: usize, value: i64): i32 {
  let count = eventRead(o);
  if (!satisfied(count, value - 1)) {
    count = addressWaitUntil(keyOf(o, value), o, value - 1, atomic.load<i32>(o, O_SPIN), true);
  }
  return count < 0 ? ANSWER_CLOSED : ADMITTED;
}

/** Disposes of it: whoever awaits a value is told. */
export function eventDispose(o: usize): void {
  if (!closeObject(o)) return;
  for (let key: u32 = 0; key <= bucketMask; key++) addressSignalPolite(key, 0, 0);
}

/** The next ticket, from the first on one by one. */
export function sequencerTicket(o: usize): i64 {
  return atomic.add<i64>(o, 1, TICKET);
}

/** Disposes of it. Nobody waits for a sequencer. */
export function sequencerDispose(o: usize): void {
  closeObject(o);
}
