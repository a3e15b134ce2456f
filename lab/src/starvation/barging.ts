/**
 * A barging semaphore as it is often written: a count. A thread that finds enough permits takes them, whoever else
 * waits, and a release wakes all who wait, since it is not known who of them needs how many. So it is right, and unfair.
 */
const COUNT = 0;

export class BargingSemaphore {
  readonly #words: Int32Array;

  constructor(words: Int32Array) {
    this.#words = words;
  }

  static share(permits: number): Int32Array {
    return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(permits);
  }

  acquire(permits: number): void {
    while (true) {
      const count = Atomics.load(this.#words, COUNT);
      if (count >= permits) {
        if (Atomics.compareExchange(this.#words, COUNT, count, count - permits) === count) return;
      } else {
        // If a release has come in between, the count is another, and this returns at once.
        Atomics.wait(this.#words, COUNT, count);
      }
    }
  }

  release(permits: number): void {
    Atomics.add(this.#words, COUNT, permits);
    Atomics.notify(this.#words, COUNT);
  }
}
