/**
 * The doorbell of a thread is the one word on which all of its promises wait together.
 *
 * A releasing thread that makes a promise due adds 1 to the doorbell of the promise's thread, and notifies this thread.
 * The notified thread has at most one `Atomics.waitAsync` pending on its doorbell, however many promises wait. A
 * pending `Atomics.waitAsync` cannot be cancelled, and each one costs the runtime memory until it is notified.
 *
 *     a rest: d = doorbell; settle the due promises and enter the others; if none is left, end.
 *             Else waitAsync(doorbell, d) unless one is pending, then again
 *
 * The releasing thread also notes in the record of the other thread which run is due: it sets one of 256 bits. So a
 * thread looks at the due run and few others, however many runs wait. A thread looks at all runs if an exception has
 * cut its last look short.
 *
 * A thread reads the doorbell, then the bits of the due runs, and then the grants. So if a run becomes due after the
 * thread has looked, the doorbell has another value than the thread has read, and the wait returns at once (D7).
 */

import { host } from '#host';
import type { Core } from '../border/core.js';
import { DOORBELL_TO_DUE, DUE_WORDS } from '../border/numbers.js';
import type { WaitAsync } from '../host/host.js';
import { timestamp } from './clock.js';
import { NO_REST, NO_SLOT } from './numbers.js';

/** Whether the runtime has `Atomics.waitAsync`. If it has none, the host has a substitute. */
export const isNative = typeof Atomics.waitAsync === 'function';

/**
 * Throws an Error if the runtime cannot wait without blocking: a promise could then be queued, but never be settled.
 */
export function checkWaitAsync(): void {
  if (!isNative && host.waitAsync === undefined) {
    throw new Error('there is no Atomics.waitAsync: use the blocking form, in a worker');
  }
}

/** Callers must call `checkWaitAsync` first. */
export const waitAsync: WaitAsync = isNative
  ? (words, index, value, timeout) => Atomics.waitAsync(words as Int32Array, index, value as number, timeout)
  : (host.waitAsync as WaitAsync);

/** An object that looks after promises when the doorbell has rung for it. */
export interface Flushable {
  /** Settles the due promises. Afterwards the object is `entered` in the doorbell, or `done`. */
  flush(): void;
  /** @internal The bit of the DUE_WORDS that is set when the object is due; NO_SLOT if no thread rings for it. */
  slot: number;
  /** @internal The number of the rest for which the doorbell knows that the object waits and is perhaps not entered. */
  plannedFor: number;
}

export class Doorbell {
  readonly #words: Int32Array;
  readonly #index: number;
  /** The objects with waiters. */
  readonly #waiting = new Set<Flushable>();
  /** The waiting objects that are perhaps not entered. */
  readonly #notEntered = new Set<Flushable>();
  /** The entered objects, by the slot, a bit that is set for them when they are due. */
  readonly #entered: (Set<Flushable> | undefined)[] = [];
  /** Whether a look is under way, or the last one has not reached its end. */
  #inDoubt = false;
  #listening = false;
  #restDue = false;
  /** The number of the next rest that is planned. */
  #next = 0;
  /** The last time that `timestamp` has read, and how often it has been called since the last rest was planned. */
  #stamp = 0;
  #stamps = 0;
  #keepsAlive = false;
  #isClosed = false;

  constructor(core: Core, memory: WebAssembly.Memory) {
    this.#words = new Int32Array(memory.buffer);
    this.#index = core.doorbell() >> 2;
  }

  /** @internal Is called when the first promise waits. */
  waitFor(promises: Flushable): void {
    if (this.#isPlanned(promises)) return;
    this.#waiting.add(promises);
    this.restSoon(promises);
  }

  /** @internal Is called when the last promise has been settled. */
  done(promises: Flushable): void {
    promises.plannedFor = NO_REST;
    this.#waiting.delete(promises);
    this.#notEntered.delete(promises);
    this.#put(promises, NO_SLOT);
    if (this.#waiting.size === 0) this.#keepAlive(false);
  }

  /**
   * @internal Is called when the promises are entered. A releasing thread records `number` when they are due. If this is no
   * look, the object stays among those that are perhaps not entered, until the next rest has looked at it: the head of a
   * mutex would come to that set and leave it with each promise. V8 makes a new table for a set after a few such changes,
   * and an old table keeps all later ones, up to the next collection of the whole heap.
   */
  entered(promises: Flushable, number: number): void {
    if (this.#inDoubt) {
      promises.plannedFor = NO_REST;
      this.#notEntered.delete(promises);
    }
    const SLOTS = 256;
    this.#put(promises, number % SLOTS);
  }

  #put(promises: Flushable, slot: number): void {
    if (promises.slot === slot) return;
    this.#entered[promises.slot]?.delete(promises);
    promises.slot = slot;
    if (slot === NO_SLOT) return;
    this.#entered[slot] ??= new Set();
    this.#entered[slot].add(promises);
  }

  /** @internal Is called when an object is perhaps not entered: a rest follows soon. */
  restSoon(promises: Flushable): void {
    if (this.#isPlanned(promises)) return;
    this.#notEntered.add(promises);
    promises.plannedFor = this.#next;
    if (this.#restDue) return;
    // The order matters: if an exhausted stack makes `soon` fail, the next call tries again.
    host.soon(this.#soon);
    this.#restDue = true;
    this.#stamps = 0;
  }

  /** Whether nothing is left to do before the next rest looks at the object. Each promise asks this several times. */
  #isPlanned(promises: Flushable): boolean {
    return this.#restDue && promises.plannedFor === this.#next;
  }

  /**
   * Returns `timestamp()` for a promise that begins to wait. The clock costs as much as a fifth of a promise's turn. So
   * until the next rest this method reads the clock only for each 64th promise. The time is too early by less than the
   * running code has taken for 64 promises.
   */
  timestamp(): number {
    if (!this.#restDue || (this.#stamps++ & 63) === 0) this.#stamp = timestamp();
    return this.#stamp;
  }

  readonly #soon = (): void => {
    this.#restDue = false;
    this.#next++;
    this.#rest();
  };

  #rest(): void {
    while (!this.#isClosed) {
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
    for (const promises of inDoubt ? this.#waiting : this.#notEntered) promises.flush();
    const first = this.#index + DOORBELL_TO_DUE;
    for (let i = 0; i < DUE_WORDS; i++) {
      let due = Atomics.load(this.#words, first + i);
      if (due !== 0) due = Atomics.exchange(this.#words, first + i, 0);
      for (; due !== 0; due &= due - 1) {
        const slot = 32 * i + 31 - Math.clz32(due & -due);
        for (const promises of this.#entered[slot] ?? []) promises.flush();
      }
    }
    this.#inDoubt = false;
  }

  /** Is called when the thread is about to leave the arena. After that, its record may belong to another thread. */
  close(): void {
    this.#isClosed = true;
    this.#keepAlive(false);
    // The notification ends a pending waitAsync, which would keep the memory.
    Atomics.notify(this.#words, this.#index);
  }

  #keepAlive(on: boolean): void {
    if (on === this.#keepsAlive) return;
    this.#keepsAlive = on;
    host.keepAlive(on);
  }
}
