// The process of the script rows. Its parent sends it one run at a time. Its worker threads do the run, and it answers
// with their counts.
//
// The host keeps its threads for the next run. If there is time, the parent starts a new host for every run, so rows
// cannot disturb each other. Otherwise it uses one host for all runs.

import { SHARE_ENV, Worker } from 'node:worker_threads';
import { BENCHMARKS, type Benchmark, scriptRow, type Work } from '../benchmarks.js';
import { MT_BYTES, mtSeed, mtStepped } from '../mt19937.js';
import type { Parts } from '../results.js';
import type { Trace } from '../rows/platoon.js';
import type { Wakes } from '../rows/row.js';
import { total } from '../statistics.js';
import {
  ADMITTED,
  BEGIN,
  clock,
  END,
  FAILED,
  MEASURE,
  makeBoard,
  PARTS,
  PHASE,
  REHEARSAL,
  STOP,
  tally,
  WARM,
} from './board.js';
import { type RunCounts, runCounts } from './run-counts.js';
import type { ThreadOrder, ThreadReply } from './thread.js';
import { within } from './within.js';

export interface HostOrder {
  benchmark: Benchmark['name'];
  row: string;
  loop: 'measure' | 'probe';
  threads: number;
  seconds: number;
  /** Milliseconds of warm-up for each thread that is new to the row. */
  warmUp: number;
  work?: Work;
}

export interface HostResult extends RunCounts {
  /** The interval's true length. */
  seconds: number;
  cpuSeconds: number;
  parts: Parts;
  trace?: Trace;
  /** The counts inside the interval, for rows that count. */
  wakes?: Wakes;
}

export type HostReply = { result: HostResult } | { error: string };

// If threads do not answer for so long, they hang. The time is long enough for a slow machine with many threads.
const PATIENCE_MS = 20_000;
// The interval starts once every thread has been admitted. But some locks let a thread starve as long as others come.
// So the interval starts after this time in any case.
const GATHERING_MS = 2000;
// For so long the loop runs before the interval starts, and longer if threads are new to the row (`warmUp`). A thread
// that is new to a row takes the slow path of the row for the first time, and the runtime compiles the code anew. That
// takes milliseconds for each thread, and all others in the queue wait meanwhile. If there are many threads, each has
// few turns a second, so it takes seconds until the compiled code no longer changes (docs/internals/measurements.md).
const WARM_MS = 30;
/** How often the phase changes before the interval (board.ts). */
const REHEARSALS = 8;

/** How many threads have run a row before, by the name of the row and of the loop. Each loop is compiled separately. */
const seasoned = new Map<string, number>();
const workers: Worker[] = [];

async function run(order: HostOrder): Promise<HostResult> {
  const { benchmark, row: name, loop, threads, seconds, warmUp, work } = order;
  while (workers.length < threads)
    workers.push(new Worker(new URL('./thread.js', import.meta.url), { env: SHARE_ENV }));
  const row = scriptRow(benchmark, name);
  const { shared, dispose, port, trace, wakes } = await row.share(loop === 'probe');
  const board = makeBoard(threads);
  const common = new Uint32Array(new SharedArrayBuffer(MT_BYTES));
  mtSeed(common);

  const { words, interval, parts } = board;
  const crew = workers.slice(0, threads);
  const ready = crew.map((worker) => answer(worker, 'ready'));
  crew.forEach((worker, thread) => {
    const own = port?.();
    const order = { benchmark, row: name, loop, work, thread, threads, shared, port: own, board: board.memory, common };
    worker.postMessage(order satisfies ThreadOrder, own === undefined ? [] : [own]);
  });
  await within(Promise.all(ready), PATIENCE_MS, 'the threads did not start');
  const done = Promise.all(crew.map((worker) => answer(worker, 'done')));
  done.catch(() => {});

  setPhase(words, WARM);
  const start = performance.now();
  for (let count = 0; count < threads; count = Atomics.load(words, ADMITTED)) {
    const left = start + GATHERING_MS - performance.now();
    if (left <= 0 || Atomics.wait(words, ADMITTED, count, left) === 'timed-out') break;
  }
  // A thread has failed, and its error is on its way. `done` rejects with it.
  if (Atomics.load(words, FAILED) !== 0) await done;
  const what = `${name} ${loop}`;
  const known = seasoned.get(what) ?? 0;
  const newcomers = Math.max(0, threads - known);
  seasoned.set(what, known + newcomers);
  rehearse(words, start + WARM_MS + newcomers * warmUp);

  const cpu = process.cpuUsage();
  const before = wakes?.();
  const begin = clock();
  interval[BEGIN] = begin;
  setPhase(words, MEASURE);
  const ends: number[] = [];
  for (let part = 1; part < PARTS; part++) {
    sleep(begin + (part * seconds * 1000) / PARTS - clock());
    ends.push(clock());
    setPhase(words, MEASURE + part);
  }
  sleep(begin + seconds * 1000 - clock());
  const end = clock();
  interval[END] = end;
  setPhase(words, STOP);
  const after = wakes?.();
  const used = process.cpuUsage(cpu);

  await within(done, PATIENCE_MS, 'not every thread came back after the interval');
  const traced = trace?.(end);
  dispose?.();

  ends.push(end);
  const counts = runCounts(board, threads);
  const alone = !BENCHMARKS[benchmark].crowdsOnly && !row.apart;
  if (alone && !mtStepped(common, counts.admissions * (work?.inside ?? 1)))
    throw new Error('it let two threads in at once: steps were lost');
  return {
    ...counts,
    seconds: (end - begin) / 1000,
    cpuSeconds: (used.user + used.system) / 1e6,
    parts: {
      seconds: ends.map((time, part) => (time - (ends[part - 1] ?? begin)) / 1000),
      iterations: ends.map((_, part) => total(crew.map((_, thread) => parts[tally(thread) + part] as number))),
    },
    ...(traced && { trace: traced }),
    ...(before &&
      after && {
        wakes: { collisions: after.collisions - before.collisions, futile: after.futile - before.futile },
      }),
  };
}

function setPhase(words: Int32Array, phase: number): void {
  Atomics.store(words, PHASE, phase);
  if (phase === WARM) Atomics.notify(words, PHASE);
}

/** Changes the phase to and fro between WARM and REHEARSAL until `end`. */
function rehearse(words: Int32Array, end: number): void {
  const step = (end - performance.now()) / REHEARSALS;
  for (let i = 1; i <= REHEARSALS; i++) {
    sleep(end - (REHEARSALS - i) * step - performance.now());
    setPhase(words, i % 2 === 0 ? WARM : REHEARSAL);
  }
}

function sleep(milliseconds: number): void {
  if (milliseconds > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

function answer(worker: Worker, kind: 'ready' | 'done'): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      worker.off('message', onMessage).off('error', settle);
      if (error) reject(error);
      else resolve();
    };
    const onMessage = (reply: ThreadReply): void => {
      if ('error' in reply) settle(new Error(reply.error));
      else if (kind in reply) settle();
    };
    worker.on('message', onMessage).on('error', settle);
  });
}

process.on('message', async (order: HostOrder) => {
  let reply: HostReply;
  try {
    reply = { result: await run(order) };
  } catch (error) {
    reply = { error: error instanceof Error ? error.message : String(error) };
  }
  process.send?.(reply);
});
// Threads that are still parked must not keep a host alive after its parent has gone.
process.on('disconnect', () => process.exit());
