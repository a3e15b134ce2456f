/**
 * The capacitor, of Dice, Capacitors, Listings 1 and 2: it lets threads through in platoons of B.
 *
 *     tickets   0 1 2 3 | 4 5 6 7 | 8 9 ...        B = 4
 *               departed  admitted  wait
 *                         grant = 8, departed = 2: two of this platoon are still inside
 *
 * It is a FIFO semaphore of B permits that come back all at once, when the last of the B threads has departed. So grant
 * is always a multiple of B past its first value, and the thread with ticket t belongs to platoon t / B. The caller
 * chooses the semaphore: it waits and releases by the functions of ticket-semaphore.ts (Listing 1), twa-semaphore.ts
 * (Listing 2), near-and-far.ts (chains) or lanes.ts, all on the words of this object.
 *
 * Bound. Let a thread have ticket t. Threads that come after it have higher tickets. At most B - 1 of these are in its
 * own platoon. The next platoon begins when its own platoon has departed, and the thread with it. So at most B - 1
 * later threads can pass a lock inside the capacitor before this thread does, whatever the order of the lock. If there
 * are B threads or more and all come again at once, each of the later threads passes this thread once at most: a thread
 * that has departed has its next ticket behind all the threads that wait.
 *
 * The word departed is on the object's second line, where nobody polls. A thread that departs touches this word alone.
 * The last thread of a platoon is alone: the threads of all tickets below grant have departed, and no ticket above is
 * admitted. So the last thread takes B off departed, and then raises grant by B in one step.
 *
 * A departure too many is told when it completes a platoon that has not arrived yet: then ticket is still below grant.
 * This departure stays counted, so departed may be above B - 1. The next thread that departs after the platoon has
 * arrived lets the next platoon in. If several threads find this at the same moment, a cmpxchg settles which of them
 * does it. So a capacitor that is misused may let a platoon in early, and never keeps one out.
 */
import { ADMITTED, ANSWER_NOT_HELD, MORE } from '../answers';
import { GRANT, TICKET } from '../arena/words';
import { O_DEPARTED } from './words';

/**
 * Leaves a capacitor of platoons of `bypass`. Returns ADMITTED; or MORE: the caller was the last of the platoon, and a
 * release of `bypass` permits must follow; or ANSWER_NOT_HELD. Never blocks.
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
 * Returns whether every thread that has arrived has departed. A thread that arrived before the reads and departs after
 * them is counted as inside, because ticket is read last. A platoon that departs between the reads adds B to the count.
 * A closed capacitor is never idle.
 */
export function capacitorIsIdle(s: usize, bypass: i32): bool {
  const grant = atomic.load<i64>(s, GRANT);
  const departed = atomic.load<i32>(s, O_DEPARTED);
  return atomic.load<i64>(s, TICKET) - (grant - (bypass as i64)) - (departed as i64) <= 0;
}
