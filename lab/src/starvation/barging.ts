/**
 * A barging semaphore as programmers often write it: its only word is the count of free permits. A thread that finds
 * enough permits takes them, even if others wait. A release wakes all waiters, since the releaser does not know how
 * many permits each of them needs. So the semaphore is correct, but unfair.
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
        // If a release has come since the load, the count has changed, and this wait returns at once.
        Atomics.wait(this.#words, COUNT, count);
      }
    }
  }

  release(permits: number): void {
    Atomics.add(this.#words, COUNT, permits);
    Atomics.notify(this.#words, COUNT);
  }
}
