// A lock in a capacitor that logs how many threads are between the capacitor's arrive and its depart: the trace that
// the platoon's sawtooth is drawn from.
//
//   word   number of the next event << COUNT_BITS | threads inside
//
// One atomic add tells a thread the place of its event in the log and how many are inside after it, so the log is
// one order of events, and the counts in it fit together. The log is a ring: the latest events are kept.

import type { LockLike } from './locks.js';

/** What is inside, event by event. */
export interface Trace {
  /** From the first event on; does not go back, even if a thread lost its processor before it looked at the clock. */
  milliseconds: number[];
  inside: number[];
}

interface CapacitorLike {
  arrive(): void;
  depart(): void;
}

/** More than 512 threads, the most that there are, and 2^22 events before their numbers come round. */
const COUNT_BITS = 10;
const COUNT = (1 << COUNT_BITS) - 1;
const EVENT = 1 << COUNT_BITS;
const SIZE = 1 << 14;
const TIMES_AT = 8;
const COUNTS_AT = TIMES_AT + SIZE * Float64Array.BYTES_PER_ELEMENT;
const BYTES = COUNTS_AT + SIZE * Uint16Array.BYTES_PER_ELEMENT;

/** The log, over shared memory. */
export class PlatoonLog {
  readonly memory: SharedArrayBuffer;
  readonly #word: Int32Array;
  readonly #times: Float64Array;
  readonly #counts: Uint16Array;

  constructor(memory = new SharedArrayBuffer(BYTES)) {
    this.memory = memory;
    this.#word = new Int32Array(memory, 0, 1);
    this.#times = new Float64Array(memory, TIMES_AT, SIZE);
    this.#counts = new Uint16Array(memory, COUNTS_AT, SIZE);
  }

  /** A thread has come in (1) or is about to go out (-1), at a time in milliseconds. */
  note(step: 1 | -1, now: number): void {
    const before = Atomics.add(this.#word, 0, EVENT + step);
    const at = (before >>> COUNT_BITS) % SIZE;
    this.#times[at] = now;
    this.#counts[at] = (before & COUNT) + step;
  }

  /** The last events before a time, at most so many of them. Only once all threads are done. */
  before(end: number, most: number): Trace {
    const next = (this.#word[0] as number) >>> COUNT_BITS;
    const events: { time: number; inside: number }[] = [];
    for (let back = SIZE; back > 0; back--) {
      const at = (next + SIZE - back) % SIZE;
      const time = this.#times[at] as number;
      if (time > 0 && time <= end) events.push({ time, inside: this.#counts[at] as number });
    }
    const last = events.slice(-most);
    let latest = last[0]?.time ?? 0;
    const first = latest;
    const milliseconds = last.map(({ time }) => {
      latest = Math.max(latest, time);
      return latest - first;
    });
    return { milliseconds, inside: last.map(({ inside }) => inside) };
  }
}

export class TracedLock implements LockLike {
  readonly #capacitor: CapacitorLike;
  readonly #inner: LockLike;
  readonly #log: PlatoonLog;
  readonly #now: () => number;

  constructor(capacitor: CapacitorLike, inner: LockLike, log: PlatoonLog, now: () => number) {
    this.#capacitor = capacitor;
    this.#inner = inner;
    this.#log = log;
    this.#now = now;
  }

  lock(): void {
    this.#capacitor.arrive();
    this.#log.note(1, this.#now());
    this.#inner.lock();
  }

  unlock(): void {
    this.#inner.unlock();
    this.#log.note(-1, this.#now());
    this.#capacitor.depart();
  }
}
