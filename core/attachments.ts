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
import { me, objects } from './arena';
import { elementAt, indexOf, release as releaseElement, reserve } from './elements';
import {
  ADMITTED,
  ANSWER_FULL,
  ANSWER_NOT_HELD,
  ANSWER_OBJECTS_FULL,
  ATTACHED,
  E_HELD,
  E_REQUEST,
  E_STATE,
  O_DIED,
  OBJECT_SHIFT,
  OBJECT_SIZE,
  OWNER_SHIFT,
  RESERVED,
} from './layout';
import { isMutex, isOwner, ownerHasDied } from './mutex';
import { attachObject, createObject, detachObject } from './objects';
import { acquire, objectOf, release, tryAcquire } from './semaphore';

/**
 * Makes an object and attaches the thread to it. The attachment's number, above 0; ANSWER_OBJECTS_FULL when the
 * arena has no room for another object, ANSWER_FULL when it has none for the attachment.
 */
export function create(
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
  const o = createObject(kind, permits, limit, spin, threshold, robust, first); // R6 begins at its last store
  if (o === 0) {
    releaseElement(e);
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
  releaseElement(e);
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
  releaseElement(e); // R6 ends
}

/** Counts permits that the thread has just been given; nothing without an attachment (0). */
export function hold(attachment: i32, permits: i64): void {
  if (attachment === 0) return;
  const e = recordOf(attachment);
  atomic.store<i64>(e, atomic.load<i64>(e, E_HELD) + permits, E_HELD);
}

/** Permits of a robust object that the thread holds; of a mutex, whether it is the owner. */
export function held(attachment: i32): i32 {
  const o = attachedTo(attachment);
  if (isMutex(o)) return isOwner(o) as i32;
  return atomic.load<i64>(recordOf(attachment), E_HELD) as i32;
}

/** As acquire, of a robust semaphore. */
export function acquireRobust(s: usize, n: i32, attachment: i32): i32 {
  const answer = acquire(s, n); // R7 begins
  if (answer === ADMITTED) hold(attachment, n); // R7 ends
  return answer;
}

/** As tryAcquire, of a robust semaphore. */
export function tryAcquireRobust(s: usize, n: i32, attachment: i32): i32 {
  const answer = tryAcquire(s, n); // R7 begins at its cmpxchg
  if (answer === ADMITTED) hold(attachment, n); // R7 ends
  return answer;
}

/** As release, of a robust semaphore: ANSWER_NOT_HELD when the thread holds fewer. */
export function releaseRobust(s: usize, n: i32, attachment: i32): i32 {
  if (atomic.load<i64>(recordOf(attachment), E_HELD) < (n as i64)) return ANSWER_NOT_HELD;
  const answer = release(s, n); // R7 begins
  hold(attachment, -n); // R7 ends
  return answer;
}

/** So many owners have died, and who was told could not be. */
export function tellAgain(s: usize, deaths: i32): void {
  atomic.add<i32>(s, deaths, O_DIED);
  if (isMutex(s)) ownerHasDied(s);
}

/** How many owners have died since somebody last asked: whoever acquires next learns of it. */
export function ownersDied(s: usize): i32 {
  return atomic.load<i32>(s, O_DIED) === 0 ? 0 : atomic.xchg<i32>(s, 0, O_DIED);
}
