// The main thread must not block. It waits with a promise, in one queue with blocked workers.
// Run: node node_modules/taketurns/examples/main-thread.mjs
// In a clone of the repository: node examples/main-thread.mjs
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

if (isMainThread) {
  const turn = new Semaphore(0);
  new Worker(new URL(import.meta.url), { workerData: turn.handle });
  const held = await turn.holdAsync();
  console.log('the worker has passed the turn on');
  held.release();
} else {
  Semaphore.from(workerData).release();
}
