/**
 * How a blocked thread waits for a mutex: it waits in the queue until it is the head, and then as the head until it has
 * the lock. A promise waits in the same queue, and then in runtime/head-promise.ts.
 */
import type { Core } from '../border/core.js';
import { ADMITTED, HEAD, LEAVE, MORE, QUEUED, TIMED_OUT } from '../border/numbers.js';
import type { Reference } from '../objects/reference.js';
import type { SharedObject } from '../objects/shared-object.js';
import { type Cancel, locate } from '../runtime/cancellation.js';
import { timestamp } from '../runtime/clock.js';
import { HeadPromise } from '../runtime/head-promise.js';
import { LEFT_AS_ASKED, LEFT_AT_TIMEOUT, nanoseconds, type Parked, parkUntilDue } from '../runtime/parking.js';
import type { HeadRequest, Promises, Run } from '../runtime/promises.js';
import { refuse } from './errors.js';

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

/** @internal What a promise that has got the lock is fulfilled with. */
export const whenOwner = Symbol();

/** What a request needs of its mutex. */
interface Counted {
  readonly head: HeadPromise | undefined;
  grants: number;
}

interface Owner extends SharedObject<'Mutex'> {
  [whenOwner]<T>(give: (ownerDied: boolean) => T): T | Promise<T>;
}

const nothing = (): void => {};

/** The request of a promise for the lock. */
export class LockRequest<T> implements HeadRequest {
  readonly #mutex: Owner;
  readonly #shared: Counted;
  readonly #resolve: (value: T | PromiseLike<T>) => void;
  readonly #give: (told: boolean) => T;
  readonly #passes: boolean;
  #isCounted = false;
  /** The run of a request with a time-out or a signal, and a function that ends the time-out and leaves the signal. */
  run: Run | undefined;
  stop = nothing;
  /** Why the request has left. */
  reason: unknown;

  /** @param passes the request is that of `waitForUnlockAsync`, so `give` unlocks. */
  constructor(
    mutex: Owner,
    shared: Counted,
    resolve: (value: T | PromiseLike<T>) => void,
    give: (told: boolean) => T,
    passes: boolean,
  ) {
    this.#mutex = mutex;
    this.#shared = shared;
    this.#resolve = resolve;
    this.#give = give;
    this.#passes = passes;
  }

  /** The promise has the lock, or it is rejected. A second call has no effect (class Settlement). */
  has(value?: Promise<never>): void {
    const shared = this.#shared;
    if (this.run !== undefined) this.stop();
    if (value !== undefined) {
      this.#resolve(value.catch((error) => refuse(this.#mutex, error, this.reason)).catch(locate));
      return;
    }
    // A promise that is granted by `unlockToOwn` has no death to learn of.
    const isAlive = this.#passes || shared.head?.granted === this;
    this.#resolve(isAlive ? this.#give(this.#passes) : this.#mutex[whenOwner](this.#give));
    if (!this.#isCounted) shared.grants++;
    this.#isCounted = true;
  }
}

/** A request with a time-out or a signal, and the reason for which it has left. */
interface Leaving extends HeadRequest {
  reason: unknown;
}

/** Returns a function that cancels the request. Another thread may have made it the head: then the head leaves. */
export function cancelling(promises: Promises, head: HeadPromise, request: Leaving, run: Run): Cancel {
  return (reason) => {
    const give = (): unknown => {
      request.reason = reason();
      return request.reason;
    };
    promises.cancel(run, give);
    if (head.owed.promise === request) head.cancel(give);
  };
}
