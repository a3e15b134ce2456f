/**
 * A thread dies while its call of `limit` runs that counts until its end, and another thread waits for this permit.
 * Nobody asks the limiter meanwhile. Prints whether the other thread goes on, and how it has waited: by a promise, and
 * blocked.
 */
import { once } from 'node:events';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { RateLimiter } from 'taketurns/keyed';

const limiter = RateLimiter.open('calls', 1, 100);
if (isMainThread) {
  for (const way of ['promise', 'blocked']) {
    const worker = new Worker(new URL(import.meta.url));
    await once(worker, 'message');
    const ended = worker.terminate();
    if (way === 'promise') await limiter.takeAsync();
    else {
      await ended;
      limiter.take();
    }
    console.log(way);
  }
} else {
  limiter.limit(
    () => {
      parentPort.postMessage('runs');
      return new Promise(() => {});
    },
    { until: 'end' },
  )();
  setInterval(() => {}, 1000);
}
