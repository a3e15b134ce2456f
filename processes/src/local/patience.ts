/**
 * How long this process has waited for another one to answer. It looks at the clock again and again, every `LOOK`.
 *
 *     waiting --- look: so much time has passed ---> over: the other process is suspected
 *        ^          |
 *        +----------+ look, and this process has stood still since the look before: the wait begins anew, once
 *
 * A process stands still when it is stopped, when its event loop is busy, or when it gets no processor. Then the time
 * that has passed tells nothing about the other process: Ctrl-Z stops both of them, and after a pause of its own this
 * process may not even have sent its question. The wait begins anew only once, so a process whose event loop is always
 * busy finds out too that the other process is stopped. Whoever asks `isOver` must first read all that has come.
 */
import { clock } from '../runtime/clock.js';

/** How often to look, in milliseconds. */
export const LOOK = 100;

/** If so many milliseconds lie between two looks, this process has stood still. */
const STILL = 150;

export class Patience {
  #since = clock.now();
  #lookedAt = this.#since;
  #isAnew = false;

  /** Looks, and returns whether the wait has lasted for `ms` milliseconds. */
  isOver(ms: number): boolean {
    const now = clock.now();
    if (now - this.#lookedAt > STILL && !this.#isAnew) {
      this.#isAnew = true;
      this.#since = now;
    }
    this.#lookedAt = now;
    return now - this.#since >= ms;
  }
}
