/**
 * Reaping: what a dead thread waited for, held and referred to is given back, and its unfinished work is done.
 *
 * A runtime stops a thread where it enters a function, goes round a loop or returns from a function, or in its sleep
 * (docs/internals/checking.md). No runtime stops a thread inside the uninterruptible sections R1 to R20. So the
 * elements tell how far the thread had come:
 *
 *     element of the dead thread          meaning                          what the reaper does
 *     WAITING to AWAKE (arena/words.ts)  it waited                        cancels in its name (queue.ts)
 *     ATTACHED                            it referred to an object, and    gives the permits back, reports the death to
 *                                         held so many permits of it       the next thread that acquires, detaches
 *     RESERVED                            a spare                          frees it
 *     element of another thread, of an object to which the dead thread was attached
 *     WAITING, and due or closed          it died in release or dispose    grants or closes
 *     GRANTED, CLOSED                     it may have died before notify   notifies the owner again
 *     TOMBSTONE, and passed               it died before its claim         claims the tombstone
 *
 * Why nothing is lost: every thread may grant a request, and granting it twice does no harm, because grant tells which
 * tickets are due. So a releasing thread need leave no trace but the change of grant itself. The thread that claims a
 * tombstone adds its width in an uninterruptible section.
 *
 * One thread reaps at a time. The word REAPER names this thread, by index and life. So another thread sees when the
 * reaper itself is dead, and goes on in its place. Every step may be done again from its beginning. A thread that
 * declares a death first marks the record DEAD, and then looks at REAPER. If another thread is reaping, the declaring
 * thread does not wait for it. A reaper first clears REAPER, and then looks for records that are DEAD. So one of the
 * two threads reaps the dead one (D8). If an exception ends the call of a reaper that survives it, the thread stays the
 * reaper until its next call of reap. The library makes this call in a microtask (src/arena/arena.ts).
 *
 * The keeper reaps without being registered. It reaps as the thread 0, whose record says DEAD for ever. No thread that
 * was registered ever had this life, so this value of REAPER means the keeper. If a keeper dies while it reaps, the
 * next keeper finds this value, which is its own, and goes on.
 *
 * The reaper goes through the attachments twice. First it does, at every object, what the dead thread has left undone.
 * Then it detaches from every object. So all objects of the dead thread stay while the reaper works at one of them, and
 * no new object takes the place of another end of a channel, to which the reaper passes on. If the reaper dies between
 * the two, or in the second, the next reaper begins again with the attachments that are left. An object of these whose
 * other end is detached has been cleaned up before (isAttached). The record of the dead thread is freed last.
 */

import { GONE, REAPED, STILL_AWAKE } from '../answers';
import { firstFrom, isAttached } from '../arena/attachments';
import { elementAt, freeElement, indexOf, objectOf, usedElements, widthOf } from '../arena/elements';
import { freeUnfinished } from '../arena/objects';
import { lifeOf, me, mostThreads, myLife, threadRecord } from '../arena/threads';
import {
  ALIVE,
  ASLEEP,
  ATTACHED,
  AWAKE,
  CLOSED,
  CLOSED_BELOW,
  DEAD,
  E_REQUEST,
  E_START,
  E_STATE,
  ELEMENT_SIZE,
  FREE,
  GOES,
  GRANT,
  GRANTED,
  LIFE_EPOCH,
  LIFE_STATE,
  REAPER,
  RESERVED,
  STATE_MASK,
  T_LIFE,
  T_RUNTIME_ID,
  T_WAKE,
  TOMBSTONE,
  WAITING,
} from '../arena/words';
import { letGo, ownerDied } from '../kinds/kinds';
import { cancelFor, claimIfDue, endWait, finishPendingCall, ring } from '../queue/queue';
import { ALL } from '../queue/words';

/**
 * Declares the thread dead that was registered with this life, and reaps it. If another thread is reaping, that other
 * thread reaps the dead one. The dead thread must have ended, or sleep in this library. With `asleep`, the thread is
 * declared dead only if it sleeps in this library. Returns REAPED, GONE if the thread was reaped before or has ended by
 * itself, or STILL_AWAKE. Never blocks.
 * @replaced by src/runtime/membership.ts: throws, in a thread that has left the arena
 */
export function reap(thread: i32, life: i32, asleep: bool): i32 {
  finishPendingCall();
  const answer = declareDead(threadRecord(thread), life, asleep);
  do {
    if (anyDead() && becomeReaper())
      for (let i = 1; i <= mostThreads(); i++) if ((lifeOf(i) & LIFE_STATE) === DEAD) reapOne(i);
    // The exchange also succeeds if an exception that this thread survived ended its last reap.
  } while (atomic.cmpxchg<i64>(REAPER, myself(), 0) === myself()); // D8 write
  // endWait rings for no promise of this thread that this thread itself has made due.
  ring(me);
  return answer;
}

