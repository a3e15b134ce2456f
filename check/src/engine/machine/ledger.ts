/**
 * Keeps words beside the machine. Each change of a word can be undone. The first words are hashed, the other words are
 * not.
 *
 * The hash is the xor of what each word contributes, like the hash of the machine's memory. So the cost of a change
 * does not grow with the number of words. Neither does the cost of an undo, which restores the word and the old hash.
 */
import * as hash from './hash.js';

const { mixHi, mixLo } = hash;

/** The words of a record: index, old value, old hash (two words). */
const RECORD = 4;

export class Ledger {
  hashLo = 0;
  hashHi = 0;
  readonly #words: Int32Array;
  readonly #hashed: number;
  #journal = new Int32Array(1 << 12);
  #top = 0;

  /** `hashed` is how many of the `size` words are hashed; they are the first ones. */
  constructor(size: number, hashed: number) {
    this.#words = new Int32Array(size);
    this.#hashed = hashed;
  }

  get(index: number): number {
    return this.#words[index];
  }

  set(index: number, to: number): void {
    const value = to | 0;
    const old = this.#words[index];
    if (old === value) return;
    if (this.#top + RECORD > this.#journal.length) {
      const more = new Int32Array(this.#journal.length * 2);
      more.set(this.#journal);
      this.#journal = more;
    }
    const j = this.#journal;
    const top = this.#top | 0;
    j[top] = index;
    j[(top + 1) | 0] = old;
    j[(top + 2) | 0] = this.hashLo;
    j[(top + 3) | 0] = this.hashHi;
    this.#top = (top + RECORD) | 0;
    this.#words[index] = value;
    if (index >= this.#hashed) return;
    this.hashLo ^= mixLo(index, old) ^ mixLo(index, value);
    this.hashHi ^= mixHi(index, old) ^ mixHi(index, value);
  }

  mark(): number {
    return this.#top;
  }

  /** Goes back to the mark, which stays valid. */
  undo(mark: number): void {
    const j = this.#journal;
    let top = this.#top | 0;
    while (top > mark) {
      top = (top - RECORD) | 0;
      this.#words[j[top]] = j[(top + 1) | 0];
      this.hashLo = j[(top + 2) | 0];
      this.hashHi = j[(top + 3) | 0];
    }
    this.#top = top;
  }
}
