/**
 * Barrier lets a fixed number of calls of one thread wait for one another, round after round.
 *
 *     round 0: parties calls arrive ──► the last one runs the action ──► all go on ──► round 1 ...
 *          └── a call gives up, or the action throws ──► broken for ever
 *
 * The last call of a round first makes a new queue, and then runs the action. So a call that the action makes belongs to
 * the next round, and those of the present round wait until the action has returned.
 */
import { BrokenBarrierError, checkInteger, checkOptions, checkType, DisposedError } from '../common/errors.js';
import { refusePromise } from '../common/refuse-promise.js';
import type { WaitOptions } from '../common/waits.js';
import { Queue } from './queue.js';
import { togetherIn, type Waiting } from './stats.js';
import { begin, checkOpen, isOver, QueueObject, queue, state } from './task-object.js';

/** The options of a new `Barrier`. */
export interface BarrierOptions {
  /**
   * Is called when the last call of a round has arrived, before the other calls go on. If the action throws, the
   * barrier is broken, and the last call rejects with the same error. The action must not return a promise.
   */
  readonly action?: () => void;
}

/** What `inspect` tells about a barrier. */
export interface BarrierState {
  /** How many calls make a round. */
  readonly parties: number;
  /** How many calls of the present round have arrived. */
  readonly arrived: number;
  /** Whether the barrier is broken. */
  readonly broken: boolean;
  /** How many rounds are complete. */
  readonly round: number;
  /** How many calls wait; empty if none does. */
  readonly waiters: readonly Waiting[];
}

const KIND = 'Barrier';

/**
 * A barrier lets `parties` calls wait for one another: when the last call has arrived, all calls go on, and the next
 * round begins.
 *
 * The barrier is broken for ever if a waiting call gives up by a time-out or a signal, or if the action throws. Then
 * all calls that wait or arrive later get a `BrokenBarrierError`. A round is either complete for all its calls or
 * broken for all.
 *
 * Source: the CyclicBarrier of JSR-166.
 *
 * @example
 * ```ts
 * import { Barrier } from 'taketurns/tasks';
 *
 * const barrier = new Barrier(2);
 * async function compute(part: string): Promise<void> {
 *   for (let step = 1; step <= 2; step++) {
 *     console.log(`step ${step} of part ${part}`);
 *     await barrier.arriveAndWaitAsync();
 *   }
 * }
 * await Promise.all(['one', 'two'].map(compute));
 * ```
 * @since 0.3.0
 */
export class Barrier extends QueueObject {
  readonly #parties: number;
  readonly #action: (() => void) | undefined;
  #arrived = 0;
  #round = 0;
  #broken = false;
  #present = this.#newQueue();

  /**
   * @param parties 1 to 65,535.
   * @throws {RangeError | TypeError} for a bad number or option.
   */
  constructor(parties: number, options: BarrierOptions = {}) {
    super(KIND);
    checkOptions(KIND, options, ['action']);
    const { action } = options;
    if (action !== undefined) checkType(`${KIND}: action`, action, 'function', 'a function');
    this.#parties = checkInteger(`${KIND}: parties`, parties, 1, 65_535);
    this.#action = action;
  }

  /** @internal Those of the present round. */
  protected get [queue](): Queue {
    return this.#present;
  }

  /** How many calls make a round. */
  get parties(): number {
    return this.#parties;
  }

  /**
   * Arrives, and waits until all other calls of the round have arrived. Never blocks.
   * @returns a promise of how many calls of this round had arrived before: 0 to `parties - 1`. It rejects with
   * BrokenBarrierError if the barrier is broken, before or in this round, with TimeoutError when the time has passed or
   * with the reason of the signal when that is aborted: then the barrier is broken; and with DisposedError.
   * @example await barrier.arriveAndWaitAsync({ signal });
   */
  async arriveAndWaitAsync(options?: WaitOptions): Promise<number> {
    const limits = this[begin]('arriveAndWaitAsync', options);
    this.#check();
    const index = this.#arrived++;
    if (index < this.#parties - 1) return this.#present.wait<number>(index, limits);
    const round = this.#present;
    this.#present = this.#newQueue();
    this.#arrived = 0;
    try {
      refusePromise(this.#action?.(), `${KIND}: action must not return a promise`);
      this.#check();
    } catch (error) {
      this.#break();
      round.close(this[isOver] && error instanceof DisposedError ? error : brokenError());
      throw error;
    }
    this.#round++;
    for (let i = 0; i < index; i++) round.settle(i);
    return index;
  }

  #newQueue(): Queue {
    return new Queue(
      () => 'the others at the Barrier',
      () => this.#break(),
    );
  }

  #check(): void {
    this[checkOpen]();
    if (this.#broken) throw brokenError();
  }

  #break(): void {
    this.#broken = true;
    this.#present.close(brokenError());
  }

  /** Whether the barrier is broken. */
  get broken(): boolean {
    return this.#isBroken;
  }

  get #isBroken(): boolean {
    return this.#broken && !this[isOver];
  }

  /** How many rounds are complete. The count is 0 if the barrier has been disposed of. */
  get round(): number {
    return this.#rounds;
  }

  get #rounds(): number {
    return this[isOver] ? 0 : this.#round;
  }

  /** @internal */
  protected get [state](): string {
    return this.#isBroken ? 'broken' : `${this.#present.count} of ${this.#parties} arrived`;
  }

  /**
   * Tells how many calls have arrived and wait. Never blocks, throws nothing.
   * @example console.log(barrier.inspect().waiters);
   */
  inspect(): BarrierState {
    return {
      parties: this.#parties,
      arrived: this.#present.count,
      broken: this.#isBroken,
      round: this.#rounds,
      waiters: togetherIn(this.#present),
    };
  }
}

function brokenError(): BrokenBarrierError {
  return new BrokenBarrierError('the barrier is broken: a party has given up, or its action has thrown');
}
