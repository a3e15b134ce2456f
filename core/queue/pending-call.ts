/**
 * The pending call: what this thread has begun and not yet ended.
 *
 *     NOTHING      no call is pending
 *     PARKING      a request of the thread stands in the queue, in its spare element; park ends it
 *     RELEASING    grant has been moved, and waiters may have to be woken; finishRelease does that
 *     COMPETING    the thread is the head of a mutex, and takes the lock or cancels; compete ends it
 *
 * acquire and release answer that a second call must follow. Nothing of the thread's own runs in between, unless an
 * exception that the thread survives ends the second call: an exhausted stack, or an interrupt by the embedder. Then
 * the next call of the thread finds a call pending, and brings things into order first (recover).
 */
import { reserve, setSpare } from '../memory/elements';
import { GRANT } from '../memory/layout';
import { me, setOwner, wakeUp } from '../memory/threads';
import { cancelHead, threadBegins, threadEnds } from '../primitives/kinds';
import { ring, wakeDue } from './waking';

export const NOTHING: i32 = 0;
const PARKING: i32 = 1;
export const RELEASING: i32 = 2;
/** Between park, or what has made it the eldest of a mutex at once, and the end of compete. */
const COMPETING: i32 = 4;
export let amidst: i32 = NOTHING;
/** While RELEASING: of what, and the old grant. */
let released: usize = 0;
export let grantBefore: i64 = 0;
/** While COMPETING: for what, and the attachment that has the permit. */
let mutex: usize = 0;
let attached: i32 = 0;
/** The old grant of a release that found the thread amidst something else. */
export let grantLate: i64 = 0;

/** Called when the thread has registered. */
export function begin(thread: i32): void {
  setOwner(thread);
  amidst = NOTHING;
  threadBegins();
}

/** Called when the thread gives up its record. */
export function end(): void {
  if (amidst === RELEASING || amidst === COMPETING) recover();
  amidst = NOTHING;
  setOwner(0);
  threadEnds();
}

/**
 * Brings the thread's own state into order after an interrupted call. An interrupted release is finished.
 * Of an interrupted acquire the element stays in the queue, as a killed thread's would, and the thread gets
 * another spare. Whether it has a spare now.
 */
export function recover(): bool {
  if (amidst === RELEASING) {
    wakeDue(released, grantBefore, atomic.load<i64>(released, GRANT) - grantBefore);
    // Who called may have another semaphore in hand: promises of this one are found by the doorbell.
    ring(me);
  } else {
    // The exception may have ended its sleep.
    wakeUp();
    if (amidst === COMPETING) cancelHead(mutex, attached);
    else {
      const e = reserve();
      if (e === 0) return false;
      setSpare(e);
    }
  }
  amidst = NOTHING;
  return true;
}

/** The spare stands in the queue. */
export function standInLine(): void {
  amidst = PARKING;
}

/** A release has moved grant, which was this before, and no call was pending. */
export function beginRelease(s: usize, before: i64): void {
  released = s;
  grantBefore = before;
  amidst = RELEASING;
}

/** A release has moved grant, which was this before, while another call was pending. */
export function beginLateRelease(before: i64): void {
  grantLate = before;
}

/**
 * Permits are back, grant was this before, and wakeDue is about to follow. An interrupted acquire whose element nothing
 * could replace stays what the thread is in the middle of.
 */
export function releasing(s: usize, before: i64): void {
  if (amidst === PARKING) return;
  released = s;
  grantBefore = before;
  amidst = RELEASING;
}

/** The thread is the eldest of a mutex: it has the permit, and takes the lock or forgoes it. */
export function becomeEldest(m: usize, attachment: i32): void {
  mutex = m;
  attached = attachment;
  amidst = COMPETING;
}

/** wakeDue has followed. */
export function handedOn(): void {
  if (amidst === RELEASING) amidst = NOTHING;
}

/** Whether the thread is in the middle of competing for this mutex. */
export function isCompeting(m: usize): bool {
  return amidst === COMPETING && mutex === m;
}

/** The thread's request is settled or given up. */
export function settled(): void {
  amidst = NOTHING;
}
