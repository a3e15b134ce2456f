/**
 * Locations, Listing 5 of Dice and Kogan, Semaphores Augmented with a Waiting Array: one call to wait, in a loop
 * around the condition, and no call to stop waiting.
 *
 *     while (!condition) locationWait(location)         at first it emplaces the thread's element, and returns;
 *                                                       the loop looks at the condition again; the next one sleeps
 *
 *     this thread's element:   free ──emplace──► on the chain of `where` ──gate opens, seen──► free
 *
 * Who leaves the loop with its element emplaced abandons it there. The thread gets it off when it next needs it for
 * another location, or ends: it detaches the chain and wakes all that are on it, unless somebody has done so before.
 * So nobody may rely on a waiter to wake the one below it: who wakes walks the chain, whose links the elements hold,
 * and push is a cmpxchg that may have to be tried again.
 *
 * Why nobody sleeps for ever. A waiter is emplaced before the look at the condition after which it sleeps; who wakes
 * changes the condition, then detaches. Either the waiter sees the change, or the other sees the element. An element
 * that is detached has its gate opened by who detached it, without waiting for anybody. A link is read before the
 * gate above it opens; after that the element may be anywhere.
 */
import { bucketMask, chains } from '../memory/arena';
import { C_LOCATION_HEAD, E_BELOW, LINE, OPEN } from '../memory/layout';
import { countCollision } from './counting';
import { borrow, giveBack } from './lent';
import { park, saysOpen, shut, unpark } from './parking';

/** This thread's element while it is emplaced, and the location; else both 0. */
let element: usize = 0;
let where: usize = 0;

// The location that the thread has looked up last.
let cachedKey: u32 = 0;
let cached: usize = 0;

/** Emplaces the thread, or waits if it is emplaced there already. To be called in a loop around the condition. */
export function locationWait(location: usize, polls: i32): void {
  if (where === location) {
    park(element, polls);
    free();
    return;
  }
  if (where) locationLeave();
  const e = borrow();
  shut(e);
  let top = atomic.load<u32>(location, C_LOCATION_HEAD);
  while (true) {
    atomic.store<u32>(e, top, E_BELOW);
    const found = atomic.cmpxchg<u32>(location, top, e as u32, C_LOCATION_HEAD);
    if (found === top) break;
    top = found;
  }
  if (top !== 0) countCollision();
  element = e;
  where = location;
}

/** Whether the next locationWait at the location sleeps. */
export function isEmplacedAt(location: usize): bool {
  return where === location;
}

function free(): void {
  giveBack(element);
  element = 0;
  where = 0;
}

/** Gets the thread's element off the chain that it was abandoned on, if it was. */
export function locationLeave(): void {
  if (where === 0) return;
  if (!saysOpen(element)) {
    locationWakeAll(where);
    // If it was not there any more, whoever has detached it is about to open it.
    park(element, 0);
  }
  free();
}

/** Wakes all who wait at the location. */
export function locationWakeAll(location: usize): void {
  let e = atomic.xchg<u32>(location, 0, C_LOCATION_HEAD) as usize;
  while (e) {
    const below = atomic.load<u32>(e, E_BELOW) as usize;
    unpark(e, OPEN);
    e = below;
  }
}

/** The same, but a chain on which nobody waits is only read. */
export function locationWakeAllPolite(location: usize): void {
  if (atomic.load<u32>(location, C_LOCATION_HEAD) !== 0) locationWakeAll(location);
}

/** The location of any key: a hash that mixes all its bits (the finalizer of MurmurHash3), behind a cache of one. */
export function lookUp(key: u32): usize {
  if (cached && key === cachedKey) return cached;
  let hash = key;
  hash = (hash ^ (hash >> 16)) * 0x85ebca6b;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35;
  hash ^= hash >> 16;
  cachedKey = key;
  cached = chains + ((hash & bucketMask) as usize) * LINE;
  return cached;
}

/** locationWait by key. */
export function locationWaitAt(key: u32, polls: i32): void {
  locationWait(lookUp(key), polls);
}

/** locationWakeAll by key. */
export function locationWakeAllAt(key: u32): void {
  locationWakeAll(lookUp(key));
}
