/**
 * The locks of rate limiters. A lock is a word with the number of the thread that has it: its index in the registry of the
 * arena, and its life. A thread keeps a lock for a microsecond, and waits for nothing meanwhile. So another thread polls,
 * and then sleeps a millisecond at a time. If it finds that the thread of the lock is dead, it takes the lock over, and
 * takes back what the dead thread has not committed. That a thread is dead is known from the registry alone: Deno reports
 * the exit of workers that run on.
 *
 * A thread can also be cut here and live on (src/runtime/interrupts.ts). Then it finds itself in the word of the lock when
 * it comes again, at the latest in its event loop, and goes on as after a death.
 */
import { THREAD_MASK } from '../border/numbers.js';
import type { Who } from '../common/schedule.js';
import { whoIs } from '../look/rate-page.js';
import type { Membership } from '../runtime/membership.js';

/** How often a thread polls a lock before it looks at who has it. */
const POLLS = 200;
/** How long a thread waits for a lock if it may not block, in rounds of polls. */
export const BRIEFLY = 50;
/** A second at least, for a thread that may block. */
export const PATIENTLY = 1000;
/** Behind the word of a lock: 1 while a thread may sleep until the lock is free. */
const CONTENDED = 1;

export class RateLocks {
  /** The number of this thread. */
  readonly me: Who;
  readonly #membership: Membership;
  readonly #words: Int32Array;
  /** Goes on where a call was cut. This thread has the lock. */
  readonly #takeOver: (lock: number, holder: Who) => void;

  constructor(membership: Membership, words: Int32Array, takeOver: (lock: number, holder: Who) => void) {
    const { core, thread } = membership;
    this.#membership = membership;
    this.#words = words;
    this.#takeOver = takeOver;
    this.me = whoIs(thread, core.lifeIfAlive(thread));
  }

  isAlive(who: Who): boolean {
    const thread = who & THREAD_MASK;
    const life = this.#membership.core.lifeIfAlive(thread);
    return life !== 0 && whoIs(thread, life) === who;
  }

  /**
   * Gets a lock. Returns false if another thread has it and does not go on.
   * @param rounds for how long this thread tries: rounds of polls, and a millisecond for each if it may block.
   */
  enter(lock: number, rounds: number): boolean {
    return Atomics.compareExchange(this.#words, lock, 0, this.me) === 0 || this.#enter(lock, rounds);
  }

  #enter(lock: number, rounds: number): boolean {
    const words = this.#words;
    for (let round = 0; round < rounds; round++) {
      let holder = 0;
      for (let polls = 0; polls < POLLS; polls++) {
        holder = Atomics.compareExchange(words, lock, 0, this.me);
        if (holder === 0) return true;
        if (holder === this.me) break;
      }
      if (holder === this.me || !this.isAlive(holder)) {
        if (holder !== this.me && Atomics.compareExchange(words, lock, holder, this.me) !== holder) continue;
        this.#takeOver(lock, holder);
        return true;
      }
      if (this.#membership.mayBlock) {
        Atomics.store(words, lock + CONTENDED, 1);
        Atomics.wait(words, lock, holder, 1);
      }
    }
    return false;
  }

  /** Whether this thread has a lock. Between two calls this means that the first of them was cut. */
  isMine(lock: number): boolean {
    return Atomics.load(this.#words, lock) === this.me;
  }

  /** Lets go of a lock. */
  leave(lock: number): void {
    const words = this.#words;
    Atomics.store(words, lock, 0);
    if (Atomics.load(words, lock + CONTENDED) === 0) return;
    Atomics.store(words, lock + CONTENDED, 0);
    Atomics.notify(words, lock, 1);
  }
}
