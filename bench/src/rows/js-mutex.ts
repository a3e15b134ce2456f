// A barging mutex in plain JavaScript: one word, taken by compare-and-swap by whoever comes first.
//
//   FREE        nobody holds it
//   HELD        held, and nobody sleeps
//   CONTENDED   held, and somebody may sleep
//
// Whoever has to wait makes it CONTENDED, and so does a sleeper that gets it, since others may sleep on. An unlock
// notifies only then. It is what one would write by hand: quick, and nothing bounds how often a sleeper is overtaken.

const WORD = 0;
const FREE = 0;
const HELD = 1;
const CONTENDED = 2;

export class JsBargingMutex {
  readonly #words: Int32Array;

  constructor(words: Int32Array) {
    this.#words = words;
  }

  static share(): Int32Array {
    return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  }

  lock(): void {
    if (Atomics.compareExchange(this.#words, WORD, FREE, HELD) === FREE) return;
    while (Atomics.exchange(this.#words, WORD, CONTENDED) !== FREE) {
      Atomics.wait(this.#words, WORD, CONTENDED);
    }
  }

  unlock(): void {
    if (Atomics.exchange(this.#words, WORD, FREE) === CONTENDED) Atomics.notify(this.#words, WORD, 1);
  }
}
