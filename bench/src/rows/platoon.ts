// A lock in a capacitor that logs every call of arrive and depart: the trace that the platoon's sawtooth is drawn from.
//
//   word   calls of arrive << 32 | calls of depart
//
// One atomic add gives an event its place in the log and both counts after it, so the log is one order of events. It is
// a ring: the latest events are kept.
//
// Who is let in follows from the counts: after d departures the capacitor has opened for 1 + floor(d / B) platoons of B,
// and takes whoever has arrived, first come, first served. A thread that is let in may still be asleep: counted by what
// it does once it runs, platoons could not be told from one thread after the other where processors are few.

import type { LockLike } from './subjects.js';

/** How many threads are inside, event by event. */
export interface Trace {
  /** From the first event on; does not go back, even if a thread lost its processor after it looked at the clock. */
  milliseconds: number[];
  inside: number[];
}

interface CapacitorLike {
  arrive(): void;
  depart(): void;
}

const ARRIVAL = 1n << 32n;
const DEPARTURE = 1n;
const SIZE = 1 << 14;
const TIMES_AT = 8;
const ARRIVALS_AT = TIMES_AT + SIZE * Float64Array.BYTES_PER_ELEMENT;
const DEPARTURES_AT = ARRIVALS_AT + SIZE * Uint32Array.BYTES_PER_ELEMENT;
const BYTES = DEPARTURES_AT + SIZE * Uint32Array.BYTES_PER_ELEMENT;

/** Threads that a capacitor has let in and that have not departed, from how often they called. */
export function letIn(arrivals: number, departures: number, bypass: number): number {
  return Math.min(arrivals, bypass * (1 + Math.floor(departures / bypass))) - departures;
}

/** The log, over shared memory. */
export class PlatoonLog {
  readonly memory: SharedArrayBuffer;
  readonly #word: BigInt64Array;
  readonly #times: Float64Array;
  readonly #arrivals: Uint32Array;
  readonly #departures: Uint32Array;

  constructor(memory = new SharedArrayBuffer(BYTES)) {
    this.memory = memory;
    this.#word = new BigInt64Array(memory, 0, 1);
    this.#times = new Float64Array(memory, TIMES_AT, SIZE);
    this.#arrivals = new Uint32Array(memory, ARRIVALS_AT, SIZE);
    this.#departures = new Uint32Array(memory, DEPARTURES_AT, SIZE);
  }

  /** A thread is about to arrive, at a time in milliseconds. */
  arrival(now: number): void {
    this.#note(ARRIVAL, now);
  }

  departure(now: number): void {
    this.#note(DEPARTURE, now);
  }

  #note(event: bigint, now: number): void {
    const after = Atomics.add(this.#word, 0, event) + event;
    const arrivals = Number(after / ARRIVAL);
    const departures = Number(after % ARRIVAL);
    const at = (arrivals + departures) % SIZE;
    this.#times[at] = now;
    this.#arrivals[at] = arrivals;
    this.#departures[at] = departures;
  }

  /** The last events before a time, at most so many of them. Only once all threads are done. */
  before(end: number, most: number, bypass: number): Trace {
    const events = Array.from({ length: SIZE }, (_, at) => ({
      time: this.#times[at] as number,
      arrivals: this.#arrivals[at] as number,
      departures: this.#departures[at] as number,
    }))
      .filter(({ time }) => time > 0 && time <= end)
      .sort((a, b) => a.arrivals + a.departures - b.arrivals - b.departures)
      .slice(-most);
    const first = events[0]?.time ?? 0;
    let latest = first;
    return {
      milliseconds: events.map(({ time }) => {
        latest = Math.max(latest, time);
        return latest - first;
      }),
      inside: events.map(({ arrivals, departures }) => letIn(arrivals, departures, bypass)),
    };
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
    this.#log.arrival(this.#now());
    this.#capacitor.arrive();
    this.#inner.lock();
  }

  unlock(): void {
    this.#inner.unlock();
    this.#log.departure(this.#now());
    this.#capacitor.depart();
  }
}
