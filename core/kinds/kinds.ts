/**
 * This file alone knows every kind. The queue, the death of threads and diagnostics call this file wherever the answer
 * depends on the kind of the object. So the code of these three names no kind. The kinds are built on the queue, so the
 * calls of the queue make the one circle of imports of the core.
 *
 *     when                                           semaphore          mutex                   counter (counter.ts)
 *     a promise is queued (hasHead, countWaiter)     is tried first     counts as a waiter      is tried first
 *     a request may be too many (mayQueue)                              is refused
 *     a request is admitted (admitted)               has its permits    is the head             has its permit
 *     a request is cancelled (cancelled)                                counts no more
 *     for a dead thread (cancelledByDeath)                                                      counts no more
 *     an owner dies (ownerDied)                      permits go back    lock and head go back
 *     its disposer may have died (disposeAgain)      waiters are woken  waiters are woken       the value is closed
 *
 * Of the objects of taketurns/sync, a Latch, a WaitGroup, an Event, a Barrier and a Once have a phase and no queue. A
 * Condition has a queue and no phase. A RwLock has both: the queue of a semaphore, and a phase (rw-lock.ts). A thread
 * that dies or ends stops reading the RwLock (ownerDied). A channel is two robust queues, and each is a semaphore to
 * the table above. Besides, the places that a dead thread has claimed are passed on (ownerDied). A watch is two queues:
 * that of its setters is robust.
 *
 * Each kind has a function of its own for what a dead thread held of it or waited for: releaseOfDead
 * (semaphore/robust.ts), releaseOfDeadOwner (mutex/mutex-head.ts), passOn (condition), endOfDead (phase), clearSeats
 * (rw-lock), passForDead (channel) and uncountDead (counter).
 */

import { attachedTo, detach, isAttached, recordOf } from '../arena/attachments';
import { elementAt, requester } from '../arena/elements';
import { isKey, takeNameOut } from '../arena/names';
import { isClosedCounter, isDisposed, keepUntilTold } from '../arena/objects';
import { owner } from '../arena/threads';
import {
  ASKED,
  E_END,
  E_HELD,
  E_REQUEST,
  E_START,
  E_STATE,
  FLOWS,
  GOES,
  GRANT,
  HAS_COUNT,
  HAS_HEAD,
  HAS_PHASE,
  HAS_QUEUE,
  IS_END,
  MAY_STAY,
  O_COUNTER,
  O_INITIAL,
  O_KIND,
  O_OWNER,
  O_UNREPORTED_DEATHS,
  O_WHERE,
  STATE_MASK,
  TICKET,
  UNNAMED,
  WAITING,
} from '../arena/words';
import { dispose } from '../queue/closing';
import { becomeHead } from '../queue/pending-call';
import { cancelFor } from '../queue/queue';
import { findTombstone } from '../queue/tombstones';
import { passForDead } from './channel/ends';
import { peerOf } from './channel/places';
import { E_PEER, E_TOOK_COUNT } from './channel/words';
import { passOn } from './condition/condition';
import { isCounter, uncountDead } from './counter/counter';
import { isOwner, mutexDispose, ownerHasDied, resetGuess, roomForWaiter, spoilGuess, wakeHead } from './mutex/mutex';
import { releaseHead, releaseOfDeadOwner } from './mutex/mutex-head';
import { M_WAITER, M_WORD } from './mutex/words';
import { disposePhase, endOfDead, phaseCount } from './phase/phase';
import { clearSeats, NOBODY } from './rw-lock/rw-lock-seats';
import { releaseOfDead } from './semaphore/robust';
import { KIND_CONDITION, KIND_RW_LOCK } from './words';

function kindOf(o: usize): i32 {
  return atomic.load<i32>(o, O_KIND);
}

/** Called when the thread has registered. */
export function threadBegins(): void {
  resetGuess();
}

/** Called when the thread frees its record. */
export function threadEnds(): void {
  spoilGuess();
}

/**
 * Whether a request that the queue admits becomes the head. The head still competes with barging threads for the lock.
 */
