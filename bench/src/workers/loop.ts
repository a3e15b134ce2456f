// The two loops of the threads. `measure` does only the benchmark. `probe` also takes times, stamps and tickets, so it
// is never used for throughput. Rows of promises have loops of their own, which await.
//
// A thread imports this module once for each row, under a separate URL (`loop.js?row=...`). So each row has its own
// copy of the module, and each copy has its own type feedback. Every call in a copy has seen only one class, and is
// compiled as a direct, inlined call.
//
// A Turn is the iteration that the loops repeat. Its functions are small and stand in this module, so they are copied
// with the loops. Each copy gets only one Turn, so the runtime compiles its functions into the loop.
//
// The phase is read by a plain load. Every iteration calls a lock or semaphore, and no runtime moves a load of shared
// memory across such a call. The rows without a lock step shared generators instead. If a runtime moved the load across
// that, the thread would never end.

import type { Benchmark, Work } from '../benchmarks.js';
import { mtStep } from '../mt19937.js';
import type { Joined } from '../rows/row.js';
import type { LockLike, SemaphoreLike } from '../rows/subjects.js';
import {
  ADMISSIONS,
  ADMITTED,
  ARRIVALS,
  arrival,
  BEGIN,
  type Board,
  BYPASSES,
  COUNTED,
  clock,
  END,
  LARGEST_BYPASS,
  LONGEST_WAIT,
  MEASURE,
  OUT_OF_ORDER,
  PARTS,
  PHASE,
  STOP,
  tally,
  WARM,
} from './board.js';
import { BANDS, bypassBand } from './bypass-bands.js';
import { TicketOrder } from './ticket-order.js';

const WARM_TURNS = 4000;
const WARM_MS = 8;
const MOST_WARM_MS = 100;

/** An iteration: enter, one step of the common generator, leave, and the work outside. */
export interface Turn<Subject> {
  /**
   * The whole iteration as one function. So the loop checks for one function instead of three, which saves 1 to 5 ns.
   */
  iterate(subject: Subject, common: Uint32Array, own: Uint32Array): void;
  /** Returns a promise if the row is one of promises. */
  enter(subject: Subject): unknown;
  inside(common: Uint32Array): void;
  leave(subject: Subject): void;
  outside(own: Uint32Array): void;
}

const kept = new Int32Array(1);

/** Keeps an output, because a runtime leaves out work whose output no code reads. The native loops do the same. */
function keep(output: number): void {
  kept[0] = output;
}

const semabench: Turn<SemaphoreLike> = {
  iterate: (semaphore, common, own) => {
    semaphore.acquire();
    keep(mtStep(common));
    semaphore.release();
    keep(mtStep(own));
  },
  enter: (semaphore) => semaphore.acquire(),
  inside: (common) => {
    keep(mtStep(common));
  },
  leave: (semaphore) => semaphore.release(),
  outside: (own) => {
    keep(mtStep(own));
  },
};

/**
 * Semabench, but with the thread's own generator in the section: threads may be in sections of different semaphores.
 */
const hashbench: Turn<SemaphoreLike> = {
  iterate: (semaphore, _, own) => {
    semaphore.acquire();
    keep(mtStep(own));
    semaphore.release();
    keep(mtStep(own));
  },
  enter: (semaphore) => semaphore.acquire(),
  inside: (common) => {
    keep(mtStep(common));
  },
  leave: (semaphore) => semaphore.release(),
  outside: () => {},
};

const mutexbench: Turn<LockLike> = {
  iterate: (lock, common) => {
    lock.lock();
    keep(mtStep(common));
    lock.unlock();
  },
  enter: (lock) => lock.lock(),
  inside: (common) => {
    keep(mtStep(common));
  },
  leave: (lock) => lock.unlock(),
  outside: () => {},
};

let insideSteps = 1;
let outsideSteps = 0;

function steps(state: Uint32Array, count: number): void {
  let outputs = 0;
  for (let i = 0; i < count; i++) outputs ^= mtStep(state);
  keep(outputs);
}

const lockWorkbench: Turn<LockLike> = {
  iterate: (lock, common, own) => {
    lock.lock();
    steps(common, insideSteps);
    lock.unlock();
    steps(own, outsideSteps);
  },
  enter: (lock) => lock.lock(),
  inside: (common) => steps(common, insideSteps),
  leave: (lock) => lock.unlock(),
  outside: (own) => steps(own, outsideSteps),
};

