// The same code with async-mutex, whose locks belong to one thread, and with taketurns, whose locks all threads share.
// docs/guides/from-async-mutex.md has the calls side by side.
// Run: npm install async-mutex && node node_modules/taketurns/examples/from-async-mutex.mjs
// In a clone of the repository: node examples/from-async-mutex.mjs
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import * as before from 'async-mutex';
import * as now from 'taketurns';

const TASKS = 20;

/** Adds 1 to a counter in a way that only a lock makes right. */
async function add(counter) {
  const value = counter[0];
  await turn();
  counter[0] = value + 1;
}

const many = (task) => Promise.all(Array.from({ length: TASKS }, task));

if (isMainThread) {
  const counter = new Int32Array(new SharedArrayBuffer(4));

  const old = new before.Mutex();
  await many(() => old.runExclusive(() => add(counter)));
  console.log(`async-mutex, one thread: ${counter[0]}`);

  const mutex = new now.Mutex();
  counter[0] = 0;
  await many(() => mutex.runExclusive(() => add(counter)));
  console.log(`taketurns, one thread: ${counter[0]}`);

  // With taketurns, tasks of other threads can share the lock, too.
  counter[0] = 0;
  const data = { workerData: { mutex: mutex.handle, counter } };
  const workers = [1, 2].map(() => new Worker(new URL(import.meta.url), data));
  await many(() => mutex.runExclusive(() => add(counter)));
  await Promise.all(workers.map((worker) => once(worker, 'exit')));
  console.log(`taketurns, three threads: ${counter[0]}`);
} else {
  const mutex = now.Mutex.from(workerData.mutex);
  await many(() => mutex.runExclusive(() => add(workerData.counter)));
}
