/** Pseudo-random numbers from a seed, by SplitMix32. The numbers of neighbouring seeds have nothing in common. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed, 0x9e3779b1);
  }

  /** A whole number from 0 to `count - 1`. */
  below(count: number): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let z = this.#state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return Math.floor((((z ^ (z >>> 15)) >>> 0) / 2 ** 32) * count);
  }

  /** Returns true once in `times` times. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  /** Returns one of the values. */
  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }
}
