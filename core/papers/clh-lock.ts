/**
 * ClhLock, the queue lock of Craig, Landin and Hagersten.
 *
 *     tail ───────────────────────┐
 *                                 ▼
 *     owner's node ◄── waiter's node ◄── waiter's node      each waits at the gate of the node before its own
 *
 * A thread exchanges its node into tail. The node that the thread finds there belongs to the thread before it, and the
 * thread waits at the gate of that node. The owner opens the gate of its own node. From then on this node belongs to
 * the thread that waited there.
 *
 * In the listing of a CLH lock, tail has a node even while the lock is free. Here tail is then 0, so that an unused
 * lock has no node: if no thread has come, the owner sets tail from its own node to 0, and keeps the node.
 *
 * Exclusion: a thread that finds 0 in tail gets the lock, and tail is 0 only while nobody holds the lock. Every other
 * thread is let in by the thread before it, when that thread leaves. The order is that of the exchanges, and nobody is
 * overtaken.
 */
import { ADMITTED, ANSWER_CLOSED, ANSWER_FULL, ANSWER_HELD, ANSWER_NOT_HELD } from '../answers';
import { GRANT, O_SPIN, TICKET } from '../arena/words';
import { giveNode, OPEN, openGate, passGate, takeNode } from './nodes';
import { disown, holds, nodeOf, own } from './ownership';

const TAIL: usize = TICKET;

/**
 * Blocks until this thread has the lock. Returns ADMITTED, ANSWER_CLOSED, ANSWER_HELD or ANSWER_FULL.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that must not block
 */
export function clhLock(s: usize): i32 {
  if (holds(s)) return ANSWER_HELD;
  if (atomic.load<i64>(s, GRANT) < 0) return ANSWER_CLOSED;
  const node = takeNode();
  if (node === 0) return ANSWER_FULL;
  const before = atomic.xchg<u32>(s, node as u32, TAIL) as usize;
  if (before !== 0) {
    passGate(before, atomic.load<i32>(s, O_SPIN));
    giveNode(before);
  }
  own(s, node);
  if (before === 0 || atomic.load<i64>(s, GRANT) >= 0) return ADMITTED;
  clhUnlock(s);
  return ANSWER_CLOSED;
}

/** Gives the lock back. Returns ADMITTED or ANSWER_NOT_HELD. Never blocks. */
export function clhUnlock(s: usize): i32 {
  const node = nodeOf(s);
  if (node === 0) return ANSWER_NOT_HELD;
  disown(s);
  const last = atomic.load<u32>(s, TAIL) === (node as u32);
  if (last && atomic.cmpxchg<u32>(s, node as u32, 0, TAIL) === (node as u32)) giveNode(node);
  else openGate(node, OPEN);
  return ADMITTED;
}
