/**
 * How a blocked thread waits for a mutex: it waits in the queue until it is the head, and then as the head until it has
 * the lock. A promise waits in the same queue, and then in runtime/head-promise.ts.
 */
import type { Core } from '../border/core.js';
import { ADMITTED, HEAD, LEAVE, MORE, QUEUED, TIMED_OUT } from '../border/numbers.js';
import type { Reference } from '../objects/reference.js';
import type { Cancel } from '../runtime/cancellation.js';
import { timestamp } from '../runtime/clock.js';
import { HeadPromise } from '../runtime/head-promise.js';
import { LEFT_AS_ASKED, LEFT_AT_TIMEOUT, nanoseconds, type Parked, parkUntilDue } from '../runtime/parking.js';
import type { Promises, Resolve, Run } from '../runtime/promises.js';

/** How a request for the lock has ended. */
export type Entered = Exclude<ReturnType<Core['queue' | 'tryLock']>, QUEUED | HEAD> | Parked;

/**
 * Waits for the mutex of this reference, at this address, and calls no code of the user. Returns ADMITTED if the thread
 * has the lock. Returns LEFT_AT_TIMEOUT or LEFT_AS_ASKED if the request has left the queue. If the thread may not block, or a promise
 * of the thread waits for the lock, the thread only tries to lock, and REFUSED means that this has failed. The other
 * answers are ANSWER_HELD, ANSWER_CLOSED and ANSWER_FULL.
 */
export function waitInQueue({ membership, shared }: Reference, at: number, left: () => number): Entered {
  const { pollTime, core } = membership;
  const { attachment, promises, head } = shared;
  core.turnLasted(at, pollTime.sinceTurn);
  membership.expectInterrupt();
  let answer: ReturnType<Core['queue' | 'tryLock']> | Parked =
    membership.mayBlock && !promises.waits && !head?.waits ? core.queue(at, attachment) : core.tryLock(at);
  if (answer === QUEUED || answer === HEAD) core.waitsSince(attachment, timestamp());
  if (answer === HEAD) pollTime.waits();
  if (answer === QUEUED) {
    answer = parkUntilDue(membership, at, attachment, left);
    if (answer === ADMITTED) answer = HEAD;
  }
  if (answer !== HEAD) return answer;
  try {
    let competed: ReturnType<Core['compete']>;
    do competed = core.compete(at, nanoseconds(left()), attachment);
    while (competed === TIMED_OUT && left() > 0);
    if (competed === TIMED_OUT || competed === LEAVE) {
      core.cancelHead(at, attachment);
      return competed === LEAVE ? LEFT_AS_ASKED : LEFT_AT_TIMEOUT;
    }
    if (competed === ADMITTED) pollTime.turnBegins();
    return competed;
  } catch (error) {
    // An exhausted stack may end these calls when the thread has the lock already. It was not the owner before.
    if (core.unlock(at) === MORE) core.wakeHead(at);
    throw error;
  }
}

/** Returns the object that looks after the promise of this thread that is the head of the mutex. */
export function headOf({ membership: { core, doorbell }, shared }: Reference): HeadPromise {
  shared.head ??= new HeadPromise(core, doorbell, shared);
  return shared.head;
}

/** A request with a time-out or a signal, and the reason for which it has left. */
export interface Leaving {
  readonly run: Run;
  /** Settles the promise. */
  readonly has: Resolve;
  reason: unknown;
}

/** Returns a function that cancels the request. Another thread may have made it the head: then the head leaves. */
export function cancelling(promises: Promises, head: HeadPromise, request: Leaving): Cancel {
  return (reason) => {
    const give = (): unknown => {
      request.reason = reason();
      return request.reason;
    };
    promises.cancel(request.run, give);
    if (head.owed.promise === request.has) head.cancel(give);
  };
}
