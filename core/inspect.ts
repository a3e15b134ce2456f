/**
 * The numbers that diagnostics read. Each number is one word, or a count of elements, at the moment of the call. No
 * function here changes anything. The counts are kept only on slow paths: a sleep, a cancellation, a collision.
 */

import { elementCapacity, objectCapacity, objects } from './arena/arena';
import { elementAt, usedElements } from './arena/elements';
import { isLive } from './arena/objects';
import { isAsync, objectOf, requester, widthOf } from './arena/requests';
import {
  ATTACHED,
  E_END,
  E_REQUEST,
  E_SINCE,
  E_START,
  E_STATE,
  GRANT,
  O_ADDED,
  O_DEATHS,
  O_INITIAL,
  O_TIMEOUTS,
  OBJECT_SIZE,
  STATE_MASK,
  TICKET,
  TOMBSTONE,
  USED_OBJECTS,
  WAITING,
} from './arena/words';
import { heldBy, isHead } from './kinds/kinds';
import { pendingCount } from './queue/runs';

export function mostElements(): u32 {
  return elementCapacity;
}

export function mostObjects(): u32 {
  return objectCapacity;
}

/** Returns how many objects are live, those of the algorithms included. */
export function liveObjects(): u32 {
  const used = atomic.load<u32>(USED_OBJECTS);
  let live: u32 = 0;
  for (let i: u32 = 0; i < used; i++) live += isLive(objects + (i as usize) * OBJECT_SIZE) as u32;
  return live;
}

/** Returns one of the states in arena/words.ts. */
export function elementState(i: u32): i32 {
  return (atomic.load<i64>(elementAt(i), E_STATE) & STATE_MASK) as i32;
}

/** Returns the thread that owns the element, with ASYNC for promises. */
export function elementOwner(i: u32): i32 {
  return requester(atomic.load<i64>(elementAt(i), E_REQUEST));
}

export function elementObject(i: u32): usize {
  return objectOf(atomic.load<i64>(elementAt(i), E_REQUEST));
}

/**
 * Returns how many requests of the element wait and are not due. For an attachment to a mutex, returns 1 if its thread,
 * or a promise of its thread, is the head.
 */
export function elementWaiting(i: u32): i32 {
  const e = elementAt(i);
  const request = atomic.load<i64>(e, E_REQUEST);
  if ((atomic.load<i64>(e, E_STATE) & STATE_MASK) === ATTACHED) return isHead(objectOf(request), e) as i32;
  if (isAsync(request)) return pendingCount(e, request);
  return ((atomic.load<i64>(e, E_STATE) & STATE_MASK) === WAITING) as i32;
}

/** Returns how many permits each request of the element asks for; for a tombstone, returns its whole width. */
export function elementWidth(i: u32, isTombstone: bool): i64 {
  const e = elementAt(i);
  if (isTombstone) return atomic.load<i64>(e, E_END) - atomic.load<i64>(e, E_START);
  return widthOf(atomic.load<i64>(e, E_REQUEST));
}

/** Returns the first ticket of the requests of the element that wait. */
export function elementStart(i: u32): i64 {
  return atomic.load<i64>(elementAt(i), E_START);
}

export function elementSince(i: u32): i32 {
  return atomic.load<i32>(elementAt(i), E_SINCE);
}

/** Returns how many permits the thread of an attachment holds; of a mutex, whether the thread is the owner. */
export function elementHeld(i: u32): i32 {
  return heldBy(elementObject(i), elementAt(i));
}

/** Returns grant - ticket. Below 0, it counts the permits for which requests wait. */
export function balance(s: usize): i64 {
  return atomic.load<i64>(s, GRANT) - atomic.load<i64>(s, TICKET);
}

export function initial(s: usize): i32 {
  return atomic.load<i32>(s, O_INITIAL);
}

/** Returns the permits of a semaphore that were added, less those that reduce has taken. */
export function added(s: usize): i32 {
  return atomic.load<i32>(s, O_ADDED);
}

export function timeouts(s: usize): u32 {
  return atomic.load<u32>(s, O_TIMEOUTS);
}

export function deaths(s: usize): u32 {
  return atomic.load<u32>(s, O_DEATHS);
}

/** Returns how many threads and promises are queued now, by a pass over every element. Racy by nature. */
export function waiting(s: usize): i32 {
  const used = usedElements();
  let count = 0;
  for (let i: u32 = 0; i < used; i++) {
    const e = elementAt(i);
    const state = atomic.load<i64>(e, E_STATE) & STATE_MASK;
    if (state < WAITING || state >= TOMBSTONE) continue;
    const request = atomic.load<i64>(e, E_REQUEST);
    if (objectOf(request) !== s) continue;
    if (isAsync(request)) count += pendingCount(e, request);
    else if (state === WAITING) count++;
  }
  return count;
}
