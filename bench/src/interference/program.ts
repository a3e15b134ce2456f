// Measures how waits that share a bucket disturb each other. Each pair of threads passes its own word to and fro. This
// is measured in two ways. First the threads wait in the library's table, where words at the same offset of different
// buffers share a bucket. Then each pair waits by its own AtomicSemaphore.
//
//   node bench/dist/interference/program.js

import { Worker } from 'node:worker_threads';
import { Arena } from 'taketurns';
import { AtomicSemaphore } from 'taketurns/p0514';
import type { Pair } from './thread.js';

const SECONDS = 1;
const RUNS = 3;

async function turnsPerSecond(pairs: number, own: boolean): Promise<number> {
  const arena = new Arena();
  const board = new Int32Array(new SharedArrayBuffer(4 * (pairs + 1)));
  const semaphores: AtomicSemaphore[] = [];
  const workers: Worker[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const semaphore = own ? new AtomicSemaphore({ arena }) : undefined;
    if (semaphore) semaphores.push(semaphore);
    const turn = new Int32Array(new SharedArrayBuffer(4));
    for (const side of [0, 1] as const) {
      const workerData: Pair = {
        arena: arena.handle,
        turn,
        side,
        board,
        pair,
        handle: semaphore?.handle,
      };
      workers.push(new Worker(new URL('./thread.js', import.meta.url), { workerData }));
    }
  }
  const ended = Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve))));
  const total = (): number =>
    Array.from({ length: pairs }, (_, pair) => Atomics.load(board, 1 + pair)).reduce((sum, n) => sum + n, 0);
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  for (let pair = 0; pair < pairs; pair++) while (Atomics.load(board, 1 + pair) < 100) await sleep(5);
  const [before, start] = [total(), performance.now()];
  await sleep(SECONDS * 1000);
  const rate = ((total() - before) * 1000) / (performance.now() - start);
  Atomics.store(board, 0, 1);
  await ended;
  return rate;
}

console.log('| pairs | one table, turns/s | own semaphores, turns/s | ratio |\n| ---: | ---: | ---: | ---: |');
for (const pairs of [1, 2, 4, 8, 16]) {
  const medians: number[] = [];
  for (const own of [false, true]) {
    const rates: number[] = [];
    for (let run = 0; run < RUNS; run++) rates.push(await turnsPerSecond(pairs, own));
    medians.push(rates.sort((a, b) => a - b)[RUNS >> 1] as number);
  }
  const [table, own] = medians as [number, number];
  console.log(`| ${pairs} | ${Math.round(table)} | ${Math.round(own)} | ${(own / table).toFixed(2)} |`);
}
