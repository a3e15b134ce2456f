/**
 * ReciprocatingLock, by Dice and Kogan; in Dice, Capacitors, an inner lock.
 *
 *     arrivals   0        free
 *                EMPTY    held; nobody has come since the present segment was detached
 *                node     held; the waiter with that node came last
 *
 * A thread exchanges its node into arrivals. It remembers the value that it displaced: its successor, which came just
 * before it. So the waiters are a stack. A segment is the stack as it was when it was detached. The owner hands the
 * lock to its successor. At the end of the segment the owner sets arrivals back to 0 if nobody has come. Otherwise it
 * detaches the new waiters: they are the next segment, from the last that came to the first.
 *
 * Where a segment ends. A thread that found the lock free has displaced 0, and its own node stays in arrivals. The
 * first thread that comes then has this node as its successor, though the owner of the node has long gone when the turn
 * of the first thread comes. So each owner hands on the address of this node, which is called the end. An owner whose
 * successor is the end has no successor. A thread that comes after a detachment displaces EMPTY, and has no successor
 * either; the end is EMPTY then. A node that is an end is only compared, and never read. It may have another use by
 * then. This does no harm, because the waiters of a segment are those between its top and its end, and no thread waited
 * with the node at its end.
 *
 * Exclusion: one thread comes to a free lock, and the owner lets in every other thread when it leaves.
 *
 * Order: within a segment the thread that came last is served first, and segments follow one another. So a thread that
 * comes while another thread waits overtakes that thread at most once: if it comes again, it stands in the next
 * segment.
 *
 * The owner's node has its successor in next, and the end in end, where 0 means the node itself.
 */
import { ADMITTED, ANSWER_CLOSED, ANSWER_FULL, ANSWER_HELD, ANSWER_NOT_HELD } from '../answers';
import { GRANT, O_SPIN, TICKET } from '../arena/words';
import { giveNode, openGate, passGate, takeNode } from './nodes';
import { disown, holds, nodeOf, own } from './ownership';
import { Q_END, Q_NEXT } from './words';

const ARRIVALS: usize = TICKET;
const EMPTY: u32 = 2;

/**
 * Blocks until this thread has the lock. Returns ADMITTED, ANSWER_CLOSED, ANSWER_HELD or ANSWER_FULL.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that must not block
 */
export function recipLock(s: usize): i32 {
  if (holds(s)) return ANSWER_HELD;
  if (atomic.load<i64>(s, GRANT) < 0) return ANSWER_CLOSED;
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

/** Gives the lock back. Returns ADMITTED or ANSWER_NOT_HELD. Never blocks. */
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
