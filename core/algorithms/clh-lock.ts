/**
 * ClhLock, the queue lock of Craig, Landin and Hagersten.
 *
 *     tail ───────────────────────┐
 *                                 ▼
 *     owner's node ◄── waiter's node ◄── waiter's node      each waits at the gate of the node before its own
 *
 * A thread exchanges its node into tail; whose node it finds there is before it, and it waits at that one's gate. The
 * owner opens the gate of its own node, which then is the one's who waited there: nodes go from thread to thread.
 *
 * The listing of a CLH lock keeps one node in tail while the lock is free, for ever. Here tail is 0 then, so that a
 * lock nobody uses has no node: the owner sets tail from its own node to 0, and keeps the node, if nobody has come.
 *
 * Exclusion: who finds tail 0 gets the lock, and tail is 0 only while nobody holds it; every other is let in by the
 * one before it, when that leaves. Order: that of the exchanges. Nobody is overtaken.
 */
import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_FULL,
  ANSWER_HELD,
  ANSWER_NOT_HELD,
  GRANT,
  O_SPIN,
  TICKET,
} from '../memory/layout';
import { giveNode, OPEN, openGate, passGate, takeNode } from './nodes';
import { disown, holds, nodeOf, own } from './ownership';

const TAIL: usize = TICKET;

/** Takes the lock, blocking until it is this thread's turn. ADMITTED, ANSWER_CLOSED, ANSWER_HELD or ANSWER_FULL. */
export function clhLock(s: usize): i32 {
  if (atomic.load<i64>(s, GRANT) < 0) return ANSWER_CLOSED;
  if (holds(s)) return ANSWER_HELD;
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

/** Gives the lock back. ADMITTED or ANSWER_NOT_HELD. Never blocks. */
export function clhUnlock(s: usize): i32 {
  const node = nodeOf(s);
  if (node === 0) return ANSWER_NOT_HELD;
  disown(s);
  const last = atomic.load<u32>(s, TAIL) === (node as u32);
  if (last && atomic.cmpxchg<u32>(s, node as u32, 0, TAIL) === (node as u32)) giveNode(node);
  else openGate(node, OPEN);
  return ADMITTED;
}
