// A producer and a consumer share a ring of eight slots. One semaphore counts the free slots, and another counts the
// filled slots. So the producer waits while the ring is full, and the consumer waits while the ring is empty. Several
// producers would need a mutex around `put`, and several consumers would need a mutex around `take`.
// Run: node node_modules/taketurns/examples/ring-buffer.mjs
// In a clone of the repository: node examples/ring-buffer.mjs
import { once } from 'node:events';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const SLOTS = 8;
const ITEMS = 2000;

const free = Semaphore.open('free', SLOTS);
const filled = Semaphore.open('filled', 0);

if (isMainThread) {
  const ring = new Int32Array(new SharedArrayBuffer(4 * SLOTS));
  const seen = new Int32Array(new SharedArrayBuffer(8)); // items taken; items out of order
  const workers = ['producer', 'consumer'].map(
    (role) => new Worker(new URL(import.meta.url), { workerData: { role, ring, seen } }),
  );
  await Promise.all(workers.map((worker) => once(worker, 'exit')));
  console.log(`${seen[0]} items taken, ${seen[1]} out of order`);
} else {
  const { role, ring, seen } = workerData;
  for (let item = 0; item < ITEMS; item++) {
    if (role === 'producer') {
      put(ring, item);
    } else {
      if (take(ring, item) !== item) seen[1]++;
      seen[0]++;
    }
  }
}

function put(ring, item) {
  free.acquire();
  ring[item % SLOTS] = item;
  filled.release();
}

function take(ring, i) {
  filled.acquire();
  const item = ring[i % SLOTS];
  free.release();
  return item;
}
