/**
 * The numbers that diagnostics read of an object and of the arena, each at the moment of the call. No function here
 * changes anything. The counts are kept only on slow paths: a sleep, a cancellation, a collision. Who waits and who holds
 * what, src/look/ reads out of the memory. It also says what it is to wait, and `waiting` counts by that rule: a pass over
 * many waiters is what JavaScript is slow at, above all the first time.
 */

import { elementCapacity, objectCapacity, objects } from './arena/arena';
import { elementAt, isAsync, objectOf, usedElements, widthOf } from './arena/elements';
import { isLive } from './arena/objects';
import {
  AWAKE,
  CLOSED_BELOW,
  E_END,
  E_REQUEST,
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
  USED_OBJECTS,
  WAITING,
} from './arena/words';
import { LIMIT } from './queue/words';

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

/** Returns how many requests in the queue of an object wait, of blocked threads and promises alike. */
export function waiting(o: usize): i32 {
  // If grant has reached all tickets, nobody waits.
  const ticket = atomic.load<i64>(o, TICKET);
  if (atomic.load<i64>(o, GRANT) >= ticket) return 0;
  const used = usedElements();
  let count: i64 = 0;
  for (let i: u32 = 0; i < used; i++) count += waitingIn(elementAt(i), o);
  return count as i32;
}

/** Returns how many requests of an element wait for an object. An element that changes all the time has no long wait. */
function waitingIn(e: usize, o: usize): i64 {
  const TRIES = 4;
  for (let tries = 0; tries < TRIES; tries++) {
    const state = atomic.load<i64>(e, E_STATE);
    const is = state & STATE_MASK;
    if (is < WAITING || is > AWAKE) return 0;
    const request = atomic.load<i64>(e, E_REQUEST);
    if (objectOf(request) !== o) return 0;
    const start = atomic.load<i64>(e, E_START);
    const length = atomic.load<i64>(e, E_END) - start;
    // The state has an epoch: if it is the same, the words belong together.
    if (atomic.load<i64>(e, E_STATE) !== state) continue;
    const ahead = atomic.load<i64>(o, GRANT) - start;
    if (ahead < CLOSED_BELOW) return 0;
    const width = widthOf(request);
    if (!isAsync(request)) return (is === WAITING && ahead < width) as i64;
    return length < 0 ? 0 : length / width - min(max(ahead, 0), length) / width;
  }
  return 0;
}

/** Returns the permits that tryAcquire could take. It may be out of date at once. */
export function available(s: usize): i32 {
  const grant = atomic.load<i64>(s, GRANT);
  return max(0, min(grant - atomic.load<i64>(s, TICKET), LIMIT)) as i32;
}
