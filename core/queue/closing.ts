/**
 * Closing: disposal of an object ends every wait on it.
 */
import { elementAt, usedElements } from '../memory/elements';
import { CLOSED, E_REQUEST, E_STATE, ELEMENT_SIZE, STATE_MASK, TOMBSTONE, WAITING } from '../memory/layout';
import { closeObject, objectOf } from '../memory/objects';
import { isMarked, lastOfPart, whereOf } from './marks';
import { claim } from './tombstones';
import { endWait } from './waking';

/** Disposes of the semaphore, and wakes every waiter. */
export function dispose(s: usize): void {
  if (closeObject(s)) closeWaiters(s);
}

/**
 * Wakes every waiter of a semaphore whose grant is closed already. A part of the pool that is not marked has no waiter:
 * a thread that marks it later reads grant after that, and sees that the semaphore is closed (D6).
 */
function closeWaiters(s: usize): void {
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
    if (is !== WAITING && is !== TOMBSTONE) continue;
    const request = atomic.load<i64>(e, E_REQUEST);
    if (objectOf(request) !== s) continue;
    if (is === WAITING) endWait(e, state, CLOSED, request);
    else claim(s, e, state);
  }
}
