/**
 * The shared memory in which the threads of one side of the starvation experiment say what they do. Each thread writes
 * its own part, and the page reads it ten times a second. OVERTAKEN alone is written by the thread that has the permit.
 */
export const THINKING = 0;
export const WAITING = 1;
export const HOLDING = 2;

/** Word 0 of the board is 0 as long as the threads go on. */
export const STOP = 0;
/** The number of stamps that arrivals have drawn, where there are no tickets. */
export const ARRIVALS = 1;
/** The number of entries that the ring has had. */
export const ENTRIES = 2;

/** The number of the latest admissions that are kept, to count overtaking by ticket. */
export const RING = 256;

// Whole numbers of a thread.
export const STATE = 0;
export const ADMISSIONS = 1;
/** How often the thread has been overtaken in the wait under way. */
export const OVERTAKEN = 2;
export const MOST_OVERTAKEN = 3;
export const STAMP = 4;
/** The longest wait that has ended since the page last looked, in microseconds. */
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
  /** The ticket and the thread of each admission. */
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

  /** The whole numbers of a thread, such as STATE. */
  ints(thread: number): Int32Array {
    return this.#ints.subarray(thread * (LINE / 4), thread * (LINE / 4) + INTS);
  }

  /** The times of a thread, such as SINCE. */
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
