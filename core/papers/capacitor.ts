/**
 * The capacitor, of Dice, Capacitors, Listings 1 and 2. It lets threads in by platoons of B threads: after B threads
 * have arrived, the next B threads come in only when all of these have departed.
 *
 *     tickets   0 1 2 3 | 4 5 6 7 | 8 9 ...        B = 4
 *               departed  admitted  wait
 *                         grant = 8, departed = 2: two of this platoon are still inside
 *
 * A capacitor is a FIFO semaphore of B permits that come back all at once, when the last of the B threads has departed.
 * So grant is always its first value plus a multiple of B, and, if the first ticket is 0, the thread with ticket t
 * belongs to platoon t / B. The caller (src/papers/algorithms/platoons.ts) chooses the semaphore: it waits and releases
 * by the functions of ticket-semaphore.ts (Listing 1), twa-semaphore.ts (Listing 2), near-and-far.ts (chains) or
 * lanes.ts, all on the words of this object. This file has only the departure.
 *
 * Bound. Let a thread have ticket t. Threads that arrive after it have higher tickets. At most B - 1 of these are in
 * its own platoon. The next platoon comes in only when the own platoon of the thread has departed, and so the thread
 * too. So at most B - 1 later threads can take a lock inside the capacitor before this thread takes it, in whatever
 * order the lock admits threads. If there are B threads or more and all come again at once, each of the later threads
 * takes the lock at most once before this thread: a thread that has departed gets its next ticket behind all the
 * threads that wait.
 *
 * The word `departed` is on the object's second line, where nobody polls. Of the threads of a platoon, all but the last
 * to depart touch only this word. When the last one departs, no other thread is inside: the threads of all tickets
 * below grant have departed, and no ticket from grant on is admitted. So the last one takes B off `departed`, and then
 * the caller raises grant by B in one step.
 *
 * A thread may depart too often by mistake. This is noticed when the departure would complete a platoon that has not
 * arrived yet: then ticket is still below grant. The departure stays counted, so `departed` may be above B - 1. When
 * the platoon has arrived, the next thread that departs lets the next platoon in. If several threads depart at the same
 * moment, a cmpxchg decides which of them lets the platoon in. So a capacitor that is misused may let a platoon in
 * early, but never keeps a platoon out.
 */
import { ADMITTED, ANSWER_NOT_HELD, MORE } from '../answers';
import { GRANT, TICKET } from '../arena/words';
import { O_DEPARTED } from './words';

/**
 * Counts that the calling thread departs from a capacitor whose platoons have `bypass` threads each. Never blocks.
 * Returns MORE if the departure completes a platoon: then a release of `bypass` permits must follow. Returns
 * ANSWER_NOT_HELD if the departure would complete a platoon that has not arrived yet. Otherwise returns ADMITTED.
 */
export function capacitorDepart(s: usize, bypass: i32): i32 {
  let departed = atomic.add<i32>(s, 1, O_DEPARTED) + 1;
  while (departed >= bypass) {
    const grant = atomic.load<i64>(s, GRANT);
    if (grant < 0) break;
    if (atomic.load<i64>(s, TICKET) < grant) return ANSWER_NOT_HELD;
    const found = atomic.cmpxchg<i32>(s, departed, departed - bypass, O_DEPARTED);
    if (found === departed) return MORE;
    departed = found;
  }
  return ADMITTED;
}

/**
 * Returns whether every thread that has arrived has departed. The function reads ticket last, so if it counts the
 * departure of a thread, it counts the arrival of this thread too. So it does not miss a thread that arrived before the
 * reads and departs after them. The last thread of a platoon lowers departed by B before the caller raises grant. If
 * the function sees the new departed and the old grant, its count is B too high, and the answer is false. A closed
 * capacitor is never idle.
 */
export function capacitorIsIdle(s: usize, bypass: i32): bool {
  const grant = atomic.load<i64>(s, GRANT);
  const departed = atomic.load<i32>(s, O_DEPARTED);
  return atomic.load<i64>(s, TICKET) - (grant - (bypass as i64)) - (departed as i64) <= 0;
}
