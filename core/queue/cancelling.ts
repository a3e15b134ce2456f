/**
 * Cancelling: a request leaves the queue before it is admitted, and no permit is lost or made.
 *
 *     last in line     its tickets are taken back, as if they had never been taken
 *     otherwise        its element stays behind, a tombstone, ABANDONED; its width goes on to those behind (tombstones.ts)
 *
 * A thread cancels a request of its own because a time-out has passed or a signal has fired, and the requests of a dead
 * thread in its name.
 *     D3  ABANDONED against grant: the thread that cancels sees grant past start, or the one that releases sees ABANDONED
 *     D4  the same after two tombstones have become one
 *
 * R2 has no call and no loop in it. An engine that stops a thread only at these cannot stop it with a ticket that is taken
 * back and still queued.
 */
import {
  clearCells,
  elementAt,
  freeElement,
  keep,
  leaveCells,
  reserve,
  second,
  setSecond,
  setSpare,
  spare,
} from '../memory/elements';
import {
  ABANDONED,
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_FULL,
  ASYNC,
  CLOSED,
  CLOSED_BELOW,
  E_END,
  E_LEAVING,
  E_REQUEST,
  E_START,
  E_STATE,
  GRANT,
  GRANTED,
  O_TIMEOUTS,
  OWNER_SHIFT,
  REFUSED,
  STATE_MASK,
  TICKET,
  WAITING,
  WIDTH_MASK,
} from '../memory/layout';
import { objectOf } from '../memory/objects';
import { cancelled, cancelledByDeath } from '../primitives/kinds';
import { mark } from './marks';
import { leave } from './parking';
import { settled } from './pending-call';
import { enterRun } from './runs';
import { claim, find, is, merge, passedTo } from './tombstones';
import { enterBoth } from './waiting-array';
import { wakeDue } from './waking';

/**
 * The thread's own request, for which it has blocked. REFUSED: given up. ADMITTED or ANSWER_CLOSED: that came
 * first. ANSWER_FULL: there is no other element for the thread, so it must wait on. The attachment as in park.
 *
 * Nobody need settle promises of the thread after that. Those on this semaphore came before the thread blocked, so their
 * tickets are below `start`, and so below the first ticket of any tombstone that this one is joined with, since those lie
 * side by side. What is passed on is granted when grant is past that ticket: the promises were due before, by others, who
 * ring (moveOn).
 */
export function giveUp(s: usize, attachment: i32): i32 {
  const e = spare;
  const start = atomic.load<i64>(e, E_START);
  const due = start + (atomic.load<i64>(e, E_REQUEST) & WIDTH_MASK);
  if (takeBack(s, e, start, due, true)) {
    settled();
    atomic.add<i32>(s, 1, O_TIMEOUTS);
    return REFUSED;
  }
  if (second === 0) {
    setSecond(reserve());
    if (second === 0) return ANSWER_FULL;
  }
  const answer = abandon(e, due); // R2 begins
  if (answer === REFUSED) {
    cancelled(s, 1); // R2 ends
    setSpare(second);
    setSecond(0);
    settled();
    atomic.add<i32>(s, 1, O_TIMEOUTS);
    handOn(s, e, start);
  } else leave(answer, attachment);
  return answer;
}

/**
 * Takes the tickets of a request back, if they are the last. Whether they were: then the element is out of its cells, and
 * kept by the thread, or free.
 */
function takeBack(s: usize, e: usize, start: i64, end: i64, keeps: bool): bool {
  // Before others can have the tickets: a poster who finds the element still must not take them for its own (wakeDue).
  atomic.store<i64>(e, ~start, E_LEAVING);
  if (atomic.cmpxchg<i64>(s, end, start, TICKET) !== end) return false; // R2 begins
  cancelled(s, end - start);
  clearCells(e);
  if (keeps) keep(e);
  else freeElement(e); // R2 ends
  return true;
}

/** WAITING to ABANDONED. REFUSED, or what came first. */
function abandon(e: usize, due: i64): i32 {
  atomic.store<i64>(e, due, E_END);
  const state = atomic.load<i64>(e, E_STATE);
  if ((state & STATE_MASK) === WAITING) {
    if (atomic.cmpxchg<i64>(e, state, state + (ABANDONED - WAITING), E_STATE) === state) return REFUSED; // D3 write
  }
  return (atomic.load<i64>(e, E_STATE) & STATE_MASK) === GRANTED ? ADMITTED : ANSWER_CLOSED;
}

