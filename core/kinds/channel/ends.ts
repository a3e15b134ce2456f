/**
 * What the core does for the ends of a channel: it ends the waits at a closed channel, and does what a dead thread has
 * left undone. channel.ts has the picture, the proof, and all that a thread does for itself.
 */
import { GRANT } from '../../arena/words';
import { closeQueue } from '../../queue/closing';
import { wakeDue } from '../../queue/waking';
import { endOf, markOf, placeAt } from './places';
import {
  E_SENDERS,
  E_TOOK,
  E_TOOK_COUNT,
  HOLE,
  KIND_CHANNEL,
  NEXT_CLOSED,
  P_DONE,
  P_END,
  P_NEXT,
  P_SENDERS,
  P_UNTOLD,
  PLACE_LENGTH,
  PLACE_MARK,
} from './words';

/** Whether an object of this kind is an end of a channel or of a watch. */
export function isEnd(kind: i32): bool {
  return (kind & ~3) === KIND_CHANNEL;
}

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
 * Passes on what a dead thread has claimed at an end of this kind and not passed on. A sender leaves holes. Of a
 * receiver, the messages that it has not used count as lost; a used message has the length of a hole. Then does what the
 * thread may have left undone for others: passes on the places that are marked, and closes. The dead thread is attached
 * to the other end, too. May be called again.
 */
export function passForDead(o: usize, peer: usize, kind: i32, e: usize): void {
  let i = atomic.load<i64>(e, E_TOOK);
  // First comes each place that the thread has claimed, then each that others have marked.
  for (let claimed = atomic.load<i32>(e, E_TOOK_COUNT); ; claimed--, i++) {
    if (claimed <= 0) i = atomic.load<i64>(o, P_DONE); // D15 read
    const p = placeAt(o, i);
    const mark = markOf(kind, i);
    if (atomic.load<i64>(p, PLACE_MARK) !== mark) {
      // D15 read
      if (claimed <= 0) break;
      // After the mark: once done has passed the place, its next user may overwrite the mark.
      if (i < atomic.load<i64>(o, P_DONE)) continue;
      const counts = ((kind === KIND_CHANNEL) as i32) | ((atomic.load<i32>(p, PLACE_LENGTH) !== HOLE) as i32);
      atomic.store<i32>(p, HOLE, PLACE_LENGTH); // R17 begins
      atomic.store<i64>(p, mark, PLACE_MARK);
      atomic.add<i32>(peer, counts, P_UNTOLD); // R17 ends
    } else if (claimed <= 0) {
      if (atomic.cmpxchg<i64>(o, i, i + 1, P_DONE) !== i) continue; // R15 begins
      wakeDue(peer, atomic.add<i64>(peer, 1, GRANT), 1); // R15 ends
    }
  }
  const senders = atomic.load<i32>(e, E_SENDERS);
  if (senders !== 0) endSending(o, peer, e, 0, senders);
  if (atomic.load<i64>(o, P_NEXT) < 0) finishClose(o, peer);
}
