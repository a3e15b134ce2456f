/**
 * The capacitor, of Dice, Capacitors, Listings 1 and 2: it lets threads through in platoons of B.
 *
 *     tickets   0 1 2 3 | 4 5 6 7 | 8 9 ...        B = 4
 *               departed  admitted  wait
 *                         grant = 8, departed = 2: two of this platoon are still inside
 *
 * It is a FIFO semaphore of B permits that come back all at once, when the last of the B threads has departed. So grant
 * is always a multiple of B past its first value, and the thread with ticket t belongs to platoon t / B. Which
 * semaphore that is, is up to the caller, who waits and releases by the functions of ticket-semaphore.ts (Listing 1),
 * twa-semaphore.ts (Listing 2), near-and-far.ts (chains) or lanes.ts, all on the words of this object.
 *
 * Bound. Let a thread have ticket t. Threads that come after it have higher tickets. At most B - 1 of them are in its
 * own platoon, and the next platoon begins when this one has departed, the thread itself with it. So at most B - 1
 * later threads can pass a lock inside the capacitor before it does, whatever the order of that lock. If there are B
 * threads or more and all come again at once, each of these passes it once at most: one that has departed has its next
 * ticket behind all the threads that wait.
 *
 * departed is on the object's second line, where nobody polls. A thread that departs touches that word alone. The last
 * of a platoon is alone: all tickets below grant have departed, and none above is admitted. So it takes B off, and then
 * raises grant by B in one step.
 *
 * A departure too many is told when it completes a platoon that has not arrived yet: ticket is still below grant. It
 * stays counted, so departed may be above B - 1, and the next thread to depart after the platoon has arrived opens it.
 * Threads that find that at the same moment settle by a cmpxchg which of them does. So a capacitor that is misused may
 * let a platoon in early, and never keeps one out.
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
 * Whether every thread that has arrived has departed. A thread that arrived before and departs after the reads is
 * counted as inside, since ticket is read last. A platoon in between adds B. A closed capacitor is never idle.
 */
export function capacitorIsIdle(s: usize, bypass: i32): bool {
  const grant = atomic.load<i64>(s, GRANT);
  const departed = atomic.load<i32>(s, O_DEPARTED);
  return atomic.load<i64>(s, TICKET) - (grant - (bypass as i64)) - (departed as i64) <= 0;
}
