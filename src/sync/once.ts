/**
 * Once lets only one call of all threads run a function. Over the phase word of core/kinds/phase/phase.ts:
 *
 *                  begin                  end, the function has returned
 *     not done ─────────────► running ────────────────────────────────────► done
 *         ▲                      │
 *         └──────────────────────┘
 *           end, the function has thrown or its thread has died: a waiter tries next
 */

import { host } from '#host';
import { ADMITTED, ANSWER_CLOSED, BEGUN, KIND_ONCE, O_PHASE, PHASE_COUNT, QUEUED } from '../border/numbers.js';
import type { Sync } from '../border/sync.js';
import { timedOut } from '../common/errors.js';
import { refusePromise } from '../common/refuse-promise.js';
import { reasonOf } from '../common/signals.js';
import { checkWaitOptions, type Properties, type WaitOptions } from '../objects/options.js';
import { type Definition, find, type Handle, make, open } from '../objects/reference.js';
import { disposedError, forget, isOver, reference } from '../objects/shared-object.js';
import { checkWaitAsync } from '../runtime/doorbell.js';
import { checkOptions, checkType, described, refuseName, selfDeadlock } from '../runtime/errors.js';
import { afterInterrupt } from '../runtime/interrupts.js';
import { countdown } from '../runtime/parking.js';
import {
  address,
  checkBlocking,
  checkEnded,
  type Ended,
  functions,
  goOn,
  holders,
  isOpen,
  ownAttachment,
  PhaseObject,
  phaseSeen,
  type SyncOptions,
  sleep,
  sleepAsync,
  state,
  type Waiter,
  waiters,
} from './phase-object.js';

/** A plain, structured-cloneable value to send to another thread, for `Once.from` there. */
export type OnceHandle = Handle<'Once'>;

/** What `inspect` tells about a Once. The answer may be out of date at once. */
export interface OnceState {
  /** Whether the work has been done. */
  readonly done: boolean;
  /** The number of the thread that runs the function; undefined if no thread runs it. */
  readonly runner: number | undefined;
  /** The number of threads that have died, or ended, while they ran the function. */
  readonly deaths: number;
  /** The threads that wait. The thread that has waited longest comes first. */
  readonly waiters: readonly Waiter[];
}

const KIND = 'Once';

const DEFINITION: Definition<typeof KIND, [SyncOptions]> = {
  kind: KIND,
  number: KIND_ONCE,
  properties,
};
const NESTED =
  'Once: a function that runAsync runs has called runAsync of the same object. If it waits for that, it waits for itself';

/**
 * Work that is done only once, by one call of all threads. The other calls wait until the work is done. If the function
 * throws or its thread dies, the work is not done. Then one of the waiting calls runs its own function: the call that
 * comes first.
 *
 * Source: pthread_once and Go's sync.Once, without their poisoning, over the phase word of core/kinds/phase/phase.ts.
 *
 * @example
 * ```ts
 * import { Once } from 'taketurns/sync';
 *
 * const tables = Once.open('tables'); // by its name: one in all threads
 * tables.run(() => console.log('one thread fills them')); // all go on when they are full
 * console.log(tables.run(() => {}), tables.done);
 * ```
 */
