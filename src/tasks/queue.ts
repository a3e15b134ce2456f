/**
 * A queue holds the promises that wait for one thing, first come, first served. All classes of this folder wait in
 * queues.
 *
 *     first ──► Waiter ──► Waiter ──► Waiter ◄── last        count: how many
 *           ◄──        ◄──        ◄──                        width: the sum of what they ask for
 *
 * A waiter leaves the queue in one of two ways, both in constant time:
 *
 *     settle      it is the first, and its turn has come: its promise is fulfilled
 *     leave       its time has passed, its signal has been aborted, or it is refused: its promise is rejected.
 *                 Those behind it may be due now, so the queue calls `moveUp`.
 *
 * Invariant: a waiter is in the queue exactly while its promise is pending. No call of a queue runs code of the user,
 * except `wait` with a signal. `wait` therefore enters the waiter before it calls the signal: whatever the signal does
 * finds the waiter in its place.
 */
import { CancelledError, timedOut } from '../common/errors.js';
import { cancelOn, type Limits } from './limits.js';

/** A promise that waits. */
export interface Waiter {
  /** What it asks for, such as permits. */
  readonly width: number;
  readonly resolve: (value: never) => void;
  readonly reject: (reason: unknown) => void;
  /** What `reduce` takes away when it and all in front of it have left. */
  debt: number;
  /** Ends its time-out, and leaves its signal. */
  stop: (() => void) | undefined;
  previous: Waiter | undefined;
  next: Waiter | undefined;
}

// All promises share one executor, because promises may be made in a hot loop.
let resolveNew: (value: never) => void;
let rejectNew: (reason: unknown) => void;
function capture(resolve: (value: never) => void, reject: (reason: unknown) => void): void {
  resolveNew = resolve;
  rejectNew = reject;
}

export class Queue {
  first: Waiter | undefined;
  last: Waiter | undefined;
  /** How many promises wait. */
  count = 0;
  /** What they ask for, and what `reduce` takes away. */
  width = 0;
  /** How many waits have ended by a time-out, a signal or `cancelAll`. */
  timeouts = 0;
  readonly #wanted: ((width: number) => string) | undefined;
  readonly #moveUp: ((width: number) => void) | undefined;

  /**
   * @param wanted says, for a TimeoutError, what a waiter of this width has waited for. Without it the promise of a
   * waiter whose time has passed is fulfilled with false.
   * @param moveUp is called when waiters have left, after their promises have been rejected. `width` is the sum of what
   * they have asked for.
   */
  constructor(wanted?: (width: number) => string, moveUp?: (width: number) => void) {
    this.#wanted = wanted;
    this.#moveUp = moveUp;
  }

  /**
   * Returns a promise that waits in this queue.
   * @param entered is called when the promise is in the queue, and before any code of the signal runs.
   */
  wait<T>(width: number, limits?: Limits, entered?: () => void): Promise<T> {
    const promise = new Promise<T>(capture);
    const { last } = this;
    const waiter: Waiter = {
      width,
      resolve: resolveNew,
      reject: rejectNew,
      debt: 0,
      stop: undefined,
      previous: last,
      next: undefined,
    };
    if (last) last.next = waiter;
    else this.first = waiter;
    this.last = waiter;
    this.count++;
    this.width += width;
    entered?.();
    if (limits) this.#cancelOn(waiter, limits);
    return promise;
  }

  #cancelOn(waiter: Waiter, limits: Limits): void {
    const leave = (end: () => void): void => {
      if (!this.#has(waiter)) return;
      this.timeouts++;
      this.#remove(waiter);
      end();
      this.#moveUp?.(waiter.width);
    };
    const late = (): void =>
      leave(() => {
        const wanted = this.#wanted;
        if (!wanted) waiter.resolve(false as never);
        else waiter.reject(timedOut(wanted(waiter.width), limits.timeout));
      });
    const stop = cancelOn(limits, late, (reason) => leave(() => waiter.reject(reason)));
    if (this.#has(waiter)) waiter.stop = stop;
    else stop();
  }

  #has(waiter: Waiter): boolean {
    return waiter === this.first || waiter.previous !== undefined;
  }

  #remove(waiter: Waiter): Waiter {
    const { previous, next } = waiter;
    if (previous) {
      previous.next = next;
      previous.debt += waiter.debt;
    } else {
      this.first = next;
      this.width -= waiter.debt;
    }
    if (next) next.previous = previous;
    else this.last = previous;
    waiter.previous = undefined;
    this.count--;
    this.width -= waiter.width;
    waiter.stop?.();
    return waiter;
  }

  /** The turn of the first waiter has come. */
  settle(value?: unknown): void {
    this.#remove(this.first as Waiter).resolve(value as never);
  }

  /** The turn of all waiters has come. */
  settleAll(value?: unknown): void {
    while (this.first) this.settle(value);
  }

  /** Refuses all waiters, and lets nobody move up. Returns the sum of what they have asked for. */
  close(error: Error): number {
    let width = 0;
    while (this.first) {
      width += this.first.width;
      this.#remove(this.first).reject(error);
    }
    return width;
  }

  /** Refuses all waiters of `cancelAll`. */
  cancelAll(reason: unknown): void {
    this.timeouts += this.count;
    this.#moveUp?.(this.close(new CancelledError(reason)));
  }
}
