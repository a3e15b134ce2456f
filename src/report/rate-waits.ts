/**
 * Who waits for a RateLimiter, as its schedule says (src/look/rate-page.ts). The threads sleep in the pause of the limiter,
 * where a look finds them. But there a request sleeps several times, and one sleeper stands for all promises of a thread.
 * Nobody need wake those who wait for a rate, so their waits are no part of a deadlock.
 */
import { THREAD_MASK } from '../border/numbers.js';
import type { Look, Waiter } from '../look/look.js';
import { limiterOf } from '../look/names.js';
import { rateAt, whoIs } from '../look/rate-page.js';
import { counted } from './refs.js';

/** A waiter of a rate. */
export interface RateWaiter extends Waiter {
  /** In how many milliseconds it may go at the earliest; undefined if nobody knows. */
  readonly left: number | undefined;
}

/** What a thread waits for a rate. */
export interface RateWaits {
  readonly requests: number;
  /** How many sleepers stand for these in the queue of the pause: one, and one more for a thread that also blocks. */
  readonly sleeps: number;
  /** How long the first of them has waited, in milliseconds. */
  readonly longest: number;
}

/** Returns, for example, `, until its date in 948 ms`. */
export function dateText(left: number | undefined): string {
  return left === undefined ? ', until calls have ended that run' : `, until its date in ${left} ms`;
}

/** Returns who waits for a limiter; undefined if it has no memory yet, or goes. */
export function rateWaitsIn(look: Look, limiter: number) {
  const rate = rateAt(look.view, limiter);
  if (!rate) return undefined;
  const { now } = rate;
  // Those of threads that have died wait until somebody looks.
  const alive = rate.waiters.flatMap(({ who, permits, since, date }) => {
    const own = look.threads.get(who & THREAD_MASK);
    if (!own || own.isDead || whoIs(own.thread, own.life) !== who) return [];
    const left = Number.isFinite(date) ? Math.max(Math.round(date - now), 0) : undefined;
    return [{ thread: own.thread, permits, waited: Math.max(Math.round(now - since), 0), left }];
  });
  const threads = new Map<number, RateWaits>();
  /** A thread that blocks makes no other request meanwhile. So it blocks by its last one. */
  const last = new Map(alive.map(({ thread }, i) => [thread, i]));
  const blocked = blockedBy(look, limiter);
  const waiters: RateWaiter[] = [];
  for (const [i, { thread, permits, waited, left }] of alive.entries()) {
    const { requests = 0, sleeps = 0, longest = 0 } = threads.get(thread) ?? {};
    const isBlocked = blocked.has(thread) && last.get(thread) === i;
    threads.set(thread, {
      requests: requests + 1,
      sleeps: isBlocked ? sleeps + 1 : 1,
      longest: Math.max(longest, waited),
    });
    const before = waiters.at(-1);
    if (before?.thread === thread && before.permits === permits && !isBlocked)
      waiters[waiters.length - 1] = { ...before, requests: before.requests + 1 };
    else waiters.push({ thread, blocked: isBlocked, requests: 1, permits, waited, left, isOutside: false });
  }
  return {
    waiters,
    threads,
    waiting: alive.length,
    longestWait: alive.reduce((longest, { waited }) => Math.max(longest, waited), 0),
    state: `${counted(rate.permits, 'permit')} in ${rate.per} ms`,
    available: undefined,
    out: undefined,
  };
}

/** Returns the threads that block in the pause of a limiter. */
function blockedBy({ view, threads }: Look, limiter: number): Set<number> {
  const blocked = new Set<number>();
  for (const { thread, isAsleep, sleepsOn } of threads.values()) {
    const element = sleepsOn & ~3;
    if (!isAsleep || element < view.elements || element >= view.labels) continue;
    if (limiterOf(view, view.objectOf(element)) === limiter) blocked.add(thread);
  }
  return blocked;
}
