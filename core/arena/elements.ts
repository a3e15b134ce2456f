/**
 * The pool of wait elements.
 *
 * A thread takes an element by a cmpxchg IDLE -> RESERVED on the element itself, and frees it by a store of IDLE with
 * the next epoch. There is no free list that a dying thread could tear, and there is no ABA problem. Each thread has a
 * hint of its own where a free element is likely: the element that the thread freed last. R5 is uninterruptible: a
 * thread takes an element and stores its owner, or takes a cell and stores its address in the element (enterBoth).
 *
 * The search tries some elements from the hint on. Then it extends the used part of the pool by one. Only when the
 * whole pool is in use does it try all elements, once. So the usual cost is constant, and the pool is reported as full
 * only after a whole pass has found no free element.
 *
 * A registered thread owns one RESERVED element, its spare, whenever no request of the thread is queued. So a thread
 * that takes a ticket never needs an allocation. An allocation could fail when the ticket is already taken.
 *
 * The request word of an element says whose the element is, of which object, and how many permits the request wants
 * (words.ts has the bits). An element that stands for something else, such as an attachment, uses it in the same way.
 *
 * Each object has marks: 32 bits that tell in which parts of the pool its waiters are. A part has 256 elements, and each
 * bit stands for every 32nd part. A bit is set before an element says that it waits on the object, and stays set while
 * the object lives. So a disposer looks only into marked parts, however many elements have ever been used.
 */
import { elementCapacity, elements, objects } from './arena';
import { me } from './threads';
import {
  E_CELLS,
  E_REQUEST,
  E_STATE,
  ELEMENT_SIZE,
  EPOCH,
  IDLE,
  O_WHERE,
  OBJECT_BITS,
  OBJECT_SHIFT,
  OBJECT_SIZE,
  OWNER_SHIFT,
  RESERVED,
  STATE_MASK,
  USED_ELEMENTS,
  WIDTH_MASK,
} from './words';

/** How many elements a search tries before it extends the pool. It is the same for objects and names. */
export const TRIES: u32 = 16;
/** Where a free element is likely: an offset in bytes from the first element. */
let hint: u32 = 0;
/** The spare element of this thread. */
export let spare: usize = 0;
/** A second spare, for a promise or a thread that may cancel; 0 if there is none. */
export let secondSpare: usize = 0;

export function setSpare(e: usize): void {
  spare = e;
}

export function setSecondSpare(e: usize): void {
  secondSpare = e;
}

export function elementAt(index: u32): usize {
  return elements + (index as usize) * ELEMENT_SIZE;
}

export function indexOf(e: usize): u32 {
  return ((e - elements) / ELEMENT_SIZE) as u32;
}

export function usedElements(): u32 {
  return atomic.load<u32>(USED_ELEMENTS);
}

/** @inline */
function take(e: usize): bool {
  const state = atomic.load<i64>(e, E_STATE);
  if ((state & STATE_MASK) !== IDLE) return false;
  if (atomic.cmpxchg<i64>(e, state, state + RESERVED, E_STATE) !== state) return false; // R5 begins
  atomic.store<i64>(e, (me as i64) << OWNER_SHIFT, E_REQUEST); // R5 ends
  return true;
}

/** Returns a RESERVED element that this thread owns, or 0 when every element of the arena is in use. */
export function reserve(): usize {
  while (true) {
    const used = usedElements();
    const full = used === elementCapacity;
    for (let tries = full ? used : min(TRIES, used); tries > 0; tries--) {
      if (hint >= used * ELEMENT_SIZE) hint = 0;
      const e = elements + (hint as usize);
      hint += ELEMENT_SIZE;
      if (take(e)) return e;
    }
    if (full) return 0;
    if (atomic.cmpxchg<u32>(USED_ELEMENTS, used, used + 1) === used) hint = used * ELEMENT_SIZE;
  }
}

