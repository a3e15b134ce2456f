/**
 * McsLock, the queue lock of Mellor-Crummey and Scott; in Dice, Capacitors, an inner lock.
 *
 *     tail ──────────────────────────┐
 *                                    ▼
 *     owner's node ── next ──► node ── next ──► node      each waiter waits at its own gate
 *
 * A thread exchanges its node into tail; whose node it finds there is before it, and it tells that one. The owner
 * opens the gate of its next; if it has none, it sets tail from its own node to 0; if that fails, somebody has come
 * who is about to say so.
 *
 * Exclusion: who finds tail 0 gets the lock, and tail is 0 only while nobody holds it; every other is let in by the
 * one before it, when that leaves. Order: that of the exchanges. Nobody is overtaken.
 *
 * The owner's node is nobody's business after it has left: only the one after it writes there, and the owner leaves
 * when that has happened, or when nobody is after it.
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
import { follow, giveNode, OPEN, openGate, passGate, takeNext, takeNode } from './nodes';
import { disown, holds, nodeOf, own } from './ownership';

const TAIL: usize = TICKET;

/** Takes the lock, blocking until it is this thread's turn. ADMITTED, ANSWER_CLOSED, ANSWER_HELD or ANSWER_FULL. */
export function mcsLock(s: usize): i32 {
  if (atomic.load<i64>(s, GRANT) < 0) return ANSWER_CLOSED;
  if (holds(s)) return ANSWER_HELD;
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

/** Gives the lock back. ADMITTED or ANSWER_NOT_HELD. Waits for nobody but who is just lining up. */
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
