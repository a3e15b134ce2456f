// A lock for two threads that is only a wait and a notify. No hand-over to a sleeping thread can take less.
//
//   FREE   no thread holds the lock, or the thread that has waited holds it
//   HELD   the thread that came first holds the lock
//
// A thread that finds the word HELD sleeps until the word changes. Then it has the lock, although the word is FREE. So
// the lock works for two threads only: a third thread could take it at this moment. Every unlock notifies. No wake-up
// is lost: the runtime compares the word and goes to sleep in one step, and the unlock changes the word before it
// notifies.

import type { LockLike } from '../rows/subjects.js';

const WORD = 0;
const FREE = 0;
const HELD = 1;

export class BareWaitNotify implements LockLike {
  readonly #words: Int32Array;

  constructor(words: Int32Array) {
    this.#words = words;
  }

  static share(): Int32Array {
    return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  }

  lock(): void {
    if (Atomics.exchange(this.#words, WORD, HELD) === HELD) Atomics.wait(this.#words, WORD, HELD);
  }

  unlock(): void {
    Atomics.store(this.#words, WORD, FREE);
    Atomics.notify(this.#words, WORD, 1);
  }
}
