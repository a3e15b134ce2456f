/** A thread sleeps by the functions in this file while its request is queued, with or without a time limit. */

import type { Core } from '../border/core.js';
import { CANCELLED, LEAVE, TIMED_OUT } from '../border/numbers.js';
import { now, timestamp } from './clock.js';
import type { PollTime } from './poll-time.js';

/** The `left` of a request without a time limit. */
export const forEver = (): number => Infinity;

/** Returns a function that says how many of these milliseconds are left. */
export function countdown(timeout: number): () => number {
  if (timeout === Infinity) return forEver;
  const begun = now();
  return () => timeout - (now() - begun);
}

// Why a request has left the queue. The core's answers TIMED_OUT and LEAVE say something else: that the request still
// stands, and that another call must follow. So these numbers differ from all answers of the core (core/answers.ts).
export const LEFT_AT_TIMEOUT = -101; // no time was left
export const LEFT_AS_ASKED = -102; // cancelAll has asked the thread to leave
export type Left = typeof LEFT_AT_TIMEOUT | typeof LEFT_AS_ASKED;

/** How a wait in the queue has ended. */
export type Parked = Exclude<ReturnType<Core['parkFor']>, TIMED_OUT | LEAVE> | Left;

/**
 * Returns these milliseconds in nanoseconds, as the core takes them: 0 if the milliseconds are below 0, and -1 for
 * `Infinity`. The number for a time limit is a multiple of 4: by its last two bits the record of a thread tells how the
 * thread sleeps (`sleepOn` in core/arena/threads.ts).
 */
export function nanoseconds(milliseconds: number): bigint {
  return milliseconds === Infinity ? -1n : BigInt(Math.ceil(Math.max(milliseconds, 0) * 2.5e5)) * 4n;
}

/**
 * Blocks the thread, whose request is QUEUED, until the request is due, or the object is closed, or the request has
 * left the queue. The request leaves when `left` says that no time is left, or when the thread was asked to leave.
 * Returns ADMITTED or ANSWER_CLOSED; or, if the request has left the queue, LEFT_AT_TIMEOUT or LEFT_AS_ASKED. A caller
 * with a time-out has called reserveSecond before, because `cancel` may need a second element.
 *
 * Every class waits by this function. Only a wait for a Semaphore without a time limit does the same in fewer calls
 * (`#park` in semaphore/semaphore.ts).
 */
export function parkUntilDue({ core, pollTime }: Parking, at: number, attachment: number, left: () => number): Parked {
  pollTime.waits();
  const since = timestamp();
  while (true) {
    const remaining = left();
    if (remaining <= 0) return leaveQueue(core, at, attachment, LEFT_AT_TIMEOUT);
    const answer =
      remaining === Infinity ? core.park(since, attachment) : core.parkFor(nanoseconds(remaining), since, attachment);
    // Nothing is called after the thread is admitted: an exhausted stack would leave what it has got to nobody.
    if (answer === LEAVE) return leaveQueue(core, at, attachment, LEFT_AS_ASKED);
    if (answer !== TIMED_OUT) return answer;
  }
}

/** The part of a membership that a wait needs. */
type Parking = { readonly core: Core; readonly pollTime: PollTime };

/** Cancels the request of this thread. Returns `why`; or ADMITTED or ANSWER_CLOSED, if the request was over before. */
export function leaveQueue(core: Core, at: number, attachment: number, why: Left): Parked {
  const answer = core.cancel(at, attachment);
  return answer === CANCELLED ? why : answer;
}
