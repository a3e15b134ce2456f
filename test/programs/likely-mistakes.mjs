/**
 * Waits that are likely to be a mistake, and others. The first argument says which. A worker ends the wait when the
 * thread has waited for long enough to say so, and the program prints `got it`.
 */
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Mutex, Semaphore } from 'taketurns';
import { report, watchDeadlocks } from 'taketurns/report';
import { Latch } from 'taketurns/sync';

const how = isMainThread ? process.argv[2] : workerData;
const accounts = Mutex.open('accounts');
const pool = Semaphore.open('pool', 0);
const latch = Latch.open('latch', 1);

/** Waits until something has waited for so many milliseconds. */
const untilWaited = async (milliseconds) => {
  while (report().longestWait < milliseconds) await new Promise((later) => setTimeout(later, 5));
};

const main = {
  'await acquire': async () => await pool.acquire(),
  lock: () => accounts.lock(),
  twice: () => {
    pool.acquire();
    pool.acquire();
  },
  'with a time-out': () => pool.acquire(1, { timeout: 60_000 }),
  ignored: () => pool.acquire(),
  latch: () => latch.wait(),
  'behind a promise': () => {
    pool.acquireAsync();
    pool.acquire();
  },
  'before a promise': () => pool.acquire(),
};

if (isMainThread) {
  watchDeadlocks(undefined, { after: 100, deadlocks: how === 'ignored' ? 'ignore' : 'warn' });
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL(import.meta.url), { workerData: how });
  worker.postMessage(gate);
  // The worker has locked the mutex.
  Atomics.wait(gate, 0, 0);
  await main[how]();
  console.log('got it');
  process.exit();
}

accounts.lock();
const { parentPort } = await import('node:worker_threads');
parentPort.once('message', async (gate) => {
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
  if (how === 'before a promise') {
    while (report().waiting === 0) await new Promise((later) => setTimeout(later, 5));
    pool.acquireAsync();
  }
  await untilWaited(400);
  if (how === 'twice') {
    pool.release();
    await new Promise((later) => setTimeout(later, 5));
    await untilWaited(400);
  }
  accounts.unlock();
  latch.countDown();
  pool.release(2);
});
