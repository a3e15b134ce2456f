// A pool of four threads could run four jobs at once, but the machine has only 1000 MB for them. Before the program
// hands a job to the pool, it acquires a permit for each megabyte that the job needs. A big job gets all its permits at
// once, in its turn, and no stream of small jobs can keep it waiting.
// Run: npm install piscina && node node_modules/taketurns/examples/piscina-memory.mjs
// In a clone of the repository: node examples/piscina-memory.mjs
import { isMainThread } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { Semaphore } from 'taketurns';

const MEGABYTES = 1000;

if (isMainThread) {
  const memory = new Semaphore(MEGABYTES);
  const pool = new Piscina({ filename: import.meta.url, minThreads: 4, maxThreads: 4 });
  const used = new Int32Array(new SharedArrayBuffer(8)); // megabytes now, most at once

  const run = (megabytes) => memory.runExclusive(() => pool.run({ megabytes, used }), megabytes);
  const jobs = [300, 300, 300, 900, 100, 100, 400, 1000, 200, 300].map(run);
  const megabytes = await Promise.all(jobs);
  const fits = used[1] <= MEGABYTES ? 'never more than there is' : `${used[1]} MB at once, too much`;
  console.log(`${jobs.length} jobs of ${megabytes.reduce((a, b) => a + b)} MB in all: ${fits}`);
  await pool.destroy();
}

/** Stands for a job, which has its memory for ten milliseconds. Piscina runs this in its threads. */
export default function job({ megabytes, used }) {
  const now = Atomics.add(used, 0, megabytes) + megabytes;
  for (let most = Atomics.load(used, 1); now > most; )
    most = Atomics.compareExchange(used, 1, most, now) === most ? now : Atomics.load(used, 1);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  Atomics.sub(used, 0, megabytes);
  return megabytes;
}
