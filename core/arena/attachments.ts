/**
 * Attachments: which thread is attached to which object, and how many permits of a robust object the thread holds.
 *
 *     thread 3  ──  element, ATTACHED  ──►  object         one reference (objects.ts)
 *                   held: 2                                of a robust object: permits that thread 3 holds
 *
 * A thread that attaches to an object takes an element of the pool as a record of the attachment. So a reaper finds
 * what a dead thread referred to and held. The record is an element because a reaper looks through the pool anyway.
 * Only the attached thread and its reaper change a record.
 *
 * Two kinds of sections are uninterruptible. In R6 a thread changes the references of the object, and its record. In R7
 * it changes the counter of the object, or the word that ends a wait, and `held`. So no runtime can stop a thread while
 * it has a reference that is not recorded, or permits that count twice or not at all.
 */

import { ANSWER_FULL, ANSWER_OBJECTS_FULL } from '../answers';
import { elementAt, freeElement, indexOf, objectOf, requester, requestOf, reserve, usedElements } from './elements';
import { attachObject, buildObject, detachObject } from './objects';
import { me } from './threads';
import { ATTACHED, E_END, E_HELD, E_REQUEST, E_STATE, ELEMENT_SIZE, RESERVED, STATE_MASK, THREAD_MASK } from './words';

/**
 * Makes an object, and attaches the thread to it. The object has the max `limit` and the first ticket `first`. An
 * object of `taketurns/algorithms` also has words of its own at O_VARIANT: `variant` is their first value, 8 bytes
 * (papers/words.ts). Returns the number of the attachment, which is above 0. Returns ANSWER_OBJECTS_FULL if there
 * is no room for the object, and ANSWER_FULL if there is no room for the attachment.
 * @answers Attachment | ANSWER_OBJECTS_FULL | ANSWER_FULL
 * @replaced by src/runtime/membership.ts: throws, in a thread that has left the arena
 */
export function createObject(
  kind: i32,
  permits: i32,
  limit: i32,
  spin: i32,
  threshold: i32,
  robust: i32,
  variant: i64,
  first: i64,
): i32 {
  const e = reserve();
  if (e === 0) return ANSWER_FULL;
  const o = buildObject(kind, permits, limit, spin, threshold, robust, variant, first); // R6 begins at its last store
  if (o === 0) {
    freeElement(e);
    return ANSWER_OBJECTS_FULL;
  }
  return record(e, o); // R6 ends
}

/**
 * Attaches the thread to a live object. Returns the number of the attachment, or an answer below 0.
 * @answers Attachment | ANSWER_FULL | ANSWER_STALE | ANSWER_CLOSED | ANSWER_WRONG_KIND
 * @replaced by src/runtime/membership.ts: throws, in a thread that has left the arena
 */
export function attach(o: usize, generation: u32, kind: i32): i32 {
  const e = reserve();
  if (e === 0) return ANSWER_FULL;
  const answer = attachObject(o, generation, kind); // R6 begins at its cmpxchg
  if (answer === 0) return record(e, o); // R6 ends
  freeElement(e);
  return answer;
}

/** @inline */
function record(e: usize, o: usize): i32 {
  atomic.store<i64>(e, requestOf(me as i64, o, 0), E_REQUEST);
  atomic.store<i64>(e, 0, E_HELD);
  atomic.store<i64>(e, 0, E_END);
  atomic.store<i64>(e, atomic.load<i64>(e, E_STATE) + (ATTACHED - RESERVED), E_STATE);
  return (indexOf(e) + 1) as i32;
}

/** Returns the element of the attachment with this number. */
export function recordOf(attachment: i32): usize {
  return elementAt((attachment - 1) as u32);
}

/** Returns the object to which the thread is attached. */
export function attachedTo(attachment: i32): usize {
  return objectOf(atomic.load<i64>(recordOf(attachment), E_REQUEST));
}

/**
 * Detaches the thread from the object, and returns true. The permits that the thread holds of the object are not given
 * back. Returns false if the object would have no reference left (detachObject): then the thread stays attached, and if
 * the object `goes`, it is closed from now on.
 */
export function detach(attachment: i32, goes: bool): bool {
  const e = recordOf(attachment);
  if (!detachObject(objectOf(atomic.load<i64>(e, E_REQUEST)), goes)) return false; // R6 begins at its cmpxchg
  freeElement(e); // R6 ends
  return true;
}

/**
 * Adds permits (below 0 for a release) to those that the thread holds. Does nothing without an attachment (0).
 * @inline
 */
export function countHeld(attachment: i32, permits: i64): void {
  if (attachment === 0) return;
  const e = recordOf(attachment);
  atomic.store<i64>(e, atomic.load<i64>(e, E_HELD) + permits, E_HELD);
}

/**
 * Returns the first element, from this one on, that the thread owns and that is in one of these states; 0 if there is
 * none.
 *
 * The function reads the state first, and then the owner. A thread that is dead or ends takes no more elements. So if
 * the thread owns the element when the owner is read, it owned the element when the state was read, too. In the other
 * order, the owner could be that of a tombstone which the thread has left, and the state that of a live thread's
 * tombstone, which has the element next.
 */
export function firstFrom(e: usize, thread: i32, least: i64, most: i64): usize {
  const end = elementAt(usedElements());
  for (; e < end; e += ELEMENT_SIZE) {
    const state = atomic.load<i64>(e, E_STATE) & STATE_MASK;
    const who = requester(atomic.load<i64>(e, E_REQUEST));
    if ((who & THREAD_MASK) === thread && state >= least && state <= most) return e;
  }
  return 0;
}

/** Whether a thread is attached to an object by one of the elements from this one on. */
export function isAttached(thread: i32, o: usize, e: usize): bool {
  while (true) {
    e = firstFrom(e, thread, ATTACHED, ATTACHED);
    if (e === 0) return false;
    if (objectOf(atomic.load<i64>(e, E_REQUEST)) === o) return true;
    e += ELEMENT_SIZE;
  }
}
