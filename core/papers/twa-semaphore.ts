/**
 * TWA-Semaphore, Listing 2 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
 *
 * A waiter further than LongTermThreshold from its turn waits on the sequence word of the bucket of its ticket. A
 * nearer waiter polls grant. A release moves grant, and then the sequence of the bucket of the ticket that has just
 * come near. So the waiter of this ticket warms up while the next waiter in the queue is already inside.
 *
 * To poke a bucket is to add 1 to its sequence and to wake the threads that are parked there.
 *
 * In this library both kinds of polling are bounded, and a waiter that has polled in vain parks on the sequence of its
 * bucket. For each permit, a release pokes the bucket of the ticket that comes near: it lies `threshold` tickets behind
 * the ticket that becomes due. This poke does not wake a near waiter that has parked. So a release also looks at the
 * bucket of the ticket that becomes due, and pokes it if threads are parked there.
 *
 * Why no waiter sleeps for ever. A far waiter reads the sequence before grant. So a poke after its look at grant
 * changes the value that the wait compares, and the waiter need not look at grant again. A waiter that parks counts
 * itself into `parked`, then looks at grant once more if it is near, then waits. The releasing thread moves grant, then
 * the sequence, then reads `parked`. So the releasing thread sees the count, or the waiter sees the new grant or the
 * new sequence. (For a near waiter, the releasing thread reads `parked` after grant, and moves the sequence only if a
 * thread is parked.)
 *
 * A sequestered semaphore has its ticket on a line of its own, which a comment of the listing considers:
 *
 *     first line     ticket, which stays at its first value | grant | threshold, spin, hash
 *     second line    the tickets taken
 *
 * The next ticket is the sum of ticket and the tickets taken. Threads that acquire change the second line, and threads
 * that release change the first line. This pays only if a release does not read how many tickets were taken. So every
 * post of a sequestered semaphore is conservative: it pokes for all the permits that it gives, as if a waiter stood
 * behind each of them. So it pokes at least for each ticket for which a post with the short-cut would poke. Everything
 * else is as above, because a waiter knows its ticket and reads only grant.
 *
 * Dispose sets grant to the first ticket + CLOSED_DISTANCE, which is at most 2^61 - 2^62. Any other semaphore with the
 * same first ticket is closed by a grant that is as high or higher. So grant stays below 0, however many threads wait,
 * until 2^61 more permits are released.
 */

import { ADMITTED, ANSWER_CLOSED, MORE, QUEUED } from '../answers';
import { bucketMask, buckets } from '../arena/arena';
import { closeObject } from '../arena/objects';
import { setLastTicket, ticketTaken } from '../arena/threads';
import { GRANT, LINE, O_SPIN, TICKET } from '../arena/words';
import { B_PARKED, B_SEQUENCE } from '../queue/words';
import { countCollision, countFutileWake } from './counting';
import { bucketOf, mostTickets } from './hashes';
import { farBudget, relax } from './relax';
import { FOR_EVER, O_HASH, O_TAKEN, SEQUESTERED, THRESHOLD } from './words';

/**
 * The answer of a wait that a notify has ended. A wait answers something else if the word had another value when the
 * wait began.
 */
const NOTIFIED: i32 = 0;

/** twaRelease leaves these to twaPost: the old grant, the permits that it gave, and the number of waiters. */
export let grantBefore: i64 = 0;
let given: i64 = 0;
export let waiters: i64 = 0;

/**
 * SemaTake up to its short-cut. Returns ADMITTED, or QUEUED: twaAwait must follow. Calls nothing and never blocks.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that must not block
 */
export function twaAcquire(s: usize): i32 {
  const ticket = atomic.add<i64>(s, 1, TICKET);
  setLastTicket(ticket);
  return atomic.load<i64>(s, GRANT) > ticket ? ADMITTED : QUEUED;
}

/** Whether the semaphore is sequestered: twaAcquireSequestered takes its permits, twaReleaseConservative gives them. */
export function twaIsSequestered(s: usize): bool {
  return (atomic.load<i32>(s, O_HASH) & SEQUESTERED) !== 0;
}

/**
 * Does the same as twaAcquire, on a sequestered semaphore.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that must not block
 */
export function twaAcquireSequestered(s: usize): i32 {
  const taken = atomic.add<i64>(s, 1, O_TAKEN);
  const ticket = atomic.load<i64>(s, TICKET) + taken;
  setLastTicket(ticket);
  return atomic.load<i64>(s, GRANT) > ticket ? ADMITTED : QUEUED;
}

/** Returns how many permits of a sequestered semaphore are free, 0 if it is closed. It may be out of date at once. */
export function twaAvailableSequestered(s: usize): i32 {
  const free = atomic.load<i64>(s, GRANT) - atomic.load<i64>(s, TICKET) - atomic.load<i64>(s, O_TAKEN);
  return max(0, min(free, i32.MAX_VALUE as i64)) as i32;
}

