/**
 * Giving up: a waiter that will not wait any longer leaves the queue at once, and no permit is lost or made.
 *
 *     last in line     its tickets are taken back, as if they had never been
 *     otherwise        its element stays behind, a tombstone, ABANDONED; the width goes on to those behind:
 *
 *     ticket   ... | 40 41 42 | 43 | ...        42 are granted: the tombstone's start has been passed, so
 *                   tombstone   next            nobody ahead of it waits: grant += 3, and 43 is due
 *                   start   end
 *
 * Whoever brings grant past the start of a tombstone adds its width (claim): the poster that does, or the
 * giver itself if that has happened already. Adding it sooner would admit those ahead on permits that do not
 * exist; walking away would keep the permits from those behind for ever.
 *     D3  ABANDONED against grant: the giver sees grant past start, or the poster sees ABANDONED
 *     D4  the same after two tombstones have become one
 *
 * Two tombstones side by side are made one (merge), so that those of a semaphore are never more than its
 * waiters and one. A tombstone stands in the cells of its first and of its last ticket, so a neighbour is
 * found in one bucket either way. Each change of a tombstone moves the epoch on: who read its words under a
 * state and then exchanges that very state has read them whole.
 *
 * R2, R3 and R4 have no call and no loop in them: an engine that stops a thread only there cannot stop it
 * with a ticket taken back and still queued, a tombstone passed and never counted, or one half merged.
 */
import { second, setSecond, setSpare, spare } from './arena';
import { forsake } from './counter';
import {
  clearCells,
  elementAt,
  indexOf,
  keep,
  leaveCells,
  release as releaseElement,
  reserve,
} from './elements';
import {
  ABANDONED,
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_FULL,
  ASYNC,
  B_CELLS,
  B_NEXT,
  CLAIMED,
  CLOSED,
  CLOSED_BELOW,
  E_CELLS,
  E_END,
  E_LEAVING,
  E_REQUEST,
  E_START,
  E_STATE,
  EPOCH,
  GRANT,
  GRANTED,
  LINE,
  MERGING,
  O_TIMEOUTS,
  OWNER_SHIFT,
  REFUSED,
  STATE_MASK,
  TICKET,
  WAITING,
  WIDTH_MASK,
} from './layout';
import { quit } from './mutex';
import { enterRun } from './runs';
import { enterBoth, leave, objectOf, settled, wakeDue } from './semaphore';
import { mark } from './waiters';
import { bucketOf } from './waiting-array';

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
    quit(s, 1); // R2 ends
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
  quit(s, end - start);
  clearCells(e);
  if (keeps) keep(e);
  else releaseElement(e); // R2 ends
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
    quit(s, end - start);
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
      releaseElement(e);
      return;
    }
    if (takeBack(s, e, start, end, false)) {
      forsake(s, end - start);
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
  quit(s, end - start); // R2 ends
  forsake(s, end - start);
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

/** Where grant was after the last claim. */
export let passedTo: i64 = 0;

/** Adds the width of a tombstone to grant, and frees its element. The width, or 0 if somebody else was first. */
export function claim(s: usize, e: usize, state: i64): i64 {
  if (atomic.cmpxchg<i64>(e, state, state + (CLAIMED - ABANDONED), E_STATE) !== state) return 0; // R3 begins
  const width = atomic.load<i64>(e, E_END) - atomic.load<i64>(e, E_START);
  passedTo = atomic.add<i64>(s, width, GRANT) + width; // D1, D2 write
  clearCells(e);
  releaseElement(e); // R3 ends
  return width;
}

/** Two neighbours become one: x, which begins where it did and ends where y did. Whether they have. */
function merge(x: usize, itsX: i64, y: usize, itsY: i64): bool {
  if (atomic.cmpxchg<i64>(x, itsX, itsX + (MERGING - ABANDONED), E_STATE) !== itsX) return false; // R4 begins
  if (atomic.cmpxchg<i64>(y, itsY, itsY + (CLAIMED - ABANDONED), E_STATE) !== itsY) {
    atomic.store<i64>(x, itsX, E_STATE); // R4 ends. D4 write
    return false;
  }
  const ofX = atomic.load<u64>(x, E_CELLS);
  const ofY = atomic.load<u64>(y, E_CELLS);
  const last = ofY & 0xffffffff;
  // x takes over the cell of y's last ticket, and keeps that of its own first.
  atomic.store<i32>(last as usize, (indexOf(x) + 1) as i32);
  if (ofY >> 32) atomic.store<i32>((ofY >> 32) as usize, 0);
  if (ofX >> 32) atomic.store<i32>((ofX & 0xffffffff) as usize, 0);
  const first = ofX >> 32 ? ofX & 0xffffffff00000000 : ofX << 32;
  atomic.store<u64>(x, first | last, E_CELLS);
  atomic.store<i64>(x, atomic.load<i64>(y, E_END), E_END);
  atomic.store<u64>(y, 0, E_CELLS);
  releaseElement(y);
  atomic.store<i64>(x, itsX + EPOCH, E_STATE); // R4 ends. D4 write
  return true;
}

/** Whether an element was a tombstone of the semaphore with this first or last ticket, when it had this state. */
function is(s: usize, e: usize, state: i64, field: usize, ticket: i64): bool {
  if ((state & STATE_MASK) !== ABANDONED) return false;
  return atomic.load<i64>(e + field) === ticket && objectOf(atomic.load<i64>(e, E_REQUEST)) === s;
}

/** The tombstone that stands in the bucket of `key` and has this first or last ticket, or 0. */
function find(s: usize, key: i64, field: usize, ticket: i64): usize {
  let line = bucketOf(s, key);
  while (line) {
    for (let cell = line + B_CELLS; cell < line + LINE; cell += 4) {
      const number = atomic.load<u32>(cell);
      if (number === 0) continue;
      const e = elementAt(number - 1);
      if (is(s, e, atomic.load<i64>(e, E_STATE), field, ticket)) return e;
    }
    line = atomic.load<u32>(line, B_NEXT) as usize;
  }
  return 0;
}
