// A barging semaphore in plain JavaScript: a count that threads take by compare-and-swap.
//
// A thread that arrives while a permit is free takes the permit before all sleepers. So the semaphore is quick and
// unfair. No wake-up is lost: a waiter sleeps only while the count is 0, and every release notifies one waiter.

const COUNT = 0;

export class JsBargingSemaphore {
  readonly #words: Int32Array;

  constructor(words: Int32Array) {
    this.#words = words;
  }

  static share(permits: number): Int32Array {
    return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(permits);
  }

  acquire(): void {
    while (true) {
      const count = Atomics.load(this.#words, COUNT);
      if (count > 0) {
        if (Atomics.compareExchange(this.#words, COUNT, count, count - 1) === count) return;
      } else {
        Atomics.wait(this.#words, COUNT, 0);
      }
    }
  }

  release(): void {
    Atomics.add(this.#words, COUNT, 1);
    Atomics.notify(this.#words, COUNT, 1);
  }
}
