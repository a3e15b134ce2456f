// Runs as a process of its own, one per figure, so that nothing another row did is in the engine's type feedback
// or heap. Prints {"nanoseconds": x}, the time of one acquire and release.
//
//   timer.js pair ROW SECONDS          blocking pair, no contention; ROW may be `floor`
//   timer.js uncontended ROW SECONDS   await acquire(), release()
//   timer.js 'one step' ROW SECONDS     release(64), nobody waiting
//   timer.js loop ROW SECONDS           64 times release() instead
//   timer.js queued ROW SECONDS        1,000 callers wait while the permit is held, then all are served

import { readFileSync } from 'node:fs';
import { ASYNC_ROWS, FLOOR, scriptRow } from '../rows/rows.js';

const WARM_MS = 100;
const QUEUED = 1000;

/** Calls `burst` for a while unobserved, then for `seconds`; returns the nanoseconds per operation. */
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

async function pair(_: string, name: string, seconds: number): Promise<number> {
  if (name === FLOOR) {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
    const bytes = readFileSync(new URL('../../build/floor.wasm', import.meta.url));
    const { instance } = await WebAssembly.instantiate(bytes, { env: { memory } });
    const run = instance.exports.run as (pairs: number) => bigint;
    return time(seconds, PAIRS, () => {
      run(PAIRS);
    });
  }
  const row = scriptRow(name);
  const { shared } = await row.share();
  const { semaphore } = await row.join(shared);
  return time(seconds, PAIRS, () => {
    for (let i = 0; i < PAIRS; i++) {
      semaphore.acquire();
      semaphore.release();
    }
  });
}

const MANY = 64;
const RELEASES = 1000;

/** A fresh semaphore for each burst, so that its permits stay far below any limit. */
async function releases(shape: string, name: string, seconds: number): Promise<number> {
  const row = scriptRow(name);
  return time(seconds, RELEASES, async () => {
    const { shared, dispose } = await row.share();
    const { semaphore } = await row.join(shared);
    for (let i = 0; i < RELEASES; i++) {
      if (shape === 'one step') semaphore.release(MANY);
      else for (let k = 0; k < MANY; k++) semaphore.release();
    }
    dispose?.();
  });
}

async function promises(shape: string, name: string, seconds: number): Promise<number> {
  const row = ASYNC_ROWS.find((candidate) => candidate.name === name);
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

const [shape = '', row = '', seconds = ''] = process.argv.slice(2);
try {
  const measure = { pair, 'one step': releases, loop: releases }[shape] ?? promises;
  const nanoseconds = await measure(shape, row, Number(seconds));
  console.log(JSON.stringify({ nanoseconds }));
  process.exit();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