/**
 * A run of promises gives up, as giveUp does. ADMITTED when its first promise is due: then settle must follow.
 */
export function giveUpRun(number: i32): i32 {
  const e = elementAt((number - 1) as u32);
  const request = atomic.load<i64>(e, E_REQUEST);
  const s = objectOf(request);
  const start = atomic.load<i64>(e, E_START);
  const end = atomic.load<i64>(e, E_END);
  if (takeBack(s, e, start, end, false)) {
    atomic.add<i32>(s, 1, O_TIMEOUTS);
    return REFUSED;
  }
  // Nobody finds an element that is in no cell, so neither would they find the tombstone.
  if (enterRun(number, 0)) return ADMITTED;
  const answer = abandon(e, end);
  if (answer === REFUSED) {
    cancelled(s, end - start);
    atomic.add<i32>(s, 1, O_TIMEOUTS);
    handOn(s, e, start);
  }
  return answer;
}

/**
 * Gives up a request in the name of a thread that is dead or ends: its whole run, if promises stand in it. What it
 * has been granted and not seen goes on to those behind it, too. May be begun again if who does it dies.
 */
export function giveUpFor(e: usize): void {
  const request = atomic.load<i64>(e, E_REQUEST);
  const s = objectOf(request);
  const start = atomic.load<i64>(e, E_START);
  const isRun = ((request >> OWNER_SHIFT) & (ASYNC as i64)) !== 0;
  const end = isRun ? atomic.load<i64>(e, E_END) : start + (request & WIDTH_MASK);
  while (true) {
    const state = atomic.load<i64>(e, E_STATE);
    if ((state & STATE_MASK) === CLOSED) {
      leaveCells(e);
      freeElement(e);
      return;
    }
    if (takeBack(s, e, start, end, false)) {
      cancelledByDeath(s, end - start);
      return;
    }
    // The tombstone of a run is found under the run's last ticket, and of what was not entered yet, at all.
    leaveCells(e);
    mark(s, e);
    enterBoth(s, e, start, end);
    atomic.store<i64>(e, end, E_END);
    const tombstone = (state & ~STATE_MASK) + ABANDONED;
    if (atomic.cmpxchg<i64>(e, state, tombstone, E_STATE) === state) break; // R2 begins. D3 write
  }
  cancelled(s, end - start); // R2 ends
  cancelledByDeath(s, end - start);
  handOn(s, e, start);
}

/**
 * What the giver of a tombstone does last: passes it on, if it is due, or else joins it to its neighbours.
 * Two givers who come upon each other in the middle of a merge leave it to the one who merges: it looks again.
 */
function handOn(s: usize, tombstone: usize, first: i64): void {
  let e = tombstone;
  let start = first;
  while (true) {
    const state = atomic.load<i64>(e, E_STATE);
    // Somebody else may have claimed or merged it, and its element may be another's by now.
    if (!is(s, e, state, E_START, start)) return;
    if (passOn(s, e, state, start)) return;
    const end = atomic.load<i64>(e, E_END);
    const right = find(s, end, E_START, end);
    if (right) {
      const its = atomic.load<i64>(right, E_STATE);
      if (is(s, right, its, E_START, end)) merge(e, state, right, its);
      continue;
    }
    const left = find(s, start - 1, E_END, start);
    if (left === 0) return;
    const its = atomic.load<i64>(left, E_STATE);
    if (!is(s, left, its, E_END, start)) continue;
    const from = atomic.load<i64>(left, E_START);
    if (merge(left, its, e, state)) {
      e = left;
      start = from;
    } else {
      const now = atomic.load<i64>(left, E_STATE);
      if (is(s, left, now, E_START, from)) passOn(s, left, now, from);
    }
  }
}

/** Passes a tombstone on, if it is due. Whether it is. */
export function passOn(s: usize, e: usize, state: i64, start: i64): bool {
  const ahead = atomic.load<i64>(s, GRANT) - start; // D3, D4 read
  if (ahead <= 0 && ahead >= CLOSED_BELOW) return false;
  const width = claim(s, e, state);
  if (width) wakeDue(s, passedTo - width, width);
  return true;
}
