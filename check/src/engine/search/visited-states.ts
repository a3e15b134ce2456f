/**
 * The set of visited states, by their 64-bit hashes. The table uses open addressing, and numbers the states in the
 * order in which they were found.
 *
 * Two different states with the same hash count as one. With n states, the chance that any two collide is about
 * n^2 / 2^65. With 30 million states it is one in 40,000.
 */
export class StateTable {
  /** A slot has three words: hash low, hash high, number + 1 (0: free). */
  #slots: Int32Array;
  #mask: number;
  size = 0;

  constructor(bits = 16) {
    this.#slots = new Int32Array(3 << bits);
    this.#mask = (1 << bits) - 1;
  }

  /** Returns the number of the state with this hash. The state is new if its number equals the size before the call. */
  add(low: number, high: number): number {
    const lo = low | 0;
    const hi = high | 0;
    if (this.size * 3 > this.#mask * 2) this.#grow();
    const slots = this.#slots;
    let i = (lo ^ Math.imul(hi, 0x9e3779b1)) & this.#mask;
    while (true) {
      const s = i * 3;
      const number = slots[s + 2];
      if (number === 0) {
        slots[s] = lo;
        slots[s + 1] = hi;
        slots[s + 2] = ++this.size;
        return this.size - 1;
      }
      if (slots[s] === lo && slots[s + 1] === hi) return number - 1;
      i = (i + 1) & this.#mask;
    }
  }

  #grow(): void {
    const old = this.#slots;
    const mask = this.#mask * 2 + 1;
    const slots = new Int32Array(3 * (mask + 1));
    for (let s = 0; s < old.length; s += 3) {
      if (old[s + 2] === 0) continue;
      let i = (old[s] ^ Math.imul(old[s + 1], 0x9e3779b1)) & mask;
      while (slots[i * 3 + 2] !== 0) i = (i + 1) & mask;
      slots[i * 3] = old[s];
      slots[i * 3 + 1] = old[s + 1];
      slots[i * 3 + 2] = old[s + 2];
    }
    this.#slots = slots;
    this.#mask = mask;
  }
}
