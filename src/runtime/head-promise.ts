/**
 * If a promise of this thread is the head of a mutex, this file looks after the promise until it has the lock or is
 * cancelled. A thread has at most one such promise at a time for each mutex.
 *
 * The promise reserves the lock at once, because its thread cannot poll (core/kinds/mutex/mutex.ts). The unlocking
 * thread then rings the doorbell of this thread. If the unlocking thread is this thread itself, it tries to take the
 * lock for the promise before `unlock` returns, and rings no doorbell.
 *
 * The promise leaves if cancelAll has been called since it began. To find this out, it compares the count of cancelAll
 * with the value that the promises of this thread have seen last (promises.ts).
 */

import type { Core } from '../border/core.js';
import { ADMITTED, ANSWER_CLOSED, OBJECT_SIZE } from '../border/numbers.js';
import type { Doorbell, Flushable } from './doorbell.js';
import { DisposedError } from './errors.js';
import { NO_SLOT } from './numbers.js';
import type { Known, Resolve } from './promises.js';

/** Makes what a promise that is over gets: nothing, or a promise that is rejected. */
type Outcome = () => Promise<never> | undefined;

const granted: Outcome = () => undefined;
const disposed: Outcome = () => Promise.reject(new DisposedError());

export class HeadPromise implements Flushable {
  readonly #core: Core;
  readonly #doorbell: Doorbell;
  readonly #shared: Known;
  /** Settles the promise; undefined if no promise waits. */
  settle: Resolve | undefined;
  /** Set when the promise does not wait in the core any more, and `settle` has not been called yet. */
  #outcome: Outcome | undefined;
  /** Whether a call of the core for the promise is under way, or an exception has ended it. */
  isCut = false;
  /** What `settle` is to be called with, if that is a promise. */
  #value: Promise<never> | undefined;
  slot = NO_SLOT;

  constructor(core: Core, doorbell: Doorbell, shared: Known) {
    this.#core = core;
    this.#doorbell = doorbell;
    this.#shared = shared;
  }

  /** Whether an exception has ended a call for a promise. Then `flush` must come before another promise is the head. */
  get isOwed(): boolean {
    return this.isCut || this.#outcome !== undefined;
  }

  /** Whether a promise waits. */
  get waits(): boolean {
    return this.settle !== undefined;
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

  /** Returns what settles a promise in the queue: the promise becomes the head, which `has` settles, or is rejected. */
  whenDue(has: Resolve, since: number): Resolve {
    let isHead = false;
    return (value) => {
      if (value !== undefined) {
        has(value);
        return;
      }
      // The head begins in a callback, and not after an await, so no other task of this thread runs in between.
      this.planRest();
      // An exception may have ended the call by which the head before was to learn that it has the lock.
      if (this.isOwed) this.flush();
      // An exception may have ended an earlier call of this function.
      if (isHead) return;
      isHead = true;
      this.settle = has;
      this.begin(since);
    };
  }

  /**
   * Is called when a promise has become the head, and `settle` has been set. It has waited since `since`. If the stack is
   * exhausted, the rest goes on with the promise.
   */
  begin(since: number): void {
    try {
      this.#doorbell.waitFor(this);
      this.#core.waitsSince(this.#shared.attachment, since);
      this.flush();
    } catch {}
  }

  /** Takes the lock if it may. Is called when this thread has given the lock back, and by the doorbell. */
  flush(): void {
    if (!this.waits) {
      this.#doorbell.done(this);
      return;
    }
    if (this.#outcome === undefined) {
      this.isCut = true;
      const answer = this.#core.reserveLock(this.#shared.address, this.#shared.attachment);
      // Nothing is called until the answer is noted.
      this.isCut = false;
      if (answer === ADMITTED) this.#outcome = granted;
      else if (answer === ANSWER_CLOSED) this.#outcome = disposed;
    }
    if (this.#outcome !== undefined) this.#end();
    else if (!this.#shared.promises.obey()) this.#doorbell.entered(this, this.#shared.address / OBJECT_SIZE);
  }

  /** As `forget` of the promises. */
  forget(reason?: Error): void {
    const { settle } = this;
    this.settle = this.#outcome = this.#value = undefined;
    if (reason) settle?.(Promise.reject(reason));
  }

  cancel(reason: () => unknown): void {
    // The promise may have got the lock.
    if (this.isCut) this.flush();
    if (!this.waits) return;
    if (this.#outcome === undefined) {
      this.#outcome = () => Promise.reject(reason());
      this.isCut = true;
    }
    this.#end();
  }

  #end(): void {
    if (this.isCut) {
      // The promise is cancelled. A second call has no effect.
      this.#core.cancelHead(this.#shared.address, this.#shared.attachment);
      this.isCut = false;
    }
    this.#value ??= this.#outcome?.();
    this.settle?.(this.#value);
    // If an exception has ended the call, it is made again.
    this.settle = this.#outcome = this.#value = undefined;
    // The next waiter may be a promise of this same thread. No other thread rings for this promise.
    this.#shared.promises.settle();
    if (!this.waits) this.#doorbell.done(this);
  }
}
