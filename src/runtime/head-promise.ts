/**
 * If a promise of this thread is the head of a mutex, this file looks after the promise until it has the lock or is
 * cancelled. A thread has at most one such promise at a time for each mutex. The promises behind it are in promises.ts,
 * where the picture shows who calls whom.
 *
 * The promise reserves the lock at once, because its thread cannot poll (core/kinds/mutex/mutex.ts). The unlocking
 * thread then rings the doorbell of this thread. If the unlocking thread is this thread itself, it tries to take the
 * lock for the promise before `unlock` returns, and rings no doorbell. Mostly the next waiter is a promise of this thread
 * too: then one call of the core gives the lock to the head, and makes the next promise the head (`unlockToOwn` in
 * promises.ts). From that call on, `granted` is the promise that has the lock, until the promise is told so.
 *
 *     `owed`                     the promise
 *     no promise                 no promise of this thread is the head
 *     promise                    waits. If `#isAsking`, it may have got the lock: a call of `reserveLock` was cut
 *     promise and outcome        does not wait any more, and does not know it yet. If `#isAsking`, it leaves, and the core
 *                                may not know it yet: `cancelHead` follows
 *
 * Each of the two calls of the core may be made again after a cut, and answers the same then. Settlement says why no
 * outcome is lost.
 *
 * The promise leaves if cancelAll has been called since it began to wait in the queue. To find this out, it compares the
 * count of cancelAll with the value that the promises in the queue had seen when it became the head.
 */

import type { Core } from '../border/core.js';
import { ADMITTED, ANSWER_CLOSED, OBJECT_SIZE } from '../border/numbers.js';
import type { Doorbell, Flushable } from './doorbell.js';
import { CancelledError, DisposedError } from './errors.js';
import { NO_REST, NO_SLOT } from './numbers.js';
import { type Ahead, GRANTED, type HeadRequest, type Promises, Settlement } from './promises.js';

/** The part of `Shared` (membership.ts) that the head needs. */
interface Known {
  readonly address: number;
  readonly attachment: number;
  readonly promises: Promises;
}

/** The class of the promise has the error with the name of the object. */
const disposed = (): Error => new DisposedError('the object has been disposed of');

export class HeadPromise implements Flushable, Ahead {
  readonly #core: Core;
  readonly #doorbell: Doorbell;
  readonly #shared: Known;
  readonly owed = new Settlement();
  /** The count of cancelAll that the promises in the queue had seen when the promise became the head. */
  asks = 0;
  /** Whether a call of the core for the promise is under way, or an exception has ended it. */
  #isAsking = false;
  slot = NO_SLOT;
  plannedFor = NO_REST;
  granted: HeadRequest | undefined;
  /** The promise that has become the head last. */
  #latest: HeadRequest | undefined;

  constructor(core: Core, doorbell: Doorbell, shared: Known) {
    this.#core = core;
    this.#doorbell = doorbell;
    this.#shared = shared;
  }

  /** Whether an exception has ended a call for a promise. Then `flush` must come before another promise is the head. */
  get isOwed(): boolean {
    return this.#isAsking || this.owed.outcome !== undefined || this.granted !== undefined;
  }

  /** Whether a promise waits. */
  get waits(): boolean {
    return this.owed.promise !== undefined;
  }

  /**
   * Is called before a promise becomes the head, and before this thread gives the lock back. If an exception ends the
   * calls that follow, the rest goes on with the promise.
   */
  planRest(): void {
    this.#doorbell.waitFor(this);
    // The promise behind the head becomes the next head.
    this.#shared.promises.planRest();
  }

  /**
   * A promise in the queue is due, and becomes the head. It waits since the time that its run had in the core, which has
   * copied this time. Is called in a callback, and not after an await, so no other task of this thread runs in between.
   */
  due(request: HeadRequest): void {
    this.planRest();
    // An exception may have ended the call by which the head before was to learn that it has the lock.
    if (this.isOwed) this.flush();
    // An exception may have ended an earlier call of this method.
    if (this.#latest === request) return;
    this.#latest = this.owed.promise = request;
    this.asks = this.#shared.promises.asks;
    try {
      this.flush();
    } catch {
      // The stack is exhausted. The rest goes on with the promise.
    }
  }

  /**
   * Is called when a promise has become the head without a wait in the queue: it is the promise of `owed`, and `asks` has
   * been set. The promise has waited since `since`. If the stack is exhausted, the rest goes on with the promise.
   */
  begin(since: number): void {
    try {
      this.#doorbell.waitFor(this);
      this.#core.waitsSince(this.#shared.attachment, since);
      this.flush();
    } catch {}
  }

  tell(): void {
    const { granted } = this;
    if (granted === undefined) return;
    granted.has();
    this.granted = undefined;
  }

  /** Takes the lock if it may. Is called when this thread has given the lock back, and by the doorbell. */
  flush(): void {
    const { owed } = this;
    this.tell();
    if (!this.waits) {
      this.#doorbell.done(this);
      return;
    }
    if (owed.outcome === undefined) {
      const { address, attachment } = this.#shared;
      this.#isAsking = true;
      const answer = this.#core.reserveLock(address, attachment);
      // Nothing is called until the answer is noted.
      this.#isAsking = false;
      if (answer === ADMITTED) owed.outcome = GRANTED;
      else if (answer === ANSWER_CLOSED) owed.outcome = disposed;
    }
    if (owed.outcome !== undefined) this.#end();
    else if (!this.#obey()) this.#doorbell.entered(this, this.#shared.address / OBJECT_SIZE);
  }

  /** Cancels the promise if cancelAll has been called since it began to wait. Returns whether it has been. */
  #obey(): boolean {
    const { address, promises } = this.#shared;
    if (this.#core.asks(address) === this.asks) return false;
    if (promises.isTelling) {
      // The call under way may be `cancelAll` of this thread, which cancels the head at its end. If not, the rest does.
      this.#doorbell.restSoon(this);
    } else {
      promises.obey();
      this.cancel(() => new CancelledError());
    }
    return true;
  }

  /** As `forget` of the promises. */
  forget(reason?: Error): void {
    this.tell();
    const request = this.owed.drop() as HeadRequest | undefined;
    if (reason) request?.has(Promise.reject(reason));
  }

  /** Rejects the promises in the queue, and then the head. What is due already is granted. */
  cancelAll(error: CancelledError): void {
    this.#shared.promises.cancelAll(error);
    this.cancel(() => error);
  }

  cancel(reason: () => unknown): void {
    const { owed } = this;
    // The promise may have got the lock.
    if (this.#isAsking) this.flush();
    if (!this.waits) return;
    if (owed.outcome === undefined) {
      owed.outcome = reason;
      this.#isAsking = true;
    }
    this.#end();
  }

  #end(): void {
    if (this.#isAsking) {
      // The promise is cancelled. A second call has no effect.
      this.#core.cancelHead(this.#shared.address, this.#shared.attachment);
      this.#isAsking = false;
    }
    const { promise, value } = this.owed;
    (promise as HeadRequest).has(value);
    this.owed.told(promise as HeadRequest);
    // The next waiter may be a promise of this same thread. No other thread rings for this promise.
    this.#shared.promises.settle();
    if (!this.waits) this.#doorbell.done(this);
  }
}
