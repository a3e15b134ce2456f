/// <reference lib="esnext.disposable" preserve="true" />
/**
 * WaitGroup counts tasks that are under way. Threads wait until all tasks are done. The count lies in the phase word of
 * core/kinds/phase/phase.ts. A task of `add` belongs to no thread. A task of `hold` or `run` is also counted in the
 * attachment of its thread, so that it ends with the thread.
 */

import { ADMITTED, ANSWER_CLOSED, ANSWER_OVER_MAX, KIND_WAIT_GROUP } from '../border/numbers.js';
import type { TaskEnd, WaitGroupCount } from '../common/counting.js';
import { end, Guard, isHeld } from '../common/guard.js';
import type { Properties, WaitOptions } from '../objects/options.js';
import { type Definition, find, type Handle, make, open } from '../objects/reference.js';
import { disposedError, isOver } from '../objects/shared-object.js';
import { checkInteger, checkOptions, checkType, refuseName } from '../runtime/errors.js';
import { MOST } from './latch.js';
import {
  address,
  functions,
  holders,
  ownAttachment,
  type SyncOptions,
  state,
  type Waiter,
  waiters,
} from './phase-object.js';
import { awaitZero, awaitZeroAsync, ZeroObject } from './zero-object.js';

/** A plain, structured-cloneable value to send to another thread, for `WaitGroup.from` there. */
export type WaitGroupHandle = Handle<'WaitGroup'>;

/** A thread that has tasks of `hold` or `run`. */
export interface TaskHolder {
  /** The number of the thread in the arena. */
  readonly thread: number;
  /** How many tasks the thread has. */
  readonly tasks: number;
}

/** What `inspect` tells about a wait group. The answer may be out of date at once. */
export interface WaitGroupState {
  /** The number of tasks that are not done. */
  readonly pending: number;
  /** The number of threads that have died, or ended, with tasks of `hold` or `run`. */
  readonly deaths: number;
  /** The threads that have tasks of `hold` or `run`, and how many. */
  readonly holders: readonly TaskHolder[];
  /** The threads that wait. The thread that has waited longest comes first. */
  readonly waiters: readonly Waiter[];
}

const KIND = 'WaitGroup';

const DEFINITION: Definition<typeof KIND, [SyncOptions]> = {
  kind: KIND,
  number: KIND_WAIT_GROUP,
  properties,
};

export interface WaitGroup extends WaitGroupCount {}

/**
 * A wait group counts tasks that are not done. Threads and promises wait together until no task is left. The group may
 * be used again. A waiter goes on once the count has been 0, even if other calls add tasks after that.
 *
 * Source: Go's sync.WaitGroup, over the phase word of core/kinds/phase/phase.ts. Tasks of `hold` and `run` are recorded
 * with their thread, so that they count as done when the thread dies.
 *
 * @example
 * ```ts
 * import { WaitGroup } from 'taketurns/sync';
 *
 * const tasks = new WaitGroup(); // threads share it by tasks.handle
 * for (const job of [1, 2, 3]) tasks.run(async () => job); // each counts as done if the thread dies that called run
 * console.log(await tasks.waitAsync({ timeout: 1000 }));
 * ```
 */
export class WaitGroup extends ZeroObject<typeof KIND> implements WaitGroupCount {
  /**
   * @throws {RangeError | TypeError} for a bad option.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(options: SyncOptions = {}) {
    super(KIND, make(DEFINITION, options));
  }

  /**
   * Attaches to the wait group of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a WaitGroup.
   * @throws {DisposedError} if the wait group has been disposed of.
   * @example const group = WaitGroup.from(workerData.group); // its `handle`, sent by the other thread
   */
  static from(handle: WaitGroupHandle): WaitGroup {
    return new WaitGroup(find(DEFINITION, handle));
  }

  /**
   * Opens the wait group of this name, and makes it if there is none. Never blocks.
   * @throws {RangeError | TypeError} for a bad name or option.
   * @throws {ArenaFullError} if the arena has no room for another object or name.
   * @example const group = WaitGroup.open('tasks');
   */
  static open(name: string, options: SyncOptions = {}): WaitGroup {
    return new WaitGroup(open(DEFINITION, name, options));
  }

  /**
   * Adds tasks. `done` takes them off again, in any thread. Never blocks. If the thread dies, its tasks of `add` stay;
   * tasks of `hold` and `run` do not.
   * @param n 1 (the default) to 1,073,741,823, which is also the most tasks that there may be together.
   * @throws {RangeError} if there would be more tasks; then nothing has changed.
   * @throws {DisposedError} if the wait group has been disposed of.
   * @example group.add(3);
   */
  add(n = 1): void {
    if (n !== 1) checkInteger(`${KIND}.add: n`, n, 1, MOST);
    this.#add(n, 0);
  }

