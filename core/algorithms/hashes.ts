/**
 * The hashes that the design notes of Listing 2 name: which slot of the array a ticket of a semaphore belongs to.
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, the comment above TWAHash.
 *
 *     first   where the semaphore begins: spread over the slots, since objects lie next to one another
 *
 *     multiplier   first + 17 t               that of the listing, and of the core: core/queue/waiting-array.ts
 *     paired       first + 17 (t >> 1)        two tickets in a row share a slot: the second is woken early and warms up
 *     orbit        page t >> 6, line 17 t     64 tickets go round the 64 lines of one page, then comes the next page
 *     gray         first + 17 gray(t)         one bit changes from ticket to ticket, so that the steps are no stride
 *     mixed        first + step t             the step, odd, is the semaphore's own: 17 to 271
 *
 * Mixed prevents entrainment. With one multiplier for all, two semaphores whose tickets go up in step keep their
 * distance: if they collide once, they collide for as long as they keep step. With different steps they meet and part.
 *
 * Each hash is a function of semaphore and ticket alone. Waiters and releasing threads read from the same word which
 * hash the semaphore has. This word is written before any thread knows the object. So waiters and releasing threads
 * come to the same slot. Only threads that wait or wake pay for the choice.
 *
 * Every hash but paired permutes the slots over any row of as many tickets as there are slots: it depends on the ticket
 * modulo the number of slots, and is one to one there (an odd step; the two parts of an orbit; a Gray code, which is
 * cyclic). Paired needs twice as many tickets to meet all slots. A release of many permits relies on this
 * (mostTickets).
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
