// A lock for two that is nothing but a wait and a notify: the least that a hand-over to a sleeping thread takes.
//
//   FREE   nobody holds it
//   HELD   the thread that came first holds it
//
// Who finds it HELD sleeps until the word changes, and then has it, though the word says FREE: with a third thread that
// would not be a lock. Every unlock notifies. No wake-up is lost: the engine compares the word, in one step with going to
// sleep, with what the unlock changes before it notifies.

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
