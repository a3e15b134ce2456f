// A lock for two threads that is only a wait and a notify: the least that a hand-over to a sleeping thread takes.
//
//   FREE   no thread holds it
//   HELD   the thread that came first holds it
//
// A thread that finds it HELD sleeps until the word changes. Then it has the lock, though the word says FREE, so a
// third thread would break it. Every unlock notifies. No wake-up is lost: the runtime compares the word in one step
// with going to sleep, and the unlock changes the word before it notifies.

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
