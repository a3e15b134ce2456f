/**
 * The allocator of shared objects, and how long an object lives.
 *
 * The word `life` is generation << 32 | state << 24 | KEPT | references. Threads change it by cmpxchg, but KEPT is set
 * by `or` and cleared by `and`, and BUILDING ends by a store. While the state is BUILDING, the index of the building
 * thread stands in place of the references:
 *
 * | from                | to                          | changed by                                             |
 * |---------------------|-----------------------------|--------------------------------------------------------|
 * | FREE                | BUILDING                    | a thread that makes an object                          |
 * | BUILDING            | LIVE, 1 reference           | the same, once every other word is written             |
 * | LIVE, r             | LIVE, r+1                   | a thread that attaches by handle or name (of this generation) |
 * | LIVE, r             | LIVE, KEPT, r               | an attached thread that takes the handle of the object |
 * | LIVE, r             | LIVE, KEPT, r, or back      | of a key: a thread that is about to detach (keepUntilTold) |
 * | LIVE, r > 1         | LIVE, r-1                   | a thread that detaches                                 |
 * | LIVE, 1             | DISPOSED, 1, next generation | the last thread that detaches: it closes the object first |
 * | DISPOSED, 1         | LIVE, 1                     | of a key: the same thread gives the object another name (openName) |
 * | LIVE, KEPT, r       | LIVE, KEPT, r-1             | a thread that detaches; r may become 0 (handles on their way) |
 * | LIVE, r             | DISPOSED, r                 | a disposer                                             |
 * | DISPOSED, r > 1     | DISPOSED, r-1               | a thread that detaches                                 |
 * | DISPOSED, 1         | FREE, next generation       | the last thread that detaches                          |
 * | BUILDING of a dead thread | FREE, next generation | the reaper of that thread                              |
 *
 * In the last three rows but one, KEPT may be set or not. FREE and LIVE, 1 clear it.
 *
 * A thread holds a reference for as long as any code of the thread can still reach the object. A thread that sleeps in
 * a wait for the object holds a reference, too. So when a disposed object is freed, no thread uses it and no element
 * names it, and its memory can be used again. Each reference has a record (attachments.ts). By this record the reaper
 * of a killed thread detaches the thread.
 *
 * An object goes with its last reference, because nobody can come to it any more: whoever opens its name later gets a
 * new object (names.ts). The exchange that would leave a live object with no reference closes the object instead. So
 * no thread attaches between the look at the references and the end of the object. A handle may be on its way to a
 * thread that is not attached yet, and nobody can tell when the last copy of a handle is gone. So the object of a
 * handle is KEPT: it lives until a thread disposes of it. The object of a key (src/keyed/) has no handle. It is KEPT
 * while the next owner is still to learn that an owner has died: then nobody may have the key open for a while.
 *
 * When an object is freed, its generation changes, and when the last thread closes it, too. So an old handle fails to
 * attach, and does not find the next object at the same address. The last thread that has the object of a key may keep the
 * closed object for its next key. This saves to free an object and to make one, some 30 locked instructions. All words
 * but the name and `life` are then as those of a new object: nobody has the permits, and nobody has ever waited (letGo in
 * kinds/kinds.ts). Only the ticket is higher. If the thread dies meanwhile, its reaper frees the object as any closed
 * one.
 */

import { ANSWER_CLOSED, ANSWER_STALE, ANSWER_WRONG_KIND } from '../answers';
import { objectCapacity, objects } from './arena';
import { TRIES } from './elements';
import { me } from './threads';
import {
  CLOSED_DISTANCE,
  COUNTER_CLOSED_BELOW,
  GRANT,
  HAS_COUNT,
  KEPT,
  O_COUNTER,
  O_INITIAL,
  O_KIND,
  O_LIFE,
  O_MAX,
  O_OWN_LAST,
  O_OWN_LATE,
  O_OWNER,
  O_PARKED,
  O_ROBUST,
  O_SLEEPERS,
  O_SPIN,
  O_THRESHOLD,
  O_TIMEOUTS,
  O_UNREPORTED_DEATHS,
  O_WHERE,
  OBJECT_SIZE,
  TICKET,
  USED_OBJECTS,
} from './words';

const FREE: u32 = 0;
const BUILDING: u32 = 1 << 24;
const LIVE: u32 = 2 << 24;
const DISPOSED: u32 = 3 << 24;
const STATES: u32 = 3 << 24;
const REFERENCES: u32 = KEPT - 1;
const GENERATION: u64 = 1 << 32;
const GENERATIONS: u64 = 0xffffffff00000000;
/** Where a free object is likely: the index of the object that this thread freed last. */
let hint: u32 = 0;

