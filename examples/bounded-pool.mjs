// The database allows three connections, and eight workers need a connection again and again. The workers get their
// turns in the order in which they ask.
// Run: node node_modules/taketurns/examples/bounded-pool.mjs
// In a clone of the repository: node examples/bounded-pool.mjs
import { once } from 'node:events';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const CONNECTIONS = 3;
const WORKERS = 8;
const QUERIES = 5;

const connections = Semaphore.open('connections', CONNECTIONS);

if (isMainThread) {
  const seen = new Int32Array(new SharedArrayBuffer(12)); // open now, most at once, queries
  const workers = Array.from({ length: WORKERS }, () => new Worker(new URL(import.meta.url), { workerData: seen }));
  await Promise.all(workers.map((worker) => once(worker, 'exit')));
  console.log(`${seen[2]} queries, at most ${seen[1]} connections open at once`);
} else {
  for (let i = 0; i < QUERIES; i++) {
    const held = connections.hold();
    try {
      query(workerData);
    } finally {
      held.release();
    }
  }
}

/** Stands for a database: opens a connection, works for five milliseconds, and closes it. */
function query(seen) {
  const open = Atomics.add(seen, 0, 1) + 1;
  for (let most = Atomics.load(seen, 1); open > most; )
    most = Atomics.compareExchange(seen, 1, most, open) === most ? open : Atomics.load(seen, 1);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  Atomics.add(seen, 2, 1);
  Atomics.sub(seen, 0, 1);
}
