/** What Event, Latch and WaitGroup share: a count. Promises wait together until the count has been 0. */
import type { WaitOptions } from '../common/waits.js';
import { Queue } from './queue.js';
import { togetherIn, type Waiting } from './stats.js';
import { begin, checkOpen, QueueObject, queue } from './task-object.js';

/** The most that a count can be. */
export const MOST = 2 ** 30 - 1;

/** @internal */
export const left = Symbol();
/** @internal */
export const setCount = Symbol();
/** @internal */
export const together = Symbol();

export abstract class Opening extends QueueObject {
  /** @internal */
  protected readonly [queue] = new Queue();
  #left: number;

  /** @internal */
  protected constructor(kind: string, first: number) {
    super(kind);
    this.#left = first;
  }

  /** @internal What is left of the count. */
  protected get [left](): number {
    return this.#left;
  }

  /** @internal If the count is 0, all who wait go on. */
  protected [setCount](to: number): void {
    this[checkOpen]();
    this.#left = to;
    if (to === 0) this[queue].settleAll(true);
  }

  /**
   * Waits until it is open. Never blocks.
   * @returns a promise of true, or of false if the time-out came first. It rejects with the reason of the signal when
   * that is aborted, with RangeError or TypeError for a bad option, and with DisposedError.
   * @example if (!(await latch.waitAsync({ timeout: 50 }))) console.log('not open in time');
   */
  async waitAsync(options?: WaitOptions): Promise<boolean> {
    const limits = this[begin]('waitAsync', options);
    return this.#left === 0 || this[queue].wait(1, limits);
  }

  /** @internal */
  protected get [together](): Waiting[] {
    return togetherIn(this[queue]);
  }
}
