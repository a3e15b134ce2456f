/**
 * Waking: what a thread does after it has moved grant, so that each waiter that is due learns of it.
 *
 * Every thread may grant a request, and granting it twice does no harm: grant tells which tickets are due, and the
 * element tells who waits. The epoch in the state makes the cmpxchg of a slow thread fail once the element has another
 * owner. So several threads may look at the same buckets at once, and a survivor may finish what a dead thread began
 * (death/reaping.ts).
 */

import { bucketMask } from '../arena/arena';
import { isAttached } from '../arena/attachments';
import { elementAt, indexOf, objectOf, requester, usedElements, widthOf } from '../arena/elements';
import { me, threadRecord } from '../arena/threads';
import {
  ASYNC,
  E_ASLEEP,
  E_LEAVING,
  E_REQUEST,
  E_START,
  E_STATE,
  GRANT,
  GRANTED,
  LINE,
  STATE_MASK,
  T_DOORBELL,
  T_DUE,
  THREAD_MASK,
  TICKET,
  TOMBSTONE,
  WAITING,
} from '../arena/words';
import { AHEAD, isAdaptive, isCrowded, markSleeper, mayWake, near, noSleepers } from './polling';
import { claim, grantAfterClaim } from './tombstones';
import { bucketOf, extentOf, lineAfter, trim } from './waiting-array';
import { ALL, B_CELLS } from './words';

/** What visit returns, unless it returns the width of the request that begins with the ticket `first`. */
export const CLAIMED_TOMBSTONE: i64 = 0; // more tickets are due than before: look again
const ONE_TICKET: i64 = 1; // only `first` itself needs no further look

/** A release hops over at most so many heavy requests. After them it looks into every bucket instead. */
const HOPS: i32 = 16;

/**
 * Wakes the waiters that are due among the tickets from `from` to `from + width`. The thread looks into the buckets of
 * these tickets, as far as the tickets have been taken, and once into each bucket. If it claims a tombstone, more
 * tickets are granted, and it looks again into the bucket where it has found the tombstone.
 *
 * A look into a bucket does not stop at the request that has the ticket. This request may have just taken its tickets
 * back, and the request that has the tickets now may be in the same bucket.
 *
 * A heavy request costs no more than a light one: if the thread finds a request under its first ticket, and the request
 * is not about to take its tickets back, the thread hops over the other tickets of the request. No other waiter is
 * missed by that. The request still had these tickets after grant had been moved. If another request has one of the
 * tickets now, it took the ticket after grant had been moved, so it sees the moved grant by itself (D1). After HOPS
 * hops, the thread looks into all the buckets that may be left.
 */
export function wakeDue(s: usize, from: i64, width: i64): void {
  const all = (bucketMask as i64) + 1;
  let hops = HOPS;
  let next = from;
  let to = from + width;
  let end = next + min(min(width, atomic.load<i64>(s, TICKET) - next), all);
  while (end - next > 0) {
    const tickets = visit(s, bucketOf(s, next), to, next);
    if (tickets === CLAIMED_TOMBSTONE) to = grantAfterClaim;
    else if (tickets === ONE_TICKET || hops === 0) {
      next++;
      continue;
    } else {
      next += tickets;
      hops--;
    }
    end = next + min(min(to - next, atomic.load<i64>(s, TICKET) - next), all);
  }
}

/**
 * Wakes the waiters that are due of all objects to which the thread is attached. An element may have another request by
 * now than the one whose object was read. This does no harm: only tickets below grant of an object count as due.
 */
export function wakeAllDue(thread: i32): void {
  const used = usedElements();
  for (let i: u32 = 0; i < used; i++) {
    const e = elementAt(i);
    const is = atomic.load<i64>(e, E_STATE) & STATE_MASK;
    if (is !== WAITING && is !== TOMBSTONE) continue;
    const request = atomic.load<i64>(e, E_REQUEST);
    const s = objectOf(request);
    if (!isAttached(thread, s, elementAt(0))) continue;
    const start = atomic.load<i64>(e, E_START);
    const granted = atomic.load<i64>(s, GRANT) - start;
    if (granted > 0) wakeDue(s, start, min(granted, widthOf(request)));
  }
}

/**
 * Wakes sleeping waiters that have come near, so that they are awake when they are due. Nothing depends on this
 * function: a woken thread looks at its element, polls, and sleeps on. A heavy waiter is found by its first ticket.
 *
 * A look at a waiter reads two cache lines. So the function looks only if a waiter has gone to sleep, or was found
 * asleep, since the last look. If the first waiter sleeps, the queue is a convoy, in which each waiter sleeps before its
 * turn: then all near waiters are woken, since a convoy comes loose only if they all poll at once. Otherwise one look
 * is enough, at the last waiter that is woken early: the waiters before it were the last at earlier releases.
 */
export function wakeNear(s: usize, width: i64): void {
  if (!isAdaptive(s) || isCrowded(s, width) || !mayWake(s)) return;
  const first = atomic.load<i64>(s, GRANT);
  let last = min(atomic.load<i64>(s, TICKET) - first, near) - 1;
  noSleepers(s);
  for (let i: i64 = 0; i <= last; i++) {
    if (wakeWaiter(s, first + i) || i > 0) continue;
    last = min(last, AHEAD - 1);
    i = max(last - 1, 0);
  }
}

