import type { Kind } from '../border/kinds.js';
import { ADMITTED, type ANSWER_BROKEN, ANSWER_CLOSED, CANCELLED, QUEUED } from '../border/numbers.js';
import { checkWaitOptions, type WaitOptions } from '../objects/options.js';
import type { Reference } from '../objects/reference.js';
import { disposedError } from '../objects/shared-object.js';
import { countdown } from '../runtime/parking.js';
import {
  address,
  checkBlocking,
  type Ended,
  functions,
  PhaseObject,
  phaseSeen,
  sleep,
  sleepAsync,
} from './phase-object.js';

/** @internal */
export const awaitZero = Symbol();
/** @internal */
export const awaitZeroAsync = Symbol();

/** An object whose waiters wait until its count has been 0: a Latch, a WaitGroup or an Event. */
export abstract class ZeroObject<K extends Kind> extends PhaseObject<K> {
  readonly #kind: K;

  /** @internal */
  protected constructor(kind: K, given: Reference) {
    super(kind, given);
    this.#kind = kind;
  }

  /** @internal Blocks the thread until the count has been 0. Returns false if the time has passed. */
  protected [awaitZero](options: WaitOptions = {}): boolean {
    const timeout = checkWaitOptions(`${this.#kind}.wait`, options);
    const answer = this[functions].awaitZero(this[address]);
    return this.#answer(answer === QUEUED ? this.#sleep(timeout) : answer);
  }

  #sleep(timeout: number): Ended {
    if (timeout === 0) return CANCELLED;
    this[checkBlocking]('waitAsync');
    return this[sleep](this[phaseSeen], countdown(timeout));
  }

  /** @internal Does the same as awaitZero, without blocking. The promise rejects with the reason of the signal. */
  protected async [awaitZeroAsync](options: WaitOptions): Promise<boolean> {
    const timeout = checkWaitOptions(`${this.#kind}.waitAsync`, options);
    const answer = this[functions].awaitZero(this[address]);
    if (answer !== QUEUED) return this.#answer(answer);
    if (timeout === 0) return false;
    return this.#answer(await this[sleepAsync](this[phaseSeen], timeout, options.signal));
  }

  #answer(answer: Ended): boolean {
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    answer satisfies ADMITTED | CANCELLED | ANSWER_BROKEN;
    return answer === ADMITTED;
  }
}
