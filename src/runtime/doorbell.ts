/**
 * The doorbell of a thread is the one word on which all of its promises wait together.
 *
 * A thread that makes an async waiter due adds 1 to the doorbell of the waiter's thread and notifies it. That thread has at
 * most one `Atomics.waitAsync` pending on its doorbell, however many promises wait: such a wait cannot be cancelled, and
 * every one costs the engine memory until it is notified.
 *
 *     rest: d = doorbell; settle what is due and enter what is not entered; none left? done.
 *           Else waitAsync(doorbell, d) unless one is pending, then again
 *
 * The thread that rings notes in the record of the other which run is due, of all modulo 256. So a thread looks at that run
 * and few others, however many wait. It looks at every one when the look before was cut short by an exception.
 *
 * The doorbell is read before what is due, and that before the grants: a ring after that makes the wait return at once
 * (D7).
 */
import { host } from '#host';
import type { Core } from './core.js';
import { waitAsync } from './wait-async.js';

/** What looks after its promises when the doorbell has rung for it. */
export interface Resting {
  /** Leaves it entered, by which the doorbell knows it, or done. */
  rest(): void;
  /** @internal Where the doorbell has it. */
  place: number;
}

/** Words of the thread's record, as core/memory/layout.ts has them: from the doorbell on. */
const TO_DUE = 7;
const DUE_WORDS = 8;
const PLACES = 32 * DUE_WORDS;
/** In no place. */
export const NOWHERE = -1;

export class Doorbell {
  readonly #words: Int32Array;
  readonly #index: number;
  /** Those with waiters. */
  readonly #waiting = new Set<Resting>();
  /** Those of them that may not be entered. */
  readonly #awake = new Set<Resting>();
  /** Those that are entered, by the bit that is set for them when they are due. */
  readonly #entered: (Set<Resting> | undefined)[] = [];
  /** Whether a look has not come to its end. */
  #inDoubt = false;
  #listening = false;
  #restDue = false;
  #keepsAlive = false;

  constructor(core: Core, memory: WebAssembly.Memory) {
    this.#words = new Int32Array(memory.buffer);
    this.#index = core.doorbell() >> 2;
  }

  /** @internal The first promise waits. */
  waitFor(promises: Resting): void {
    this.#waiting.add(promises);
    this.wake(promises);
  }

  /** @internal The last promise has been settled. */
  done(promises: Resting): void {
    this.#waiting.delete(promises);
    this.#awake.delete(promises);
    this.#put(promises, NOWHERE);
    if (this.#waiting.size === 0) this.#keepAlive(false);
  }

  /** @internal They are entered, and noted by this number when they are due. */
  entered(promises: Resting, number: number): void {
    this.#awake.delete(promises);
    this.#put(promises, number % PLACES);
  }

  #put(promises: Resting, place: number): void {
    if (promises.place === place) return;
    this.#entered[promises.place]?.delete(promises);
    promises.place = place;
    if (place === NOWHERE) return;
    this.#entered[place] ??= new Set();
    this.#entered[place].add(promises);
  }

  /** @internal A run may not be entered. */
  wake(promises: Resting): void {
    this.#awake.add(promises);
    if (this.#restDue) return;
    // In this order: if an exhausted stack lets the first fail, the next one to come tries again.
    host.soon(this.#soon);
    this.#restDue = true;
  }

  readonly #soon = (): void => {
    this.#restDue = false;
    this.#rest();
  };

  #rest(): void {
    while (true) {
      const rung = Atomics.load(this.#words, this.#index);
      this.#look();
      if (this.#waiting.size === 0) return;
      this.#keepAlive(true);
      if (this.#listening) return;
      const wait = waitAsync(this.#words, this.#index, rung);
      if (!wait.async) continue;
      this.#listening = true;
      wait.value.then(() => {
        this.#listening = false;
        this.#rest();
      });
      return;
    }
  }

  #look(): void {
    const inDoubt = this.#inDoubt;
    this.#inDoubt = true;
    for (const promises of inDoubt ? this.#waiting : this.#awake) promises.rest();
    const first = this.#index + TO_DUE;
    for (let i = 0; i < DUE_WORDS; i++) {
      let due = Atomics.load(this.#words, first + i);
      if (due !== 0) due = Atomics.exchange(this.#words, first + i, 0);
      for (; due !== 0; due &= due - 1) {
        const place = 32 * i + 31 - Math.clz32(due & -due);
        for (const promises of this.#entered[place] ?? []) promises.rest();
      }
    }
    this.#inDoubt = false;
  }

  #keepAlive(on: boolean): void {
    if (on === this.#keepsAlive) return;
    this.#keepsAlive = on;
    host.keepAlive(on);
  }
}
