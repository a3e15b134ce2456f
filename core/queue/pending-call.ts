/**
 * The pending call: the call that this thread has begun and not yet ended.
 *
 *     NOTHING      no call is pending
 *     PARKING      a request of the thread stands in the queue, in its spare element; park ends it
 *     RELEASING    grant has been moved, or a tombstone has come into the queue, and waiters may have to be woken;
 *                  finishRelease does that, or the cancellation that left the tombstone
 *     UNLOCKING    the lock of an object with a head is free, and the head may sleep; wakeHead ends it, and for a
 *                  promise that is the head reserveLock
 *     AT_HEAD      the thread is the head of an object that has a head (hasHead); compete or abandonHead ends it
 *
 * acquire, release and unlock may answer that a second call must follow. JavaScript makes the second call at once. But
 * an exception may end the second call before its work is done: the stack is exhausted, or the embedder interrupts the
 * call. If the thread survives the exception, the first call stays the pending call, and other code of the thread runs.
 * The next call of the thread that queues a request, sleeps, or tries an object with a head first completes or cancels
 * the pending call (recover). A release that has to wake waiters completes only an interrupted release.
 *
 * Such a release may be cut short as well: then an exception has ended two calls of the thread, and recover completes
 * both. Of the second one the thread knows only that it was there (isLate), since there may be a third. So recover looks
 * at all waiters of the objects that the thread is attached to.
 */
import { PARKING } from './words';

export const NOTHING: i32 = 0;
export const RELEASING: i32 = 2;
export const UNLOCKING: i32 = 3;
export const AT_HEAD: i32 = 4;
export let pendingCall: i32 = 0; // NOTHING. A number, since a module that shares this global would run any other beginning again
/** While RELEASING: the released object, and its grant before the release. While UNLOCKING: the object. */
export let released: usize = 0;
export let grantBefore: i64 = 0;
/** While AT_HEAD: the object, and the attachment that has the permit of its queue. */
export let headOf: usize = 0;
export let headAttachment: i32 = 0;
/** The grant before a release that found another call pending. */
export let grantLate: i64 = 0;
/** Whether such a release may not have woken its waiters. */
export let isLate: bool = false;

/**
 * Records that the spare stands in the queue.
 * @inline
 */
export function beginParking(): void {
  pendingCall = PARKING;
}

/** Records that a release has moved grant, which was `before`, while no call was pending. */
export function beginRelease(s: usize, before: i64): void {
  released = s;
  grantBefore = before;
  pendingCall = RELEASING;
}

/** Records that a release has moved grant, which was `before`, while another call was pending. */
export function beginLateRelease(before: i64): void {
  grantLate = before;
  isLate = true;
}

/** Records that the waiters of all such releases are awake. */
export function lateEnded(): void {
  isLate = false;
}

/**
 * Records that waiters from the ticket `before` on may be due, and that wakeDue follows: the permit of a head has gone
 * back to grant, which was `before`, or a cancellation has left a tombstone with this first ticket. If the pending call
 * is an interrupted acquire that found no other spare, it stays the pending call.
 */
export function beginToWake(s: usize, before: i64): void {
  if (pendingCall !== PARKING) beginRelease(s, before);
}

/** Records that the lock of this object may be free with a head that sleeps, if no other call is pending. */
export function beginUnlock(m: usize): void {
  if (pendingCall !== NOTHING) return;
  released = m;
  pendingCall = UNLOCKING;
}

/** Whether beginUnlock has recorded this object, and endUnlock has not ended the call since. */
export function isUnlocking(m: usize): bool {
  return pendingCall === UNLOCKING && released === m;
}

/** Ends the call that beginUnlock has recorded for this object. If another call is pending instead, it stays so. */
export function endUnlock(m: usize): void {
  if (isUnlocking(m)) pendingCall = NOTHING;
}

/** Records that the thread is the head of an object, and has the permit of its queue by this attachment. */
export function becomeHead(m: usize, attachment: i32): void {
  headOf = m;
  headAttachment = attachment;
  pendingCall = AT_HEAD;
}

/** Ends the call that beginToWake has recorded. If an interrupted acquire is pending instead, it stays so. */
export function endWaking(): void {
  if (pendingCall === RELEASING) pendingCall = NOTHING;
}

/** Returns whether the thread is the head of this object, and has not ended the call. */
export function isHeadOf(m: usize): bool {
  return pendingCall === AT_HEAD && headOf === m;
}

/** No call of this thread is pending, as it begins. */
export function noCall(): void {
  pendingCall = NOTHING;
  isLate = false;
}

/** Ends the pending call: the request of the thread is settled or cancelled. */
export function callEnded(): void {
  pendingCall = NOTHING;
}
