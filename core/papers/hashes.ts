/**
 * A hash says at which slot of the waiting array the thread with a ticket of a semaphore waits. A slot is a bucket or a
 * chain. This file has the hashes that the design notes of Listing 2 name.
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, the comment above TWAHash.
 *
 *     t       the ticket
 *     first   the slot of ticket 0. Semaphores that lie next to one another in memory get slots far from one another
 *
 *     multiplier   first + 17 t               as in the listing, but from another first slot; also in the core
 *                                             (core/queue/waiting-array.ts)
 *     paired       first + 17 (t >> 1)        two tickets in a row share a slot: the thread with the second ticket is
 *                                             woken with the first, so it is awake when its turn comes
 *     orbit        page (first + t) >> 6,     64 tickets in a row stay in one page of 64 lines, if first + t begins a
 *                  line (first + 17 t) % 64   page; the next 64 stay in the next page
 *     gray         first + 17 gray(t)         a Gray code: from ticket to ticket one bit changes, so the slots have no
 *                                             fixed distance that a prefetcher could follow
 *     mixed        first + step t             each semaphore has an odd step of its own, 17 to 271
 *
 * The hash `mixed` prevents entrainment. Suppose that two semaphores have the same step, and that their tickets go up
 * together. Then the slots of the two keep their distance: if they collide once, they collide for as long as this goes
 * on. With different steps the slots meet and part again.
 *
 * Why a waiter and the thread that wakes it come to the same slot: the slot depends on the semaphore, its hash and the
 * ticket alone. A word of the semaphore says which hash it has, and this word is written before any thread knows the
 * object. Only threads that wait or wake read this word.
 *
 * Let there be B slots. A release of many permits relies on the number of tickets in a row that meet every slot
 * (mostTickets). With `paired` this number is 2 B. With each other hash it is B: the slot depends on t modulo B, and
 * different values of t modulo B have different slots.
 */
import { bucketMask, buckets, chainMask } from '../arena/arena';
import { LINE } from '../arena/words';
import { MULTIPLIER, spread } from '../queue/waiting-array';
import { HASH_GRAY, HASH_MIXED, HASH_ORBIT, HASH_PAIRED, HASHES, O_HASH } from './words';

/** The lines of a page of 4 KiB, less one. */
const ORBIT: u32 = 63;
/**
 * For HASH_MIXED: the bits of the number that is added to the multiplier. The number is even, so that the step is odd.
 * It comes from bits of the spread address that `first` does not use.
 */
const STEPS: u32 = 0xfe;
const STEP_SHIFT: u32 = 7;

/** Returns the slot of a ticket, of mask + 1 slots, by one of HASH_*. */
export function hash(kind: i32, semaphore: usize, ticket: i64, mask: u32): u32 {
  const where = spread(semaphore);
  const first = where >> 16;
  let t = ticket as u32;
  let step = MULTIPLIER;
  if (kind === HASH_ORBIT) return (((first + t) & ~ORBIT) | ((first + t * step) & ORBIT)) & mask;
  if (kind === HASH_PAIRED) t = (ticket >> 1) as u32;
  else if (kind === HASH_GRAY) {
    t &= mask;
    t ^= t >> 1;
  } else if (kind === HASH_MIXED) step += (where >> STEP_SHIFT) & STEPS;
  return (first + t * step) & mask;
}

function hashOf(s: usize): i32 {
  return atomic.load<i32>(s, O_HASH) & HASHES;
}

/** Returns the bucket of a semaphore's ticket, by the semaphore's own hash. */
export function bucketOf(s: usize, ticket: i64): usize {
  return buckets + (hash(hashOf(s), s, ticket, bucketMask) as usize) * LINE;
}

/** Returns the number of the chain of a semaphore's ticket, by the same hash. */
export function chainSlotOf(s: usize, ticket: i64): u32 {
  return hash(hashOf(s), s, ticket, chainMask);
}

/** Returns how many of `count` tickets in a row to look at: no more than it takes to meet every bucket. */
export function mostTickets(s: usize, count: i64): i64 {
  return most(s, count, bucketMask);
}

/** Does the same as mostTickets, for every chain. */
export function mostChains(s: usize, count: i64): i64 {
  return most(s, count, chainMask);
}

function most(s: usize, count: i64, mask: u32): i64 {
  const slots = (mask as i64) + 1;
  return min(count, hashOf(s) === HASH_PAIRED ? 2 * slots : slots);
}
