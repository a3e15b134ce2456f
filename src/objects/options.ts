/**
 * This file defines and checks the options of callers: how a waiter waits, and the properties of a new object. How long
 * a request may take is common/waits.ts.
 */

import type { Kind } from '../border/kinds.js';
import { LIMIT } from '../border/numbers.js';
import { checkChoice, checkInteger, checkOptions, checkType } from '../runtime/errors.js';
import { MOST_POLLS } from '../runtime/numbers.js';

export type { Signal } from '../common/signals.js';
export * from '../common/waits.js';

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
   * How a waiter near the head of the queue waits. In a mutex it is also how a barging thread waits before it queues
   * up. `'spin-then-park'` (the default) polls for a while and then parks; `'park'` never polls. No policy here polls
   * without end, because the waiters may have a deadline.
   */
  readonly policy?: 'park' | 'spin-then-park';
  /**
   * The number of polls before a waiter near the head parks, 0 to 1,000,000. Only `'spin-then-park'` takes this option.
   * By default the polls take about as long as a park and a wake-up, 50 microseconds, and less while polls are in vain.
   * A poll of a mutex takes a tenth of a microsecond. The waiter looks at its time-out only after the polls.
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

/** @internal The properties that are fixed when an object is made. */
export interface Properties {
  readonly permits: number;
  readonly max: number;
  readonly spin: number;
  readonly robust: boolean;
  /** Of an object of the algorithms. Default 0. */
  readonly threshold?: number;
  /** Used for the semaphores of the algorithms, which are never robust: one of HASH_* of core/papers/words.ts. */
  readonly hash?: number;
  /** O_VARIANT of an object of the algorithms. Default 0n. */
  readonly variant?: bigint;
  /** Default 0n. */
  readonly firstTicket?: bigint | undefined;
  /** Says how an object with these words differs from what is asked for. Default: by permits, max and robust. */
  readonly differences?: (words: Int32Array) => string;
}

const ROBUST = ' (of a robust one: only holders can release)';

/**
 * @internal Checks the options of a new object. They may have these names and the usual names. Returns the properties.
 */
export function checkProperties(
  kind: Kind,
  permits: unknown,
  options: { max?: number; robust?: boolean; firstTicket?: bigint } & PolicyOptions,
  spin: number,
  policies: Partial<Record<Policy, number>>,
  names: readonly string[],
): Properties {
  checkOptions(kind, options, [...names, ...USUAL]);
  const { max = LIMIT, robust = false, firstTicket } = options;
  checkInteger(`${kind}: max`, max, 1, LIMIT);
  checkType(`${kind}: robust`, robust, 'boolean', 'true or false');
  return {
    permits: checkInteger(`${kind}: permits`, permits, Number(robust), max, robust && permits === 0 ? ROBUST : ''),
    max,
    spin: budget(kind, options, spin, policies),
    robust,
    firstTicket,
  };
}
