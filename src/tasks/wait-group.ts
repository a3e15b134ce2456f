/** WaitGroup counts tasks that are under way, in one thread. Promises wait until all tasks are done. */

import type { TaskEnd, WaitGroupCount } from '../common/counting.js';
import { checkInteger, checkType } from '../common/errors.js';
import { end } from '../common/guard.js';
import { giveBack, Held, source } from './guards.js';
import { left, MOST, Opening, setCount, together } from './opening.js';
import type { Waiting } from './stats.js';
import { checkOpen, isOver, refuseOptions, state } from './task-object.js';

/** What `inspect` tells about a wait group. */
export interface WaitGroupState {
  /** The number of tasks that are not done. */
  readonly pending: number;
  /** How many calls wait; empty if none does. */
  readonly waiters: readonly Waiting[];
}

const KIND = 'WaitGroup';

export interface WaitGroup extends WaitGroupCount {}

/**
 * A wait group counts tasks that are not done. Promises wait together until no task is left. The group may be used
 * again. A waiter goes on once the count has been 0, even if other calls add tasks after that.
 *
 * Source: Go's sync.WaitGroup.
 *
 * @example
 * ```ts
 * import { WaitGroup } from 'taketurns/tasks';
 *
 * const tasks = new WaitGroup();
 * for (const job of [1, 2, 3]) tasks.run(async () => job);
 * console.log(await tasks.waitAsync({ timeout: 1000 }));
 * ```
 * @since 0.3.0
 */
export class WaitGroup extends Opening implements WaitGroupCount {
  /**
   * Makes a group without tasks.
   * @throws {TypeError} for an argument: tasks need neither a name nor options.
   */
  constructor();
  constructor(...none: readonly unknown[]) {
    super(KIND, 0);
    refuseOptions(KIND, none);
  }

  /**
   * Adds tasks. `done` takes them off again. Never blocks.
   * @param n 1 (the default) to 1,073,741,823, which is also the most tasks that there may be together.
   * @throws {RangeError} if there would be more tasks; then nothing has changed.
   * @throws {DisposedError} if the wait group has been disposed of.
   * @example group.add(3);
   */
  add(n = 1): void {
    this.#add(n);
  }

  #add(n: number): void {
    checkInteger(`${KIND}.add: n`, n, 1, MOST);
    this[checkOpen]();
    checkInteger(`${KIND}.add: n`, n, 1, MOST - this[left], ' (what is left of the most)');
    this[setCount](this[left] + n);
  }

  done(n = 1): void {
    checkInteger(`${KIND}.done: n`, n, 1, MOST);
    this[checkOpen]();
    checkInteger(`${KIND}.done: n`, n, 1, this[left], ' (the pending tasks)');
    this[setCount](this[left] - n);
  }

  /**
   * Adds one task. The task is done at the end of the `using` scope. Never blocks.
   * @throws {RangeError | DisposedError} as `add`.
   * @example using task = group.hold();
   */
  hold(): HeldTask {
    this.#add(1);
    return new TaskGuard(this);
  }

  /** @internal A task of `hold` or `run` is done. Calls of `done` beyond the tasks of `add` may have taken it off. */
  [giveBack](): void {
    if (!this[isOver] && this[left] > 0) this[setCount](this[left] - 1);
  }

  /**
   * Calls a function as one task. The task is done when its promise is settled. Never blocks.
   * @returns a promise of what the function returns. It rejects with what the function throws, with `TypeError` if
   * `task` is not a function, and with `RangeError` or DisposedError as `add`.
   * @example await group.run(async () => work());
   */
  async run<T>(task: () => T | PromiseLike<T>): Promise<T> {
    checkType(`${KIND}.run: task`, task, 'function', 'a function');
    this.#add(1);
    try {
      return await task();
    } finally {
      this[giveBack]();
    }
  }

  /** The number of tasks that are not done; 0 if the wait group has been disposed of. */
  get pending(): number {
    return this.#pending;
  }

  get #pending(): number {
    return this[isOver] ? 0 : this[left];
  }

  /** @internal */
  protected get [state](): string {
    return `${this.#pending} pending`;
  }

  /**
   * Tells the number of tasks and how many wait. Never blocks, throws nothing.
   * @example console.log(group.inspect().waiters);
   */
  inspect(): WaitGroupState {
    return { pending: this.#pending, waiters: this[together] };
  }
}

export interface HeldTask extends TaskEnd {}

/**
 * One task of a wait group, until it is done.
 *
 * @example
 * ```ts
 * import { WaitGroup } from 'taketurns/tasks';
 *
 * const tasks = new WaitGroup();
 * {
 *   using task = tasks.hold(); // done at the end of the scope
 * }
 * console.log(tasks.pending);
 * ```
 * @since 0.3.0
 */
export class HeldTask extends Held implements TaskEnd {
  done(): void {
    this[end]();
  }

  /** Returns, for example, `HeldTask(pending)` or `HeldTask(done)`. Never blocks, throws nothing. */
  override toString(): string {
    return `HeldTask(${this[source] ? 'pending' : 'done'})`;
  }

  /** `HeldTask`. */
  get [Symbol.toStringTag](): string {
    return 'HeldTask';
  }
}

const TaskGuard = HeldTask as unknown as new (group: WaitGroup) => HeldTask;