export function hasHead(o: usize): bool {
  return (kindOf(o) & HAS_HEAD) !== 0;
}

/** Returns ADMITTED if an object with a head has room for another waiter, ANSWER_CLOSED or ANSWER_FULL. */
export function mayQueue(o: usize): i32 {
  return roomForWaiter(o);
}

/**
 * Counts a request for an object with a head, in the uninterruptible section that takes its ticket (R8).
 * @inline
 */
export function countWaiter(o: usize): void {
  atomic.add<i64>(o, M_WAITER, M_WORD);
}

/**
 * Called when a request of this thread is admitted and its wait in the queue is over. Only a mutex needs this call, and
 * a request for a mutex always has an attachment. So without an attachment the function returns at once, and does not
 * read the cache line of the object, which other threads write.
 */
export function admitted(o: usize, attachment: i32): void {
  if (attachment !== 0 && hasHead(o)) becomeHead(o, attachment);
}

/**
 * Counts so many cancelled requests, in the uninterruptible section that settles their tickets (R2).
 * @inline
 */
export function cancelled(o: usize, requests: i64): void {
  if (hasHead(o)) atomic.sub<i64>(o, requests * M_WAITER, M_WORD);
}

/**
 * Counts requests of a dead or ending thread, which have so many tickets in all, as cancelled. This too happens in R2.
 * @inline
 */
export function cancelledByDeath(o: usize, tickets: i64): void {
  uncountDead(o, tickets);
}

/** Ends the wait of this thread, which is the head by this attachment. The thread does not get the lock. */
export function abandonHead(o: usize, attachment: i32): void {
  releaseHead(o, attachment);
}

/** Wakes the head of an object whose lock this thread has given back, if the head sleeps. */
export function finishUnlock(o: usize): void {
  wakeHead(o);
}

/**
 * Cancels the interrupted request of this thread that has this element. If the request stayed in the queue, it could be
 * admitted with no thread to use what it gets. And it could outlive its object, since the thread may let go of the object:
 * then the end of the thread would give a permit to the next object in this place.
 *
 * An earlier cancellation may also have been interrupted, after the element was given away and before the thread had
 * another spare. Then the element may belong to another thread by now. So the function reads the state first, and then
 * the owner. This thread takes no element between the two reads. So if it is the owner at the second read, it was the
 * owner at the first read too (as in firstFrom in arena/attachments.ts).
 */
export function abandonRequest(e: usize): void {
  const state = atomic.load<i64>(e, E_STATE) & STATE_MASK;
  const request = atomic.load<i64>(e, E_REQUEST);
  if (state >= WAITING && state <= ASKED && (requester(request) as i64) === owner) cancelFor(e);
}

/**
 * Gives back what a dead or ending thread has of an object to which it is attached by this element, and disposes of the
 * object again if the thread may have died in dispose. The thread stays attached.
 */
export function ownerDied(o: usize, thread: i32, e: usize): void {
  const kind = kindOf(o);
  if (kind & HAS_HEAD) releaseOfDeadOwner(o, thread, e);
  else {
    if (kind === KIND_RW_LOCK) clearSeats(o, thread);
    if (kind & IS_END) endDied(o, thread, kind, e);
    // Its disposer closes the count first, and the queue after it.
    if (isCounter(kind) && isClosedCounter(atomic.load<i64>(o, O_COUNTER))) dispose(o);
    if (kind === KIND_CONDITION) passOn(o, e);
    else if (!(kind & HAS_PHASE) || endOfDead(o, e, kind)) releaseOfDead(o, e);
  }
  if (isDisposed(o)) disposeAgain(o);
}

/**
 * The same for an end of a channel or a watch, which goes with the other end. Only the attachment of the dead thread to
 * the other end keeps the memory of that end from being freed, and from becoming another object. A thread with one end
 * alone is making or leaving the channel, and has left nothing undone there. E_PEER says where the other attachment is,
 * so nobody has to search for it.
 */