/**
 * Returns a BUILDING object, or 0 when every object of the arena is in use. The search is like that of reserve
 * (elements.ts).
 */
function allocate(): usize {
  while (true) {
    const used = atomic.load<u32>(USED_OBJECTS);
    const full = used === objectCapacity;
    for (let tries = full ? used : min(TRIES, used); tries > 0; tries--) {
      if (hint >= used) hint = 0;
      const o = objects + (hint as usize) * OBJECT_SIZE;
      hint++;
      const life = atomic.load<u64>(o, O_LIFE);
      if (((life as u32) & STATES) !== FREE) continue;
      if (atomic.cmpxchg<u64>(o, life, life + (BUILDING as u64) + (me as u64), O_LIFE) === life) return o;
    }
    if (full) return 0;
    if (atomic.cmpxchg<u32>(USED_OBJECTS, used, used + 1) === used) hint = used;
  }
}

/** Makes a live object with one reference, that of the caller. Returns its address, or 0 when the arena is full. */
export function buildObject(
  kind: i32,
  permits: i32,
  limit: i32,
  spin: i32,
  threshold: i32,
  robust: i32,
  variant: i64,
  first: i64,
): usize {
  const o = allocate();
  if (o === 0) return 0;
  atomic.store<i64>(o, first, TICKET);
  const counter = (kind & HAS_COUNT) !== 0;
  atomic.store<i64>(o, counter ? first : first + (permits as i64), GRANT);
  // O_VARIANT, M_WORD and O_PLACE are at the same offset, and M_LIMIT is at that of O_PARKED: these stores set them too.
  atomic.store<i64>(o, counter ? (permits as i64) : variant, O_COUNTER);
  atomic.store<i32>(o, 0, O_PARKED);
  atomic.store<i64>(o, 0, O_OWN_LAST);
  atomic.store<i32>(o, kind, O_KIND);
  atomic.store<i32>(o, limit, O_MAX);
  atomic.store<i32>(o, spin, O_SPIN);
  atomic.store<i32>(o, threshold, O_THRESHOLD);
  atomic.store<i32>(o, permits, O_INITIAL);
  atomic.store<i32>(o, robust, O_ROBUST);
  // Each of these stores also clears the word next to the one that it names: O_DEATHS, O_DEPARTED, O_VAIN_POLLS,
  // O_NAME.
  atomic.store<i64>(o, 0, O_UNREPORTED_DEATHS);
  atomic.store<i64>(o, 0, O_TIMEOUTS);
  atomic.store<i64>(o, 0, O_WHERE);
  atomic.store<i64>(o, 0, O_OWNER);
  atomic.store<i64>(o, 0, O_SLEEPERS);
  atomic.store<i64>(o, 0, O_OWN_LATE);
  atomic.store<u64>(o, (atomic.load<u64>(o, O_LIFE) & GENERATIONS) + LIVE + 1, O_LIFE);
  return o;
}

/** Returns the generation, which tells the object from earlier and later ones at the same address. */
export function generation(o: usize): u32 {
  return generationIn(atomic.load<u64>(o, O_LIFE));
}

/**
 * Returns the generation for a handle. From now on the object lives until a thread disposes of it. The caller is
 * attached.
 */
export function keep(o: usize): u32 {
  return generationIn(atomic.or<u64>(o, KEPT as u64, O_LIFE));
}

/**
 * Keeps the object while the death of an owner is to be told, and no longer. The caller is attached. Whoever changes
 * whether a death is to be told (O_UNREPORTED_DEATHS) is attached, too, and calls this function before it detaches. The
 * last thread that changes the bit looks again afterwards. So when the last thread detaches, the bit is right.
 */
export function keepUntilTold(o: usize): void {
  while (true) {
    const deaths = atomic.load<i32>(o, O_UNREPORTED_DEATHS);
    if (deaths !== 0) atomic.or<u64>(o, KEPT as u64, O_LIFE);
    else if ((atomic.load<u64>(o, O_LIFE) as u32) & KEPT) atomic.and<u64>(o, ~(KEPT as u64), O_LIFE);
    if ((atomic.load<i32>(o, O_UNREPORTED_DEATHS) === 0) === (deaths === 0)) return;
  }
}

/** Returns the word `life` of an object, for generationIn and isLiveIn. */
export function lifeOfObject(o: usize): u64 {
  return atomic.load<u64>(o, O_LIFE);
}

