/**
 * A promise of this thread that wants a permit of an end of a channel or a watch (endpoint.ts), and uses it at once.
 *
 *     waits ──granted──► has its permit, and waits until no Place or Message is in use ──► uses it ──► over
 *       │                  │
 *       │                  └─ gives up: the permit goes back ──────────────────────────────────────► over
 *       └─ gives up, or is refused ────────────────────────────────────────────────────────────────► over
 */

import type { Core } from '../border/core.js';
import { ADMITTED, ANSWER_CLOSED } from '../border/numbers.js';
import { timedOut } from '../common/errors.js';
import type { Signal } from '../objects/options.js';
import { cancelOn, isTimeout } from '../runtime/cancellation.js';
import { noRoom } from '../runtime/errors.js';
import type { closed, Known, Promises, Resolve, Run } from '../runtime/promises.js';

/** What a request needs of its end. */
interface End {
  readonly core: Core;
  readonly shared: Known;
  readonly promises: Promises;
  readonly at: number;
  readonly hasClosed: boolean;
  settle(): boolean;
  whenFree(run: () => void): void;
  giveBack(): void;
  wanted(): string;
  closedError(): Error;
  closedBy(error: unknown, hasClosed: boolean): unknown;
}

export class PendingRequest<T> {
  readonly #end: End;
  readonly #timeout: number;
  readonly #signal: Signal | undefined;
  readonly #use: () => T;
  readonly #resolve: (value: T) => void;
  readonly #reject: (reason: unknown) => void;
  /** Why it has given up, once it has. */
  #cancelled: { readonly reason: unknown } | undefined;
  #stop: (() => void) | undefined;
  isOver = false;

  constructor(
    end: End,
    timeout: number,
    signal: Signal | undefined,
    use: () => T,
    resolve: (value: T) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#end = end;
    this.#timeout = timeout;
    this.#signal = signal;
    this.#use = use;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /**
   * Queues up.
   * @param keeper a library object that lives as long as the promise waits.
   * @param rest how much of the time-out is left.
   */
  begin(keeper: { [closed](): void }, rest: number): void {
    const end = this.#end;
    const { promises } = end;
    const isImpatient = this.#timeout !== Infinity || this.#signal !== undefined;
    const run = isImpatient ? promises.alone(this.#settle) : undefined;
    const answer = promises.arrive(keeper, end.at, 1, this.#settle, run);
    if (answer < ADMITTED) {
      this.#reject(answer === ANSWER_CLOSED ? end.closedError() : noRoom(end.core));
      this.isOver = true;
      return;
    }
    if (answer === ADMITTED) {
      end.settle(); // Promises that were granted before come first.
      this.#settle();
    }
    if (run && !this.isOver) this.#giveUpOn(run, this.#timeout === Infinity ? Infinity : Math.max(rest, 0));
  }

  /** Gets nothing if the promise is granted, and otherwise a promise that rejects. */
  readonly #settle: Resolve = (value) => {
    if (value === undefined) this.#end.whenFree(this.#useOnce);
    else this.#refuse(value);
  };

  /** It has its permit, and its turn in this thread has come. Is called again if an exception has ended the call. */
  readonly #useOnce = (): void => {
    if (this.isOver) return;
    try {
      this.#resolve(this.#use());
    } catch (error) {
      this.#reject(error);
    }
    // The code of the signal comes last, when the permit has been used.
    this.#finish();
  };

  #refuse(why: Promise<never>): void {
    // The program may dispose of the channel before the reason is known.
    const { hasClosed } = this.#end;
    why.catch((error) => this.#reject(this.#cancelled ? this.#cancelled.reason : this.#end.closedBy(error, hasClosed)));
    this.#finish();
  }

  #giveUpOn(run: Run, timeout: number): void {
    const end = this.#end;
    const giveUp = (late: () => unknown): void => {
      // The wait may be the second one of a call, if the first has met a hole.
      const why = late();
      const reason = isTimeout(why, this.#signal) ? timedOut(end.wanted(), this.#timeout) : why;
      this.#cancelled = { reason };
      end.promises.cancel(run, () => reason);
      if (this.isOver) return;
      // It has its permit, and waits for its turn in this thread.
      end.giveBack();
      this.#reject(reason);
      this.#finish();
    };
    this.#stop = cancelOn(timeout, this.#signal, giveUp, () => end.wanted());
    if (this.isOver) this.#stop();
  }

  #finish(): void {
    this.isOver = true;
    this.#stop?.();
  }
}
