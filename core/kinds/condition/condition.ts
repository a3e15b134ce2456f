/**
 * The condition: threads wait in the queue of a semaphore, whose permits are notifications.
 *
 *     ticket  ─────────────────────────────────►  waits begun
 *     grant   ──────────────────►                 waits that are notified
 *     woken   ────────►                           notified waits at which a relay has looked
 *                      └ on their way ┘└ waiting ┘
 *
 *     wait     (owner of the mutex) settleUp; take a ticket; unlock the mutex; park; lock the mutex; putDown, which relays
 *     notify   grant += as many as wait, n at most; relay
 *     relay    wake the waiter of the ticket `woken`, and woken += 1; again, until it has woken a blocked thread or nobody
 *              is left
 *
 * One exchange notifies all waiters of a call at once, but they are woken one after the other. A waiter that has got
 * the mutex wakes the next waiter, and the next waiter wakes up while the first one works. So no crowd of waiters is
 * woken only to queue up for the mutex, and notifyAll costs the notifier one wake-up.
 *
 * Why no notified waiter sleeps for ever: while woken < grant, some thread relays sooner or later. This thread is the
 * notifier, in the same call, or the blocked thread that a relay has woken last. The blocked thread relays when it has
 * the mutex, whatever the answer of its wait. A relay that finds no blocked thread with the ticket goes on to the next
 * ticket. Then the waiter of the ticket is one of these:
 *     a thread that has not entered its cell yet     it finds by itself that it is due (D2)
 *     a thread that has given up                     it relays too
 *     a promise                                      its event loop may be busy, so the relay does not leave the next
 *                                                    wake-up to it
 * Two relays at a time do no harm: both may look at one ticket, and one of them moves woken. woken moves after the look.
 * So if an exception ends a relay in its look, the next relay looks at this ticket again: a later notify, the end of a
 * wait, or the end of the thread. If an exception has ended the wait of a thread, the thread relays in a microtask
 * (src/sync/condition.ts). If a thread that uses the condition dies, its reaper wakes all who are due (sweep in
 * death/reaping.ts, and passOn).
 *
 * A thread carries a notification from the step in which its wait ends until it is the owner of the mutex again. Its
 * attachment counts the notifications that it carries, as the attachment of a robust semaphore counts permits (R7). A
 * thread that blocks carries one, and a thread with promises may carry several. If the thread dies or ends, its
 * notifications go to the next waiters (passOn). This is also so if the thread dies when it is the owner again and has
 * not yet called putDown. The next waiter then learns that the owner of the mutex has died. What it waits for may be
 * there or not.
 *
 * The queue handles time-outs and deaths (queue/queue.ts): if a waiter gives up when it is notified already, or
 * dies before it has seen its notification, the notification goes to the next waiter. If no waiter is left, grant
 * exceeds ticket: a notification is free. Then the waiter that has given up takes the notification after all, by
 * tryAcquire. A later wait must not find an old notification, so each wait begins with settleUp, which raises ticket to
 * grant. If a notification becomes free between settleUp and the ticket of a wait, it counts as given after this wait
 * has begun.
 *
 * A waiter takes its ticket before it unlocks the mutex. So no notification is lost between the two steps.
 *
 * Sources: Hoare, Monitors (1974), with the queue of Dice and Kogan, Semaphores Augmented with a Waiting Array,
 * Listings 1 and 2. The relay, by which a waiter wakes the next one, is this library's own. Other libraries move
 * waiters to the queue of the mutex instead.
 */

import { ANSWER_CLOSED } from '../../answers';
import { countHeld } from '../../arena/attachments';
import { elementAt, isAsync, objectOf } from '../../arena/elements';
import {
  CLOSED_BELOW,
  E_END,
  E_HELD,
  E_REQUEST,
  E_START,
  E_STATE,
  GRANT,
  GRANTED,
  LINE,
  O_LIFE,
  O_MAX,
  O_THRESHOLD,
  STATE_MASK,
  TICKET,
  WAITING,
} from '../../arena/words';
import { CLAIMED_TOMBSTONE, visit, wakeDue } from '../../queue/queue';
import { claim, findTombstone, isTombstone } from '../../queue/tombstones';
import { bucketOf, extentOf, lineAfter } from '../../queue/waiting-array';
import { B_CELLS } from '../../queue/words';
import { C_WOKEN } from './words';

/**
 * Whether a condition is one of this mutex. A condition keeps the address of its mutex as its max, and the generation
 * as its threshold.
 */
export function isOf(c: usize, m: usize): bool {
  return (
    atomic.load<u32>(c, O_MAX) === (m as u32) &&
    atomic.load<u32>(c, O_THRESHOLD) === ((atomic.load<u64>(m, O_LIFE) >> 32) as u32)
  );
}

/** Drops the notifications for which no waiter was left. A wait begins with this call. */
export function settleUp(c: usize): void {
  while (true) {
    const ticket = atomic.load<i64>(c, TICKET);
    const grant = atomic.load<i64>(c, GRANT);
    if (grant - ticket <= 0 || atomic.cmpxchg<i64>(c, ticket, grant, TICKET) === ticket) return;
  }
}

/**
 * Notifies all who wait, but at most n of them, and wakes the first. Returns how many it has notified, or
 * ANSWER_CLOSED. If nobody waits, the call is three loads. Never blocks.
 */