export function generationIn(life: u64): u32 {
  return (life >> 32) as u32;
}

export function isLiveIn(life: u64): bool {
  return ((life as u32) & STATES) === LIVE;
}

export function maxOf(o: usize): i32 {
  return atomic.load<i32>(o, O_MAX);
}

export function isRobust(o: usize): bool {
  return atomic.load<i32>(o, O_ROBUST) !== 0;
}

/** Adds a reference to a live object. Returns 0, ANSWER_STALE, ANSWER_CLOSED or ANSWER_WRONG_KIND. */
export function attachObject(o: usize, gen: u32, kind: i32): i32 {
  const used = atomic.load<u32>(USED_OBJECTS) as usize;
  if (o < objects || o >= objects + used * OBJECT_SIZE || (o - objects) % OBJECT_SIZE) return ANSWER_STALE;
  while (true) {
    const life = atomic.load<u64>(o, O_LIFE);
    if (life >> 32 !== (gen as u64)) return ANSWER_STALE;
    const state = (life as u32) & STATES;
    if (state === DISPOSED) return ANSWER_CLOSED;
    if (state !== LIVE) return ANSWER_STALE;
    if (atomic.load<i32>(o, O_KIND) !== kind) return ANSWER_WRONG_KIND;
    if (atomic.cmpxchg<u64>(o, life, life + 1, O_LIFE) === life) return 0;
  }
}

/**
 * Takes a reference back, and returns true. Taking back the last one of a disposed object frees the object. If this is
 * the last reference of a live object that is not KEPT, the function returns false. If the object `goes`, the function
 * has closed the object then: the caller ends the object, and takes the reference back afterwards.
 */
export function detachObject(o: usize, goes: bool): bool {
  while (true) {
    const life = atomic.load<u64>(o, O_LIFE);
    const closes = ((life as u32) & (STATES | KEPT | REFERENCES)) === LIVE + 1;
    if (closes && !goes) return false;
    const last = ((life as u32) & (STATES | REFERENCES)) === DISPOSED + 1;
    const next = closes ? life - LIVE + DISPOSED + GENERATION : last ? (life & GENERATIONS) + GENERATION : life - 1;
    if (atomic.cmpxchg<u64>(o, life, next, O_LIFE) !== life) continue;
    if (last) hint = ((o - objects) / OBJECT_SIZE) as u32;
    return !closes;
  }
}

/** Makes a closed object live again, for another name. The caller has the only reference. */
export function revive(o: usize): void {
  atomic.sub<u64>(o, (DISPOSED - LIVE) as u64, O_LIFE);
}

export function isLive(o: usize): bool {
  return isLiveIn(lifeOfObject(o));
}

export function isDisposed(o: usize): bool {
  return ((atomic.load<u64>(o, O_LIFE) as u32) & STATES) === DISPOSED;
}

/**
 * Whether a counter word (O_COUNTER, O_PHASE) is that of a closed object. Such a word is far below 0. Dead waiters can
 * bring the counter of an open object below 0, too, but not so far: for that they would have to have wanted, in all,
 * over 2 ** 29 more than is counted.
 */
export function isClosedCounter(word: i64): bool {
  return word < COUNTER_CLOSED_BELOW;
}

/** Frees the objects that a dead thread has begun to make and not finished. */
export function freeUnfinished(thread: i32): void {
  const used = atomic.load<u32>(USED_OBJECTS);
  const building = BUILDING + (thread as u32);
  for (let i: u32 = 0; i < used; i++) {
    const o = objects + (i as usize) * OBJECT_SIZE;
    const life = atomic.load<u64>(o, O_LIFE);
    if ((life as u32) === building) atomic.store<u64>(o, (life & GENERATIONS) + GENERATION, O_LIFE);
  }
}

/**
 * Closes a live object: from now on no thread attaches to it or waits on it. Returns whether the object is closed. If
 * it is closed, the caller wakes the waiters, because only the caller knows the kind of the object.
 */
export function closeObject(o: usize): bool {
  while (true) {
    const life = atomic.load<u64>(o, O_LIFE);
    const state = (life as u32) & STATES;
    // An earlier disposer may not have closed grant yet, or may have died before it woke every waiter.
    if (state !== DISPOSED) {
      if (state !== LIVE) return false;
      if (atomic.cmpxchg<u64>(o, life, life - LIVE + DISPOSED, O_LIFE) !== life) continue;
    }
    atomic.store<i64>(o, atomic.load<i64>(o, TICKET) + CLOSED_DISTANCE, GRANT); // D6 write
    return true;
  }
}
