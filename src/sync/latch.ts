/** Latch is a count that only falls. Threads wait until the count is 0. The phase word of phase.ts has the count. */

import { ADMITTED, ANSWER_CLOSED, ANSWER_OVER_MAX, KIND_LATCH, PHASE_COUNT } from '../border/numbers.js';
import type { LatchCount } from '../common/counting.js';
import type { Properties, WaitOptions } from '../objects/options.js';
import { type Definition, find, type Handle, make, open } from '../objects/reference.js';
import { disposedError } from '../objects/shared-object.js';
import { checkInteger, checkOptions, refuseName } from '../runtime/errors.js';
import { address, functions, type SyncOptions, state, type Waiter, waiters } from './phase-object.js';
import { awaitZero, awaitZeroAsync, ZeroObject } from './zero-object.js';

/** A plain, structured-cloneable value to send to another thread, for `Latch.from` there. */
export type LatchHandle = Handle<'Latch'>;

/** What `inspect` tells about a latch. The answer may be out of date at once. */
export interface LatchState {
  /** What is left of the count. */
  readonly count: number;
  /** The threads that wait. The thread that has waited longest comes first. */
  readonly waiters: readonly Waiter[];
}

const KIND = 'Latch';

const DEFINITION: Definition<typeof KIND, [number, SyncOptions]> = {
  kind: KIND,
  number: KIND_LATCH,
  properties,
  chosen: 'first count',
};
/** The most that a count can be. */
export const MOST = PHASE_COUNT;

export interface Latch extends LatchCount {}

/**
 * A latch opens once, for good, when its count has fallen to 0. Threads and promises wait together until the latch
 * opens.
 *
 * The latch does not notice if a thread dies before the thread has counted down. If this may happen, use a `WaitGroup`,
 * or give a time-out.
 *
 * Source: the count-down latch of JSR-166 and the latch of C++20, over the phase word of core/kinds/phase/phase.ts.
 *
 * @example
 * ```ts
 * import { Latch } from 'taketurns/sync';
 *
 * const ready = new Latch(2); // threads share it by ready.handle
 * ready.countDown();
 * ready.countDown();
 * console.log(ready.wait({ timeout: 1000 }));
 * ```
 */
export class Latch extends ZeroObject<typeof KIND> implements LatchCount {
  /**
   * @param count 0 to 1,073,741,823. A latch of 0 is open.
   * @throws {RangeError | TypeError} for a bad count or option.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(count: number, options: SyncOptions = {}) {
    super(KIND, make(DEFINITION, count, options));
  }

  /**
   * Attaches to the latch of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a Latch.
   * @throws {DisposedError} if the latch has been disposed of.
   * @example const latch = Latch.from(workerData.latch); // its `handle`, sent by the other thread
   */
  static from(handle: LatchHandle): Latch {
    return new Latch(0, find(DEFINITION, handle));
  }

  /**
   * Opens the latch of this name, and makes it if there is none. Never blocks.
   * @param count 0 to 1,073,741,823.
   * @throws {RangeError} if a latch of this name exists with another first count.
   * @example const latch = Latch.open('start', 1);
   */
  static open(name: string, count: number, options: SyncOptions = {}): Latch {
    return new Latch(0, open(DEFINITION, name, count, options));
  }

  countDown(n = 1): void {
    if (n !== 1) checkInteger(`${KIND}.countDown: n`, n, 1, MOST);
    const answer = this[functions].takeOff(this[address], n, 0);
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    if (answer === ANSWER_OVER_MAX) {
      throw new RangeError(`${KIND}.countDown: n must be at most the count, which is ${this.#count}, got ${n}`);
    }
  }

  /**
   * Blocks the thread until the latch is open.
   * @returns false if the time-out came first.
   * @throws {TypeError} on a thread that must not block, such as a browser's main thread.
   * @throws {DisposedError} if the latch has been or is being disposed of.
   * @example if (!latch.wait({ timeout: 50 })) console.log('not open in time');
   */
  wait(options?: WaitOptions): boolean {
    return (options === undefined && this[functions].awaitZero(this[address]) === ADMITTED) || this[awaitZero](options);
  }

  /**
   * As `wait`, without blocking the thread. The promise rejects with the reason of an aborted signal.
   * @example await latch.waitAsync({ signal });
   */
  waitAsync(options: WaitOptions = {}): Promise<boolean> {
    return this[awaitZeroAsync](options);
  }

  /** What is left of the count; 0 if the latch has been disposed of. */
  get count(): number {
    return this.#count;
  }

  get #count(): number {
    return this[functions].phaseCount(this[address]);
  }

  /** @internal */
  protected override get [state](): string {
    return `${this.#count} left`;
  }

  /**
   * Tells the count and which threads wait, for diagnostics. Never blocks, throws nothing.
   * @example console.log(latch.inspect().waiters);
   */
  inspect(): LatchState {
    return { count: this.#count, waiters: this[waiters]() };
  }
}

function properties(what: string, count: number, options: SyncOptions): Properties {
  refuseName(what, KIND, 'count', count, 'an integer', ', count');
  checkOptions(what, options, ['arena']);
  return { permits: checkInteger(`${what}: count`, count, 0, MOST), max: MOST };
}