export function notify(c: usize, n: i32): i32 {
  while (true) {
    const grant = atomic.load<i64>(c, GRANT);
    const waiting = atomic.load<i64>(c, TICKET) - grant;
    if (waiting > -CLOSED_BELOW) return ANSWER_CLOSED;
    const notified = waiting <= 0 ? 0 : live(c, grant, waiting, n as i64);
    if (notified === 0) {
      if (atomic.load<i64>(c, C_WOKEN) - grant < 0) relay(c, false);
      return 0;
    }
    if (atomic.cmpxchg<i64>(c, grant, grant + notified, GRANT) !== grant) continue; // D2 write
    if (behind - grant > notified) passTombstones(c, grant, behind);
    relay(c, false);
    return notified as i32;
  }
}

/** Notifies one waiter, which is the usual call. If nobody waits, it calls no other function. */
export function notifyOne(c: usize): i32 {
  const grant = atomic.load<i64>(c, GRANT);
  if (atomic.load<i64>(c, TICKET) - grant <= 0 && atomic.load<i64>(c, C_WOKEN) - grant >= 0) return 0;
  return notify(c, 1);
}

/** The ticket after the last one that `live` has counted. */
let behind: i64 = 0;

/**
 * Returns how many of the next `tickets` tickets, from `first` on, are not those of tombstones. It stops counting at
 * `most`.
 */
function live(c: usize, first: i64, tickets: i64, most: i64): i64 {
  const last = first + tickets;
  let found: i64 = 0;
  behind = first;
  for (let ticket = first; ticket < last && found < most; ) {
    const e = findTombstone(c, ticket, E_START, ticket);
    const state = e === 0 ? 0 : atomic.load<i64>(e, E_STATE);
    if (e === 0 || !isTombstone(c, e, state, E_START, ticket)) {
      found++;
      behind = ++ticket;
      continue;
    }
    const end = atomic.load<i64>(e, E_END);
    if (atomic.load<i64>(e, E_STATE) === state) ticket = end;
  }
  return found;
}

/**
 * Claims the tombstones among the tickets up to `last`, so that the waiters behind them are notified at once. Only the
 * answers of notify depend on this, because relay claims tombstones, too.
 */
function passTombstones(c: usize, first: i64, last: i64): void {
  for (let ticket = first; ticket < last; ticket++) {
    const e = findTombstone(c, ticket, E_START, ticket);
    const state = e === 0 ? 0 : atomic.load<i64>(e, E_STATE);
    if (e === 0 || !isTombstone(c, e, state, E_START, ticket)) continue;
    if (atomic.load<i64>(c, GRANT) - ticket > 0) ticket += max(claim(c, e, state) - 1, 0);
  }
}

/**
 * Wakes the next notified waiter, or all notified waiters before the condition is disposed of. A thread whose wait ends
 * calls relay once the thread has the mutex or cannot get it.
 */
export function relay(c: usize, all: bool): void {
  while (true) {
    const ticket = atomic.load<i64>(c, C_WOKEN);
    if (atomic.load<i64>(c, GRANT) - ticket <= 0) return;
    let isThread = blocks(c, ticket);
    // A look ends where it claims a tombstone. Each claim has notified another waiter, which only this thread wakes.
    while (visit(c, bucketOf(c, ticket), ticket + 1, ticket) === CLAIMED_TOMBSTONE) isThread = false;
    atomic.cmpxchg<i64>(c, ticket, ticket + 1, C_WOKEN);
    if (isThread && !all) return;
  }
}

/**
 * Ends waits of this thread that carried so many notifications, and relays. As a rule the thread is the owner of the
 * mutex again. `passesOn` says that an exception has ended the wait before: then the notifications go to other waiters.
 */
export function putDown(c: usize, attachment: i32, carried: i32, passesOn: bool): void {
  countHeld(attachment, -carried); // R7 begins
  if (passesOn) atomic.add<i64>(c, carried as i64, GRANT); // R7 ends. D2 write
  relay(c, false);
}

/**
 * Passes on the notifications that a dead or ending thread carried by this attachment, and wakes all who are due: the
 * thread may have been the one to relay. If the caller dies, another thread may call this function again.
 */
export function passOn(c: usize, e: usize): void {
  const carried = atomic.load<i64>(e, E_HELD);
  const grant = atomic.add<i64>(c, carried, GRANT) + carried; // R7 begins. D2 write
  atomic.store<i64>(e, 0, E_HELD); // R7 ends
  const woken = atomic.load<i64>(c, C_WOKEN);
  wakeDue(c, woken, grant - woken);
}

/** Returns whether a blocked thread stands in the queue with this ticket. The blocked thread will relay. */
function blocks(c: usize, ticket: i64): bool {
  let line = bucketOf(c, ticket);
  for (let left = extentOf(line); left >= 0; left--) {
    for (let cell = line + B_CELLS; cell < line + LINE; cell += 4) {
      const number = atomic.load<u32>(cell);
      if (number === 0) continue;
      const e = elementAt(number - 1);
      const state = atomic.load<i64>(e, E_STATE);
      const is = state & STATE_MASK;
      if (is !== WAITING && is !== GRANTED) continue;
      const request = atomic.load<i64>(e, E_REQUEST);
      if (objectOf(request) !== c || atomic.load<i64>(e, E_START) !== ticket) continue;
      // If the state is still the same, these words were of one owner.
      if (atomic.load<i64>(e, E_STATE) === state) return !isAsync(request);
    }
    line = lineAfter(line);
  }
  return false;
}
