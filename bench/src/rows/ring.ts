// Threads in a ring that wake one another in turn. This is strict order, and it costs only the wake-ups of the runtime.
//
// Each member sleeps in Atomics.wait on its own word until the baton lies there. Then it hands the baton to the next
// member. No lock that puts its waiters to sleep and admits them in order can be quicker. A lock that is quicker than
// the ring lets its waiters poll instead of sleep.
//
//   EMPTY   the member waits for the baton, or is on its way there
//   BATON   it is the member's turn
//   GONE    the member has left the ring, and hand-overs skip it
//
// No hand-over is lost. A hand-over changes the word of the next member from EMPTY to BATON by compare-and-swap. If
// that succeeds, the member finds the baton there, or is woken if it sleeps. Otherwise the word is GONE. A member that
// leaves exchanges its word for GONE, and if the baton lay there, hands the baton on.

import { MOST_THREADS } from '../workers/board.js';

/** The name of the row. */
export const RING = 'bare hand-overs';
/** The name of the row in which the members wait in their event loops. */
export const AWAITED_RING = 'bare hand-overs, promises';

const EMPTY = 0;
const BATON = 1;
const GONE = 2;

/** Each word has two cache lines of its own. The number of members precedes them. */
const STRIDE = 128 / Int32Array.BYTES_PER_ELEMENT;
const MEMBERS = 0;

export class Ring {
  readonly #words: Int32Array;
  readonly #member: number;

  /** Joins the ring. No member may join once the baton moves. */
  constructor(words: Int32Array) {
    this.#words = words;
    this.#member = Atomics.add(words, MEMBERS, 1);
    if (this.#member >= MOST_THREADS) throw new RangeError(`the ring has ${MOST_THREADS} places`);
  }

  static share(): Int32Array {
    const words = new Int32Array(new SharedArrayBuffer((MOST_THREADS + 1) * STRIDE * Int32Array.BYTES_PER_ELEMENT));
    words[wordOf(0)] = BATON;
    return words;
  }

  /** Waits for this member's turn. */
  acquire(): void {
    const word = wordOf(this.#member);
    while (Atomics.load(this.#words, word) !== BATON) Atomics.wait(this.#words, word, EMPTY);
    // Only this member has the baton, so no other member writes to the word before this member hands the baton on.
    Atomics.store(this.#words, word, EMPTY);
  }

  /** The same, while the event loop of this member goes on. */
  async acquireAsync(): Promise<void> {
    const word = wordOf(this.#member);
    while (Atomics.load(this.#words, word) !== BATON) await Atomics.waitAsync(this.#words, word, EMPTY).value;
    Atomics.store(this.#words, word, EMPTY);
  }

  /** Ends this member's turn, and begins that of the next one. */
  release(): void {
    const words = this.#words;
    const members = Atomics.load(words, MEMBERS);
    let next = this.#member;
    for (let passed = 0; passed < members; passed++) {
      next = next + 1 < members ? next + 1 : 0;
      const word = wordOf(next);
      if (Atomics.compareExchange(words, word, EMPTY, BATON) === EMPTY) {
        Atomics.notify(words, word, 1);
        return;
      }
    }
  }

  /** Leaves the ring for good. If a member ended without this call, the baton would stop at its word. */
  leave(): void {
    if (Atomics.exchange(this.#words, wordOf(this.#member), GONE) === BATON) this.release();
  }
}

function wordOf(member: number): number {
  return (member + 1) * STRIDE;
}
