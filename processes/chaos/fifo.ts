/** A semaphore that serves in the order of tokens, as a sequential object for `linearizable.ts`. */
import type { Model } from './linearizable.js';

export type What =
  /** The request with the i-th smallest token enters the queue, or gets its permits at once. */
  | { readonly is: 'ask'; readonly i: number }
  /** This request is seen to hold. */
  | { readonly is: 'got'; readonly i: number }
  /** k permits of this request go back. */
  | { readonly is: 'give'; readonly i: number; readonly k: number }
  /** A request for n permits is refused: another request waits, or fewer than n permits are free. */
  | { readonly is: 'refused'; readonly n: number };

/**
 * The model of a fair semaphore, with which a history is compared. `permits` says how many permits each request wants,
 * in the order of tokens. The requests ask in this order, and each gets its permits as soon as all requests before it
 * have theirs and enough permits are free.
 *
 * A request that was never seen to hold is left out. This makes no history look wrong: without the request, the
 * requests behind it get their permits no later.
 */
export class Fifo implements Model<What> {
  readonly #permits: readonly number[];
  readonly #max: number;
  #asked = 0;
  #granted = 0;
  #given = 0;
  #taken = 0;

  constructor(max: number, permits: readonly number[]) {
    this.#max = max;
    this.#permits = permits;
  }

  get #free(): number {
    return this.#max - this.#taken + this.#given;
  }

  /** Grants in order as many requests as fit. So their number depends only on who has asked and what was given back. */
  #grant(): void {
    while (this.#granted < this.#asked && (this.#permits[this.#granted] as number) <= this.#free) {
      this.#taken += this.#permits[this.#granted++] as number;
    }
  }

  apply(what: What): boolean {
    switch (what.is) {
      case 'ask':
        if (what.i !== this.#asked) return false;
        this.#asked++;
        break;
      case 'got':
        return what.i < this.#granted;
      case 'give':
        if (what.i >= this.#granted) return false;
        this.#given += what.k;
        break;
      case 'refused':
        return this.#granted < this.#asked || this.#free < what.n;
    }
    this.#grant();
    return true;
  }

  undo(what: What): void {
    if (what.is === 'ask') this.#asked--;
    else if (what.is === 'give') this.#given -= what.k;
    else return;
    // Requests that were granted because of this operation are granted no more.
    while (this.#granted > this.#asked || this.#free < 0) this.#taken -= this.#permits[--this.#granted] as number;
  }

  /** Operations that only look come first, then those that free permits. */
  rank(what: What): number {
    return what.is === 'refused' ? 0 : what.is === 'got' ? 1 : what.is === 'give' ? 2 : 3;
  }
}
