/**
 * Which functions of the core a semaphore calls. A robust semaphore has functions of its own, and a semaphore with a
 * max checks whether there is room before it releases. The choice is made when the semaphore is made, so each call goes
 * to one function, which V8 can inline.
 */
import type { Core } from '../border/core.js';
import { ANSWER_OVER_MAX, CLOSED_OBJECT, LIMIT } from '../border/numbers.js';
import { CHECK_OWNER_DEATHS } from '../runtime/numbers.js';
import type { Parked } from '../runtime/parking.js';

/**
 * Gives the answers of the core's acquire, and one more: CHECK_OWNER_DEATHS says that a robust semaphore has admitted
 * the thread.
 */
export type Acquire = (at: number, n: number) => ReturnType<Core['acquire']> | typeof CHECK_OWNER_DEATHS;

/** The answers with which the wait of a thread ends or goes on. */
export type Waited = ReturnType<Core['enqueue']> | Parked;

/** Answers as the release of the core that it calls. It answers ANSWER_OVER_MAX if it does not call that release. */
export type Release = (at: number, n: number) => ReturnType<Core['releaseRobust']> | ANSWER_OVER_MAX;

/** Returns the release of the core. For a bounded semaphore the returned function first checks that there is room. */
export function releaseOf(core: Core, countedBy: number, max: number): Release {
  const release: Release =
    countedBy === 0
      ? core.release
      : (at, n) => (at === CLOSED_OBJECT ? core.release(at, n) : core.releaseRobust(at, n, countedBy));
  return max === LIMIT ? release : (at, n) => (core.exceeds(at, n) ? ANSWER_OVER_MAX : release(at, n));
}

/** Returns the acquire of the core for a semaphore that is robust or not. */
export function acquireOf(core: Core, countedBy: number): Acquire {
  return countedBy === 0 ? core.acquire : (at, n) => core.acquireRobust(at, n, countedBy) || CHECK_OWNER_DEATHS;
}
