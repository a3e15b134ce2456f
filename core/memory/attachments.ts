/**
 * Attachments: which thread is attached to which object, and what it holds of it.
 *
 *     thread 3  ──  element, ATTACHED  ──►  object         one reference (objects.ts)
 *                   held: 2                                if it is robust: permits that thread 3 holds
 *
 * A thread that attaches to an object takes an element of the pool for a record of it, so that a survivor finds
 * what a dead thread referred to and held. An element serves, since the pool is what a reaper looks through
 * anyway. Only its thread changes a record, and who reaps the thread.
 *
 * R6 (the record of a reference comes and goes with the reference) and R7 (held changes with the counter, or
 * with the word that ends a wait) have no call and no loop in them: an engine that stops a thread only there
 * cannot stop it with a reference that nobody finds, or with permits that count twice or not at all.
 */
import { objects } from './arena';
import { elementAt, freeElement, indexOf, reserve } from './elements';
import {
  ANSWER_FULL,
  ANSWER_OBJECTS_FULL,
  ATTACHED,
  E_HELD,
  E_REQUEST,
  E_STATE,
  OBJECT_SHIFT,
  OBJECT_SIZE,
  OWNER_SHIFT,
  RESERVED,
} from './layout';
import { attachObject, buildObject, detachObject, objectOf } from './objects';
import { me } from './threads';

/**
 * Makes an object and attaches the thread to it. The attachment's number, above 0; ANSWER_OBJECTS_FULL when the
 * arena has no room for another object, ANSWER_FULL when it has none for the attachment.
 */
export function createObject(
  kind: i32,
  permits: i32,
  limit: i32,
  spin: i32,
  threshold: i32,
  robust: i32,
  first: i64,
): i32 {
  const e = reserve();
  if (e === 0) return ANSWER_FULL;
  const o = buildObject(kind, permits, limit, spin, threshold, robust, first); // R6 begins at its last store
  if (o === 0) {
    freeElement(e);
    return ANSWER_OBJECTS_FULL;
  }
  return record(e, o); // R6 ends
}

/** Attaches the thread to a live object. The attachment's number, or an answer below 0. */
export function attach(o: usize, generation: u32, kind: i32): i32 {
  const e = reserve();
  if (e === 0) return ANSWER_FULL;
  const answer = attachObject(o, generation, kind); // R6 begins at its cmpxchg
  if (answer === 0) return record(e, o); // R6 ends
  freeElement(e);
  return answer;
}

function record(e: usize, o: usize): i32 {
  const object = ((o - objects) / OBJECT_SIZE) as i64;
  atomic.store<i64>(e, ((me as i64) << OWNER_SHIFT) | (object << OBJECT_SHIFT), E_REQUEST);
  atomic.store<i64>(e, 0, E_HELD);
  atomic.store<i64>(e, atomic.load<i64>(e, E_STATE) + (ATTACHED - RESERVED), E_STATE);
  return (indexOf(e) + 1) as i32;
}

/** The element of an attachment's number. */
export function recordOf(attachment: i32): usize {
  return elementAt((attachment - 1) as u32);
}

/** The object that an attachment is to. */
export function attachedTo(attachment: i32): usize {
  return objectOf(atomic.load<i64>(recordOf(attachment), E_REQUEST));
}

/** Lets go. What the thread holds of the object stays with it. */
export function detach(attachment: i32): void {
  const e = recordOf(attachment);
  detachObject(objectOf(atomic.load<i64>(e, E_REQUEST))); // R6 begins at its cmpxchg
  freeElement(e); // R6 ends
}

/** Counts permits that the thread has just been given; nothing without an attachment (0). */
export function hold(attachment: i32, permits: i64): void {
  if (attachment === 0) return;
  const e = recordOf(attachment);
  atomic.store<i64>(e, atomic.load<i64>(e, E_HELD) + permits, E_HELD);
}
