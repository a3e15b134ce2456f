/**
 * Tombstones: the elements of cancelled requests, which stand in the queue for tickets that no request wants.
 *
 *     ticket   ... | 40 41 42 | 43 | ...        start is 40, and end is 43. If grant is 41, it is past start, so every
 *                   tombstone   next            request before the tombstone is due. Then the width of the tombstone
 *                                               goes to the requests behind it: grant += 3 gives 44, ticket 43 is due
 *
 * When grant is past the start of a tombstone, a thread claims the tombstone, and adds its width to grant. This is the
 * releasing thread that brings grant past the start, or the cancelling thread if grant was past the start before. If a
 * thread added the width sooner, waiters before the tombstone would be admitted to permits that do not exist. If no
 * thread added the width, waiters behind the tombstone would never be admitted.
 *
 * Two tombstones side by side become one (merge), so a semaphore has at most one tombstone more than it has waiters. A
 * tombstone stands in the cells of its first ticket and of its last ticket. So a thread finds a neighbour on either
 * side in one bucket. Each change of a tombstone increments the epoch. A thread reads the state of a tombstone, then
 * its other words, and then exchanges the state. If the exchange succeeds, all these words were those of one tombstone.
 *
 * R3 and R4 are uninterruptible. So no thread can die after it has claimed a tombstone and before it has added the
 * width to grant, or in the middle of a merge.
 */

import { elementAt, freeElement, indexOf, leaveCellsInlined, objectOf } from '../arena/elements';
import {
  CLAIMED,
  E_CELLS,
  E_END,
  E_REQUEST,
  E_START,
  E_STATE,
  EPOCH,
  GRANT,
  LINE,
  MERGING,
  STATE_MASK,
  TOMBSTONE,
} from '../arena/words';
import { bucketOf, extentOf, lineAfter } from './waiting-array';
import { B_CELLS } from './words';

/** The value of grant after the last claim. */
export let grantAfterClaim: i64 = 0;

/** Adds the width of a tombstone to grant, and frees its element. Returns the width, or 0 if it was claimed already. */
export function claim(s: usize, e: usize, state: i64): i64 {
  if (atomic.cmpxchg<i64>(e, state, state + (CLAIMED - TOMBSTONE), E_STATE) !== state) return 0; // R3 begins
  const width = atomic.load<i64>(e, E_END) - atomic.load<i64>(e, E_START);
  grantAfterClaim = atomic.add<i64>(s, width, GRANT) + width; // D1, D2 write
  leaveCellsInlined(e);
  freeElement(e); // R3 ends
  return width;
}

/**
 * Merges y into x, its neighbour on the left. `stateX` and `stateY` are their states. Returns whether they are one now.
 */
export function merge(x: usize, stateX: i64, y: usize, stateY: i64): bool {
  if (atomic.cmpxchg<i64>(x, stateX, stateX + (MERGING - TOMBSTONE), E_STATE) !== stateX) return false; // R4 begins
  if (atomic.cmpxchg<i64>(y, stateY, stateY + (CLAIMED - TOMBSTONE), E_STATE) !== stateY) {
    atomic.store<i64>(x, stateX, E_STATE); // R4 ends. D4 write
    return false;
  }
  const ofX = atomic.load<u64>(x, E_CELLS);
  const ofY = atomic.load<u64>(y, E_CELLS);
  const last = ofY & 0xffffffff;
  // x takes over the cell of the last ticket of y, and keeps the cell of its own first ticket.
  atomic.store<i32>(last as usize, (indexOf(x) + 1) as i32);
  if (ofY >> 32) atomic.store<i32>((ofY >> 32) as usize, 0);
  if (ofX >> 32) atomic.store<i32>((ofX & 0xffffffff) as usize, 0);
  const first = ofX >> 32 ? ofX & 0xffffffff00000000 : ofX << 32;
  atomic.store<u64>(x, first | last, E_CELLS);
  atomic.store<i64>(x, atomic.load<i64>(y, E_END), E_END);
  atomic.store<u64>(y, 0, E_CELLS);
  freeElement(y);
  atomic.store<i64>(x, stateX + EPOCH, E_STATE); // R4 ends. D4 write
  return true;
}

/** Returns whether an element, when it had this state, was a tombstone of s with this first or last ticket. */
export function isTombstone(s: usize, e: usize, state: i64, field: usize, ticket: i64): bool {
  if ((state & STATE_MASK) !== TOMBSTONE) return false;
  return atomic.load<i64>(e + field) === ticket && objectOf(atomic.load<i64>(e, E_REQUEST)) === s;
}

/** Returns the tombstone that stands in the bucket of `key` and has this first or last ticket, or 0. */
export function findTombstone(s: usize, key: i64, field: usize, ticket: i64): usize {
  let line = bucketOf(s, key);
  for (let left = extentOf(line); left >= 0; left--) {
    for (let cell = line + B_CELLS; cell < line + LINE; cell += 4) {
      const number = atomic.load<u32>(cell);
      if (number === 0) continue;
      const e = elementAt(number - 1);
      if (isTombstone(s, e, atomic.load<i64>(e, E_STATE), field, ticket)) return e;
    }
    line = lineAfter(line);
  }
  return 0;
}
