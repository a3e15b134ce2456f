/** One run of a row, as in bench/src/workers/host.ts. But the run never blocks, since a page's main thread may not. */
import { BENCHMARKS, type Benchmark } from '@taketurns/bench/dist/benchmarks.js';
import { MT_BYTES, mtSeed, mtStepped } from '@taketurns/bench/dist/mt19937.js';
import type { Trace } from '@taketurns/bench/dist/rows/platoon.js';
import type { ScriptRow } from '@taketurns/bench/dist/rows/row.js';
import {
  ADMITTED,
  BEGIN,
  clock,
  END,
  FAILED,
  MEASURE,
  makeBoard,
  PHASE,
  STOP,
  WARM,
} from '@taketurns/bench/dist/workers/board.js';
import { type RunCounts, runCounts } from '@taketurns/bench/dist/workers/run-counts.js';
import { within } from '@taketurns/bench/dist/workers/within.js';
import { type Crew, sleep } from '../crew/crew.js';

const PATIENCE_MS = 20_000;
/** A lock may let a thread starve. After this time the interval begins without the starving thread. */
const GATHERING_MS = 1500;
const LOOK_MS = 4;

export interface RunOptions {
  readonly benchmark: Benchmark['name'];
  readonly loop: 'measure' | 'probe';
  readonly seconds: number;
  /** Milliseconds from the start of the loop to the interval. */
  readonly warmUp: number;
  readonly byTicket?: boolean;
}

export interface RunResult extends RunCounts {
  /** The true length of the interval. */
  readonly seconds: number;
  readonly trace?: Trace;
}

/** Lets the whole crew run the row once. */
export async function runRow(crew: Crew, row: ScriptRow, options: RunOptions): Promise<RunResult> {
  const { benchmark, loop, seconds, warmUp } = options;
  const threads = crew.size;
  const { shared, dispose, trace } = await row.share();
  const board = makeBoard(threads);
  const common = new Uint32Array(new SharedArrayBuffer(MT_BYTES));
  mtSeed(common);
  const { words, interval } = board;
  const { workload } = BENCHMARKS[benchmark];
  const ready = crew.order((thread) => ({
    job: 'bench',
    benchmark,
    workload,
    row: row.name,
    loop,
    thread,
    threads,
    shared,
    board: board.memory,
    common,
    byTicket: options.byTicket ?? false,
  }));
  await within(ready, PATIENCE_MS, 'the threads did not start');
  const done = crew.done();
  done.catch(() => {});

  Atomics.store(words, PHASE, WARM);
  Atomics.notify(words, PHASE);
  const start = performance.now();
  while (Atomics.load(words, ADMITTED) < threads && Atomics.load(words, FAILED) === 0) {
    if (performance.now() - start > GATHERING_MS) break;
    await sleep(LOOK_MS);
  }
  // The error of a failed thread is on its way.
  if (Atomics.load(words, FAILED) !== 0) await done;
  await sleep(Math.max(0, start + warmUp - performance.now()));

  const begin = clock();
  interval[BEGIN] = begin;
  Atomics.store(words, PHASE, MEASURE);
  await sleep(seconds * 1000);
  const end = clock();
  interval[END] = end;
  Atomics.store(words, PHASE, STOP);
  await within(done, PATIENCE_MS, 'not every thread came back after the interval');
  const traced = trace?.(end);
  dispose?.();

  const counts = runCounts(board, threads);
  if (!mtStepped(common, counts.admissions)) throw new Error('it let two threads in at once: steps were lost');
  return {
    ...counts,
    seconds: (end - begin) / 1000,
    ...(traced === undefined ? {} : { trace: traced }),
  };
}
