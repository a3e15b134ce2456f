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
import { TimeoutError } from '../common-errors.js';
import { type Limits, watch } from './limits.js';

const nothing = (): void => {};

/** A promise that waits. */
export interface Waiter {
  /** What it asks for, such as permits. */
  readonly width: number;
  /** Undefined if nobody listens; see `add`. */
  readonly resolve: ((value: never) => void) | undefined;
  readonly reject: (reason: unknown) => void;
  /** Ends the watch over its time-out and its signal. */
  unwatch: (() => void) | undefined;
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
  #last: Waiter | undefined;
  /** How many promises wait. */
  count = 0;
  width = 0;
  /** How many waits have ended by a time-out, a signal or `cancelAll`. */
  timeouts = 0;
  readonly #moveUp: (width: number, count: number) => void;
  readonly #wanted: ((width: number) => string) | undefined;

  /**
   * @param moveUp is called when so many waiters have left, after their promises have been rejected. `width` is the sum
   * of what they have asked for.
   * @param wanted says, for a TimeoutError, what a waiter of this width has waited for. Without it the promise of a
   * waiter whose time has passed is fulfilled with false.
   */
  constructor(moveUp: (width: number, count: number) => void = nothing, wanted?: (width: number) => string) {
    this.#moveUp = moveUp;
    this.#wanted = wanted;
  }

  /** Enters a waiter at the end. */
  add(width: number, resolve?: (value: never) => void, reject: (reason: unknown) => void = nothing): Waiter {
    const previous = this.#last;
    const waiter: Waiter = { width, resolve, reject, unwatch: undefined, previous, next: undefined };
    if (previous) previous.next = waiter;
    else this.first = waiter;
    this.#last = waiter;
    if (resolve) this.count++;
    this.width += width;
    return waiter;
  }

  /**
   * Returns a promise that waits in this queue.
   * @param entered is called when the promise is in the queue, and before any code of the signal runs.
   */
  wait<T>(width: number, limits?: Limits, entered?: () => void): Promise<T> {
    const promise = new Promise<T>(capture);
    const waiter = this.add(width, resolveNew, rejectNew);
    entered?.();
    if (limits) this.#watch(waiter, limits);
    return promise;
  }

  #watch(waiter: Waiter, limits: Limits): void {
    const late = (): void =>
      this.leave(waiter, () => {
        if (this.#wanted) waiter.reject(this.timedOut(waiter.width, limits.timeout));
        else waiter.resolve?.(false as never);
      });
    const unwatch = watch(limits, late, (reason) => this.leave(waiter, () => waiter.reject(reason)));
    if (this.#has(waiter)) waiter.unwatch = unwatch;
    else unwatch();
  }

  /** The error of a waiter of this width whose time has passed. */
  timedOut(width: number, timeout: number): TimeoutError {
    return new TimeoutError(`timed out after ${timeout} ms waiting for ${this.#wanted?.(width)}`);
  }

  #has(waiter: Waiter): boolean {
    return waiter === this.first || waiter.previous !== undefined;
  }

  #remove(waiter: Waiter): void {
    const { previous, next } = waiter;
    if (previous) previous.next = next;
    else this.first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    waiter.previous = undefined;
    if (waiter.resolve) this.count--;
    this.width -= waiter.width;
    waiter.unwatch?.();
  }

  /** The turn of the first waiter has come. */
  settle(value?: unknown): void {
    const waiter = this.first as Waiter;
    this.#remove(waiter);
    waiter.resolve?.(value as never);
  }

  /** The turn of all waiters has come. */
  settleAll(value?: unknown): void {
    while (this.first) this.settle(value);
  }

  /** A waiter leaves before its turn, if it has not left yet. */
  leave(waiter: Waiter, end: () => void): void {
    if (!this.#has(waiter)) return;
    this.timeouts++;
    this.#remove(waiter);
    end();
    this.#moveUp(waiter.width, 1);
  }

  /** Refuses all waiters, and lets nobody move up. */
  close(error: Error): void {
    while (this.first) {
      const { reject } = this.first;
      this.#remove(this.first);
      reject(error);
    }
  }

  /** Refuses all waiters of `cancelAll`. */
  cancelAll(error: Error): void {
    let width = 0;
    for (let waiter = this.first; waiter; waiter = waiter.next) if (waiter.resolve) width += waiter.width;
    const { count } = this;
    this.timeouts += count;
    this.close(error);
    if (count) this.#moveUp(width, count);
  }
}
