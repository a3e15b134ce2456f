/**
 * What the core does for the ends of a channel: it ends the waits at a closed channel, and does what a dead thread has
 * left undone. channel.ts has the picture, the proof, and all that a thread does for itself.
 */
import { GRANT, RECEIVES } from '../../arena/words';
import { closeQueue } from '../../queue/closing';
import { wakeDue } from '../../queue/queue';
import { endOf, markOf, placeAt } from './places';
import {
  E_SENDERS,
  E_TOOK,
  E_TOOK_COUNT,
  E_UNREAD,
  HOLE,
  NEXT_CLOSED,
  P_DONE,
  P_END,
  P_NEXT,
  P_SENDERS,
  P_UNTOLD,
  PLACE_LENGTH,
  PLACE_MARK,
} from './words';

/** Closes the channel. finishClose must follow. May be called again. */
export function close(f: usize, m: usize): void {
  const next = atomic.or<i64>(f, NEXT_CLOSED, P_NEXT); // R16 begins
  if (next >= 0) atomic.store<i32>(m, endOf(next as i32), P_END); // R16 ends. D16 write
}

/**
 * As how many senders the thread of this attachment counts from now on, and how many of them leave. Closes the channel
 * with the last of all. finishClose must follow.
 */
export function endSending(f: usize, m: usize, e: usize, left: i32, n: i32): void {
  atomic.store<i32>(e, left, E_SENDERS); // R18 begins
  const before = atomic.sub<i32>(m, n, P_SENDERS);
  if (before > 0 && before <= n) close(f, m); // R18 ends
}

/**
 * Ends the waits of all senders of a channel that is closed. If every message has been taken, it also ends those of the
 * receivers. May be called again.
 */
export function finishClose(f: usize, m: usize): void {
  closeQueue(f);
  if (atomic.load<i32>(m, P_END) === endOf(atomic.load<i32>(m, P_NEXT))) closeQueue(m); // D16 read
}

/**
 * Marks place i, which a thread has claimed and will not pass on itself: it is dead, or an exception has cut its call
 * short. A sender leaves a hole. A message that a receiver has not used counts as lost; a used one has the length of a
 * hole. `told` is 0 if a thread of the other end is to be told, or the distance to P_TOLD. May be called again.
 */
export function giveUp(o: usize, peer: usize, kind: i32, i: i64, told: usize): void {
  const p = placeAt(o, i);
  const mark = markOf(kind, i);
  if (atomic.load<i64>(p, PLACE_MARK) === mark) return; // D15 read
  // After the mark: once done has passed the place, its next user may overwrite the mark.
  if (i < atomic.load<i64>(o, P_DONE)) return;
  const counts = (((kind & RECEIVES) === 0) as i32) | ((atomic.load<i32>(p, PLACE_LENGTH) !== HOLE) as i32);
  atomic.store<i32>(p, HOLE, PLACE_LENGTH); // R17 begins
  atomic.store<i64>(p, mark, PLACE_MARK); // D15 write
  atomic.add<i32>(peer + told, counts, P_UNTOLD); // R17 ends
}

/**
 * Passes on what a dead thread has claimed at an end of this kind and not passed on. Counts the messages as lost that a
 * receiver has passed on and not handed to its program. Then does what the thread may have left undone for others:
 * passes on the places that are marked, and closes. The dead thread is attached to the other end, too. May be called
 * again.
 */
export function passForDead(o: usize, peer: usize, kind: i32, e: usize): void {
  let i = atomic.load<i64>(e, E_TOOK);
  for (let claimed = atomic.load<i32>(e, E_TOOK_COUNT); claimed > 0; claimed--, i++) giveUp(o, peer, kind, i, 0);
  while (true) {
    i = atomic.load<i64>(o, P_DONE); // D15 read
    if (atomic.load<i64>(placeAt(o, i), PLACE_MARK) !== markOf(kind, i)) break; // D15 read
    if (atomic.cmpxchg<i64>(o, i, i + 1, P_DONE) !== i) continue; // R15 begins
    wakeDue(peer, atomic.add<i64>(peer, 1, GRANT), 1); // R15 ends
  }
  if ((kind & RECEIVES) === 0) {
    const senders = atomic.load<i32>(e, E_SENDERS);
    if (senders !== 0) endSending(o, peer, e, 0, senders);
  } else {
    const unread = atomic.load<i32>(e, E_UNREAD);
    if (unread !== 0) {
      atomic.store<i64>(e, 0, E_TOOK_COUNT); // R20 begins. This clears E_UNREAD, too
      atomic.add<i32>(peer, unread, P_UNTOLD); // R20 ends
    }
  }
  if (atomic.load<i64>(o, P_NEXT) < 0) finishClose(o, peer);
}
