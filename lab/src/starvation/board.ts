/**
 * The shared memory in which the threads of one side of the starvation experiment say what they do. Each thread writes
 * its own part; the page reads it ten times a second. Only OVERTAKEN is written by others: by whoever has the permit.
 */
export const THINKING = 0;
export const WAITING = 1;
export const HOLDING = 2;

/** Word 0 of the board: 0 as long as the threads are to go on. */
export const STOP = 0;
/** Stamps given to arrivals, where there are no tickets. */
export const ARRIVALS = 1;
/** How many of the ring's entries were written. */
export const ENTRIES = 2;

/** The latest admissions, for who overtook whom by ticket. */
export const RING = 256;

// Whole numbers of a thread.
export const STATE = 0;
export const ADMISSIONS = 1;
/** In the wait under way. */
export const OVERTAKEN = 2;
export const MOST_OVERTAKEN = 3;
export const STAMP = 4;
/** Microseconds of the longest wait that has ended since the page last looked. */
export const LATEST_WAIT = 5;
const INTS = 16;

// Milliseconds of a thread.
export const SINCE = 0;
export const WAITED = 1;
export const HELD = 2;
export const LONGEST = 3;
const FLOATS = 8;

const LINE = 128;

export class Board {
  readonly memory: SharedArrayBuffer;
  readonly words: Int32Array;
  /** Ticket and thread of admissions. */
  readonly ring: Int32Array;
  readonly threads: number;
  readonly #ints: Int32Array;
  readonly #floats: Float64Array;
  readonly #pairs: Int32Array;

  constructor(
    threads: number,
    memory = new SharedArrayBuffer(LINE + 8 * RING + threads * 2 * LINE + 4 * threads * threads),
  ) {
    this.memory = memory;
    this.threads = threads;
    this.words = new Int32Array(memory, 0, LINE / 4);
    this.ring = new Int32Array(memory, LINE, 2 * RING);
    const at = LINE + 8 * RING;
    this.#ints = new Int32Array(memory, at, threads * (LINE / 4));
    this.#floats = new Float64Array(memory, at + threads * LINE, threads * (LINE / 8));
    this.#pairs = new Int32Array(memory, at + 2 * threads * LINE, threads * threads);
  }

  /** Of a thread: STATE and the like. */
  ints(thread: number): Int32Array {
    return this.#ints.subarray(thread * (LINE / 4), thread * (LINE / 4) + INTS);
  }

  /** Of a thread: SINCE and the like. */
  times(thread: number): Float64Array {
    return this.#floats.subarray(thread * (LINE / 8), thread * (LINE / 8) + FLOATS);
  }

  overtakings(by: number, of: number): number {
    return Atomics.load(this.#pairs, by * this.threads + of);
  }

  overtook(by: number, of: number): void {
    Atomics.add(this.#pairs, by * this.threads + of, 1);
  }
}
