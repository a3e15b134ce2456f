/** A thread sleeps by the functions in this file while its request is queued, with or without a time limit. */

import type { Core } from '../border/core.js';
import { LEAVE, REFUSED, TIMED_OUT } from '../border/numbers.js';
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
 * Returns ADMITTED or ANSWER_CLOSED; or, if the request has left the queue, TIMED_OUT or LEAVE. A caller with a time-out
 * has called reserveSecond before, because `cancel` may need a second element.
 *
 * Every class waits by this function. Only a wait for a Semaphore without a time limit does the same in fewer calls
 * (`#park` in semaphore/semaphore.ts).
 */
export function parkUntilDue({ core, pollTime }: Parking, at: number, attachment: number, left: () => number): Parked {
  pollTime.waits();
  const since = timestamp();
  while (true) {
    const remaining = left();
    if (remaining <= 0) return leaveQueue(core, at, attachment, TIMED_OUT);
    const answer =
      remaining === Infinity ? core.park(since, attachment) : core.parkFor(nanoseconds(remaining), since, attachment);
    // Nothing is called after the thread is admitted: an exhausted stack would leave what it has got to nobody.
    if (answer === LEAVE) return leaveQueue(core, at, attachment, LEAVE);
    if (answer !== TIMED_OUT) return answer;
  }
}

/** The part of a membership that a wait needs. */
type Parking = { readonly core: Core; readonly pollTime: PollTime };

/** How a wait ends. */
export type Parked = ReturnType<Core['parkFor']>;

/** Cancels the request of this thread. Returns `why`; or ADMITTED or ANSWER_CLOSED, if the request was over before. */
export function leaveQueue(core: Core, at: number, attachment: number, why: TIMED_OUT | LEAVE): Parked {
  const answer = core.cancel(at, attachment);
  return answer === REFUSED ? why : answer;
}
