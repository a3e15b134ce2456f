/**
 * There is only the default arena, and no handle. A worker and the worker's own worker each lock a mutex, which they
 * know by its name. The main thread terminates the first worker and locks both mutexes. From beginning to end its event
 * loop does not turn.
 */
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Mutex } from 'taketurns';

const here = new URL(import.meta.url);
if (isMainThread) {
  const told = new Int32Array(new SharedArrayBuffer(12));
  const mutexes = [Mutex.open('1'), Mutex.open('2')];
  const worker = new Worker(here, { workerData: { told, depth: 1 } });
  for (const i of [0, 1]) Atomics.wait(told, i, 0);
  worker.terminate();
  for (const mutex of mutexes) mutex.lock({ timeout: 10_000 });
  for (const mutex of mutexes) mutex.unlock();
  console.log('noticed');
} else {
  const { told, depth } = workerData;
  if (depth === 1) new Worker(here, { workerData: { told, depth: 2 } });
  Mutex.open(String(depth)).lock();
  Atomics.store(told, depth - 1, 1);
  Atomics.notify(told, depth - 1);
  Atomics.wait(told, 2, 0);
}
