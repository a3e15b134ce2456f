/**
 * The numbers that diagnostics read of an object and of the arena, each at the moment of the call. No function here
 * changes anything. The counts are kept only on slow paths: a sleep, a cancellation, a collision. Who waits and who holds
 * what, src/look/ reads out of the memory.
 */

import { elementCapacity, objectCapacity, objects } from './arena/arena';
import { isLive } from './arena/objects';
import { GRANT, O_ADDED, O_DEATHS, O_INITIAL, O_TIMEOUTS, OBJECT_SIZE, TICKET, USED_OBJECTS } from './arena/words';

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
