/**
 * ReciprocatingLock, by Dice and Kogan; in Dice, Capacitors, an inner lock.
 *
 *     arrivals   0        free
 *                EMPTY    held; nobody has come since the present segment was detached
 *                node     held; who waits with that node came last
 *
 * A thread exchanges its node into arrivals, and remembers what it has displaced: its successor, which came just
 * before it. So those who wait are a stack. The owner hands the lock to its successor; when the segment, the stack as
 * it was when it was detached, is at its end, it sets arrivals back to 0 if nobody has come, or else detaches them:
 * they are the next segment, from the last who came to the first.
 *
 * Where a segment ends. Who found the lock free has displaced 0, and its own node stays in arrivals: the first who
 * comes then has it for a successor, though it has long gone when its turn is there. So the address of that node, end,
 * is handed on from owner to owner, and whose successor is the end has none. Who comes after a detachment displaces
 * EMPTY, and has none either; the end is EMPTY then. A node is only compared as an end, and never looked into; that it
 * may have got another use does no harm, since the waiters of a segment are those between its top and its end, and a
 * node that stands at its end was not waited with.
 *
 * Exclusion: one comes to a lock that is free, and everybody else is let in by the owner, when that leaves.
 *
 * Order: in a segment last come, first served; segments one after the other. So whoever comes while a thread waits
 * overtakes it at most once: then it stands in the next segment, if it comes again.
 *
 * The owner's successor and end stand in its node: next, and end, where 0 means the node itself.
 */
import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_FULL,
  ANSWER_HELD,
  ANSWER_NOT_HELD,
  GRANT,
  O_SPIN,
  Q_END,
  Q_NEXT,
  TICKET,
} from '../memory/layout';
import { giveNode, openGate, passGate, takeNode } from './nodes';
import { disown, holds, nodeOf, own } from './ownership';

const ARRIVALS: usize = TICKET;
const EMPTY: u32 = 2;

/** Takes the lock, blocking until it is this thread's turn. ADMITTED, ANSWER_CLOSED, ANSWER_HELD or ANSWER_FULL. */
export function recipLock(s: usize): i32 {
  if (atomic.load<i64>(s, GRANT) < 0) return ANSWER_CLOSED;
  if (holds(s)) return ANSWER_HELD;
  const node = takeNode();
  if (node === 0) return ANSWER_FULL;
  const displaced = atomic.xchg<u32>(s, node as u32, ARRIVALS);
  if (displaced === 0) {
    own(s, node);
    return ADMITTED;
  }
  const end = passGate(node, atomic.load<i32>(s, O_SPIN)) as u32;
  if (displaced === EMPTY || displaced === end) atomic.store<u32>(node, EMPTY, Q_END);
  else {
    atomic.store<u32>(node, displaced, Q_NEXT);
    atomic.store<u32>(node, end, Q_END);
  }
  own(s, node);
  if (atomic.load<i64>(s, GRANT) >= 0) return ADMITTED;
  recipUnlock(s);
  return ANSWER_CLOSED;
}

/** Gives the lock back. ADMITTED or ANSWER_NOT_HELD. Never blocks. */
export function recipUnlock(s: usize): i32 {
  const node = nodeOf(s);
  if (node === 0) return ANSWER_NOT_HELD;
  disown(s);
  const successor = atomic.load<u32>(node, Q_NEXT);
  let end = atomic.load<u32>(node, Q_END);
  if (end === 0) end = node as u32;
  else atomic.store<u32>(node, 0, Q_END);
  if (successor !== 0) {
    atomic.store<u32>(node, 0, Q_NEXT);
    openGate(successor as usize, end as usize);
  } else if (atomic.load<u32>(s, ARRIVALS) !== end || atomic.cmpxchg<u32>(s, end, 0, ARRIVALS) !== end) {
    openGate(atomic.xchg<u32>(s, EMPTY, ARRIVALS) as usize, end as usize);
  }
  giveNode(node);
  return ADMITTED;
}
