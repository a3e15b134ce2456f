// The two loops that threads run: `measure`, which does nothing but the benchmark, and `probe`, which also takes
// times, stamps and tickets and so is never used for throughput.
//
// A thread imports this module once per row, under a URL of its own (`loop.js?row=...`). Each copy has its own type
// feedback, so every call in it has seen one class only and is compiled as a direct, inlined call.
//
// The phase is read plainly: every turn of the loop calls a semaphore, which no engine moves a shared load across.

import { mtStep } from '../mt19937.js';
import type { Blocking, Joined } from '../rows/rows.js';
import {
  ADMISSIONS,
  ADMITTED,
  ARRIVALS,
  arrival,
  BEGIN,
  type Board,
  COUNTED,
  clock,
  END,
  HIGHEST,
  LARGEST_BYPASS,
  LATEST,
  LONGEST_WAIT,
  OUT_OF_ORDER,
  PHASE,
  STOP,
  tally,
  WARM,
} from './board.js';

const WARM_TURNS = 4000;
const WARM_MS = 8;

/** What a loop works on. */
export interface Stage {
  joined: Joined;
  board: Board;
  thread: number;
  threads: number;
  /** The generator that the permit protects. */
  common: Uint32Array;
  /** The generator of this thread. */
  own: Uint32Array;
}

/** What semabench repeats. */
function iterate(semaphore: Blocking, common: Uint32Array, own: Uint32Array): void {
  semaphore.acquire();
  mtStep(common);
  semaphore.release();
  mtStep(own);
}

/**
 * Repeats the iteration, alone on a semaphore of this thread's own, until the engine has compiled it. Otherwise, with
 * many threads, each has too few turns for that during the interval, and interpreters would be compared.
 */
export function warm(semaphore: Blocking, common: Uint32Array, own: Uint32Array): void {
  const start = performance.now();
  for (let turns = 0; turns < WARM_TURNS || performance.now() - start < WARM_MS; turns++) {
    iterate(semaphore, common, own);
  }
}

/** Runs until STOP; writes how many iterations ended inside the interval. */
export function measure({ joined, board, thread, common, own }: Stage): void {
  const { semaphore } = joined;
  const { words, tallies } = board;
  iterate(semaphore, common, own);
  admitted(words);
  let seen = WARM;
  let iterations = 0;
  let before = -1;
  while (true) {
    iterate(semaphore, common, own);
    const phase = words[PHASE] as number;
    if (phase !== seen) {
      // This iteration ended after the change of phase that it notices: it belongs to the phase that begins.
      seen = phase;
      if (phase === STOP) break;
      before = iterations;
    }
    iterations++;
  }
  // A thread that was kept waiting through the whole interval has seen no MEASURE and did nothing inside it.
  tallies[tally(thread) + COUNTED] = before < 0 ? 0 : iterations - before;
}

/** Runs until STOP; writes longest wait, largest bypass and the number of admissions out of ticket order. */
export function probe({ joined, board, thread, threads, common, own }: Stage): void {
  const { semaphore, ticket } = joined;
  const { words, tickets, interval, arrivals, tallies } = board;
  const stamp = arrival(thread);
  let admissions = 0;
  let longestWait = 0;
  let largestBypass = 0;
  let outOfOrder = 0;
  while (true) {
    const mine = Atomics.add(words, ARRIVALS, 1) + 1;
    Atomics.store(arrivals, stamp, mine);
    const arrived = clock();
    semaphore.acquire();
    const served = clock();

    // From here to release this thread is alone: the permit protects tickets and bypass counts.
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
    mtStep(common);
    semaphore.release();
    mtStep(own);

    if (++admissions === 1) admitted(words);
    const phase = Atomics.load(words, PHASE);
    if (phase !== WARM) {
      // Of a wait, the part inside the interval: a thread that starves through all of it must show.
      const from = Math.max(arrived, interval[BEGIN] as number);
      const waited = (phase === STOP ? Math.min(served, interval[END] as number) : served) - from;
      if (waited > longestWait) longestWait = waited;
      if (bypass > largestBypass) largestBypass = bypass;
      if (phase === STOP) break;
    }
  }
  const at = tally(thread);
  tallies[at + ADMISSIONS] = admissions;
  tallies[at + LONGEST_WAIT] = longestWait;
  tallies[at + LARGEST_BYPASS] = largestBypass;
  tallies[at + OUT_OF_ORDER] = ticket === undefined ? Number.NaN : outOfOrder;
}

function admitted(words: Int32Array): void {
  Atomics.add(words, ADMITTED, 1);
  Atomics.notify(words, ADMITTED);
}
