/**
 * McsLock, the queue lock of Mellor-Crummey and Scott; in Dice, Capacitors, an inner lock.
 *
 *     tail ──────────────────────────┐
 *                                    ▼
 *     owner's node ── next ──► node ── next ──► node      each waiter waits at its own gate
 *
 * A thread exchanges its node into tail. The node that it finds there belongs to the thread before it, and the thread
 * stores its own node as the next of that node. The owner opens the gate of its next node. An owner that has no next
 * node exchanges tail from its own node to 0. If this exchange fails, another thread has come and is about to enter its
 * node.
 *
 * Exclusion: a thread that finds 0 in tail gets the lock, and tail is 0 only while nobody holds it. Every other thread
 * gets the lock from the thread before it. The order is that of the exchanges, and nobody is overtaken.
 *
 * Nobody uses the owner's node after the owner has left: only the thread after the owner writes there. The owner leaves
 * when that thread has written, or when no thread is after the owner.
 */
import { ADMITTED, ANSWER_CLOSED, ANSWER_FULL, ANSWER_HELD, ANSWER_NOT_HELD } from '../answers';
import { GRANT, O_SPIN, TICKET } from '../arena/words';
import { follow, giveNode, OPEN, openGate, passGate, takeNext, takeNode } from './nodes';
import { disown, holds, nodeOf, own } from './ownership';

const TAIL: usize = TICKET;

/**
 * Blocks until this thread has the lock. Returns ADMITTED, ANSWER_CLOSED, ANSWER_HELD or ANSWER_FULL.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that must not block
 */
export function mcsLock(s: usize): i32 {
  if (holds(s)) return ANSWER_HELD;
  if (atomic.load<i64>(s, GRANT) < 0) return ANSWER_CLOSED;
  const node = takeNode();
  if (node === 0) return ANSWER_FULL;
  const before = atomic.xchg<u32>(s, node as u32, TAIL) as usize;
  if (before !== 0) {
    follow(before, node);
    passGate(node, atomic.load<i32>(s, O_SPIN));
  }
  own(s, node);
  if (before === 0 || atomic.load<i64>(s, GRANT) >= 0) return ADMITTED;
  mcsUnlock(s);
  return ANSWER_CLOSED;
}

/** Gives the lock back. Returns ADMITTED or ANSWER_NOT_HELD. Waits only for a thread that is just joining the queue. */
export function mcsUnlock(s: usize): i32 {
  const node = nodeOf(s);
  if (node === 0) return ANSWER_NOT_HELD;
  disown(s);
  const last = atomic.load<u32>(s, TAIL) === (node as u32);
  if (!last || atomic.cmpxchg<u32>(s, node as u32, 0, TAIL) !== (node as u32)) {
    openGate(takeNext(node, atomic.load<i32>(s, O_SPIN)), OPEN);
  }
  giveNode(node);
  return ADMITTED;
}
