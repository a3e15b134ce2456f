/**
 * Lanes: a FIFO semaphore whose waiters are spread over n words. Consecutive tickets go to the words in turn. Source:
 * Dice, Capacitors, section 5 and the notes of Listing 2 on the multilane idiom. In the paper each lane contains a
 * semaphore of its own. Here all lanes share ticket and grant, so that the order is strict (docs/papers/capacitors.md).
 *
 *     tickets     0 1 2 3 4 5 6 7 ...      one counter, and n = 3 lanes
 *     lane 0      0     3     6            the grant of a lane grows by n for each ticket of the lane that is granted
 *     lane 1        1     4     7
 *     lane 2          2     5
 *
 * The semaphore has ticket and grant as in ticket-semaphore.ts, so it has the same order and the same fast path. A
 * thread whose ticket is not due waits, by ticketAwait, on the grant of the lane with the number ticket mod n. Each
 * lane is an object of its own.
 *
 * The grant of every lane begins at g, the first value of the grant of the semaphore. In each lane the first ticket
 * that has to wait is at least g and below g + n. So after k of the lane's tickets have been granted, the grant of the
 * lane is above the k-th ticket and not above the next one. Releasing threads add to the grant of a lane, so it does
 * not matter which of two releasing threads comes to the lane first.
 *
 * Why no waiter sleeps for ever: a releasing thread moves the grant of the semaphore, then that of a lane, then reads
 * ticket. If it finds that the lane's ticket has been taken, it wakes the lane. A thread that takes the ticket later
 * finds the grant of the semaphore above its ticket. The wait compares the grant of the lane and goes to sleep in one
 * step.
 */

import { ticketTaken } from '../arena/threads';
import { GRANT, TICKET } from '../arena/words';

/** lanesRelease leaves these two to laneOpen: the old grant, and the number of permits that it gave. */
let grantBefore: i64 = 0;
let given: i32 = 0;

/** Returns the lane of the ticket just taken, of n lanes: ticketAwait must follow for it. */
export function laneOf(n: i32): i32 {
  return (ticketTaken % (n as i64)) as i32;
}

/**
 * Gives permits back, and returns the lane of the first ticket that gets one. The caller must then call laneOpen for
 * this lane and the lanes after it: for as many lanes as there are permits, but for at most n. Never blocks.
 */
export function lanesRelease(s: usize, permits: i32, n: i32): i32 {
  grantBefore = atomic.add<i64>(s, permits, GRANT);
  given = permits;
  return (grantBefore % (n as i64)) as i32;
}

/** Admits the waiters of the lane that comes i after the first, of n lanes. */
export function laneOpen(s: usize, lane: usize, i: i32, n: i32): void {
  atomic.add<i64>(lane, (((given - 1 - i) / n + 1) as i64) * (n as i64), GRANT);
  if (atomic.load<i64>(s, TICKET) > grantBefore + (i as i64)) atomic.notify(lane + GRANT, -1);
}