/**
 * Reserves the second spare, if the thread has none. Returns whether the thread has one.
 *
 * A promise takes the spare of the thread as its element in the queue. A request that has blocked its thread may leave
 * the spare in the queue as a tombstone when it is cancelled. The thread then goes on with the second spare. So it
 * reserves the second spare before it takes the ticket, because after that it can no longer refuse the call.
 *
 * A thread that has left the arena gets no second spare, because nobody would free it. All objects of this thread are
 * closed.
 */
export function reserveSecond(): bool {
  if (secondSpare === 0 && me !== 0) secondSpare = reserve();
  return secondSpare !== 0;
}

/**
 * Gives an element back to the pool. The caller owns the element and has taken it out of its cells. The owner is
 * cleared before the state becomes IDLE. Otherwise a reaper could take the element of the next owner for that of the
 * last owner.
 * @inline
 */
export function freeElement(e: usize): void {
  hint = (e - elements) as u32;
  atomic.store<i64>(e, 0, E_REQUEST);
  atomic.store<i64>(e, (atomic.load<i64>(e, E_STATE) | STATE_MASK) + 1 + IDLE, E_STATE);
}

/** Makes an element whose wait is over a spare of this thread. The state moves to the next epoch. */
export function keepAsSpare(e: usize): void {
  atomic.store<i64>(e, (atomic.load<i64>(e, E_STATE) & ~STATE_MASK) + EPOCH + RESERVED, E_STATE);
}

/** Takes an element out of the cells in which it is entered. */
export function leaveCells(e: usize): void {
  leaveCellsInlined(e);
}

/**
 * Does the same as leaveCells. The build inlines it, so that it can be part of an uninterruptible section.
 * @inline
 */
export function leaveCellsInlined(e: usize): void {
  const cells = atomic.load<u64>(e, E_CELLS);
  if (cells === 0) return;
  atomic.store<i32>(cells as u32 as usize, 0);
  if (cells >> 32) atomic.store<i32>((cells >> 32) as usize, 0);
  atomic.store<u64>(e, 0, E_CELLS);
}

// --- The request word ---

/** Returns the request word of an owner, which is a thread or a thread with ASYNC. */
export function requestOf(owner: i64, o: usize, width: i64): i64 {
  const object = ((o - objects) / OBJECT_SIZE) as i64;
  return (owner << OWNER_SHIFT) | (object << OBJECT_SHIFT) | width;
}

/** Returns the owner: a thread, with ASYNC if promises of the thread wait. */
export function requester(request: i64): i32 {
  return (request >> OWNER_SHIFT) as i32;
}

/** Whether a request is that of promises. ASYNC is the highest bit of an owner, and so of the request. */
export function isAsync(request: i64): bool {
  return request < 0;
}

export function objectOf(request: i64): usize {
  return objects + (((request >> OBJECT_SHIFT) as usize) & OBJECT_BITS) * OBJECT_SIZE;
}

/** Returns how many tickets a request has, or each promise of a run. */
export function widthOf(request: i64): i64 {
  return request & WIDTH_MASK;
}

// --- The marks of an object ---

/** The bytes of a part of the pool, as a power of two. */
const PART: usize = 14;
const LAST: usize = (1 << 14) - ELEMENT_SIZE;

/**
 * Marks the part of an element that is about to wait on the object. It is inlined into an uninterruptible section. A
 * bit stays set, so threads that wait again and again only read the line.
 * @inline
 */
export function mark(s: usize, e: usize): void {
  const bit = 1 << ((e >> PART) as i32);
  if ((atomic.load<i32>(s, O_WHERE) & bit) === 0) atomic.or<i32>(s, bit, O_WHERE); // D6 write
}

/** Returns the marks of an object; 0 if it never had a waiter. */
export function whereOf(s: usize): i32 {
  return atomic.load<i32>(s, O_WHERE); // D6 read
}

export function isMarked(where: i32, e: usize): bool {
  return ((where >> ((e >> PART) as i32)) & 1) !== 0;
}

/** Returns the last element of the same part. A part begins with an element, since both sizes are powers of two. */
export function lastOfPart(e: usize): usize {
  return e | LAST;
}
