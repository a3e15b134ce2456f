/**
 * Threads that lock several objects in one order, so that they never wait in a circle, but nearly do. Meanwhile each
 * thread that blocks looks for deadlocks after a millisecond, and main looks all the time. Prints what was found.
 */
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Mutex, Semaphore } from 'taketurns';
import { deadlocks, watchDeadlocks } from 'taketurns/report';
import { RwLock } from 'taketurns/sync';

const mutexes = [0, 1, 2].map((i) => Mutex.open(`m${i}`));
const pool = Semaphore.open('pool', 2, { max: 2, robust: true });
const config = RwLock.open('config');
const MILLISECONDS = 1500;

/** Locks one thing, and later gives it back. */
const ways = [
  ...mutexes.map((mutex) => (run) => {
    mutex.lock();
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
  const end = performance.now() + MILLISECONDS;
  const nap = new Int32Array(new SharedArrayBuffer(4));
  while (performance.now() < end) {
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

if (isMainThread) {
  watchDeadlocks(undefined, { deadlocks: 'warn', after: 1 });
  let running = 5;
  for (let i = 0; i < running; i++) new Worker(new URL(import.meta.url), { workerData }).on('exit', () => running--);
  let looks = 0;
  let found = 0;
  while (running > 0) {
    found += deadlocks().certain.length;
    looks++;
    await new Promise((later) => setImmediate(later));
  }
  console.log(JSON.stringify({ looks, found }));
} else work();
