// A lock in a capacitor that logs every call of arrive and depart. The sawtooth of the platoon is drawn from this log.
//
//   word   calls of arrive << 32 | calls of depart
//
// One atomic add gives an event its place in the log, and both counts after the event. So the log has one order of
// events. The log is a ring, which keeps only the latest events.
//
// The counts say how many threads are inside: after d departures the capacitor has opened for 1 + floor(d / B) platoons
// of B threads, and it admits the threads in the order of arrival. A thread that was let in counts even if it still
// sleeps. If only running threads counted, a platoon on few processors would look like one thread after the other.

import type { LockLike } from './subjects.js';

/** The number of threads inside, event by event. */
export interface Trace {
  /** Times since the first event. They never decrease, even if a thread was preempted after it read the clock. */
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

/** Returns, from the counts of calls, how many threads a capacitor has let in that have not departed. */
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

  /** Logs that a thread is about to arrive, at a time in milliseconds. */
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

  /** Returns the last events before the time `end`, at most `most` of them. All threads must be done. */
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
