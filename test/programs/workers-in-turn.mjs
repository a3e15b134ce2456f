/**
 * Workers come and go, four at a time, in an arena with room for 16 threads. Nobody watches them. Each worker takes a
 * permit and ends in one of four ways. If the library did not notice the deaths, the permits would soon be gone, and
 * the arena would be full after 15 workers. The program runs on Node, Deno and Bun.
 * `node test/programs/workers-in-turn.mjs 5000` runs it with 5,000 workers:
 *
 *     node test/programs/workers-in-turn.mjs [workers]
 */
import process from 'node:process';
import { setInterval, setTimeout } from 'node:timers';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Arena, Semaphore } from 'taketurns';

const AT_ONCE = 4;
const DEADLINE = 10_000;
const ON_PURPOSE = 'on purpose';
const WAYS = ['terminate', 'process.exit', 'an uncaught error', 'leaving'];

async function supervise(workers) {
  const arena = new Arena({ threads: 16 });
  const semaphore = new Semaphore(AT_ONCE, { arena, robust: true });
  let begun = 0;
  const one = (way) =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: { handle: semaphore.handle, way } });
      worker.on('message', () => worker.terminate());
      worker.on('error', (error) => error.message === ON_PURPOSE || reject(error));
      worker.once('exit', resolve);
    });
  const lane = async () => {
    while (begun < workers) await one(WAYS[begun++ % WAYS.length]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  for (const end = performance.now() + DEADLINE; arena.threads > 1 && performance.now() < end; )
    await new Promise((resolve) => setTimeout(resolve, 5));
  console.log(JSON.stringify({ workers: begun, threads: arena.threads, available: semaphore.available }));
}

function work({ handle, way }) {
  const semaphore = Semaphore.from(handle);
  semaphore.acquire();
  if (way === 'leaving') return;
  if (way === 'process.exit') process.exit(0);
  if (way === 'an uncaught error') throw new Error(ON_PURPOSE);
  // The timer keeps the worker and the semaphore until the worker is terminated.
  setInterval(() => semaphore.available, 1000);
  parentPort.postMessage(way);
}

if (isMainThread) await supervise(Number(process.argv[2] ?? 60));
else work(workerData);
