/**
 * Keeps an event loop awake for a moment in which something may come at once. To fall asleep and to be woken takes a
 * thread longer than the broker takes to answer a call.
 *
 *     asleep --- `begin` ---> awake --- `end`: it has come ----------> asleep; the next `begin` begins a vigil
 *                               +------ nothing comes for `AWAKE` ---> asleep; the next calls of `begin` do nothing
 *
 * Each vigil that is in vain doubles the number of calls of `begin` that do nothing afterwards, up to `MOST_RESTS`, and
 * each other vigil halves this number. So who often waits in vain spends hardly any time awake.
 */
import { clock } from '../runtime/clock.js';
import { later } from '../runtime/ticks.js';

/** How long a vigil lasts at most, in milliseconds. A call and its answer take less, even if one side must be woken. */
const AWAKE = 0.1;

const MOST_RESTS = 63;

export class Vigil {
  #isAwake = false;
  /** When the vigil is in vain, or 0 if what it waits for has come. */
  #until = 0;
  /** How many calls of `begin` did nothing after the last vigil that was in vain, and how many still will. */
  #rests = 0;
  #left = 0;

  /** Something may come at once. */
  begin(): void {
    if (this.#left > 0) {
      this.#left--;
      return;
    }
    this.#until = clock.now() + AWAKE;
    if (this.#isAwake) return;
    this.#isAwake = true;
    later(this.#look);
  }

  /** It has come. */
  end(): void {
    this.#until = 0;
    if (this.#isAwake) this.#rests >>= 1;
  }

  readonly #look = (): void => {
    if (clock.now() < this.#until) {
      later(this.#look);
      return;
    }
    this.#isAwake = false;
    if (this.#until === 0) return;
    this.#rests = Math.min(MOST_RESTS, 2 * this.#rests + 1);
    this.#left = this.#rests;
  };
}
