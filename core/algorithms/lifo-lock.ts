/**
 * LifoLock: the lock that admits the last who came, the adversary in Dice, Capacitors.
 *
 *     top   0        free
 *           HELD     held, nobody waits
 *           node     held; who waits with that node came last, its next came before it, and so on to HELD
 *
 * A thread pushes its node; the owner pops the top and opens its gate. Only the owner pops, so what it sees on top
 * stays on the stack, with the same next, until it takes it: a compare-and-swap that succeeds has seen nothing stale.
 *
 * Exclusion: held begins with a compare-and-swap from 0, is passed on with a gate, and ends with one from HELD, by
 * the owner alone. It is not fair at all: who waits below can wait for ever.
 */
import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_FULL,
  ANSWER_HELD,
  ANSWER_NOT_HELD,
  GRANT,
  O_SPIN,
  Q_NEXT,
  REFUSED,
  TICKET,
} from '../memory/layout';
import { giveNode, OPEN, openGate, passGate, takeNode } from './nodes';
import { disown, holds, own } from './ownership';

const TOP: usize = TICKET;
const HELD: u32 = 1;

/** Takes the lock, blocking until it is this thread's turn. ADMITTED, ANSWER_CLOSED, ANSWER_HELD or ANSWER_FULL. */
export function lifoLock(s: usize): i32 {
  const answer = lifoTryLock(s);
  return answer === REFUSED ? wait(s) : answer;
}

/** Takes the lock if it is free. ADMITTED, REFUSED or ANSWER_CLOSED. */
export function lifoTryLock(s: usize): i32 {
  if (atomic.load<i64>(s, GRANT) < 0) return ANSWER_CLOSED;
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

/** Gives the lock back. ADMITTED or ANSWER_NOT_HELD. Never blocks. */
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
