/**
 * Closing: disposal of an object ends every wait on it.
 */
import { elementAt, usedElements } from '../memory/elements';
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
} from '../memory/layout';
import { closeObject, isAsync, objectOf } from '../memory/objects';
import { isMarked, lastOfPart, whereOf } from './marks';
import { claim } from './tombstones';
import { endWait } from './waking';

/** Disposes of the semaphore, and wakes every waiter. */
export function dispose(s: usize): void {
  if (closeObject(s)) endWaits(s, false);
}

/**
 * Asks all who wait for an object in line to leave: blocked threads here, and the threads of promises by their doorbells.
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
 * Wakes every waiter of a semaphore whose grant is closed already. A part of the pool that is not marked has no waiter:
 * a thread that marks it later reads grant after that, and sees that the semaphore is closed (D6).
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
