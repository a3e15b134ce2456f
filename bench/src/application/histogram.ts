// Counts of times, in shared memory: all threads of a run add to one histogram. A band is 4 % wide.

const BANDS_PER_OCTAVE = 16;
const BANDS = 30 * BANDS_PER_OCTAVE;
const MICROSECONDS = 1000;

export class Histogram {
  readonly #bands: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#bands = new Int32Array(memory);
  }

  static share(): SharedArrayBuffer {
    return new SharedArrayBuffer(BANDS * Int32Array.BYTES_PER_ELEMENT);
  }

  add(milliseconds: number): void {
    const band = Math.floor(BANDS_PER_OCTAVE * Math.log2(1 + Math.max(0, milliseconds) * MICROSECONDS));
    Atomics.add(this.#bands, Math.min(band, BANDS - 1), 1);
  }

  clear(): void {
    this.#bands.fill(0);
  }

  get count(): number {
    return this.#bands.reduce((sum, count) => sum + count, 0);
  }

  /** Returns the milliseconds below which this share of the times lies: the end of a band. NaN if there are no times. */
  quantile(share: number): number {
    let left = Math.ceil(share * this.count);
    if (left === 0) return Number.NaN;
    for (let band = 0; band < BANDS; band++) {
      left -= this.#bands[band] as number;
      if (left <= 0) return (2 ** ((band + 1) / BANDS_PER_OCTAVE) - 1) / MICROSECONDS;
    }
    return Number.NaN;
  }
}
