/**
 * LifoLock: the lock that admits the waiter that came last. Dice, Capacitors, uses it as the most unfair inner lock.
 *
 *     top   0        free
 *           HELD     held, nobody waits
 *           node     held; its waiter came last, and the next node is that of the waiter before; the last next is HELD
 *
 * A waiter pushes its node. The owner pops the top node and opens the gate of this node. Only the owner pops. So the
 * node that the owner sees on top stays on the stack, with the same next node, until the owner pops it. If the owner's
 * compare-and-swap succeeds, the next node that it has read is still right.
 *
 * Exclusion: a thread holds the lock after a compare-and-swap from 0, or when the owner has opened its gate. Only the
 * owner's compare-and-swap from HELD frees the lock. The lock is not fair: a waiter further down can wait for ever.
 */
import { ADMITTED, ANSWER_CLOSED, ANSWER_FULL, ANSWER_HELD, ANSWER_NOT_HELD, REFUSED } from '../answers';
import { GRANT, O_SPIN, TICKET } from '../arena/words';
import { giveNode, OPEN, openGate, passGate, takeNode } from './nodes';
import { disown, holds, own } from './ownership';
import { Q_NEXT } from './words';

const TOP: usize = TICKET;
const HELD: u32 = 1;

/**
 * Blocks until this thread has the lock.
 * @answers ADMITTED | ANSWER_CLOSED | ANSWER_HELD | ANSWER_FULL
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that must not block
 */
export function lifoLock(s: usize): i32 {
  const answer = lifoTryLock(s);
  return answer === REFUSED ? wait(s) : answer;
}

/**
 * Takes the lock if it is free. Returns ADMITTED, REFUSED or ANSWER_CLOSED. The owner gets REFUSED even if the lock is
 * closed, since it still has to unlock the lock.
 */
export function lifoTryLock(s: usize): i32 {
  if (atomic.load<i64>(s, GRANT) < 0) return holds(s) ? REFUSED : ANSWER_CLOSED;
  if (atomic.load<u32>(s, TOP) !== 0 || atomic.cmpxchg<u32>(s, 0, HELD, TOP) !== 0) return REFUSED;
  own(s);
  return ADMITTED;
}

function wait(s: usize): i32 {
  if (holds(s)) return ANSWER_HELD;
  const node = takeNode();
  if (node === 0) return ANSWER_FULL;
  while (true) {
    const top = atomic.load<u32>(s, TOP);
    if (top === 0) {
      if (atomic.cmpxchg<u32>(s, 0, HELD, TOP) === 0) break;
      continue;
    }
    atomic.store<u32>(node, top, Q_NEXT);
    if (atomic.cmpxchg<u32>(s, top, node as u32, TOP) === top) {
      passGate(node, atomic.load<i32>(s, O_SPIN));
      break;
    }
  }
  atomic.store<u32>(node, 0, Q_NEXT);
  giveNode(node);
  own(s);
  if (atomic.load<i64>(s, GRANT) >= 0) return ADMITTED;
  lifoUnlock(s);
  return ANSWER_CLOSED;
}

/** Gives the lock back. Returns ADMITTED or ANSWER_NOT_HELD. Never blocks. */
export function lifoUnlock(s: usize): i32 {
  if (!holds(s)) return ANSWER_NOT_HELD;
  disown(s);
  while (true) {
    const top = atomic.load<u32>(s, TOP);
    const below = top === HELD ? 0 : atomic.load<u32>(top as usize, Q_NEXT);
    if (atomic.cmpxchg<u32>(s, top, below, TOP) !== top) continue;
    if (top !== HELD) openGate(top as usize, OPEN);
    return ADMITTED;
  }
}
