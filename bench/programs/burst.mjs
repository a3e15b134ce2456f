/**
 * Measures how long a release takes that looks into one bucket of the waiting array, before and after a burst of
 * waiters:
 *
 *     node bench/programs/burst.mjs [folder of another build]
 *
 * A worker blocks for more permits than it ever gets. So each release of one permit looks into the bucket of one ticket
 * and wakes nobody. The burst consists of 30,000 promises, each on a semaphore of its own and for 4 permits. They fill
 * 60,000 cells.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

const url = pathToFileURL(resolve(process.argv[2] ?? '.', 'dist/index.js')).href;
const { Arena, Semaphore } = await import(url);
const arena = new Arena();
const semaphore = new Semaphore(0, { arena });
const program = `
  const { workerData } = require('node:worker_threads');
  import(workerData.url).then(({ Semaphore }) => Semaphore.from(workerData.handle).acquire(2 ** 30));`;
new Worker(program, { eval: true, workerData: { url, handle: semaphore.handle } });
await new Promise((resolve) => setTimeout(resolve, 500));

function measure(what) {
  const times = [];
  for (let round = 0; round < 15; round++) {
    const start = performance.now();
    for (let i = 0; i < 200_000; i++) semaphore.release();
    times.push((performance.now() - start) * 5);
  }
  times.sort((a, b) => a - b);
  const [least, median, most] = [0, 7, 14].map((i) => times[i].toFixed(1));
  console.log(`${what}: ${median} ns (${least} to ${most})`);
}

measure('warm-up');
measure('before');
const burst = Array.from({ length: 30_000 }, () => new Semaphore(0, { arena }));
const promises = burst.map((each) => each.acquireAsync(4));
await new Promise((resolve) => setTimeout(resolve, 300));
for (const each of burst) each.release(4);
await Promise.all(promises);
measure('after');
process.exit();
