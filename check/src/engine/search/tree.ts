/**
 * Keeps for each state its parent, which is the state from which it was first reached, and the choice that led from the
 * parent. If one thread alone was tried in a state, the tree also keeps the reliance that allowed this (sharing.ts). So
 * the search can come back to the state once the reliance has proved wrong.
 */
import { grown } from './sharing.js';

export class Tree {
  #parents = new Int32Array(1 << 10);
  /** For each state, the choice that led to it. A choice fits in a byte if there are at most 85 threads. */
  #choices = new Uint8Array(1 << 10);
  /** For each state, the number of its reliance plus 1, or 0. */
  #reliances = new Int32Array(1 << 10);

  /** Adds the state with the next number. Its parent has a smaller number; the first state is its own parent. */
  add(id: number, parent: number, choice: number): void {
    if (id === this.#parents.length) {
      this.#parents = grown(this.#parents);
      this.#choices = grown(this.#choices);
      this.#reliances = grown(this.#reliances);
    }
    this.#parents[id] = parent;
    this.#choices[id] = choice;
  }

  parent(id: number): number {
    return this.#parents[id];
  }

  choice(id: number): number {
    return this.#choices[id];
  }

  /** Notes that one thread alone is tried in a state, on this reliance. */
  rely(id: number, reliance: number): void {
    this.#reliances[id] = reliance + 1;
  }

  /** Notes that all threads are tried in a state after all. */
  release(id: number): void {
    this.#reliances[id] = 0;
  }

  /** Returns the reliance of a state, or -1. */
  reliance(id: number): number {
    return this.#reliances[id] - 1;
  }
}
