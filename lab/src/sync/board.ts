/**
 * The shared memory in which the threads at an object of `taketurns/sync` say what they do. Each thread writes its own
 * part, and the page reads all parts ten times a second.
 */
export const RESTING = 0;
export const WORKING = 1;
export const WAITING = 2;
export const HOLDING = 3;
/** At a condition: the thread waits for the mutex. WAITING means there that it waits for a notification. */
export const QUEUING = 4;

/** Word 0 of the board is 0 as long as the threads go on. A thread that spends time in a state sleeps on this word. */
export const STOP = 0;
/** How many rounds, openings or sections there have been. */
export const OPENINGS = 1;
/** The items in the buffer of the conditions, or the tasks of the wait group that nobody has taken. */
export const ITEMS = 2;

// Whole numbers of a thread.
export const STATE = 0;
/** The thread's number in the arena, as `inspect` tells it. */
export const NUMBER = 1;
/** Which of the objects of its order the thread uses. */
export const ROUND = 2;
/** How often the thread's state has changed. */
export const CHANGES = 3;

/** How many of the latest changes of a thread are kept. */
export const KEPT = 512;
/** A reader leaves out this many of the oldest changes, because the thread may overwrite them at the same time. */
const MARGIN = 16;

/** The places of the buffer. */
export const PLACES = 3;
/** How many tasks of a round there are for each thread. */
export const TASKS = 3;

const LINE = 128;
/** The bytes of a change: the time, and the new state. */
const CHANGE = 16;

/** A time during which a thread was in one state. */
export interface Span {
  readonly state: number;
  readonly from: number;
  /** Undefined for the present state. */
  readonly to: number | undefined;
}

export class Board {
  readonly memory: SharedArrayBuffer;
  readonly words: Int32Array;
  readonly threads: number;

  constructor(threads: number, memory = new SharedArrayBuffer((1 + threads) * LINE + threads * KEPT * CHANGE)) {
    this.memory = memory;
    this.threads = threads;
    this.words = new Int32Array(memory, 0, LINE / 4);
  }

  /** The whole numbers of a thread, such as STATE. */
  ints(thread: number): Int32Array {
    return new Int32Array(this.memory, (1 + thread) * LINE, LINE / 8);
  }

  /** Pairs of a time and a state. Only the thread writes them. CHANGES is their number. */
  history(thread: number): Float64Array {
    return new Float64Array(this.memory, (1 + this.threads) * LINE + thread * KEPT * CHANGE, 2 * KEPT);
  }

  /** The states of a thread from the time `since` on, the latest last. */
  spans(thread: number, since: number): Span[] {
    const history = this.history(thread);
    const count = Atomics.load(this.ints(thread), CHANGES);
    const spans: Span[] = [];
    let to: number | undefined;
    for (let i = count - 1; i >= Math.max(0, count - KEPT + MARGIN); i--) {
      const [from, state] = [history[2 * (i % KEPT)] as number, history[2 * (i % KEPT) + 1] as number];
      if (to !== undefined && to < since) break;
      spans.unshift({ state, from, to });
      to = from;
    }
    return spans;
  }

  /** One number: when the thread entered its present state, by `clock`. */
  since(thread: number): Float64Array {
    return new Float64Array(this.memory, (1 + thread) * LINE + LINE / 2, 1);
  }
}
