/**
 * Closing: disposal of an object ends every wait on it. Asking: those who wait now are to leave, and the object goes
 * on.
 *
 *     who waits                  what askAll changes              what the waiter does
 *     a blocked thread           its element, WAITING -> ASKED    wakes (D5), and cancels its request itself
 *     a promise                  the count O_ASKS; it rings       its thread compares the count, and cancels
 *     the head of a mutex        the count; wakeHead follows      the same; a thread does so in compete
 *
 * ASKED is a state of its own, since a waiter sleeps on that word. No thread may cancel the request of another that
 * lives: it may not have entered its cells yet. A releasing thread passes an ASKED element by. So the owner must not
 * sleep again:
 *     it leaves   its tickets go back, or they stand as a tombstone, which passes on what has been granted (D3)
 *     it stays    if the arena has no element for that. It is WAITING again, and then reads grant (D12)
 *
 *     D12  the count against WAITING or SLEEPING: a thread enters a run, or sets SLEEPING, and then reads the count;
 *          askAll changes the count, and then looks for runs and for SLEEPING. And WAITING again against grant, as in D2
 *
 * A thread that dies in askAll may have asked only some. Nothing is lost then: the others wait on.
 */
import { elementAt, usedElements } from '../arena/elements';
import { closeObject, isAsync, objectOf } from '../arena/objects';
import {
  ASKED,
  CLOSED,
  E_REQUEST,
  E_STATE,
  ELEMENT_SIZE,
  O_ASKS,
  STATE_MASK,
  TOMBSTONE,
  WAITING,
} from '../arena/words';
import { isMarked, lastOfPart, whereOf } from './marks';
import { claim } from './tombstones';
import { endWait } from './waking';

/** Disposes of the semaphore, and wakes every waiter. */
export function dispose(s: usize): void {
  if (closeObject(s)) endWaits(s, false);
}

/**
 * Asks all who stand in the queue of an object to leave: blocked threads here, and the threads of promises by their
 * doorbells.
 */
export function askAll(s: usize): void {
  atomic.add<i32>(s, 1, O_ASKS); // D12 write
  endWaits(s, true);
}

/** Returns how often cancelAll has been called, modulo 2^32. */
export function asks(s: usize): i32 {
  return atomic.load<i32>(s, O_ASKS); // D12 read
}

/**
 * Wakes every waiter of an object whose grant is closed already, or `asks` every waiter to leave. A part of the pool
 * that is not marked has no waiter. A thread that marks it later reads grant, or the count of askAll, after that, and
 * so sees that the semaphore is closed (D6), or that it was asked (D12), unless its request is a later one.
 *
 * To ask promises, their run is only rung for: it stays WAITING.
 */
function endWaits(s: usize, asks: bool): void {
  const where = whereOf(s);
  if (where === 0) return;
  const end = elementAt(usedElements());
  for (let e = elementAt(0); e < end; e += ELEMENT_SIZE) {
    if (!isMarked(where, e)) {
      e = lastOfPart(e);
      continue;
    }
    const state = atomic.load<i64>(e, E_STATE); // D6 read
    const is = state & STATE_MASK;
    if (is !== WAITING && (asks || is !== TOMBSTONE)) continue;
    const request = atomic.load<i64>(e, E_REQUEST);
    if (objectOf(request) !== s) continue;
    if (is === TOMBSTONE) claim(s, e, state);
    else endWait(e, state, asks ? (isAsync(request) ? WAITING : ASKED) : CLOSED, request);
  }
}
