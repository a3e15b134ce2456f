// A barging mutex in plain JavaScript: one word that threads take by compare-and-swap.
//
//   FREE        no thread holds it
//   HELD        held, and no thread sleeps
//   CONTENDED   held, and some threads may sleep
//
// A thread that has to wait makes the word CONTENDED. A sleeper that gets the mutex does the same, since others may
// still sleep. An unlock notifies only if the word is CONTENDED. Such a mutex is quickly written by hand, but nothing
// bounds how often a sleeper is overtaken.

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
