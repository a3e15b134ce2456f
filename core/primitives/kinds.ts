/**
 * The one file that knows every primitive. The queue, attachments, the death of threads and diagnostics ask here wherever
 * the answer depends on the kind of the object, so that none of them names a primitive.
 *
 *     when                                          semaphore         mutex                  counter
 *     an object is made (hasCounter)                                                         permits go to the counter
 *     a request is queued (hasHead, countWaiter)    is tried first    counts as a waiter
 *     a request is admitted (admitted)              has its permits   is the head            has its permits
 *     a request is cancelled (cancelled)                              is no waiter any more
 *     the same for a dead thread (cancelledByDeath)                                          is no waiter any more
 *     an owner dies (ownerDied)                     permits go back   lock and head go back
 *     an object is disposed of (disposeOf)          waiters are woken waiters are woken      (the other module's own)
 *
 * The circle of imports from the queue to the primitives and back goes through this file alone.
 */
import { attachedTo, recordOf } from '../memory/attachments';
import {
  E_HELD,
  E_REQUEST,
  KIND_MUTEX,
  KIND_SEMAPHORE,
  M_WAITER,
  M_WORD,
  O_DIED,
  O_KIND,
  OWNER_SHIFT,
} from '../memory/layout';
import { dispose } from '../queue/closing';
import { becomeEldest } from '../queue/pending-call';
import { forsake, isCounter } from './counter';
import { beginLocking, endLocking, isMutex, isOwner, mutexDispose, ownerHasDied, ownerOf } from './mutex';
import { giveUpMutex, resign } from './mutex-head';
import { releaseOfDead } from './robust';

/** Whether a new object of this kind keeps its permits in a counter beside the queue. */
export function hasCounter(kind: i32): bool {
  return isCounter(kind);
}

/** The thread has registered. */
export function threadBegins(): void {
  beginLocking();
}

/** The thread gives up its record. */
export function threadEnds(): void {
  endLocking();
}

/** Whether the queue of the object admits a request as its head, which then competes with others for the object. */
export function hasHead(o: usize): bool {
  return isMutex(o);
}

/** A request is about to take a ticket of an object with a head. Part of the run in which it does (R8). */
export function countWaiter(o: usize): void {
  atomic.add<i64>(o, M_WAITER, M_WORD);
}

/** A request of this thread is admitted, and its wait in the queue is over. */
export function admitted(o: usize, attachment: i32): void {
  if (isMutex(o)) becomeEldest(o, attachment);
}

/** So many requests are cancelled. Part of the run in which their tickets go (R2). */
export function cancelled(o: usize, requests: i64): void {
  if (isMutex(o)) atomic.sub<i64>(o, requests * M_WAITER, M_WORD);
}

/** So many requests are cancelled in the name of a thread that is dead or ends. */
export function cancelledByDeath(o: usize, requests: i64): void {
  forsake(o, requests);
}

/** The head, which this thread is by this attachment, does not take the object. */
export function cancelHead(o: usize, attachment: i32): void {
  resign(o, attachment);
}

/** A thread that is dead, or ends, gives back what it has of an object to which it was attached by this element. */
export function ownerDied(o: usize, thread: i32, e: usize): void {
  if (isMutex(o)) giveUpMutex(o, thread, e);
  else releaseOfDead(o, e);
}

/** Disposes of an object again, whose disposer may have died. The algorithms of the papers wake their waiters themselves. */
export function disposeOf(o: usize): void {
  const kind = atomic.load<i32>(o, O_KIND);
  if (kind === KIND_MUTEX) mutexDispose(o);
  else if (kind === KIND_SEMAPHORE) dispose(o);
}

/** Permits of a robust object that the thread holds; of a mutex, whether it is the owner. */
export function held(attachment: i32): i32 {
  const o = attachedTo(attachment);
  if (isMutex(o)) return isOwner(o) as i32;
  return atomic.load<i64>(recordOf(attachment), E_HELD) as i32;
}

/** So many owners have died, and the thread that took this report could not pass it on. */
export function tellAgain(s: usize, deaths: i32): void {
  atomic.add<i32>(s, deaths, O_DIED);
  if (isMutex(s)) ownerHasDied(s);
}

/** Permits that the thread of an attachment holds, of whatever thread it is; of a mutex, whether it is the owner. */
export function heldBy(o: usize, e: usize): i32 {
  if (isMutex(o)) return (ownerOf(o) === ((atomic.load<i64>(e, E_REQUEST) >> OWNER_SHIFT) as i32)) as i32;
  return atomic.load<i64>(e, E_HELD) as i32;
}

/** Whether the thread of an attachment, or a promise of it, is the head. */
export function isHead(o: usize, e: usize): bool {
  return isMutex(o) && atomic.load<i64>(e, E_HELD) !== 0;
}
