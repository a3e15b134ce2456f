// The two loops of the threads. `measure` does only the benchmark. `probe` also takes times, stamps and tickets, so it
// is never used for throughput.
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
  BANDS,
  BEGIN,
  type Board,
  BYPASSES,
  bypassBand,
  COUNTED,
  clock,
  END,
  HIGHEST,
  LARGEST_BYPASS,
  LATEST,
  LONGEST_WAIT,
  MEASURE,
  OUT_OF_ORDER,
  PARTS,
  PHASE,
  STOP,
  tally,
  WARM,
} from './board.js';

const WARM_TURNS = 4000;
const WARM_MS = 8;
const MOST_WARM_MS = 100;

/** An iteration: enter, one step of the common generator, leave, and the work outside. */
export interface Turn<Subject> {
  /**
   * The whole iteration as one function. So the loop checks for one function instead of three, which saves 1 to 5 ns.
   */
  iterate(subject: Subject, common: Uint32Array, own: Uint32Array): void;
  enter(subject: Subject): void;
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
  const { words, tallies } = board;
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
  settle(marks);
  const at = tally(thread);
  for (let part = 0; part < PARTS; part++) {
    board.parts[at + part] = (marks[MEASURE + part + 1] as number) - (marks[MEASURE + part] as number);
  }
  tallies[at + COUNTED] = iterations - (marks[MEASURE] as number);
  // `iterations` lacks the first iteration and the last one.
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
export function probe({ turn, joined, board, thread, threads, common, own }: Stage): void {
  const { subject, ticket, finish } = joined;
  const { words, tickets, interval, arrivals, tallies } = board;
  const stamp = arrival(thread);
  const at = tally(thread);
  let admissions = 0;
  let longestWait = 0;
  let largestBypass = 0;
  let outOfOrder = 0;
  let seen = WARM;
  while (true) {
    // The stamp is stored right before `enter`. A thread that is preempted between the two counts as waiting.
    const arrived = clock();
    const mine = Atomics.add(words, ARRIVALS, 1) + 1;
    Atomics.store(arrivals, stamp, mine);
    turn.enter(subject);
    const served = clock();

    // From here to `leave` this thread is alone inside. This protects the tickets and the bypass counts.
    let bypass = 0;
    if (ticket !== undefined) {
      const admittedTicket = ticket();
      const latest = tickets[LATEST] as bigint;
      const highest = tickets[HIGHEST] as bigint;
      if (latest >= 0n && admittedTicket !== latest + 1n) outOfOrder++;
      if (highest > admittedTicket) bypass = Number(highest - admittedTicket);
      else tickets[HIGHEST] = admittedTicket;
      tickets[LATEST] = admittedTicket;
    } else {
      for (let other = 0; other < threads; other++) {
        const theirs = Atomics.load(arrivals, arrival(other));
        if (theirs !== 0 && theirs < mine) (arrivals[arrival(other) + 1] as number)++;
      }
      bypass = arrivals[stamp + 1] as number;
      arrivals[stamp + 1] = 0;
    }
    Atomics.store(arrivals, stamp, 0);
    turn.inside(common);
    turn.leave(subject);
    turn.outside(own);

    if (++admissions === 1) admitted(words);
    const phase = Atomics.load(words, PHASE);
    if (phase !== seen) {
      // What happened before the interval does not count. The thread may have waited since before the interval.
      if (seen < MEASURE) {
        longestWait = largestBypass = 0;
        for (let band = 0; band < BANDS; band++) tallies[at + BYPASSES + band] = 0;
      }
      seen = phase;
    }
    // The part of a wait that lies inside the interval counts. So a thread that starves through the whole interval
    // shows.
    const from = Math.max(arrived, interval[BEGIN] as number);
    const waited = (phase === STOP ? Math.min(served, interval[END] as number) : served) - from;
    if (waited > longestWait) longestWait = waited;
    if (bypass > largestBypass) largestBypass = bypass;
    (tallies[at + BYPASSES + bypassBand(bypass)] as number)++;
    if (phase === STOP) break;
  }
  finish?.();
  tallies[at + ADMISSIONS] = admissions;
  tallies[at + LONGEST_WAIT] = longestWait;
  tallies[at + LARGEST_BYPASS] = largestBypass;
  tallies[at + OUT_OF_ORDER] = ticket === undefined ? Number.NaN : outOfOrder;
}

function admitted(words: Int32Array): void {
  Atomics.add(words, ADMITTED, 1);
  Atomics.notify(words, ADMITTED);
}
