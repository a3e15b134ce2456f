/**
 * Locations, Listing 5 of Dice and Kogan, Semaphores Augmented with a Waiting Array: one call to wait, in a loop around
 * the condition, and no call to stop waiting.
 *
 *     while (!condition) locationWait(location)         the first call emplaces the thread's element, and returns;
 *                                                       the loop looks at the condition again; the next call sleeps
 *
 *     this thread's element:   free ──emplace──► on the chain of `where` ──gate opens, seen──► free
 *
 * A thread that leaves the loop with its element emplaced abandons it there. It takes the element off when it next
 * needs it for another location, or ends: it detaches the chain and wakes all on it, unless another thread has done so
 * before. So no thread may rely on a waiter to wake the one below it. The waking thread walks the chain, whose links
 * the elements hold, and push is a cmpxchg that may need several tries.
 *
 * Why no waiter sleeps for ever. A waiter is emplaced before the look at the condition after which it sleeps. A waking
 * thread changes the condition, then detaches. So the waiter sees the change, or the waking thread sees the element.
 * The thread that detaches an element opens its gate, and waits for nobody. It reads the link of an element before it
 * opens the gate, since the element may be anywhere after that.
 */
import { chainMask, chains } from '../memory/arena';
import { C_LOCATION_HEAD, E_BELOW, LINE, OPEN } from '../memory/layout';
import { borrow, giveBack } from './borrowed';
import { countCollision } from './counting';
import { park, saysOpen, shut, unpark } from './parking';

/** The element of this thread while it is emplaced, and its location; otherwise both are 0. */
let element: usize = 0;
let where: usize = 0;

// The location that the thread looked up last, and its key.
let cachedKey: u32 = 0;
let cached: usize = 0;

/** Emplaces the thread, or waits if it is emplaced there already. The caller loops around the condition. */
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

/** Takes the element off the chain on which the thread abandoned it, if it did. */
export function locationLeave(): void {
  if (where === 0) return;
  if (!saysOpen(element)) {
    locationWakeAll(where);
    // If another thread has detached the element, that one is about to open its gate.
    park(element, 0);
  }
  free();
}

/** Wakes all waiters at the location. */
export function locationWakeAll(location: usize): void {
  let e = atomic.xchg<u32>(location, 0, C_LOCATION_HEAD) as usize;
  while (e) {
    const below = atomic.load<u32>(e, E_BELOW) as usize;
    unpark(e, OPEN);
    e = below;
  }
}

/** As locationWakeAll, but only reads a chain on which nobody waits. */
export function locationWakeAllPolite(location: usize): void {
  if (atomic.load<u32>(location, C_LOCATION_HEAD) !== 0) locationWakeAll(location);
}

/** Returns the location of a key: a hash of all its bits (the finalizer of MurmurHash3), behind a cache of one. */
export function lookUp(key: u32): usize {
  if (cached && key === cachedKey) return cached;
  let hash = key;
  hash = (hash ^ (hash >> 16)) * 0x85ebca6b;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35;
  hash ^= hash >> 16;
  cachedKey = key;
  cached = chains + ((hash & chainMask) as usize) * LINE;
  return cached;
}

/** Calls locationWait by key. */
export function locationWaitAt(key: u32, polls: i32): void {
  locationWait(lookUp(key), polls);
}

/** Calls locationWakeAll by key. */
export function locationWakeAllAt(key: u32): void {
  locationWakeAll(lookUp(key));
}