function declareDead(record: usize, life: i32, asleep: bool): i32 {
  while (true) {
    const now = atomic.load<i32>(record, T_LIFE);
    const state = now & LIFE_STATE;
    if (now - state !== life - ALIVE || state === DEAD || state === FREE) return GONE;
    if (asleep && state !== ASLEEP) return STILL_AWAKE;
    if (atomic.cmpxchg<i32>(record, now, now - state + DEAD, T_LIFE) === now) return REAPED; // D8 write
  }
}

function anyDead(): bool {
  for (let i = 1; i <= mostThreads(); i++) if ((lifeOf(i) & LIFE_STATE) === DEAD) return true; // D8 read
  return false;
}

function myself(): i64 {
  return ((me as i64) << 32) | (myLife as u32 as i64);
}

/** Makes this thread the reaper, if there is none or the reaper is dead. Returns whether it is the reaper. */
function becomeReaper(): bool {
  const reaper = atomic.load<i64>(REAPER); // D8 read
  // This thread is still the reaper if an exception that it survived ended its last reap (see reap).
  if (reaper === myself()) return true;
  if (reaper !== 0 && lifeOf((reaper >> 32) as i32) === (reaper as i32)) return false;
  return atomic.cmpxchg<i64>(REAPER, reaper, myself()) === reaper;
}

function reapOne(thread: i32): void {
  cleanUp(thread);
  const life = lifeOf(thread);
  // The runtime id is cleared before another thread can take the record. Otherwise a reader could take it for the
  // number of the next thread.
  atomic.store<i32>(threadRecord(thread), 0, T_RUNTIME_ID);
  atomic.cmpxchg<i32>(threadRecord(thread), life, life + (FREE - DEAD) + LIFE_EPOCH, T_LIFE);
  rouse(threadRecord(thread) + T_WAKE);
}

/**
 * Cancels, gives back and frees all that a thread has, and finishes what it has begun. The thread is dead, or it is the
 * calling thread, which ends: an exception may have cut a call of it short.
 */
export function cleanUp(thread: i32): void {
  cancelRequests(thread);
  sweep(thread);
  let e = elementAt(0);
  while (true) {
    e = firstFrom(e, thread, ATTACHED, ATTACHED);
    if (e === 0) break;
    ownerDied(objectOf(atomic.load<i64>(e, E_REQUEST)), thread, e);
    e += ELEMENT_SIZE;
  }
  e = elementAt(0);
  while (true) {
    e = firstFrom(e, thread, ATTACHED, ATTACHED);
    if (e === 0) break;
    letGo((indexOf(e) + 1) as i32, GOES);
  }
  e = elementAt(0);
  while (true) {
    e = firstFrom(e, thread, RESERVED, RESERVED);
    if (e === 0) break;
    freeElement(e);
  }
  freeUnfinished(thread);
}

/** Wakes a dead thread that sleeps on this word, where the runtime has not: it ends then (sleepOn in threads.ts). */
function rouse(word: usize): void {
  atomic.notify(word, ALL);
}

/** Cancels all requests of a dead or ending thread, and wakes it where it sleeps. */
function cancelRequests(thread: i32): void {
  for (let e = elementAt(0); ; e += ELEMENT_SIZE) {
    e = firstFrom(e, thread, WAITING, AWAKE);
    if (e === 0) return;
    cancelFor(e);
    rouse(e + E_STATE);
  }
}

/**
 * Ends waits of other threads that a dead or ending thread was about to end, in a release, a cancellation or a
 * disposal.
 */
function sweep(thread: i32): void {
  const used = usedElements();
  for (let i: u32 = 0; i < used; i++) {
    const e = elementAt(i);
    const state = atomic.load<i64>(e, E_STATE);
    const is = state & STATE_MASK;
    if (is < WAITING || is > TOMBSTONE) continue;
    const request = atomic.load<i64>(e, E_REQUEST);
    const s = objectOf(request);
    const start = atomic.load<i64>(e, E_START);
    const ahead = atomic.load<i64>(s, GRANT) - start;
    const closed = ahead < CLOSED_BELOW;
    const due = is === WAITING ? ahead >= widthOf(request) : is !== TOMBSTONE || ahead > 0;
    if ((!due && !closed) || !isAttached(thread, s, elementAt(0))) continue;
    if (is === TOMBSTONE) claimIfDue(s, e, state, start);
    // A wait that has ended keeps its state, and its owner is woken again.
    else endWait(e, state, is !== WAITING ? WAITING : closed ? CLOSED : GRANTED, request);
  }
}