function endDied(o: usize, thread: i32, kind: i32, e: usize): void {
  const peer = peerOf(o);
  if (!isAttached(thread, peer, elementAt(atomic.load<u32>(e, E_PEER)))) return;
  passForDead(o, peer, kind, e);
  if (isDisposed(peer)) dispose(o);
}

/**
 * Disposes of an object again, because its disposer may have died before it came to the end. The algorithms of the
 * papers wake their own waiters.
 */
export function disposeAgain(o: usize): void {
  const kind = kindOf(o);
  if (kind & HAS_HEAD) mutexDispose(o);
  else if (kind & HAS_QUEUE) dispose(o);
  if (kind & (HAS_PHASE | HAS_COUNT)) disposePhase(o);
  if (kind === KIND_RW_LOCK) clearSeats(o, NOBODY);
}

/**
 * Detaches the thread from the object. If the object goes with this reference, disposes of the object first. The name
 * of a disposed object leaves the table before the thread detaches, so the entry of a free object stands in no list
 * (names.ts). If the thread dies in between, its reaper detaches it in the same way.
 *
 *     how        the thread stays attached, and the function returns false
 *     GOES       never
 *     MAY_STAY   if the object would go, and is not as it was made. Otherwise a garbage collection would decide whether
 *                a permit that was released is still there when the name is opened next
 *     UNNAMED    if the object goes, and nobody has ever waited for it or died. It is closed then, and has no name, and
 *                openName can give it another name
 *
 * Returns true if the thread is detached. The object of a key stays, with no thread attached, as long as the next owner
 * is still to learn of a death.
 */
export function letGo(attachment: i32, how: i32): bool {
  const o = attachedTo(attachment);
  if (isKey(o)) keepUntilTold(o);
  if (isDisposed(o)) takeNameOut(o);
  const goes = how !== MAY_STAY || isAsMade(o);
  if (detach(attachment, goes)) return true;
  if (!goes) return false;
  if (how === UNNAMED && (atomic.load<i64>(o, O_UNREPORTED_DEATHS) | atomic.load<i64>(o, O_WHERE)) === 0) {
    takeNameOut(o);
    return false;
  }
  disposeAgain(o);
  return letGo(attachment, GOES);
}

/**
 * Whether nobody could tell the object from a new one with the same properties. It may be out of date at once. A last
 * request that was cancelled may have left a tombstone before the next ticket. The tickets of the tombstone do not count.
 */
function isAsMade(o: usize): bool {
  const kind = kindOf(o);
  const initial = atomic.load<i32>(o, O_INITIAL);
  if (kind & HAS_COUNT) return phaseCount(o) === initial;
  // The gate of a RwLock.
  if (kind & HAS_PHASE && phaseCount(o) !== 0) return false;
  const ticket = atomic.load<i64>(o, TICKET);
  const last = findTombstone(o, ticket - 1, E_END, ticket);
  return (
    atomic.load<i64>(o, GRANT) - (last ? atomic.load<i64>(last, E_START) : ticket) === (initial as i64) &&
    ((kind & FLOWS) !== 0 || (atomic.load<i32>(o, O_OWNER) | atomic.load<i32>(o, O_UNREPORTED_DEATHS)) === 0)
  );
}

/**
 * Returns the permits of a robust object that this thread holds; of a mutex, whether it is the owner. Of an end of a
 * channel, above 0 also if the thread has something claimed, is to leave as a sender, or has something unread.
 */
export function held(attachment: i32): i32 {
  const o = attachedTo(attachment);
  if (hasHead(o)) return isOwner(o) as i32;
  const e = recordOf(attachment);
  if (kindOf(o) & IS_END && atomic.load<i64>(e, E_TOOK_COUNT) !== 0) return 1;
  return atomic.load<i64>(e, E_HELD) as i32;
}

/** Restores the report of so many dead owners, because the thread that took it could not pass it on. */
export function restoreOwnerDeaths(s: usize, deaths: i32): void {
  atomic.add<i32>(s, deaths, O_UNREPORTED_DEATHS);
  if (hasHead(s)) ownerHasDied(s);
}
