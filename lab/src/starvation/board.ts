/**
 * The shared memory in which the threads of one side of the starvation experiment say what they do. Each thread writes
 * its own part and enters its turns in a list that all threads share. The page reads this memory ten times a second.
 *
 * Three words have other writers. A hog that overtakes the victim adds to the victim's OVERTAKEN. The victim may add to
 * the OVERTOOK of a hog. The page sets the victim's LATEST_WAIT back to 0.
 */
export const THINKING = 0;
export const WAITING = 1;
export const HOLDING = 2;

/** Word 0 of the board is 0 as long as the threads go on. */
export const STOP = 0;
/** The number of stamps that arrivals have drawn, where there are no tickets. */
export const ARRIVALS = 1;
/** The number of admissions so far. */
export const ADMITTED = 2;

/** How many of the latest admissions the board keeps, to count overtaking and to save them. */
export const TURNS = 4096;

/** The thread that starves at the barging semaphore. */
export const VICTIM = 0;

// Whole numbers of a thread.
export const STATE = 0;
export const ADMISSIONS = 1;
/** How often the victim has been overtaken in its present wait. Only the barging side uses this word. */
export const OVERTAKEN = 2;
export const MOST_OVERTAKEN = 3;
export const STAMP = 4;
/** The longest wait that has ended since the page last looked, in microseconds. */
export const LATEST_WAIT = 5;
/** How often the thread has overtaken the victim. */
export const OVERTOOK = 6;
const INTS = 16;

// Milliseconds of a thread.
export const SINCE = 0;
export const WAITED = 1;
export const HELD = 2;
export const LONGEST = 3;
const FLOATS = 8;

const LINE = 128;
/** The number of words and of times that a turn takes. */
const [WORDS, TIMES] = [2, 3];

/** One admission. Times are in milliseconds of the clock that the threads share. */
export interface Turn {
  readonly thread: number;
  /** The ticket of the request, or the stamp that stands for a ticket: an earlier request has a lower number. */
  readonly ticket: number;
  readonly arrived: number;
  readonly admitted: number;
  /** 0 as long as the thread holds its permits. */
  readonly released: number;
}

export class Board {
  readonly memory: SharedArrayBuffer;
  readonly words: Int32Array;
  readonly threads: number;
  readonly #ints: Int32Array;
  readonly #floats: Float64Array;
  /** The ticket and the thread of each admission. */
  readonly #turns: Int32Array;
  readonly #times: Float64Array;

  constructor(
    threads: number,
    memory = new SharedArrayBuffer(LINE + threads * 2 * LINE + TURNS * (4 * WORDS + 8 * TIMES)),
  ) {
    this.memory = memory;
    this.threads = threads;
    this.words = new Int32Array(memory, 0, LINE / 4);
    this.#ints = new Int32Array(memory, LINE, threads * (LINE / 4));
    this.#floats = new Float64Array(memory, LINE + threads * LINE, threads * (LINE / 8));
    const turns = LINE + 2 * threads * LINE;
    this.#turns = new Int32Array(memory, turns, TURNS * WORDS);
    this.#times = new Float64Array(memory, turns + TURNS * 4 * WORDS, TURNS * TIMES);
  }

  /** The whole numbers of a thread, such as STATE. */
  ints(thread: number): Int32Array {
    return this.#ints.subarray(thread * (LINE / 4), thread * (LINE / 4) + INTS);
  }

  /** The times of a thread, such as SINCE. */
  times(thread: number): Float64Array {
    return this.#floats.subarray(thread * (LINE / 8), thread * (LINE / 8) + FLOATS);
  }

  /** Enters an admission. Returns its number. */
  enter(thread: number, ticket: number, arrived: number, admitted: number): number {
    const turn = Atomics.add(this.words, ADMITTED, 1);
    const at = turn % TURNS;
    this.#turns[WORDS * at] = ticket;
    this.#turns[WORDS * at + 1] = thread;
    this.#times[TIMES * at] = arrived;
    this.#times[TIMES * at + 1] = admitted;
    this.#times[TIMES * at + 2] = 0;
    return turn;
  }

  leave(turn: number, released: number): void {
    this.#times[TIMES * (turn % TURNS) + 2] = released;
  }

  /** The ticket and the thread of the admission with this number, which must be one of the latest TURNS. */
  admission(turn: number): readonly [ticket: number, thread: number] {
    const at = turn % TURNS;
    return [this.#turns[WORDS * at] as number, this.#turns[WORDS * at + 1] as number];
  }

  /** The latest admissions, in the order in which they were entered. Call this only when the threads have stopped. */
  turns(): Turn[] {
    const end = this.words[ADMITTED] as number;
    return Array.from({ length: Math.min(end, TURNS) }, (_, i) => {
      const turn = end - Math.min(end, TURNS) + i;
      const at = TIMES * (turn % TURNS);
      const [arrived, admitted, released] = this.#times.subarray(at, at + TIMES) as unknown as [number, number, number];
      const [ticket, thread] = this.admission(turn);
      return { thread, ticket, arrived, admitted, released };
    });
  }
}
