/**
 * What `inspect` tells about those who wait. It does not tell for how long: to read a clock for each wait would take a
 * fifth of the time that the wait takes.
 */
import type { Queue } from './queue.js';

/** A promise that waits. */
export interface WaiterStats {
  /** The number of permits that it waits for; 1 if it waits for a lock. */
  readonly permits: number;
}

/** What `inspect` tells about the promises that wait in a queue. */
export interface QueueStats {
  /** The number of promises that wait. */
  readonly waiting: number;
  /** The number of waits that ended by a time-out, a signal or `cancelAll`. */
  readonly timeouts: number;
  /** The promises that wait, in the order of the queue: the first 100. */
  readonly waiters: readonly WaiterStats[];
}

/** The promises that wait together, such as for an event. */
export interface Waiting {
  /** The number of calls that wait. */
  readonly calls: number;
}

/** Returns those who wait in a queue. */
export function statsOf(queue: Queue): QueueStats {
  const MOST_LISTED = 100;
  const waiters: WaiterStats[] = [];
  for (let waiter = queue.first; waiter && waiters.length < MOST_LISTED; waiter = waiter.next) {
    waiters.push({ permits: waiter.width });
  }
  return { waiting: queue.count, timeouts: queue.timeouts, waiters };
}

/** Returns how many wait together in a queue, in the form of a list: they all wait for the same. */
export function togetherIn({ count: calls }: Queue): Waiting[] {
  return calls ? [{ calls }] : [];
}
