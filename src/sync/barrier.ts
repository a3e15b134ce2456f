/**
 * Barrier lets a fixed number of calls wait for one another, round after round.
 *
 *     round 0: parties calls arrive ──► the last one runs its action ──► all go on ──► round 1 ...
 *          └── a call gives up, a thread dies, or the action throws ──► broken for ever
 *
 * Each round is a phase of the phase word of core/kinds/phase/phase.ts.
 */

import { host } from '#host';
import { ADMITTED, ANSWER_BROKEN, ANSWER_CLOSED, ARRIVED, CANCELLED, KIND_BARRIER, QUEUED } from '../border/numbers.js';
import { refusePromise } from '../common/refuse-promise.js';
import { reasonOf } from '../common/signals.js';
import { checkWaitOptions, type Properties, type WaitOptions } from '../objects/options.js';
import { type Definition, find, type Handle, make, open, type Reference } from '../objects/reference.js';
import { disposedError, isOver, reference } from '../objects/shared-object.js';
import { checkWaitAsync } from '../runtime/doorbell.js';
import {
  BrokenBarrierError,
  checkInteger,
  checkOptions,
  checkType,
  described,
  refuseName,
  timedOut,
} from '../runtime/errors.js';
import { afterInterrupt } from '../runtime/interrupts.js';
import { countdown } from '../runtime/parking.js';
import {
  address,
  answerAt,
  checkBlocking,
  type Ended,
  functions,
  holders,
  isOpen,
  lastAnswer,
  mayPoll,
  ownAttachment,
  PhaseObject,
  phaseSeen,
  type SyncOptions,
  sleep,
  sleepAsync,
  sleepForEver,
  state,
  type Waiter,
  waiters,
} from './phase-object.js';

/** A plain, structured-cloneable value to send to another thread, for `Barrier.from` there. */
export type BarrierHandle = Handle<'Barrier'>;

/** The options of a new `Barrier`, and of `from` and `open`. */
export interface BarrierOptions extends SyncOptions {
  /**
   * Is called when a call on this library object is the last of a round to arrive, before the other calls go on. If the
   * action throws, the barrier is broken, and the call throws the same error. The action must not return a promise, and
   * must not arrive at the barrier.
   */
  readonly action?: () => void;
}

/** What `inspect` tells about a barrier. The answer may be out of date at once. */
export interface BarrierState {
  /** How many calls make a round. */
  readonly parties: number;
  /** How many calls of the present round have arrived. */
  readonly arrived: number;
  /** Whether the barrier is broken. */
  readonly broken: boolean;
  /**
   * How many rounds are complete.
   * @since 0.3.0
   */
  readonly round: number;
  /**
   * The numbers of the threads that have arrived at least once and have not called `leave` since. The death of such a
   * thread breaks the barrier.
   */
  readonly members: readonly number[];
  /** The threads that wait. The thread that has waited longest comes first. */
  readonly waiters: readonly Waiter[];
}

const KIND = 'Barrier';

const DEFINITION: Definition<typeof KIND, [number, BarrierOptions]> = {
  kind: KIND,
  number: KIND_BARRIER,
  properties,
  chosen: 'number of parties',
};
const MOST_PARTIES = 65_535;
const LAST_PHASE = 2 ** 29 - 1;
const ASYNC = 'arriveAndWaitAsync';

/**
 * A barrier lets `parties` calls wait for one another: when the last call has arrived, all calls go on, and the next
 * round begins. The calls of a round may be blocked threads and promises, and several of them may be of one thread.
 *
 * The barrier is broken for ever if a waiting call gives up by a time-out or a signal, if the action throws, or if a
 * thread ends or dies that has arrived and has not called `leave`. Then all calls that wait or arrive later get a
 * `BrokenBarrierError`. A round is either complete for all its calls or broken for all. A thread that has done its last
 * round calls `leave`.
 *
 * Source: the CyclicBarrier of JSR-166, over the phase word of core/kinds/phase/phase.ts.
 *
 * @example
 * ```ts
 * import { Barrier } from 'taketurns/sync';
 *
 * const barrier = new Barrier(2); // threads share it by barrier.handle
 * async function compute(part: string): Promise<void> {
 *   for (let step = 1; step <= 2; step++) {
 *     console.log(`step ${step} of part ${part}`);
 *     await barrier.arriveAndWaitAsync(); // or arriveAndWait, which blocks
 *   }
 * }
 * await Promise.all(['one', 'two'].map(compute));
 * barrier.leave(); // this thread has done its last round
 * ```
 */
