/** A thread sleeps by these functions while its request is queued, for a limited time or not. */
import { ANSWER_FULL, type Core, TIMED_OUT } from './core.js';

/** Of so many milliseconds from now on, how many are left. */
export function countdown(timeout: number): () => number {
  if (timeout === Infinity) return () => timeout;
  const begun = performance.now();
  return () => timeout - (performance.now() - begun);
}

export function nanoseconds(milliseconds: number): bigint {
  return BigInt(Math.ceil(milliseconds * 1e6));
}

/**
 * Blocks the thread, whose request is QUEUED, until it is its turn, or until no time is left and the request has left the
 * queue. ADMITTED, ANSWER_CLOSED, or REFUSED if it has cancelled.
 */
export function parkUntilDue(core: Core, at: number, attachment: number, left: () => number): number {
  const now = Date.now() | 0;
  let answer = TIMED_OUT;
  for (let rest = left(); answer === TIMED_OUT && rest > 0; rest = left()) {
    answer =
      rest === Infinity ? core.park(now, attachment) : core.parkFor(nanoseconds(rest), now, attachment);
  }
  if (answer === TIMED_OUT) answer = core.cancel(at, attachment);
  // The arena has no element to leave behind, so there is nothing for it but to wait.
  return answer === ANSWER_FULL ? core.park(now, attachment) : answer;
}