export class Once extends PhaseObject<typeof KIND> {
  /**
   * Whether the function of a blocking call runs. An exception that no code can catch may end the function and leave
   * this field true.
   */
  #runs = false;
  readonly #endAfterInterrupt = afterInterrupt(() => {
    if (this.#runs) this.#end(false);
  });
  /** Whether the object has warned of a function of `runAsync` that calls `runAsync` again. */
  #warned = false;
  /** Whether the work had been done when this object released its reference. */
  #wasDone = false;

  /**
   * @throws {RangeError | TypeError} for a bad option.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(options: SyncOptions = {}) {
    super(KIND, make(DEFINITION, options));
  }

  /**
   * Attaches to the object of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a Once.
   * @throws {DisposedError} if the object has been disposed of.
   * @example const once = Once.from(workerData.once); // its `handle`, sent by the other thread
   */
  static from(handle: OnceHandle): Once {
    return new Once(find(DEFINITION, handle));
  }

  /**
   * Opens the object of this name, and makes it if there is none. Never blocks.
   * @throws {RangeError | TypeError} for a bad name or option.
   * @throws {ArenaFullError} if the arena has no room for another object or name.
   * @example const once = Once.open('table');
   */
  static open(name: string, options: SyncOptions = {}): Once {
    return new Once(open(DEFINITION, name, options));
  }

  /**
   * Calls the function, if the work is not done and no other call does it. If another call does the work, blocks the
   * thread until that call has ended.
   * @returns whether this call has called its function.
   * @throws what the function throws.
   * @throws {SelfDeadlockError} if this thread or a promise of it runs a function of the object, and there is no
   * time-out: the thread would wait for itself.
   * @throws {TimeoutError} when the time has passed while another thread runs its function.
   * @throws {TypeError} if `fn` is not a function, or on a thread that must not block, if it would have to.
   * @throws {DisposedError} if the object has been or is being disposed of.
   * @example once.run(() => fill(table));
   */
  run(fn: () => void, options?: WaitOptions): boolean {
    const isDone = this[functions].awaitZero(this[address]) === ADMITTED;
    return isDone && options === undefined && typeof fn === 'function' ? false : this.#run(fn, options);
  }

  #run(fn: () => void, options: WaitOptions = {}): boolean {
    const what = `${KIND}.run`;
    checkType(`${what}: fn`, fn, 'function', 'a function');
    const timeout = checkWaitOptions(what, options);
    const left = countdown(timeout);
    while (true) {
      const answer = this.#begin();
      if (answer === ADMITTED) return false;
      if (answer === BEGUN) break;
      if (timeout === Infinity && this[functions].heldByAttachment(this[ownAttachment]) > 0)
        throw selfDeadlock(
          what,
          `this thread or a promise of it runs ${this[described]()} already`,
          'its function must not call run of the same object',
          'runAsync(fn)',
        );
      this[checkBlocking]('runAsync');
      this[checkEnded](this[sleep](this[phaseSeen], left), this.#result, timeout);
    }
    let isDone = false;
    this.#runs = true;
    try {
      // The runtime may end the function by an interrupt, without `finally`. Then another call may try.
      this.#endAfterInterrupt();
      refusePromise(fn(), `${what}: fn must not return a promise: use runAsync`);
      isDone = true;
    } finally {
      this.#end(isDone);
    }
    return true;
  }

  /**
   * As `run`, without blocking the thread. The function may return a promise. The work is then done when this promise
   * is fulfilled. The promise rejects with what `run` throws.
   *
   * The function must not wait for a `runAsync` of the same object, because it would wait for itself. The library
   * cannot know whether the function waits. So there is no error, but a warning (`process.emitWarning`, or
   * `console.warn` in browsers) the first time that the function calls `runAsync` before its first `await`, with
   * neither time-out nor signal.
   * @example await once.runAsync(async () => fill(table, await load()));
   */
  async runAsync(fn: () => void | PromiseLike<void>, options: WaitOptions = {}): Promise<boolean> {
    const what = `${KIND}.runAsync`;
    checkType(`${what}: fn`, fn, 'function', 'a function');
    const timeout = checkWaitOptions(what, options);
    checkWaitAsync();
    const left = countdown(timeout);
    const { signal } = options;
    const { shared } = this[reference];
    while (true) {
      const answer = this.#begin();
      // The code of the signal may read the phase of another object.
      const phase = this[phaseSeen];
      if (answer === ADMITTED) return false;
      try {
        if (signal?.aborted) throw reasonOf(signal);
      } catch (error) {
        // This call has begun the work. Other calls may wait, so it must let one of them try.
        if (answer === BEGUN) this.#end(false);
        throw error;
      }
      if (answer === BEGUN) break;
      if (timeout === 0) throw timedOut(this.#result(), timeout);
      if (shared.isRunning && !this.#warned && timeout === Infinity && !signal) {
        this.#warned = true;
        host.warn(NESTED);
      }
      this[checkEnded](await this[sleepAsync](phase, left(), signal), this.#result, timeout);
      // The thread may have disposed of the object since.
      if (this.#wasDone) return false;
    }
    let isDone = false;
    let hasReturned = false;
    try {
      let result: void | PromiseLike<void>;
      shared.isRunning = true;
      // As in `run`, the runtime may end the function by an interrupt, and then this call never goes on.
      Promise.resolve().then(() => {
        if (hasReturned) return;
        shared.isRunning = false;
        this.#end(false);
      });
      try {
        result = fn();
      } finally {
        hasReturned = true;
        shared.isRunning = false;
      }
      await result;
      isDone = true;
    } finally {
      this.#end(isDone);
    }
    return true;
  }

  /** @internal If the work is not done, one promise of the thread tries next, and the other promises wait on. */
  protected override [goOn](at: number, answer: Ended): number {
    return answer === ADMITTED && this[functions].awaitZero(at) === QUEUED ? 1 : Infinity;
  }

  /** @internal */
  protected override [forget](): void {
    const words = new Int32Array(this[reference].membership.memory.buffer);
    // The count also says so after the object has been closed.
    this.#wasDone ||= (Atomics.load(words, (this[address] + O_PHASE) >> 2) & PHASE_COUNT) === 0;
    super[forget]();
  }

  /** Says, for a TimeoutError, what a call has waited for. */
  readonly #result = (): string => `the thread that runs ${this[described]()}`;

  #begin(): Exclude<ReturnType<Sync['begin']>, ANSWER_CLOSED> {
    const answer = this[functions].begin(this[address], this[ownAttachment]);
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    return answer;
  }

  #end(isDone: boolean): void {
    this.#runs = false;
    if (!this[isOver]) this[functions].end(this[address], isDone, this[ownAttachment]);
  }

  /** Whether the work has been done; false if the object has been disposed of. */
  get done(): boolean {
    return this[isOpen];
  }

  /** @internal */
  protected override get [state](): string {
    return this[isOpen] ? 'done' : 'not done';
  }

  /**
   * Tells which thread runs the function and which threads wait, for diagnostics. Never blocks, throws nothing.
   * @example console.log(once.inspect().waiters);
   */
  inspect(): OnceState {
    return {
      done: this[isOpen],
      runner: this[holders]()[0]?.thread,
      deaths: this[functions].deathsOf(this[address]),
      waiters: this[waiters](),
    };
  }
}

function properties(what: string, options: SyncOptions): Properties {
  refuseName(what, KIND, 'options', options, 'an object');
  checkOptions(what, options, ['arena']);
  return { permits: 1, max: 2 };
}
