/**
 * Closing: disposal of an object ends every wait on the object, and so does closeQueue of a channel's end, which lives
 * on. Asking: cancelAll asks all who wait now to leave, and the object lives on.
 *
 *     who waits                  what askAll changes              what the waiter does
 *     a blocked thread           its element, WAITING -> ASKED    wakes (D5), and cancels its request itself
 *     a promise                  the count O_ASKS; it rings       its thread compares the count, and cancels
 *     the head of a mutex        the count; wakeHead follows      compares the count (in compete), and cancels
 *
 * ASKED is a state of the element, because a blocked thread sleeps on the state of its element. No thread may cancel
 * the request of another living thread, because the living thread may not have entered its element in the cells yet. A
 * releasing thread does not grant an ASKED element. So the owner of an ASKED element must not sleep again before one of
 * these:
 *     it leaves   its tickets go back, or its element becomes a tombstone, which passes on what has been granted (D3)
 *     it stays    if the arena has no free element: to leave, a thread needs a second spare. The owner makes its
 *                 element WAITING again, and then reads grant (D12)
 *
 *     D12  the count of askAll against WAITING or SLEEPING: a thread enters a run, or sets SLEEPING (the bit that says
 *          that the head of a mutex sleeps), and then reads the count; askAll changes the count, and then looks for runs
 *          and for SLEEPING. So the thread sees the new count, or askAll sees the thread. If the owner of an ASKED
 *          element stays in the queue, WAITING stands against grant, as in D2
 *
 * A thread that dies in askAll may have asked only some of the waiters. Nothing is lost then: the other waiters wait
 * on.
 */

import { elementAt, isAsync, isMarked, lastOfPart, objectOf, usedElements, whereOf } from '../arena/elements';
import { closeObject } from '../arena/objects';
import {
  ASKED,
  CLOSED,
  CLOSED_DISTANCE,
  E_REQUEST,
  E_STATE,
  ELEMENT_SIZE,
  GRANT,
  O_ASKS,
  STATE_MASK,
  TICKET,
  TOMBSTONE,
  WAITING,
} from '../arena/words';
import { endWait } from './queue';
import { claim } from './tombstones';

/** Disposes of the semaphore, and wakes every waiter. */
export function dispose(s: usize): void {
  if (closeObject(s)) endWaits(s, false);
}

/**
 * Ends every wait in the queue of an object that lives on. From now on the queue admits nobody, and permits that are
 * given back to it are gone. Threads can still attach to the object. May be called again.
 */
export function closeQueue(o: usize): void {
  atomic.store<i64>(o, atomic.load<i64>(o, TICKET) + CLOSED_DISTANCE, GRANT); // D6 write
  endWaits(o, false);
}

/**
 * Asks all who stand in the queue of an object to leave. It asks blocked threads by their elements, and the threads of
 * promises by their doorbells.
 */
export function askAll(s: usize): void {
  atomic.add<i32>(s, 1, O_ASKS); // D12 write
  endWaits(s, true);
}

/** Returns how often cancelAll has been called, modulo 2^32. */
export function asks(s: usize): i32 {
  return atomic.load<i32>(s, O_ASKS); // D12 read
}

/**
 * Wakes every waiter of an object whose grant is closed already. With `asks`, it asks every waiter to leave instead.
 *
 * The function skips each part of the pool that is not marked: it has no waiter yet. A thread that marks the part later
 * first sets the mark, and then reads grant or the count of askAll. So the thread finds by itself that the semaphore is
 * closed (D6), or that askAll was called (D12). If the request of the thread is later than the call of askAll, the
 * request need not leave.
 *
 * To ask promises, the function rings the doorbell of their thread, and their run stays WAITING.
 */
function endWaits(s: usize, asks: bool): void {
  const where = whereOf(s);
  if (where === 0) return;
  const end = elementAt(usedElements());
  for (let e = elementAt(0); e < end; e += ELEMENT_SIZE) {
    if (!isMarked(where, e)) {
      e = lastOfPart(e);
      continue;
    }
    const state = atomic.load<i64>(e, E_STATE); // D6 read
    const is = state & STATE_MASK;
    if (is !== WAITING && (asks || is !== TOMBSTONE)) continue;
    const request = atomic.load<i64>(e, E_REQUEST);
    if (objectOf(request) !== s) continue;
    if (is === TOMBSTONE) claim(s, e, state);
    else endWait(e, state, asks ? (isAsync(request) ? WAITING : ASKED) : CLOSED, request);
  }
}
