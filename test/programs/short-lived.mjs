/**
 * Three threads make short-lived objects in one small arena: some without leaving the present job, some in microtasks,
 * and some in iterations of the event loop.
 */
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Arena, Mutex, Semaphore } from 'taketurns';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const arena = isMainThread ? new Arena({ objects: 64, threads: 8, waiters: 64 }) : Arena.from(workerData);

if (isMainThread) {
  const workers = [1, 2, 3].map(() => new Worker(new URL(import.meta.url), { workerData: arena.handle }));
  const said = await Promise.all(workers.map((worker) => once(worker, 'message')));
  console.log(said.map(([word]) => word).join(' '));
} else {
  const alive = Array.from({ length: 200 }, () => new Mutex({ arena }));
  for (let i = 0; i < 10_000; i++) {
    const mutex = new Mutex({ arena });
    mutex.lock();
    mutex.unlock();
  }
  for (let i = 0; i < 5000; i++) await new Semaphore(1, { arena }).runExclusive(() => {});
  for (let i = 0; i < 1000; i++) {
    await alive[i % alive.length].runExclusive(turn);
    await new Mutex({ arena }).runExclusive(turn);
  }
  parentPort.postMessage('done');
}
