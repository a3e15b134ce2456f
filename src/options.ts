/**
 * This file says what callers may ask for, and checks it: how long a request may take, how a waiter waits, and the
 * properties of a new object.
 */
import { badType, checkChoice, checkInteger, checkOptions, checkType } from './errors.js';
import { LIMIT } from './runtime/core.js';
import type { Kind } from './runtime/kinds.js';

/** Longest time-out that a timer can be set to; see `setTimeout`. */
export const LONGEST = 2 ** 31 - 1;

/** How long a request may take. */
export interface WaitOptions {
  /**
   * Milliseconds, 0 to 2,147,483,647, or `Infinity` (the default). 0: only if it is the request's turn at once.
   * The request cancels with a `TimeoutError`.
   */
  readonly timeout?: number;
  /**
   * Aborted: the request cancels with the signal's reason. Aborted already: it never queues. While a thread
   * blocks its own signals cannot fire, so that `acquire`, `lock` and `hold` look at it once, before they begin.
   */
  readonly signal?: AbortSignal;
}

/** Checks a duration, and returns it. */
export function checkMilliseconds(what: string, value: number): number {
  checkType(what, value, 'number', 'a number of milliseconds');
  if ((value >= 0 && value <= LONGEST) || value === Infinity) return value;
  throw new RangeError(`${what} must be from 0 to ${LONGEST} milliseconds or Infinity, got ${value}`);
}

/** Checks how long a request may take, and returns its time-out in milliseconds. Throws the signal's reason if that is aborted. */
export function checkWaitOptions(what: string, options: WaitOptions): number {
  checkOptions(what, options);
  const { timeout = Infinity, signal } = options;
  checkMilliseconds(`${what}: timeout`, timeout);
  if (signal !== undefined) {
    if (typeof signal?.aborted !== 'boolean' || typeof signal.addEventListener !== 'function') {
      throw badType(`${what}: signal`, 'an AbortSignal', signal);
    }
    signal.throwIfAborted();
  }
  return timeout;
}

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
   * How a waiter near the head of the queue waits, and of a mutex whoever comes while others wait, before it queues
   * up: `'spin-then-park'` (the default) polls for a while and then parks; `'park'` polls never. There is no policy
   * here that polls without end, since its waiters may have a deadline.
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

/** Properties fixed when an object is made. */
export interface Properties {
  readonly permits: number;
  readonly max: number;
  readonly spin: number;
  readonly threshold: number;
  readonly robust: boolean;
  /** Of the algorithms' semaphores, which are never robust: one of HASH_* of core/memory/layout.ts. */
  readonly hash?: number;
  readonly firstTicket: bigint;
}

const LAST_FIRST_TICKET = 2n ** 61n;

/** What a user may say about a new object, checked. */
export function checkProperties(
  kind: Kind,
  permits: unknown,
  options: { max?: number; robust?: boolean; firstTicket?: bigint } & PolicyOptions,
  spin: number,
  policies: Partial<Record<Policy, number>>,
  first = 'firstTicket',
): Properties {
  checkOptions(kind, options);
  const robust = options.robust ?? false;
  const firstTicket = options.firstTicket ?? 0n;
  const max = checkInteger(`${kind}: max`, options.max ?? LIMIT, 1, LIMIT);
  checkType(`${kind}: robust`, robust, 'boolean', 'true or false');
  checkType(`${kind}: ${first}`, firstTicket, 'bigint', 'a bigint');
  if (firstTicket < 0n || firstTicket > LAST_FIRST_TICKET) {
    throw new RangeError(`${kind}: ${first} must be from 0n to 2n ** 61n, got ${firstTicket}n`);
  }
  return {
    permits: checkInteger(`${kind}: permits`, permits, 0, max),
    max,
    spin: budget(kind, options, spin, policies),
    threshold: 0,
    robust,
    firstTicket,
  };
}
