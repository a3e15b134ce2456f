// A lock in a capacitor that logs when a thread has arrived and when it departs. The sawtooth of the platoon is drawn
// from this log.
//
//   word   arrivals << 32 | departures
//
// One atomic add gives an event its place in the log, and counts the departures up to this event. So the log has one
// order of events. The log is a ring, which keeps only the latest events.
//
// Before the add the thread reads, from the words of the capacitor, how many threads the capacitor has let in. So the
// number of threads inside is observed: it would be above B if the capacitor let the next platoon in before the last
// thread of the present one calls depart. A thread that was let in counts even if it still sleeps. If only running
// threads counted, a platoon on few processors would look like one thread after the other.

import type { CapacitorHandle } from 'taketurns/algorithms';
import type { LockLike } from './subjects.js';

/** The number of threads that have been let in and have not departed, event by event. */
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
const LET_IN_AT = DEPARTURES_AT + SIZE * Uint32Array.BYTES_PER_ELEMENT;
const BYTES = LET_IN_AT + SIZE * Uint32Array.BYTES_PER_ELEMENT;

/** Returns how many threads have been let in so far. */
type LetIn = () => number;

/**
 * Returns a function that reads how many threads the capacitor of a handle has let in: those whose ticket is below
 * grant. These two counters are the first words of every object. The first ticket must be 0.
 */
export function letInOf({ arena, address }: CapacitorHandle): LetIn {
  const words = new BigInt64Array(arena.memory.buffer, address, 2);
  return () => Math.min(Number(Atomics.load(words, 0)), Number(Atomics.load(words, 1)));
}

/** The log, over shared memory. */
export class PlatoonLog {
  readonly memory: SharedArrayBuffer;
  readonly #word: BigInt64Array;
  readonly #times: Float64Array;
  readonly #arrivals: Uint32Array;
  readonly #departures: Uint32Array;
  readonly #letIn: Uint32Array;

  constructor(memory = new SharedArrayBuffer(BYTES)) {
    this.memory = memory;
    this.#word = new BigInt64Array(memory, 0, 1);
    this.#times = new Float64Array(memory, TIMES_AT, SIZE);
    this.#arrivals = new Uint32Array(memory, ARRIVALS_AT, SIZE);
    this.#departures = new Uint32Array(memory, DEPARTURES_AT, SIZE);
    this.#letIn = new Uint32Array(memory, LET_IN_AT, SIZE);
  }

  /** Logs that a thread has arrived, at a time in milliseconds. Before, so many threads had been let in. */
  arrival(now: number, letIn: number): void {
    this.#note(ARRIVAL, now, letIn);
  }

  /** Logs that a thread is about to depart. */
  departure(now: number, letIn: number): void {
    this.#note(DEPARTURE, now, letIn);
  }

  #note(event: bigint, now: number, letIn: number): void {
    const after = Atomics.add(this.#word, 0, event) + event;
    const arrivals = Number(after / ARRIVAL);
    const departures = Number(after % ARRIVAL);
    const at = (arrivals + departures) % SIZE;
    this.#times[at] = now;
    this.#arrivals[at] = arrivals;
    this.#departures[at] = departures;
    this.#letIn[at] = letIn;
  }

  /** Returns the last events before the time `end`, at most `most` of them. All threads must be done. */
  before(end: number, most: number): Trace {
    const events = Array.from({ length: SIZE }, (_, at) => ({
      time: this.#times[at] as number,
      arrivals: this.#arrivals[at] as number,
      departures: this.#departures[at] as number,
      letIn: this.#letIn[at] as number,
    }))
      .filter(({ time }) => time > 0 && time <= end)
      .sort((a, b) => a.arrivals + a.departures - b.arrivals - b.departures);
    // A thread may be preempted between its reads and its place in the log. The number of threads let in never falls.
    let letIn = 0;
    const inside = events.map((event) => {
      letIn = Math.max(letIn, event.letIn);
      return letIn - event.departures;
    });
    const last = events.slice(-most);
    const first = last[0]?.time ?? 0;
    let latest = first;
    return {
      milliseconds: last.map(({ time }) => {
        latest = Math.max(latest, time);
        return latest - first;
      }),
      inside: inside.slice(-most),
    };
  }
}

export class TracedLock implements LockLike {
  readonly #capacitor: CapacitorLike;
  readonly #inner: LockLike;
  readonly #log: PlatoonLog;
  readonly #letIn: LetIn;
  readonly #now: () => number;

  constructor(capacitor: CapacitorLike, inner: LockLike, log: PlatoonLog, letIn: LetIn, now: () => number) {
    this.#capacitor = capacitor;
    this.#inner = inner;
    this.#log = log;
    this.#letIn = letIn;
    this.#now = now;
  }

  lock(): void {
    this.#capacitor.arrive();
    this.#log.arrival(this.#now(), this.#letIn());
    this.#inner.lock();
  }

  unlock(): void {
    this.#inner.unlock();
    this.#log.departure(this.#now(), this.#letIn());
    this.#capacitor.depart();
  }
}
