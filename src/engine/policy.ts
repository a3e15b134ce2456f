/** How a waiter waits: one knob, by the same names wherever there is a choice. */
import { checkChoice, checkInteger } from '../errors.js';

/** How a thread waits for its turn. */
export type Policy = 'spin' | 'yield' | 'park' | 'spin-then-park';

/** How a waiter waits, where it has no deadline. */
export interface PolicyOptions {
  /**
   * How a waiter waits. `'spin-then-park'` (the default) polls `spin` times and then parks; `'park'` polls never;
   * `'spin'` polls for minutes before it parks; `'yield'` does too, but gives the processor away at each turn.
   */
  readonly policy?: Policy;
  /** How often a waiter polls before it parks, 0 to 1,000,000: with the policy `'spin-then-park'` alone. Default 100. */
  readonly spin?: number;
}

/** How a waiter waits, where it may have a deadline. */
export interface ParkingOptions {
  /**
   * How a waiter near the head of the queue waits, and of a mutex whoever comes while others wait, before it queues up:
   * `'spin-then-park'` (the default) polls for a while and then parks; `'park'` polls never. There is no policy here that polls without end, since its waiters may have a deadline.
   */
  readonly policy?: 'park' | 'spin-then-park';
  /**
   * How often such a waiter polls before it parks, 0 to 1,000,000: with `'spin-then-park'` alone. By default for about as
   * long as a park and a wake-up cost, 50 microseconds, and for less while polling is in vain. Of a mutex a poll takes a
   * tenth of a microsecond, and a time-out is looked at after the polls.
   */
  readonly spin?: number;
}

/** In place of a number of polls: as many as pay, see core/queue/polling.ts. */
export const ADAPTIVE = -1;

const MOST_POLLS = 1_000_000;

/** The turns of the policies that have no number of their own, where a waiter may have a deadline. */
export const PARKING: Partial<Record<Policy, number>> = { park: 0 };

/** The turns to spend awake: `usual` unless the options say otherwise. Beside 'spin-then-park' there are these policies. */
export function budget(
  what: string,
  { policy, spin }: PolicyOptions,
  usual: number,
  policies: Partial<Record<Policy, number>>,
): number {
  const choices = [...Object.keys(policies), 'spin-then-park'];
  const choice = checkChoice(`${what}: policy`, policy ?? 'spin-then-park', choices) as Policy;
  const turns = policies[choice];
  if (turns === undefined)
    return spin === undefined ? usual : checkInteger(`${what}: spin`, spin, 0, MOST_POLLS);
  if (spin !== undefined) {
    throw new RangeError(`${what}: spin is the budget of the policy "spin-then-park", not of "${choice}"`);
  }
  return turns;
}