const semaphoreWorkbench: Turn<SemaphoreLike> = {
  iterate: (semaphore, common, own) => {
    semaphore.acquire();
    steps(common, insideSteps);
    semaphore.release();
    steps(own, outsideSteps);
  },
  enter: (semaphore) => semaphore.acquire(),
  inside: (common) => steps(common, insideSteps),
  leave: (semaphore) => semaphore.release(),
  outside: (own) => steps(own, outsideSteps),
};

export const TURNS = { semabench, hashbench, mutexbench } as Record<Benchmark['workload'], Turn<unknown>>;

const WORKING: Partial<typeof TURNS> = {
  semabench: semaphoreWorkbench as Turn<unknown>,
  mutexbench: lockWorkbench as Turn<unknown>,
};

/** Returns semabench or mutexbench with other work. This needs loops that count steps, so these Turns are separate. */
export function working(workload: Benchmark['workload'], work: Work): Turn<unknown> {
  insideSteps = work.inside;
  outsideSteps = work.outside;
  const turn = WORKING[workload];
  if (turn === undefined) throw new Error(`${workload} has no work to choose`);
  return turn;
}

/** The environment of a loop. */
export interface Stage {
  turn: Turn<unknown>;
  joined: Joined<unknown>;
  board: Board;
  thread: number;
  threads: number;
  /** The generator that the admitted thread steps. */
  common: Uint32Array;
  /** The generator of this thread. */
  own: Uint32Array;
}

/**
 * Repeats the iteration on a subject that only this thread uses, until the runtime has compiled it. Without this, each
 * of many threads would have too few turns in the interval for that, and the benchmark would compare interpreters.
 */
export function warm(turn: Turn<unknown>, subject: unknown, common: Uint32Array, own: Uint32Array): void {
  const { iterate } = turn;
  const start = performance.now();
  let spent = 0;
  for (let turns = 0; (turns < WARM_TURNS && spent < MOST_WARM_MS) || spent < WARM_MS; turns++) {
    iterate(subject, common, own);
    spent = performance.now() - start;
  }
}

/**
 * Runs until STOP. Then writes how many iterations ended inside the interval and inside each of its parts, and the
 * number of all iterations. The loop does the same at every change of phase, so the phases before the interval rehearse
 * it.
 */
export function measure({ turn: { iterate }, joined, board, thread, common, own }: Stage): void {
  const { subject, finish } = joined;
  const { words } = board;
  const marks = new Float64Array(STOP + 1).fill(-1);
  iterate(subject, common, own);
  admitted(words);
  let seen = WARM;
  let iterations = 0;
  while (true) {
    iterate(subject, common, own);
    const phase = words[PHASE] as number;
    if (phase !== seen) {
      // This iteration ended after the phase had changed. So it belongs to the new phase.
      seen = phase;
      marks[phase] = iterations;
      if (phase === STOP) break;
    }
    iterations++;
  }
  finish?.();
  write(board, thread, marks, iterations);
}

/** The same for a row of promises. */
export async function measureAwaiting({ turn, joined, board, thread, common, own }: Stage): Promise<void> {
  const { subject, finish } = joined;
  const { words } = board;
  const marks = new Float64Array(STOP + 1).fill(-1);
  let seen = WARM;
  for (let iterations = -1; ; iterations++) {
    await turn.enter(subject);
    turn.inside(common);
    turn.leave(subject);
    turn.outside(own);
    if (iterations < 0) {
      admitted(words);
      continue;
    }
    const phase = words[PHASE] as number;
    if (phase === seen) continue;
    seen = phase;
    marks[phase] = iterations;
    if (phase !== STOP) continue;
    finish?.();
    write(board, thread, marks, iterations);
    return;
  }
}

/** Writes the counts of a thread. `iterations` lacks the first iteration and the last one. */
function write({ parts, tallies }: Board, thread: number, marks: Float64Array, iterations: number): void {
  settle(marks);
  const at = tally(thread);
  for (let part = 0; part < PARTS; part++) {
    parts[at + part] = (marks[MEASURE + part + 1] as number) - (marks[MEASURE + part] as number);
  }
  tallies[at + COUNTED] = iterations - (marks[MEASURE] as number);
  tallies[at + ADMISSIONS] = iterations + 2;
}

/**
 * A thread that waited through a whole phase has no mark for it. The phase gets the mark of the next phase: no
 * iterations.
 */
export function settle(marks: Float64Array): void {
  for (let phase = STOP - 1; phase >= MEASURE; phase--) {
    if ((marks[phase] as number) < 0) marks[phase] = marks[phase + 1] as number;
  }
}