/** The rest of SemaTake: blocks until it is the turn of the ticket just taken. Returns ADMITTED or ANSWER_CLOSED. */
export function twaAwait(s: usize): i32 {
  const ticket = ticketTaken;
  const bucket = bucketOf(s, ticket);
  // One load reads threshold and spin: between two loads, a release could take the line away.
  const knobs = atomic.load<i64>(s, O_SPIN);
  const threshold = (knobs >> 32) as i32;
  const near = ticket - (threshold & THRESHOLD);
  const budget = knobs as i32;
  let polls = farBudget(threshold, budget);
  let wasFar = true;
  let woken = false;
  let sequence = atomic.load<i64>(bucket, B_SEQUENCE);
  while (true) {
    const grant = atomic.load<i64>(s, GRANT);
    if (grant > ticket) return ADMITTED;
    if (grant < 0) return ANSWER_CLOSED;
    if (wasFar && grant > near) {
      wasFar = false;
      polls = budget;
    } else if (woken) countFutileWake();
    woken = false;
    if (polls !== 0) {
      polls = relax(polls);
      // A waiter far from its turn polls the bucket, and leaves grant alone.
      if (wasFar) {
        while (polls !== 0 && atomic.load<i64>(bucket, B_SEQUENCE) === sequence) polls = relax(polls);
        const now = atomic.load<i64>(bucket, B_SEQUENCE);
        if (now !== sequence) {
          sequence = now;
          woken = true;
          continue;
        }
      } else continue;
    }
    if (atomic.add<i32>(bucket, 1, B_PARKED) > 0) countCollision();
    let waits = wasFar;
    if (!waits) {
      const again = atomic.load<i64>(s, GRANT);
      waits = again <= ticket && again >= 0;
    }
    woken = waits && (atomic.wait<i64>(bucket + B_SEQUENCE, sequence, -1) as i32) === NOTIFIED;
    atomic.sub<i32>(bucket, 1, B_PARKED);
    sequence = atomic.load<i64>(bucket, B_SEQUENCE);
  }
}

/** Calls twaAcquire, and twaAwait if that must follow. */
export function twaTake(s: usize): i32 {
  return twaAcquire(s) === ADMITTED ? ADMITTED : twaAwait(s);
}

/** SemaPost of n permits up to its short-cut. ADMITTED if nobody waits, or MORE: twaPost must follow. Never blocks. */
export function twaRelease(s: usize, n: i32): i32 {
  const grant = atomic.add<i64>(s, n, GRANT);
  // This compares the old grant: with old + n the wake-up of the last waiters would be lost.
  const waiting = atomic.load<i64>(s, TICKET) - grant;
  if (waiting > 0) {
    grantBefore = grant;
    given = n;
    waiters = waiting;
    return MORE;
  }
  return ADMITTED;
}

/** The rest of SemaPost. */
export function twaPost(s: usize): void {
  post(s, grantBefore, given, waiters);
}

/** SemaPostConservative of n permits: pokes the array each time. Returns ADMITTED, since nothing is left to be done. */
export function twaReleaseConservative(s: usize, n: i32): i32 {
  post(s, atomic.add<i64>(s, n, GRANT), n, i64.MAX_VALUE);
  return ADMITTED;
}

/**
 * Pokes the buckets of tickets that were far and become due or near. It pokes the buckets of tickets that were near and
 * become due only if a thread is parked there, and does not look at them if near waiters poll for ever.
 */
function post(s: usize, grant: i64, n: i64, waiting: i64): void {
  const knobs = atomic.load<i64>(s, O_SPIN);
  const threshold = ((knobs >> 32) & THRESHOLD) as i64;
  if ((knobs as i32) !== FOR_EVER) pokeRow(s, grant, min(waiting, min(n, threshold)), true);
  pokeRow(s, grant + threshold, min(waiting - threshold, n), false);
}

/** Pokes the buckets of so many tickets in a row. */
function pokeRow(s: usize, first: i64, count: i64, onlyParked: bool): void {
  const most = mostTickets(s, count);
  for (let i: i64 = 0; i < most; i++) {
    const bucket = bucketOf(s, first + i);
    if (!onlyParked || atomic.load<i32>(bucket, B_PARKED) > 0) poke(bucket);
  }
}

/** Disposes of the semaphore and pokes every bucket, so that each waiter looks at its grant again. */
export function twaDispose(s: usize): void {
  if (!closeObject(s)) return;
  for (let i: u32 = 0; i <= bucketMask; i++) poke(buckets + (i as usize) * LINE);
}

function poke(bucket: usize): void {
  atomic.add<i64>(bucket, 1, B_SEQUENCE);
  if (atomic.load<i32>(bucket, B_PARKED) > 0) atomic.notify(bucket + B_SEQUENCE, -1);
}
