/**
 * How a blocked thread waits for a mutex: it waits in the queue until it is the head, and then as the head until it has
 * the lock. A promise waits in the same queue, and then in runtime/head-promise.ts. A promise with a time-out or a signal
 * is a `WatchedRequest`.
 */
import type { Core } from './border/core.js';
import { ADMITTED, HEAD, QUEUED, TIMED_OUT } from './border/numbers.js';
import type { Signal } from './options.js';
import type { Reference } from './reference.js';
import { type Cancel, type Wanted, watch } from './runtime/cancellation.js';
import { timestamp } from './runtime/clock.js';
import type { HeadPromise } from './runtime/head-promise.js';
import { nanoseconds, parkUntilDue } from './runtime/parking.js';

const nothing = (): void => {};

/** The answers with which a request for the lock ends or goes on. */
type Entering = ReturnType<Core['queue' | 'tryLock' | 'compete']>;

/** The answers with which a request for the lock ends. */
export type Entered = Exclude<Entering, QUEUED | HEAD>;

/**
 * Waits for the mutex of this reference, at this address, and calls no code of the user. Returns ADMITTED if the thread
 * has the lock. Returns TIMED_OUT or LEAVE if the request has left the queue. If the thread may not block, or a promise
 * of the thread waits for the lock, the thread only tries to lock, and REFUSED means that this has failed. The other
 * answers are ANSWER_HELD, ANSWER_CLOSED and ANSWER_FULL.
 */
export function waitInQueue({ membership, shared }: Reference, at: number, left: () => number): Entered {
  const { pollTime, core } = membership;
  const { attachment, promises, head } = shared;
  core.turnLasted(at, pollTime.sinceTurn);
  membership.expectInterrupt();
  let answer: Entering =
    membership.mayBlock && promises.first === 0 && !head?.waits ? core.queue(at, attachment) : core.tryLock(at);
  if (answer === QUEUED || answer === HEAD) {
    pollTime.waits();
    core.waitsSince(attachment, timestamp());
  }
  if (answer === QUEUED) {
    answer = parkUntilDue(core, at, attachment, left);
    if (answer === ADMITTED) answer = HEAD;
  }
  if (answer === HEAD) {
    let remaining = left();
    do {
      answer = core.compete(at, nanoseconds(remaining), attachment);
      remaining = left();
    } while (answer === TIMED_OUT && remaining > 0);
    if (answer === ADMITTED) pollTime.turnBegins();
    else if (answer >= TIMED_OUT) core.cancelHead(at, attachment);
  }
  return answer;
}

/** A promise that leaves the queue of the mutex on a time-out or by a signal. */
export class WatchedRequest {
  /** Cancels the request where it stands: in the queue, or as the head. */
  leave: Cancel;
  /** The reason for which the request has been cancelled. It may be a DisposedError of another object. */
  reason: unknown;
  readonly #head: HeadPromise;
  readonly #unwatch: () => void;

  constructor(head: HeadPromise, timeout: number, signal: Signal | undefined, wanted: Wanted) {
    this.#head = head;
    this.leave = nothing;
    this.#unwatch = watch(timeout, signal, (reason) => this.#cancel(reason), wanted);
  }

  #cancel(reason: () => unknown): void {
    const give = (): unknown => {
      this.reason = reason();
      return this.reason;
    };
    const { leave } = this;
    leave(give);
    // Another thread had made the request the head, so the head must leave too.
    if (this.leave !== leave) this.leave(give);
  }

  /** The request has become the head. */
  isHead(): void {
    this.leave = (reason) => this.#head.cancel(reason);
  }

  /** The request is over. */
  end(): void {
    this.leave = nothing;
    this.#unwatch();
  }
}
