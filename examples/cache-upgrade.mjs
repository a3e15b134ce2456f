// Threads share a cache. All of them read at once. A thread that misses an entry calls `update`: others still read, and
// only one thread at a time has this. It looks once more, computes, and becomes a writer by `upgrade` only to write.
// Run: node node_modules/taketurns/examples/cache-upgrade.mjs
// In a clone of the repository: node examples/cache-upgrade.mjs
import { once } from 'node:events';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { RwLock } from 'taketurns/sync';

const ENTRIES = 20;
const lock = RwLock.open('cache');

function get({ cache, computed }, key) {
  const reading = lock.read();
  try {
    if (cache[key] !== 0) return cache[key];
  } finally {
    reading.unlock();
  }
  const updating = lock.update();
  try {
    if (cache[key] !== 0) return cache[key]; // another thread was here first
    const value = compute(key, computed);
    const writing = updating.upgrade(); // waits until the others have read
    try {
      cache[key] = value;
    } finally {
      writing.unlock(); // both: the writing and the updating
    }
    return value;
  } finally {
    updating.unlock(); // does nothing after `writing.unlock`
  }
}

/** Stands for something that takes long. */
function compute(key, computed) {
  Atomics.add(computed, 0, 1);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
  return (key + 1) ** 2;
}

if (isMainThread) {
  const cache = new Float64Array(new SharedArrayBuffer(8 * ENTRIES));
  const computed = new Int32Array(new SharedArrayBuffer(4));
  const workers = [1, 2, 3].map(() => new Worker(new URL(import.meta.url), { workerData: { cache, computed } }));
  await Promise.all(workers.map((worker) => once(worker, 'exit')));
  console.log(`${ENTRIES} entries, each of which was computed ${computed[0] / ENTRIES} time`);
} else {
  for (let i = 0; i < 5 * ENTRIES; i++)
    if (get(workerData, i % ENTRIES) !== ((i % ENTRIES) + 1) ** 2) throw new Error('a wrong entry');
}
