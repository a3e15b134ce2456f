// Measures one figure. Each figure has its own process, so no other row has affected the type feedback or the heap.
// Prints {"nanoseconds": x}, the time of one acquire and release, or of one lock and unlock.
//
//   timer.js BENCHMARK pair ROW SECONDS          blocking pair, no contention; ROW may be a floor
//   timer.js BENCHMARK uncontended ROW SECONDS   await acquire(), release()
//   timer.js BENCHMARK queued ROW SECONDS        1,000 callers wait for a held permit, then all are served
//   timer.js semaphores 'one step' ROW SECONDS   release(64) without a waiter
//   timer.js semaphores loop ROW SECONDS         64 times release() instead

import { BENCHMARKS, type Benchmark, scriptRow } from '../benchmarks.js';
import { CALLS_FLOOR, FLOOR } from '../rows/row.js';
import type { SemaphoreLike } from '../rows/subjects.js';
import { TURNS } from '../workers/loop.js';

const WARM_MS = 100;
const QUEUED = 1000;

/** Calls `burst` for a while without timing, then for `seconds`; returns the nanoseconds of an operation. */
async function time(seconds: number, perBurst: number, burst: () => void | Promise<void>): Promise<number> {
  const repeat = async (milliseconds: number): Promise<number> => {
    const start = performance.now();
    let bursts = 0;
    let elapsed = 0;
    while (elapsed < milliseconds) {
      await burst();
      bursts++;
      elapsed = performance.now() - start;
    }
    return (elapsed * 1e6) / (bursts * perBurst);
  };
  await repeat(WARM_MS);
  return repeat(seconds * 1000);
}

const PAIRS = 20_000;

async function made(benchmark: Benchmark['name'], name: string): Promise<unknown> {
  const row = scriptRow(benchmark, name);
  const { shared } = await row.share();
  return (await row.join(shared)).subject;
}

async function pair(
  { name: benchmark, workload }: Benchmark,
  _: string,
  name: string,
  seconds: number,
): Promise<number> {
  if (name === FLOOR) {
    const { run } = await import('./floor.js');
    return time(seconds, PAIRS, () => {
      run(PAIRS);
    });
  }
  const subject = name === CALLS_FLOOR ? new (await import('./floor.js')).TwoCalls() : await made(benchmark, name);
  const { enter, leave } = TURNS[workload];
  return time(seconds, PAIRS, () => {
    for (let i = 0; i < PAIRS; i++) {
      enter(subject);
      leave(subject);
    }
  });
}

const MANY = 64;
const RELEASES = 1000;

/** Measures releases. Makes a new semaphore for each burst, so the permits of a semaphore stay far below any limit. */
async function releases(of: Benchmark, shape: string, name: string, seconds: number): Promise<number> {
  const row = scriptRow(of.name, name);
  return time(seconds, RELEASES, async () => {
    const { shared, dispose } = await row.share();
    const subject = (await row.join(shared)).subject as Required<SemaphoreLike>;
    for (let i = 0; i < RELEASES; i++) {
      if (shape === 'one step') subject.release(MANY);
      else for (let k = 0; k < MANY; k++) subject.release();
    }
    dispose?.();
    // Without this, objects that nobody uses any more would fill the arena while this loop runs.
    (subject as { dispose?(): void }).dispose?.();
  });
}

async function promises(of: Benchmark, shape: string, name: string, seconds: number): Promise<number> {
  const row = of.asyncRows.find((candidate) => candidate.name === name);
  if (row === undefined) throw new Error(`no row on promises is called ${name}`);
  const semaphore = await row.make();
  if (shape === 'uncontended') {
    return time(seconds, QUEUED, async () => {
      for (let i = 0; i < QUEUED; i++) {
        await semaphore.acquire();
        semaphore.release();
      }
    });
  }
  return time(seconds, QUEUED, async () => {
    await semaphore.acquire();
    await new Promise<void>((served) => {
      let waiting = QUEUED;
      const serve = (): void => {
        semaphore.release();
        if (--waiting === 0) served();
      };
      for (let i = 0; i < QUEUED; i++) semaphore.acquire().then(serve);
      semaphore.release();
    });
  });
}

const [benchmark = '', shape = '', row = '', length = ''] = process.argv.slice(2);
try {
  const of = BENCHMARKS[benchmark as Benchmark['name']];
  const measure = { pair, 'one step': releases, loop: releases }[shape] ?? promises;
  const nanoseconds = await measure(of, shape, row, Number(length));
  console.log(JSON.stringify({ nanoseconds }));
  process.exit();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
