/**
 * Locations, Listing 5 of Dice and Kogan, Semaphores Augmented with a Waiting Array: one call to wait, in a loop around
 * the condition, and no call to stop waiting.
 *
 *     while (!condition) locationWait(location)         the first call emplaces the thread's element, and returns;
 *                                                       the loop looks at the condition again; the next call sleeps
 *
 *     this thread's element:   free ──emplace──► on the chain of `where` ──gate opens, seen──► free
 *
 * A thread that leaves the loop with its element emplaced abandons the element there. It takes the element off when it
 * next needs the element for another location, or when it ends. To do so, the thread flushes the location: it detaches
 * the chain and wakes all waiters on it, unless another thread has done so before. Then the thread waits until its own
 * gate is open. So no thread may rely on a waiter to wake the waiter below. Instead the waking thread walks the chain.
 * The elements hold its links, and push is a cmpxchg that may need several tries. The first try guesses that the chain
 * is empty.
 *
 *     alternating:   element 1   emplaced at A ─► A is flushed ─────────────► gate open, seen ─► emplaced at C
 *                    element 2                    emplaced at B ────────────► B is flushed ─► ...
 *
 * The thread that has detached an element may be slow to open its gate. A thread that alternates between two elements
 * does not wait for the gate at once. It goes on with the other element, and waits for the gate when it leaves the next
 * location. By then the gate is open as a rule. If the arena has no second element, the thread waits at once.
 *
 * Why no waiter sleeps for ever. A waiter is emplaced before it looks at the condition for the last time before its
 * sleep. A waking thread changes the condition, then detaches the chain. So the waiter sees the change, or the waking
 * thread sees the element. The thread that detaches an element opens its gate, and waits for nobody. It reads the link
 * of an element before it opens the gate, because the element may be anywhere after that.
 */
import { chainMask, chains } from '../arena/arena';
import { LINE } from '../arena/words';
import { borrow, giveBack, prepare } from './borrowed';
import { countCollision } from './counting';
import { park, saysOpen, shut, unpark } from './gate';
import { C_LOCATION_HEAD, E_BELOW, OPEN } from './words';

/**
 * The location where this thread's element is emplaced, and the element. If it is emplaced nowhere, `where` is 0, and
 * `element` is any value.
 */
let where: usize = 0;
let element: usize = 0;
/** The other element, while it is off its location and its gate may not be open yet; otherwise 0. */
let flushed: usize = 0;

// The location that the thread looked up last, and its key.
let cachedKey: u32 = 0;
let cached: usize = 0;

/**
 * Does the same as prepare. A thread that is emplaced has its element, and needs no other.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that has left the arena
 */
export function prepareLocation(): bool {
  return where !== 0 || prepare();
}

/**
 * Emplaces the thread at the location, or waits if the thread is emplaced there already. The caller loops around the
 * condition. A thread that comes from another location either waits for its element, or alternates.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that must not block or has left the arena
 */
export function locationWait(location: usize, polls: i32, alternates: bool): void {
  if (where === location) {
    park(element, polls);
    where = 0;
    giveBack(element);
    return;
  }
  if (where) {
    flush();
    if (!alternates || !prepare()) settle();
  }
  const e = borrow();
  shut(e);
  let top: u32 = 0;
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

/** Returns whether this thread is emplaced at the location: then its next locationWait there waits. */
export function isEmplacedAt(location: usize): bool {
  return where === location;
}

/** Takes the element off the location where it is emplaced, or leaves this to the thread that has detached it. */
function flush(): void {
  settle();
  if (!saysOpen(element)) locationWakeAll(where);
  flushed = element;
  where = 0;
}

/** Waits until the gate of the flushed element is open: the thread that has detached it is about to open it. */
function settle(): void {
  if (flushed === 0) return;
  park(flushed, 0);
  giveBack(flushed);
  flushed = 0;
}

/** Takes the thread's elements off all chains. */
export function locationLeave(): void {
  if (where) flush();
  settle();
}

/**
 * Wakes all waiters at the location.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that has left the arena
 */
export function locationWakeAll(location: usize): void {
  let e = atomic.xchg<u32>(location, 0, C_LOCATION_HEAD) as usize;
  while (e) {
    const below = atomic.load<u32>(e, E_BELOW) as usize;
    unpark(e, OPEN);
    e = below;
  }
}

/**
 * Does the same as locationWakeAll, but only reads a chain on which nobody waits.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that has left the arena
 */
export function locationWakeAllPolite(location: usize): void {
  if (atomic.load<u32>(location, C_LOCATION_HEAD) !== 0) locationWakeAll(location);
}

/** Returns the location of a key: a hash of all its bits (Mix32A of the listing), behind a cache of one. */
export function lookUp(key: u32): usize {
  if (cached && key === cachedKey) return cached;
  let hash = key;
  hash = (hash ^ (hash >> 16)) * 0x9abe94e3;
  hash = (hash ^ (hash >> 16)) * 0x9abe94e3;
  hash ^= hash >> 16;
  cachedKey = key;
  cached = chains + ((hash & chainMask) as usize) * LINE;
  return cached;
}
