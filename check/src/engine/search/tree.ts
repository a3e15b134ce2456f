/**
 * Of each state: from which it was reached first, by which choice, and what was relied on when one thread alone was
 * tried there (sharing.ts). So that it can be come back to, once that has proved wrong.
 */
import { grown } from './sharing.js';

export class Tree {
  #parents = new Int32Array(1 << 10);
  /** Enough for 85 threads. */
  #choices = new Uint8Array(1 << 10);
  /** The number of the reliance + 1, or 0. */
  #reliances = new Int32Array(1 << 10);

  /** A state that is new, in the order of their numbers. Its parent's is smaller; the first one is its own parent. */
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

  /** One thread alone is tried, since its access is taken for local. */
  rely(id: number, reliance: number): void {
    this.#reliances[id] = reliance + 1;
  }

  /** All threads are tried after all. */
  release(id: number): void {
    this.#reliances[id] = 0;
  }

  /** What is relied on, or -1. */
  reliance(id: number): number {
    return this.#reliances[id] - 1;
  }
}
