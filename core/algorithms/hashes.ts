/**
 * The hashes that the design notes of Listing 2 name: which slot of the array a ticket of a semaphore belongs to.
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, the comment above TWAHash.
 *
 *     first   where the semaphore begins: spread over the slots, since objects lie next to one another
 *
 *     multiplier   first + 17 t               the listing's, and the library's own semaphore's: core/queue/waiting-array.ts
 *     paired       first + 17 (t >> 1)        two tickets in a row share a slot: the second is woken early, and warms up
 *     orbit        page t >> 6, line 17 t     64 tickets go round the 64 lines of one page, then comes the next page
 *     gray         first + 17 gray(t)         one bit changes from ticket to ticket, so that the steps are no stride
 *     mixed        first + step t             the step, odd, is the semaphore's own: 17 to 271
 *
 * Mixed is against entrainment. With one multiplier for all, two semaphores whose tickets go up in step keep their
 * distance: if they collide once they collide for as long as that lasts. With steps that differ they meet and part.
 *
 * Each is a function of semaphore and ticket alone, and whoever waits and whoever posts compute it from the same word
 * of the object, which is written before anybody knows the object. So they come to the same slot. The choice costs
 * those alone who have to wait, or to wake.
 *
 * Every one of them but paired permutes the slots over any row of as many tickets as there are slots: it depends on
 * the ticket modulo that number, and is one to one there (an odd step; the two parts of an orbit; a Gray code, which
 * is cyclic). Paired needs twice as many tickets. A release of many permits relies on that (mostTickets).
 */
import { bucketMask, buckets } from '../memory/arena';
import { HASH_GRAY, HASH_MIXED, HASH_ORBIT, HASH_PAIRED, LINE, O_HASH } from '../memory/layout';
import { MULTIPLIER, spread } from '../queue/waiting-array';

/** Lines of a page of 4 KiB, less one. */
const ORBIT: u32 = 63;
/** What is added to the multiplier is even, below this, and of bits that are not in `first`. */
const STEPS: u32 = 0xfe;
const STEP_SHIFT: u32 = 7;

/** The slot of a ticket, of mask + 1 slots, by one of HASH_*. */
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

/** The slot of a semaphore's ticket, by the semaphore's own hash. */
export function slotOf(s: usize, ticket: i64): u32 {
  return hash(atomic.load<i32>(s, O_HASH), s, ticket, bucketMask);
}

/** That slot's bucket of the waiting array. */
export function bucketOf(s: usize, ticket: i64): usize {
  return buckets + (slotOf(s, ticket) as usize) * LINE;
}

/** How many tickets in a row to look at, of so many: no more than it takes to meet every slot. */
export function mostTickets(s: usize, count: i64): i64 {
  const slots = (bucketMask as i64) + 1;
  return min(count, atomic.load<i32>(s, O_HASH) === HASH_PAIRED ? 2 * slots : slots);
}