/** Runs until STOP; writes the longest wait, the bypass and the number of admissions out of ticket order. */
export function probe(stage: Stage): void {
  const { turn, joined, common, own } = stage;
  const seen = new Observer(stage);
  do {
    seen.arrives();
    turn.enter(joined.subject);
    seen.isServed();
    turn.inside(common);
    turn.leave(joined.subject);
    turn.outside(own);
  } while (seen.goesOn());
}

/** The same for a row of promises. */
export async function probeAwaiting(stage: Stage): Promise<void> {
  const { turn, joined, common, own } = stage;
  const seen = new Observer(stage);
  do {
    seen.arrives();
    await turn.enter(joined.subject);
    seen.isServed();
    turn.inside(common);
    turn.leave(joined.subject);
    turn.outside(own);
  } while (seen.goesOn());
}

/** What a thread notes of its own waits, between the calls of a probe. */
class Observer {
  readonly #stage: Stage;
  readonly #stamp: number;
  readonly #at: number;
  readonly #order: TicketOrder;
  #arrived = 0;
  #mine = 0;
  #served = 0;
  #bypass = 0;
  #admissions = 0;
  #longestWait = 0;
  #largestBypass = 0;
  #outOfOrder = 0;
  #seen = WARM;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#stamp = arrival(stage.thread);
    this.#at = tally(stage.thread);
    this.#order = new TicketOrder(stage.board.tickets);
  }

  /** Is called right before `enter`. A thread that is preempted between the two counts as waiting. */
  arrives(): void {
    const { words, arrivals } = this.#stage.board;
    this.#arrived = clock();
    this.#mine = Atomics.add(words, ARRIVALS, 1) + 1;
    Atomics.store(arrivals, this.#stamp, this.#mine);
  }

  /** Is called inside the section, where this thread is alone. This protects the tickets and the bypass counts. */
  isServed(): void {
    const { joined, board, threads } = this.#stage;
    const { arrivals } = board;
    this.#served = clock();
    if (joined.ticket !== undefined) {
      const ticket = Number(joined.ticket());
      if (!this.#order.isNext(ticket)) this.#outOfOrder++;
      this.#bypass = this.#order.admitted(ticket);
    } else {
      for (let other = 0; other < threads; other++) {
        const theirs = Atomics.load(arrivals, arrival(other));
        if (theirs !== 0 && theirs < this.#mine) (arrivals[arrival(other) + 1] as number)++;
      }
      this.#bypass = arrivals[this.#stamp + 1] as number;
      arrivals[this.#stamp + 1] = 0;
    }
    Atomics.store(arrivals, this.#stamp, 0);
  }

  /** Is called at the end of an iteration. Returns whether there is another one; else writes the figures. */
  goesOn(): boolean {
    const { joined, board, thread } = this.#stage;
    const { words, interval, tallies } = board;
    if (++this.#admissions === 1) admitted(words);
    const phase = Atomics.load(words, PHASE);
    if (phase !== this.#seen) {
      // What happened before the interval does not count. The thread may have waited since before the interval.
      if (this.#seen < MEASURE) {
        this.#longestWait = this.#largestBypass = 0;
        for (let band = 0; band < BANDS; band++) tallies[this.#at + BYPASSES + band] = 0;
      }
      this.#seen = phase;
    }
    // The part of a wait that lies inside the interval counts. So a thread that starves through the whole interval
    // shows.
    const from = Math.max(this.#arrived, interval[BEGIN] as number);
    const to = phase === STOP ? Math.min(this.#served, interval[END] as number) : this.#served;
    if (to - from > this.#longestWait) this.#longestWait = to - from;
    if (this.#bypass > this.#largestBypass) this.#largestBypass = this.#bypass;
    (tallies[this.#at + BYPASSES + bypassBand(this.#bypass)] as number)++;
    if (phase !== STOP) return true;
    joined.finish?.();
    const at = tally(thread);
    tallies[at + ADMISSIONS] = this.#admissions;
    tallies[at + LONGEST_WAIT] = this.#longestWait;
    tallies[at + LARGEST_BYPASS] = this.#largestBypass;
    tallies[at + OUT_OF_ORDER] = joined.ticket === undefined ? Number.NaN : this.#outOfOrder;
    return false;
  }
}

function admitted(words: Int32Array): void {
  Atomics.add(words, ADMITTED, 1);
  Atomics.notify(words, ADMITTED);
}