export class Barrier extends PhaseObject<typeof KIND> {
  readonly #parties = this[reference].membership.core.maxOf(this[address]);
  #action: (() => void) | undefined;
  /** The phase that ends when the action that runs now has returned. */
  #acts: number | undefined;
  /** If an exception of the runtime has ended the action, breaks its round for those that wait. */
  readonly #breakAfterInterrupt = afterInterrupt(() => {
    if (this.#acts !== undefined) this[functions].breakPhase(this[address], this.#acts);
    this.#acts = undefined;
  });

  /**
   * @param parties 1 to 65,535.
   * @throws {RangeError | TypeError} for a bad number or option.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(parties: number, options: BarrierOptions = {}) {
    super(KIND, make(DEFINITION, parties, options));
    this.#action = options.action;
  }

  /** How many calls make a round. */
  get parties(): number {
    return this.#parties;
  }

  static #of(given: Reference, { action }: Pick<BarrierOptions, 'action'>): Barrier {
    const barrier = new Barrier(1, given);
    barrier.#action = action;
    return barrier;
  }

  /**
   * Attaches to the barrier of a handle, in any thread. Never blocks.
   * @param options the `action` of this library object.
   * @throws {TypeError} if the value is not the handle of a Barrier.
   * @throws {DisposedError} if the barrier has been disposed of.
   * @example const barrier = Barrier.from(workerData.barrier); // its `handle`, sent by the other thread
   */
  static from(handle: BarrierHandle, options: Pick<BarrierOptions, 'action'> = {}): Barrier {
    checkAction(`${KIND}.from`, options, ['action']);
    return Barrier.#of(find(DEFINITION, handle), options);
  }

  /**
   * Opens the barrier of this name, and makes it if there is none. Never blocks.
   * @param parties 1 to 65,535.
   * @throws {RangeError} if a barrier of this name exists with another number of parties.
   * @example const barrier = Barrier.open('rounds', 4);
   */
  static open(name: string, parties: number, options: BarrierOptions = {}): Barrier {
    return Barrier.#of(open(DEFINITION, name, parties, options), options);
  }

  /**
   * Arrives, and blocks the thread until all other calls of the round have arrived.
   * @returns how many calls of this round had arrived before: 0 to `parties - 1`.
   * @throws {BrokenBarrierError} if the barrier is broken, before or in this round.
   * @throws {TimeoutError} when the time has passed. Then the barrier is broken, with one exception: if the action of a
   * full round still ran, this call had not arrived yet, and breaks nothing.
   * @throws {TypeError} on a thread that must not block, such as a browser's main thread.
   * @throws {DisposedError} if the barrier has been or is being disposed of.
   * @example barrier.arriveAndWait({ timeout: 50 });
   */
  arriveAndWait(options?: WaitOptions): number {
    // The usual call has a short path of its own, because the threads of a round wait for one another in this code.
    if (options === undefined && this.#action === undefined && this[reference].membership.mayBlock) {
      const sync = this[functions];
      const at = this[address];
      const index = sync.arriveAt(at, false, this[ownAttachment]) - ARRIVED;
      if (index === this.#parties - 1) return index;
      if (index >= 0) {
        const phase = this[phaseSeen];
        const answer = this[sleepForEver](phase);
        if (answer !== ADMITTED) this.#over(answer, phase, Infinity, true);
        return index;
      }
      // This call has not arrived.
    }
    return this.#arriveAndWait(options);
  }

  #arriveAndWait(options: WaitOptions = {}): number {
    const timeout = checkWaitOptions(`${KIND}.arriveAndWait`, options);
    if (this.#parties > 1) this[checkBlocking](ASYNC);
    const left = countdown(timeout);
    while (true) {
      const answer = this.#arrive();
      const phase = this[phaseSeen];
      // QUEUED: the round is full, and its last call runs the action. This call belongs to the next round. It waits
      // until the present round is over, and then arrives.
      const hasArrived = answer !== QUEUED;
      const index = answer - ARRIVED;
      if (hasArrived && this.#isLast(index, phase)) return index;
      this[checkBlocking](ASYNC);
      this.#over(this[sleep](phase, left), phase, timeout, hasArrived);
      if (hasArrived) return index;
    }
  }

  /**
   * As `arriveAndWait`, without blocking the thread. If the signal is aborted while the promise waits, the barrier is
   * broken, and the promise rejects with the reason.
   * @example await barrier.arriveAndWaitAsync({ signal });
   */
  async arriveAndWaitAsync(options: WaitOptions = {}): Promise<number> {
    const timeout = checkWaitOptions(`${KIND}.arriveAndWaitAsync`, options);
    checkWaitAsync();
    const left = countdown(timeout);
    const { signal } = options;
    while (true) {
      if (signal?.aborted) throw reasonOf(signal);
      const answer = this.#arrive();
      const phase = this[phaseSeen];
      const hasArrived = answer !== QUEUED;
      const index = answer - ARRIVED;
      if (hasArrived && this.#isLast(index, phase)) return index;
      let gaveUp = false;
      const cancel = (): Ended => {
        gaveUp = true;
        return hasArrived && this[functions].breakPhase(this[address], phase) ? CANCELLED : this[lastAnswer](phase);
      };
      let end: Ended;
      try {
        end = timeout === 0 ? cancel() : await this[sleepAsync](phase, left(), signal, cancel);
      } catch (error) {
        if (gaveUp) throw error;
        // The stack was exhausted before the promise could wait. It no longer is after an await.
        await undefined;
        if (!this[isOver]) cancel();
        throw error;
      }
      this.#over(end, phase, timeout, false);
      if (hasArrived) return index;
    }
  }

  #arrive(): number {
    const answer = this[functions].arriveAt(this[address], this.#action !== undefined, this[ownAttachment]);
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    if (answer === ANSWER_BROKEN) throw broken();
    return answer;
  }

  /** Returns whether the caller is the last to arrive. If so, runs the action and ends the round first. */
  #isLast(index: number, phase: number): boolean {
    if (index !== this.#parties - 1) return false;
    const action = this.#action;
    if (action === undefined) return true;
    this.#acts = phase;
    try {
      this.#breakAfterInterrupt();
      refusePromise(action(), `${KIND}: action must not return a promise`);
    } catch (error) {
      this[functions].breakPhase(this[address], phase);
      throw error;
    } finally {
      this.#acts = undefined;
    }
    const answer = this[functions].finishAction(this[address], phase);
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    if (answer === ANSWER_BROKEN) throw broken();
    return true;
  }

  /** @internal With more parties than processors no waiter polls: polling would keep other threads from arriving. */
  protected override get [mayPoll](): boolean {
    return this.#parties <= host.processors;
  }

  /** @internal If one call of a round has given up, or its thread has died, the round is broken for all. */
  protected override [answerAt](at: number, phase: number): Ended | QUEUED {
    const answer = super[answerAt](at, phase);
    return answer === ADMITTED && this[functions].wasBroken(at, phase) ? ANSWER_BROKEN : answer;
  }

  /**
   * Throws if the wait for the end of a phase has not ended well.
   * @param answer how the wait has ended: CANCELLED if the time has passed.
   * @param breaks whether a time-out of this wait breaks the barrier.
   */
  #over(answer: Ended, phase: number, timeout: number, breaks: boolean): void {
    let how = answer;
    if (how === CANCELLED) {
      how = breaks && !this[functions].breakPhase(this[address], phase) ? this[lastAnswer](phase) : CANCELLED;
      if (how === CANCELLED) throw timedOut(`the others at ${this[described]()}`, timeout);
    }
    if (how === ANSWER_CLOSED) throw this[disposedError]();
    if (how === ANSWER_BROKEN) throw broken();
    how satisfies ADMITTED;
  }

  /**
   * Says that the thread does not arrive again. From now on the death or end of the thread breaks nothing, unless the
   * thread does arrive again. Call `leave` when no call of the thread waits. Never blocks, throws nothing.
   * @example barrier.leave();
   */
  leave(): void {
    if (!this[isOver]) this[functions].leaveBarrier(this[ownAttachment]);
  }

  /** Whether the barrier is broken. */
  get broken(): boolean {
    return this[isOpen];
  }

  /**
   * How many rounds are complete. After 2 ** 29 rounds the count begins again at 0. The count may be out of date at
   * once, because other calls may complete the present round. The count is 0 if the barrier has been disposed of.
   * @since 0.3.0
   */
  get round(): number {
    return this.#round;
  }

  get #round(): number {
    if (this[isOver]) return 0;
    const isBroken = this[isOpen];
    return (this[phaseSeen] - Number(isBroken)) & LAST_PHASE;
  }

  #arrived(): number {
    if (this[isOpen] || this[isOver]) return 0;
    return this.#parties - (this[functions].isFull(this[address]) ? 0 : this[functions].phaseCount(this[address]));
  }

  /** @internal */
  protected override get [state](): string {
    return this[isOpen] ? 'broken' : `${this.#arrived()} of ${this.#parties} arrived`;
  }

  /**
   * Tells how many calls have arrived and which threads wait, for diagnostics. Never blocks, throws nothing.
   * @example console.log(barrier.inspect().waiters);
   */
  inspect(): BarrierState {
    const members = this[holders]().map(({ thread }) => thread);
    return {
      parties: this.#parties,
      arrived: this.#arrived(),
      broken: this[isOpen],
      round: this.#round,
      members,
      waiters: this[waiters](),
    };
  }
}

function broken(): BrokenBarrierError {
  return new BrokenBarrierError('the barrier is broken: a party has given up or died, or its action has thrown');
}

function checkAction(what: string, options: Pick<BarrierOptions, 'action'>, names = ['action', 'arena']): void {
  checkOptions(what, options, names);
  const { action } = options;
  if (action !== undefined) checkType(`${what}: action`, action, 'function', 'a function');
}

function properties(what: string, parties: number, options: BarrierOptions): Properties {
  refuseName(what, KIND, 'parties', parties, 'an integer', ', parties');
  checkAction(what, options);
  checkInteger(`${what}: parties`, parties, 1, MOST_PARTIES);
  return { permits: parties, max: parties };
}
