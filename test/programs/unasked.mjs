/**
 * A program that hangs, also in its main thread, and never asks for a report. The first argument says how: `deadlock`,
 * or `long` for a worker that waits for what the main thread has, while main sleeps.
 */
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Mutex } from 'taketurns';

const [accounts, audit] = [Mutex.open('accounts'), Mutex.open('audit')];
if (isMainThread) {
  accounts.lock();
  const gate = new Int32Array(new SharedArrayBuffer(4));
  new Worker(new URL(import.meta.url), { workerData: gate });
  Atomics.wait(gate, 0, 0);
  if (process.argv[2] === 'deadlock') audit.lock();
  Atomics.wait(gate, 0, 1);
} else {
  audit.lock();
  Atomics.store(workerData, 0, 1);
  Atomics.notify(workerData, 0);
  accounts.lock();
}
