/**
 * The request word of a wait element says whose the element is, of which object, and how many permits the request wants
 * (arena/words.ts has the bits). An element that stands for something else, such as an attachment, uses it in the same
 * way.
 */
import { objects } from './arena';
import { OBJECT_BITS, OBJECT_SHIFT, OBJECT_SIZE, OWNER_SHIFT, WIDTH_MASK } from './words';

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
