/** Latch is a count that only falls, for the tasks of one thread. Promises wait until the count is 0. */
import type { LatchCount } from '../common/counting.js';
import { checkInteger } from '../common/errors.js';
import { left, MOST, Opening, setCount, together } from './opening.js';
import type { Waiting } from './stats.js';
import { checkOpen, isOver, state } from './task-object.js';

/** What `inspect` tells about a latch. */
export interface LatchState {
  /** What is left of the count. */
  readonly count: number;
  /** How many calls wait; empty if none does. */
  readonly waiters: readonly Waiting[];
}

const KIND = 'Latch';

export interface Latch extends LatchCount {}

/**
 * A latch opens once, for good, when its count has fallen to 0. Promises wait together until the latch opens.
 *
 * Source: the count-down latch of JSR-166 and the latch of C++20.
 *
 * @example
 * ```ts
 * import { Latch } from 'taketurns/tasks';
 *
 * const ready = new Latch(2);
 * ready.countDown();
 * ready.countDown();
 * console.log(await ready.waitAsync({ timeout: 1000 }));
 * ```
 * @since 0.3.0
 */
export class Latch extends Opening implements LatchCount {
  /**
   * @param count 0 to 1,073,741,823. A latch of 0 is open.
   * @throws {RangeError | TypeError} for a bad count.
   */
  constructor(count: number) {
    super(KIND, checkInteger(`${KIND}: count`, count, 0, MOST));
  }

  countDown(n = 1): void {
    checkInteger(`${KIND}.countDown: n`, n, 1, MOST);
    this[checkOpen]();
    checkInteger(`${KIND}.countDown: n`, n, 1, this[left], ' (the count)');
    this[setCount](this[left] - n);
  }

  /** What is left of the count; 0 if the latch has been disposed of. */
  get count(): number {
    return this.#count;
  }

  get #count(): number {
    return this[isOver] ? 0 : this[left];
  }

  /** @internal */
  protected get [state](): string {
    return `${this.#count} left`;
  }

  /**
   * Tells the count and how many wait. Never blocks, throws nothing.
   * @example console.log(latch.inspect().waiters);
   */
  inspect(): LatchState {
    return { count: this.#count, waiters: this[together] };
  }
}
