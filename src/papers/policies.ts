/**
 * How a waiter waits for its turn, as the callers of the papers' classes choose it. All other classes of the library
 * measure how long polling is worth it (runtime/poll-time.ts).
 */
import { checkChoice, checkInteger } from '../runtime/errors.js';
import { MOST_POLLS } from '../runtime/numbers.js';

/** How a thread waits for its turn. */
export type Policy = 'spin' | 'yield' | 'park' | 'spin-then-park';

/** The options of an object whose waiters have no deadline. */
export interface PolicyOptions {
  /**
   * How a waiter waits. `'spin-then-park'` (the default) polls `spin` times and then parks. `'park'` never polls.
   * `'spin'` polls for ever. `'yield'` polls for minutes before it parks, and gives the processor away after each poll.
   */
  readonly policy?: Policy;
  /**
   * The number of polls before a waiter parks, 0 to 1,000,000. Only `'spin-then-park'` takes this option. Default 100.
   */
  readonly spin?: number;
}

/** The options of an object whose waiters may have a deadline. */
export interface ParkingOptions {
  /**
   * How a waiter near the head of the queue waits. `'spin-then-park'` (the default) polls for a while and then parks;
   * `'park'` never polls. No policy here polls without end, because the waiters may have a deadline.
   */
  readonly policy?: 'park' | 'spin-then-park';
  /**
   * The number of polls before a waiter near the head parks, 0 to 1,000,000. Only `'spin-then-park'` takes this option.
   * By default the polls take about as long as a park and a wake-up, 50 microseconds, and less while polls are in vain.
   * The waiter looks at its time-out only after the polls.
   */
  readonly spin?: number;
}

/** @internal The names of the options that almost every class has. */
export const USUAL = ['policy', 'spin', 'arena'];

/** @internal The polls of the policies that fix their number, where a waiter may have a deadline. */
export const PARKING: Partial<Record<Policy, number>> = { park: 0 };

/**
 * @internal
 * Returns the number of polls before a park; the default is `usual`. `policies` are the policies besides
 * 'spin-then-park'.
 */
export function budget(
  what: string,
  { policy = 'spin-then-park', spin }: PolicyOptions,
  usual: number,
  policies: Partial<Record<Policy, number>>,
): number {
  const choices = [...Object.keys(policies), 'spin-then-park'];
  const polls = policies[checkChoice(`${what}: policy`, policy, choices) as Policy];
  if (polls === undefined) return spin === undefined ? usual : checkInteger(`${what}: spin`, spin, 0, MOST_POLLS);
  if (spin !== undefined) {
    throw new RangeError(`${what}: the policy "${policy}" has no spin: leave spin out, or take "spin-then-park"`);
  }
  return polls;
}
