/**
 * This file looks after a promise of this thread that is the head waiter of a mutex, until it has the lock or cancels.
 * The thread has at most one such promise at a time for each mutex.
 *
 * It reserves the lock at once, since its thread cannot poll (core/primitives/mutex.ts). Whoever unlocks then rings the doorbell of
 * the thread; if that is the thread itself, it tries the lock again before `unlock` returns, and rings nobody.
 */
import { DisposedError } from '../errors.js';
import { ADMITTED, ANSWER_CLOSED, type Core, OBJECT_SIZE } from './core.js';
import { type Doorbell, NOWHERE, type Resting } from './doorbell.js';
import type { Promises, Resolve } from './promises.js';

export class Head implements Resting {
  readonly #core: Core;
  readonly #doorbell: Doorbell;
  readonly #at: number;
  readonly #attachment: number;
  readonly #promises: Promises;
  #settle: Resolve | undefined;
  place = NOWHERE;

  constructor(core: Core, doorbell: Doorbell, at: number, attachment: number, promises: Promises) {
    this.#core = core;
    this.#doorbell = doorbell;
    this.#at = at;
    this.#attachment = attachment;
    this.#promises = promises;
  }

  /** Whether a promise waits. */
  get waits(): boolean {
    return this.#settle !== undefined;
  }

  /** A promise has just become the head, which is settled so, and has waited since then. */
  begin(settle: Resolve, since: number): void {
    this.#settle = settle;
    this.#core.waitsSince(this.#attachment, since);
    this.#doorbell.waitFor(this);
    this.rest();
  }

  /** Takes the lock, if it may. The lock has been given back by this thread, or the doorbell has rung. */
  rest(): void {
    if (this.#settle === undefined) return;
    const answer = this.#core.reserveLock(this.#at, this.#attachment);
    if (answer === ADMITTED) this.#end();
    else if (answer === ANSWER_CLOSED) this.#end(Promise.reject(new DisposedError()));
    else this.#doorbell.entered(this, this.#at / OBJECT_SIZE);
  }

  /** The thread ends: the mutex has cancelled its places itself. */
  forget(): void {
    this.#settle = undefined;
  }

  cancel(reason: unknown): void {
    if (this.#settle === undefined) return;
    this.#core.cancelHead(this.#at, this.#attachment);
    this.#end(Promise.reject(reason));
  }

  #end(value?: Promise<never>): void {
    const settle = this.#settle as Resolve;
    this.#settle = undefined;
    this.#doorbell.done(this);
    settle(value);
    // Who is next may be a promise of this very thread, for which nobody rings.
    if (this.#promises.first !== 0) this.#promises.settle();
  }
}