/** Wakes the thread whose request has this first ticket, if the thread sleeps. Returns whether it slept. */
function wakeWaiter(s: usize, ticket: i64): bool {
  const bucket = bucketOf(s, ticket);
  for (let cell = bucket + B_CELLS; cell < bucket + LINE; cell += 4) {
    const number = atomic.load<u32>(cell);
    if (number === 0) continue;
    const e = elementAt(number - 1);
    if ((atomic.load<i64>(e, E_STATE) & STATE_MASK) !== WAITING) continue;
    const request = atomic.load<i64>(e, E_REQUEST);
    if (objectOf(request) !== s || atomic.load<i64>(e, E_START) !== ticket) continue;
    if (requester(request) & ASYNC || atomic.load<i32>(e, E_ASLEEP) === 0) return false;
    markSleeper(s);
    atomic.notify(e + E_STATE, ALL);
    return true;
  }
  return false;
}

/**
 * Wakes the waiters of a bucket that are due. Returns how many tickets, from `first` on, need no further look: the
 * width of the request that begins with `first`, or ONE_TICKET. Returns CLAIMED_TOMBSTONE if it has claimed a
 * tombstone.
 *
 * A woken thread leaves its cell at once, and so takes the line to its own cache. Therefore the look goes from the last
 * cell to the first. Waiters enter the first free cell, so in the usual bucket, which has one waiter, the thread has
 * read the whole line before it wakes this waiter. Any order is right, because each cell is read after grant has been
 * moved (D2).
 */
export function visit(s: usize, bucket: usize, to: i64, first: i64): i64 {
  let tickets = ONE_TICKET;
  let left = extentOf(bucket);
  let line = bucket;
  while (true) {
    let isEmpty = true;
    for (let cell = line + LINE - 4; cell >= line + B_CELLS; cell -= 4) {
      const number = atomic.load<u32>(cell); // D2 read
      if (number === 0) continue;
      isEmpty = false;
      const found = grantIfDue(s, elementAt(number - 1), to, first);
      if (found === CLAIMED_TOMBSTONE) return found;
      tickets = max(tickets, found);
    }
    if (left === 0) {
      if (isEmpty && line !== bucket) trim(bucket);
      return tickets;
    }
    left--;
    line = lineAfter(line);
  }
}

/** Grants the request of an element if it is due, or claims a tombstone. Returns the same as visit. */
function grantIfDue(s: usize, e: usize, to: i64, first: i64): i64 {
  const state = atomic.load<i64>(e, E_STATE); // D3, D4 read
  const is = state & STATE_MASK;
  if (is !== WAITING && is !== TOMBSTONE) return ONE_TICKET;
  // The element may have the next owner by now. Then the cmpxchg below fails, since the epoch differs.
  const request = atomic.load<i64>(e, E_REQUEST);
  if (objectOf(request) !== s) return ONE_TICKET;
  const start = atomic.load<i64>(e, E_START);
  const ahead = to - start;
  if (is === TOMBSTONE) return ahead <= 0 || claim(s, e, state) === 0 ? ONE_TICKET : CLAIMED_TOMBSTONE;
  const width = widthOf(request);
  if (ahead >= width) endWait(e, state, GRANTED, request); // D5
  if (start !== first || atomic.load<i64>(e, E_LEAVING) === ~start) return ONE_TICKET;
  // If the epoch is still the same, one owner wrote all these words, and had the tickets when this thread read
  // E_LEAVING.
  return (atomic.load<i64>(e, E_STATE) ^ state) & ~STATE_MASK ? ONE_TICKET : width;
}

/**
 * Moves an element from WAITING to the next state, once, and wakes its owner.
 *
 * A promise of the calling thread stays WAITING, and the thread does not ring its own doorbell. If this thread makes
 * the promise due or closes it, the thread also settles it before the call returns (release, dispose, a promise that is
 * cancelled), or rings for itself (reap, recover). A thread that cancels the request for which it blocks makes none of
 * its own promises due (cancel in cancelling.ts). The promise has to stay WAITING because another thread may have just
 * made it due: the other thread rings only if it finds the promise WAITING.
 *
 * R9: the section from the exchange to the wake-up is uninterruptible. So neither an exception (an exhausted stack) nor
 * a death can come between the two: no other thread would wake the owner then. The thread notes the run before it
 * rings. So the owner finds the note when the doorbell rings.
 */
export function endWait(e: usize, state: i64, next: i64, request: i64): void {
  const who = requester(request);
  if (who & ASYNC) {
    note(who, indexOf(e) + 1);
    if ((who & THREAD_MASK) === me) return;
  }
  if (atomic.cmpxchg<i64>(e, state, state + (next - WAITING), E_STATE) === state) wakeOwner(e, request); // R9
}

/**
 * Wakes the thread that has made a request. A thread that polls needs no notification, and a notification takes a lock
 * that all threads of the process share. So the function first looks whether the thread may sleep: the thread stores
 * this in its element before it compares the state and sleeps, and the caller has changed the state before this look
 * (D5).
 * @inline
 */
export function wakeOwner(e: usize, request: i64): void {
  const who = requester(request);
  if (who & ASYNC) ring(who & THREAD_MASK);
  else if (atomic.load<i32>(e, E_ASLEEP) === 1) atomic.notify(e + E_STATE, ALL); // D5 read
}

/**
 * Notes where the thread of this owner has to look when its doorbell rings: at the run with this number, or at the lock
 * with this number, whose head is a promise of the thread. A thread that sees the note also sees that grant has been
 * moved, or that the lock is free. The function is always inlined: no death may come between the note and the exchange
 * which says that a head has been woken.
 * @inline
 */
export function note(who: i32, number: u32): void {
  const words = threadRecord(who & THREAD_MASK) + T_DUE;
  atomic.or<i32>(words + (((number >> 5) & 7) << 2), 1 << number); // D7 write
}

/** @inline */
export function ring(thread: i32): void {
  const bell = threadRecord(thread) + T_DOORBELL;
  atomic.add<i32>(bell, 1); // D7 write
  atomic.notify(bell, ALL);
}