  #add(n: number, attachment: number): void {
    const answer = this[functions].putOn(this[address], n, attachment);
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    if (answer === ANSWER_OVER_MAX) {
      throw new RangeError(`${KIND}.add: there may be ${MOST} tasks, and there are ${this.#pending}, got ${n} more`);
    }
  }

  done(n = 1): void {
    if (n !== 1) checkInteger(`${KIND}.done: n`, n, 1, MOST);
    const answer = this[functions].takeOff(this[address], n, 0);
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    if (answer === ANSWER_OVER_MAX) {
      throw new RangeError(`${KIND}.done: n must be at most the pending tasks, which are ${this.#pending}, got ${n}`);
    }
  }

  /**
   * Adds one task. The task is done at the end of the `using` scope, or when this thread ends or dies. Never blocks.
   * @throws {RangeError | DisposedError} as `add`.
   * @example using task = group.hold();
   */
  hold(): HeldTask {
    return this.#hold();
  }

  #hold(): HeldTask {
    const task = new HeldTask(() => this.#ended());
    this.#add(1, this[ownAttachment]);
    return task;
  }

  #ended(): void {
    if (this[isOver]) return;
    // Calls of `done` beyond the tasks of `add` may have taken this task off. Then only the thread's own count is left.
    if (this[functions].takeOff(this[address], 1, this[ownAttachment]) === ANSWER_OVER_MAX)
      this[functions].dropTask(this[ownAttachment]);
  }

  /**
   * Calls a function as one task. The task is done when its promise is settled, or when this thread ends or dies. Never
   * blocks.
   * @returns a promise of what the function returns. It rejects with what the function throws.
   * @throws {TypeError} (rejects) if `task` is not a function.
   * @throws {RangeError | DisposedError} (rejects) as `add`.
   * @example await group.run(async () => work());
   */
  async run<T>(task: () => T | PromiseLike<T>): Promise<T> {
    checkType(`${KIND}.run: task`, task, 'function', 'a function');
    const held = this.#hold();
    try {
      return await task();
    } finally {
      held.done();
    }
  }

  /**
   * Blocks the thread until no task is pending.
   * @returns false if the time-out came first.
   * @throws {TypeError} on a thread that must not block, such as a browser's main thread.
   * @throws {DisposedError} if the wait group has been or is being disposed of.
   * @example if (!group.wait({ timeout: 50 })) console.log('not done in time');
   */
  wait(options?: WaitOptions): boolean {
    return (options === undefined && this[functions].awaitZero(this[address]) === ADMITTED) || this[awaitZero](options);
  }

  /**
   * As `wait`, without blocking the thread. The promise rejects with the reason of an aborted signal.
   * @example await group.waitAsync({ signal });
   */
  waitAsync(options: WaitOptions = {}): Promise<boolean> {
    return this[awaitZeroAsync](options);
  }

  /** The number of tasks that are not done; 0 if the wait group has been disposed of. */
  get pending(): number {
    return this.#pending;
  }

  get #pending(): number {
    return this[functions].phaseCount(this[address]);
  }

  /** The number of threads that have died, or ended, with tasks of `hold` or `run`. */
  get deaths(): number {
    return this.#deaths;
  }

  get #deaths(): number {
    return this[functions].deathsOf(this[address]);
  }

  /** @internal */
  protected override get [state](): string {
    return `${this.#pending} pending`;
  }

  /**
   * Tells which threads wait and which threads have tasks, for diagnostics. Never blocks, throws nothing.
   * @example console.log(group.inspect().waiters);
   */
  inspect(): WaitGroupState {
    return {
      pending: this.#pending,
      deaths: this.#deaths,
      holders: this[holders]().map(({ thread, held }) => ({ thread, tasks: held })),
      waiters: this[waiters](),
    };
  }
}

export interface HeldTask extends TaskEnd {}

/**
 * One task of a wait group, until it is done.
 *
 * @example
 * ```ts
 * import { WaitGroup } from 'taketurns/sync';
 *
 * const tasks = new WaitGroup();
 * {
 *   using task = tasks.hold(); // done at the end of the scope, or when the thread dies
 * }
 * console.log(tasks.pending);
 * ```
 */
export class HeldTask extends Guard implements TaskEnd {
  #end: (() => void) | undefined;

  /** @internal */
  constructor(ended: () => void) {
    super();
    this.#end = ended;
  }

  /** @internal */
  protected get [isHeld](): boolean {
    return this.#end !== undefined;
  }

  done(): void {
    this[end]();
  }

  /** @internal */
  protected [end](): void {
    const ended = this.#end;
    this.#end = undefined;
    ended?.();
  }

  /** Returns, for example, `HeldTask(pending)`. Never blocks, throws nothing. */
  override toString(): string {
    return `HeldTask(${this.#end ? 'pending' : 'done'})`;
  }

  /** `HeldTask`. */
  get [Symbol.toStringTag](): string {
    return 'HeldTask';
  }
}

function properties(what: string, options: SyncOptions): Properties {
  refuseName(what, KIND, 'options', options, 'an object');
  checkOptions(what, options, ['arena']);
  return { permits: 0, max: MOST };
}
