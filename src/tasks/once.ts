/**
 * Once lets only one call of all tasks of a thread run a function.
 *
 *                  begin                  the function has returned
 *     not done ─────────────► running ────────────────────────────► done
 *         ▲                      │
 *         └──────────────────────┘
 *              the function has thrown: a waiter tries next
 */
import { checkType } from '../common/errors.js';
import type { WaitOptions } from '../common/waits.js';
import { Queue } from './queue.js';
import { togetherIn, type Waiting } from './stats.js';
import { begin, checkOpen, isOver, QueueObject, queue, refuseOptions, state } from './task-object.js';

/** What `inspect` tells about a Once. */
export interface OnceState {
  /** Whether the work has been done. */
  readonly done: boolean;
  /** How many calls wait; empty if none does. */
  readonly waiters: readonly Waiting[];
}

const KIND = 'Once';

/**
 * Work that is done only once, by one call of all tasks. The other calls wait until the work is done. If the function
 * throws, the work is not done. Then one of the waiting calls runs its own function.
 *
 * Source: pthread_once and Go's sync.Once, without their poisoning.
 *
 * @example
 * ```ts
 * import { Once } from 'taketurns/tasks';
 *
 * const tables = new Once();
 * await tables.runAsync(async () => console.log('one call fills them')); // all go on when they are full
 * console.log(await tables.runAsync(() => {}), tables.done);
 * ```
 * @since 0.3.0
 */
export class Once extends QueueObject {
  #done = false;
  #runs = false;
  /** @internal */
  protected readonly [queue] = new Queue(() => 'the call that runs the Once');

  /**
   * Makes an object whose work is not done.
   * @throws {TypeError} for an argument: tasks need neither a name nor options.
   */
  constructor();
  constructor(...none: readonly unknown[]) {
    super(KIND);
    refuseOptions(KIND, none);
  }

  /**
   * Calls the function, if the work is not done and no other call does it. If another call does the work, waits until
   * that call has ended. The work is done when the function has returned, or when the promise that it has returned is
   * fulfilled. The function must not wait for a `runAsync` of the same object, because it would wait for itself. Never
   * blocks.
   * @returns a promise of whether this call has called its function. It rejects with what the function throws, with
   * TimeoutError when the time has passed while another call runs its function, with the reason of the signal when that
   * is aborted, with TypeError if `fn` is not a function, and with DisposedError.
   * @example await once.runAsync(async () => fill(table, await load()));
   */
  async runAsync(fn: () => void | PromiseLike<void>, options?: WaitOptions): Promise<boolean> {
    checkType(`${KIND}.runAsync: fn`, fn, 'function', 'a function');
    const limits = this[begin]('runAsync', options);
    if (this.#runs) {
      await this[queue].wait(1, limits);
      // The object may have been disposed of since.
      if (this.#done) return false;
    }
    this[checkOpen]();
    if (this.#done) return false;
    this.#runs = true;
    try {
      await fn();
      this.#done = true;
      return true;
    } finally {
      // Nobody comes between: for the waiter that goes on, the work is still under way.
      this.#runs = !this.#done && this[queue].count > 0;
      if (this.#done) this[queue].settleAll();
      else if (this.#runs) this[queue].settle();
    }
  }

  /** Whether the work has been done; false if the object has been disposed of. */
  get done(): boolean {
    return this.#isDone;
  }

  get #isDone(): boolean {
    return this.#done && !this[isOver];
  }

  /** @internal */
  protected get [state](): string {
    return this.#isDone ? 'done' : 'not done';
  }

  /**
   * Tells whether the work is done and how many wait. Never blocks, throws nothing.
   * @example console.log(once.inspect().waiters);
   */
  inspect(): OnceState {
    return { done: this.#isDone, waiters: togetherIn(this[queue]) };
  }
}
