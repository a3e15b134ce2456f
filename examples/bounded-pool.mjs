// Six workers share two connections. Each waits for its turn, in the order in which they asked.
// Run: node examples/bounded-pool.mjs
import { isMainThread, threadId, Worker } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const connections = Semaphore.open('connections', 2);

if (isMainThread) {
  for (let i = 0; i < 6; i++) new Worker(new URL(import.meta.url));
} else {
  const held = connections.hold();
  try {
    console.log(`worker ${threadId} has a connection`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20); // the work
  } finally {
    held.release();
  }
}
