/**
 * The pace of a mutex: how many locks fit into a turn, and after how many overtakings a turn ends (M_TURN), at the latest
 * (M_LIMIT). Both counts move with the pace and the number of waiters, and stay within what the option `bypass` allows
 * (O_MAX). mutex.ts says what turns are for.
 */

import { O_MAX } from '../../arena/words';
import { M_COUNT_SHIFT, M_LIMIT, M_PACE, M_TURN, M_WAITER, M_WAITERS, M_WORD } from './words';

/** A turn lasts so many microseconds. The pace of a lock is the number of overtakings in that time. */
const TURN: i64 = 250;
/** So many full turns last 15 milliseconds together. If more threads wait, turns are shorter. */
const MANY: i64 = 60;
/**
 * If the head does not run, the turn goes on up to the limit. A turn up to the limit has so many times as many locks as
 * a usual turn.
 */
const OVERTIME: i64 = 2;
/** The pace until a thread has measured it. */
const USUAL_PACE: i32 = 5_000;
const MOST_PACE: i32 = 1 << 17;
/**
 * A pace as low as this means that sections last 80 microseconds or more, or that hardly any thread comes. The head
 * then reserves the lock before its first sleep.
 */
export const SLOW: i32 = 3;
/**
 * The pace moves by an eighth of the way towards a measured pace. A measured pace counts as at most four times the pace
 * so far, and as at least a quarter of it.
 */
const PACE_SHIFT: i32 = 3;
const FARTHEST_SHIFT: i32 = 2;
/** Times of fewer microseconds are not used, since clocks are too coarse for them. */
const SHORTEST: i64 = 20;
/** Shifts a difference of overtakings, which has 29 bits, so that its highest bit becomes the sign. */
export const COUNT_HIGH_BITS: i32 = 3;
/** The count of overtakings when this thread began to wait. */
let base: i32 = 0;
/**
 * `turnOf` is the mutex that this thread took last as the head, or 0 if its turn has been measured. `turnFrom` is the
 * count of overtakings when the thread took it.
 */
let turnOf: usize = 0;
let turnFrom: i32 = 0;

export function overtakings(w: i64): i32 {
  return (w >> M_COUNT_SHIFT) as i32;
}

/** Returns how often waiters may still be overtaken, shifted left by COUNT_HIGH_BITS. Only its sign is of use. */
export function scaledBypassLeft(m: usize, w: i64): i32 {
  return (atomic.load<i32>(m, M_LIMIT) - overtakings(w)) << COUNT_HIGH_BITS;
}

/** Returns the overtakings from one state of the word to a later one. */
export function overtakingsBetween(from: i64, to: i64): i32 {
  return ((overtakings(to) - overtakings(from)) << COUNT_HIGH_BITS) >> COUNT_HIGH_BITS;
}

/** Whether the turn of the thread that was the head before is over. */
export function isTurnOver(m: usize, w: i64): bool {
  return (atomic.load<i32>(m, M_TURN) - overtakings(w)) << COUNT_HIGH_BITS <= 0;
}

/**
 * Called when the thread begins to wait, with the word of the mutex at that time.
 * @inline
 */
export function setBase(w: i64): void {
  base = overtakings(w);
}

/** Begins the turn of this thread, which has taken the lock as the head from this word. */
export function beginTurn(m: usize, w: i64): void {
  turnOf = m;
  turnFrom = overtakings(w);
}

/**
 * Measures the pace. The thread took the lock as the head so many microseconds ago, and has now found the lock
 * contended. The pace follows from the number of overtakings in this time.
 */
export function turnLasted(m: usize, microseconds: i32): void {
  if (turnOf !== m) return;
  turnOf = 0;
  const known = paceOf(m);
  const count = ((overtakings(atomic.load<i64>(m, M_WORD)) - turnFrom) << COUNT_HIGH_BITS) >> COUNT_HIGH_BITS;
  let pace = known << 1;
  if ((microseconds as i64) >= SHORTEST) {
    const measured = min(((count as i64) * TURN) / (microseconds as i64), MOST_PACE as i64) as i32;
    pace = max(known >> FARTHEST_SHIFT, min(measured, known << FARTHEST_SHIFT));
  } else if ((count as i64) * TURN < (known as i64) * SHORTEST) return;
  setPace(m, known + ((pace - known) >> PACE_SHIFT) + (pace > known ? 1 : 0));
}

export function setPace(m: usize, pace: i32): void {
  atomic.store<i32>(m, max(1, min(pace, MOST_PACE)), M_PACE);
}

export function paceOf(m: usize): i32 {
  const known = atomic.load<i32>(m, M_PACE);
  return known === 0 ? USUAL_PACE : known;
}

/**
 * Stores the count of overtakings at which the next turn ends, and the limit. Neither of the two exceeds the base of
 * this thread by more than max.
 */
export function setLimit(m: usize, w: i64): void {
  const now = overtakings(w);
  const most = atomic.load<i32>(m, O_MAX);
  const spent = ((now - base) << COUNT_HIGH_BITS) >> COUNT_HIGH_BITS;
  const waiters = max((w & M_WAITERS) / M_WAITER, 1);
  const pace = paceOf(m) as i64;
  // The last waiter in the queue waits through the turns of all waiters before it. These turns together must stay
  // within the bound.
  const share = (most as i64) / (waiters + 1);
  const turn = waiters > MANY ? (pace * MANY) / waiters : pace;
  atomic.store<i32>(m, now + min(max(min(turn, share), 1) as i32, most - spent), M_TURN);
  atomic.store<i32>(m, now + min(max(min(turn * OVERTIME, share), 1) as i32, most - spent), M_LIMIT);
}
