/**
 * What the calling thread knows of its own waits in an arena, for the reports that run in the same thread. Who waits
 * writes it, and src/report/ reads it. It is no part of a membership, because only `select`, conditions and rates need it.
 */
import { common } from './common.js';
import type { Membership } from './membership.js';

export interface OwnWaits {
  /**
   * Whether the request that is being cancelled is a case of a `select` in which another case has happened
   * (channel/select.ts). Then it is no failed wait for metrics.
   */
  isUnchosen: boolean;
  /**
   * Whether the thread locks a mutex again after a wait on a condition (sync/locking-again.ts). Then it cannot leave the
   * queue, so it does not throw a `DeadlockError`.
   */
  locksAgain: boolean;
  /**
   * Is told of each wait for a RateLimiter that has ended, in milliseconds. The report side writes it when the thread
   * begins to measure its waits (report/measure.ts).
   */
  rateWaited: ((limiter: number, waited: number, failed: boolean, blocked: boolean) => void) | undefined;
}

/** A host that looks for deadlocks imports this file, so the host may not be there yet when the file is loaded. */
const known = () => common('ownWaits', () => new WeakMap<Pick<Membership, 'thread'>, OwnWaits>());

/** Returns what the thread knows of its waits in the arena of a membership. */
export function ownWaitsIn(membership: Pick<Membership, 'thread'>): OwnWaits {
  const all = known();
  let own = all.get(membership);
  if (own === undefined) {
    own = { isUnchosen: false, locksAgain: false, rateWaited: undefined };
    all.set(membership, own);
  }
  return own;
}
