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
import { DisposedError } from '../errors.js';
import type { Doorbell, Flushable } from './doorbell.js';
import { NO_SLOT } from './numbers.js';
import type { Known, Resolve } from './promises.js';

export class HeadPromise implements Flushable {
  readonly #core: Core;
  readonly #doorbell: Doorbell;
  readonly #shared: Known;
  /** Settles the promise; undefined if no promise waits. */
  settle: Resolve | undefined;
  slot = NO_SLOT;

  constructor(core: Core, doorbell: Doorbell, shared: Known) {
    this.#core = core;
    this.#doorbell = doorbell;
    this.#shared = shared;
  }

  /** Whether a promise waits. */
  get waits(): boolean {
    return this.settle !== undefined;
  }

  /**
   * Is called when a promise has become the head, and `settle` has been set. The promise has waited since `since`. If the
   * stack is exhausted, the rest goes on with the promise.
   */
  begin(since: number): void {
    try {
      this.#core.waitsSince(this.#shared.attachment, since);
      if (this.slot === NO_SLOT) this.#doorbell.waitFor(this);
      this.flush();
    } catch {}
  }

  /** Takes the lock if it may. Is called when this thread has given the lock back, or its doorbell has rung. */
  flush(): void {
    if (!this.waits) {
      this.#doorbell.done(this);
      return;
    }
    const answer = this.#core.reserveLock(this.#shared.address, this.#shared.attachment);
    if (answer === ADMITTED) this.#end();
    else if (answer === ANSWER_CLOSED) this.#end(Promise.reject(new DisposedError()));
    else if (!this.#shared.promises.obey()) this.#doorbell.entered(this, this.#shared.address / OBJECT_SIZE);
  }

  /** As `forget` of the promises. */
  forget(reason?: Error): void {
    const { settle } = this;
    this.settle = undefined;
    if (reason) settle?.(Promise.reject(reason));
  }

  cancel(reason: () => unknown): void {
    if (!this.waits) return;
    this.#core.cancelHead(this.#shared.address, this.#shared.attachment);
    this.#end(Promise.reject(reason()));
  }

  #end(value?: Promise<never>): void {
    const settle = this.settle as Resolve;
    this.settle = undefined;
    settle(value);
    // The next waiter may be a promise of this same thread. No other thread rings for this promise.
    this.#shared.promises.settle();
    if (!this.waits) this.#doorbell.done(this);
  }
}
