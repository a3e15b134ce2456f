// Starts workers in turn, with `at once` of them at a time. Says what they have left in the arena, and whether the
// memory of the process stays flat. Of each four workers, one ends by itself, one exits, one is terminated while it
// holds a lock and a permit, and one is terminated while it waits.
//
//     node test/programs/many-workers.mjs [workers] [at once]      10,000 workers, 500 at once, by default
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Arena, Mutex, Semaphore } from 'taketurns';

const [workers = 10_000, atOnce = 500] = process.argv.slice(2).map(Number);
const WAYS = ['ends', 'exits', 'holds', 'waits'];
const MB = 2 ** 20;

const arena = Arena.default;
const mutex = new Mutex();
const permits = new Semaphore(atOnce, { robust: true });
const never = new Semaphore(0);
const elements = () => arena.stats().elements.used;
const before = elements();
const start = performance.now();
const sizes = [];
let mostThreads = 0;
let started = 0;
let ended = 0;
let errors = 0;

async function one(way) {
  const worker = new Worker(new URL('workers/come-and-go.mjs', import.meta.url), {
    workerData: { way, mutex: mutex.handle, permits: permits.handle, never: never.handle },
  });
  worker.on('error', (error) => {
    errors++;
    console.log(error);
  });
  const exit = new Promise((resolve) => worker.once('exit', resolve));
  if (way === 'holds' || way === 'waits') {
    await Promise.race([new Promise((resolve) => worker.once('message', resolve)), exit]);
    mostThreads = Math.max(mostThreads, arena.threads);
    await worker.terminate();
  }
  await exit;
}

async function inTurn() {
  while (started < workers) {
    await one(WAYS[started++ % WAYS.length]);
    if (++ended % Math.ceil(workers / 10) === 0) {
      sizes.push(Math.round(process.memoryUsage.rss() / MB));
      if (process.stderr.isTTY || workers > 1000) {
        const seconds = Math.round((performance.now() - start) / 1000);
        console.error(`${ended} workers, ${seconds} s, ${sizes.at(-1)} MB, ${arena.threads} threads`);
      }
    }
  }
}

await Promise.all(Array.from({ length: atOnce }, inTurn));
// The last deaths are noticed within some milliseconds.
for (let i = 0; i < 500 && (arena.threads > 1 || elements() !== before); i++) await setTimeout(10);

// While the first half of the workers run, the process grows to what `at once` workers take.
const grown = sizes.at(-1) - Math.max(...sizes.slice(0, 5));
const left = {
  workers: ended,
  errors,
  threads: arena.threads,
  elements: elements() - before,
  objects: arena.stats().objects.used,
  permits: permits.available - atOnce,
  locked: mutex.locked,
  waiting: never.waiting,
  flat: grown < 50,
};
if (workers > 1000) console.error({ mostThreads, megabytes: sizes });
console.log(JSON.stringify(left));
