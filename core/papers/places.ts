/**
 * Places: here threads wait until a word changes. The word lies in other memory, so this module cannot see it.
 *
 *     place      sequence | parked               a bucket of the waiting array, or an AtomicSemaphore's own
 *     wait       arrive: parked += 1, q = sequence  ►  look at the word  ►  sleep while sequence == q  ►  depart
 *     signal     the word has been changed  ►  if parked > 0: sequence += 1, wake all
 *
 * JavaScript looks at the word, between the calls of this file (src/papers/p0514/words.ts). A woken thread looks again.
 * Several words may share a place, so a signal wakes all threads there: a single woken thread could be a waiter for
 * another word.
 *
 * Why no waiter sleeps through a signal: the waiter writes parked, then reads the word; the signalling thread has
 * written the word, then reads parked. So the waiter sees the change, or the signalling thread sees the waiter and
 * moves the sequence after the change. If the sequence moves before the waiter reads the sequence, the look of the
 * waiter, which is later, sees the change. If the sequence moves after that, the sleep finds another sequence than q,
 * or the notify ends the sleep.
 *
 * Source: the buckets of Dice and Kogan, Listing 2, for the atomic_wait and atomic_signal of P0514R1.
 */
import { bucketMask, buckets } from '../arena/arena';
import { closeObject } from '../arena/objects';
import { LINE } from '../arena/words';
import { B_PARKED, B_SEQUENCE } from '../queue/words';
import { O_PLACE } from './words';

const SPREAD: u32 = 0x9e3779b1;

/** Returns the bucket of a key. */
export function placeOf(key: u32): usize {
  return buckets + ((((key * SPREAD) >> 16) & bucketMask) as usize) * LINE;
}

/** Comes to a place, and returns its sequence. The caller looks at the word after that. */
export function arriveAt(place: usize): i64 {
  atomic.add<i32>(place, 1, B_PARKED);
  return atomic.load<i64>(place, B_SEQUENCE);
}

/** Blocks until a signal has come since the sequence was read, or for so many nanoseconds (below 0: for ever). */
export function sleepAt(place: usize, sequence: i64, nanoseconds: i64): void {
  atomic.wait<i64>(place + B_SEQUENCE, sequence, nanoseconds);
}

/** Leaves the place. */
export function departFrom(place: usize): void {
  atomic.sub<i32>(place, 1, B_PARKED);
}

/** Wakes all threads at the place. The caller has changed the word before. */
export function signalAt(place: usize): void {
  if (atomic.load<i32>(place, B_PARKED) === 0) return;
  atomic.add<i64>(place, 1, B_SEQUENCE);
  atomic.notify(place + B_SEQUENCE, -1);
}

/** Closes an AtomicSemaphore, and wakes all its waiters. They look, and find the semaphore closed. */
export function closePlace(s: usize): void {
  if (closeObject(s)) signalAt(s + O_PLACE);
}
