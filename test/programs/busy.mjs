/**
 * Threads that lock several objects in one order, so that they never wait in a circle, but nearly do. Meanwhile each
 * thread that blocks looks for deadlocks after a millisecond, and main looks all the time. Whatever is found is a false
 * alarm. Prints how often main has looked, and what was found. `npm run alarms -w runtimes` runs it for long, on any
 * runtime:
 *
 *     node test/programs/busy.mjs [milliseconds [milliseconds between two kills, 0 for none]]
 */
import process from 'node:process';
import { clearInterval, setImmediate, setInterval } from 'node:timers';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Mutex, Semaphore } from 'taketurns';
import { deadlocks, watchDeadlocks } from 'taketurns/report';
import { RwLock } from 'taketurns/sync';

const mutexes = [0, 1, 2].map((i) => Mutex.open(`m${i}`));
const pool = Semaphore.open('pool', 2, { robust: true });
const config = RwLock.open('config');
const [milliseconds, every] = isMainThread ? [1500, 0].map((usual, i) => Number(process.argv[2 + i] ?? usual)) : [];

/** Locks one thing, and later gives it back. */
const ways = [
  ...mutexes.map((mutex) => (run) => {
    try {
      mutex.lock(Math.random() < 0.1 ? { timeout: Math.random() * 5 } : {});
    } catch (error) {
      if (error.name !== 'TimeoutError') throw error;
      return;
    }
    run();
    mutex.unlock();
  }),
  (run) => {
    pool.acquire();
    run();
    pool.release();
  },
  (run) => {
    const held = Math.random() < 0.5 ? config.read() : config.write();
    run();
    held.unlock();
  },
];

function work() {
  const end = workerData;
  const nap = new Int32Array(new SharedArrayBuffer(4));
  while (Date.now() < end) {
    const chosen = ways.filter(() => Math.random() < 0.4);
    const run = chosen.reduceRight(
      (inner, way) => () => way(inner),
      () => {
        if (Math.random() < 0.2) Atomics.wait(nap, 0, 0, Math.random() * 4);
      },
    );
    run();
  }
}

async function main() {
  watchDeadlocks(undefined, { deadlocks: 'warn', after: 1 });
  const end = Date.now() + milliseconds;
  const workers = new Set();
  let [running, looks, found, kills] = [0, 0, 0, 0];
  const start = () => {
    const worker = new Worker(new URL(import.meta.url), { workerData: end });
    running++;
    worker.on('error', () => {});
    workers.add(worker.on('exit', () => running--));
  };
  for (let i = 0; i < 5; i++) start();
  const killer =
    every > 0 &&
    setInterval(() => {
      if (Date.now() + every > end) return;
      const all = [...workers];
      const victim = all[Math.floor(Math.random() * all.length)];
      workers.delete(victim);
      victim.terminate();
      kills++;
      start();
    }, every);
  while (running > 0) {
    found += deadlocks().certain.length;
    looks++;
    await new Promise((later) => setImmediate(later));
  }
  clearInterval(killer);
  console.log(JSON.stringify({ looks, found, kills }));
  process.exit();
}

// Node 20 may crash if a worker is terminated while its module awaits something: so no module here awaits.
if (isMainThread) main();
else work();
