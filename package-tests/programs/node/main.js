// Two workers raise a counter in steps that are not atomic, so only the mutex keeps the workers apart. The main thread
// waits for both. A third worker keeps the mutex, and is terminated.
import { Mutex, Semaphore } from 'taketurns';
// biome-ignore lint/style/useNodejsImportProtocol: webpack 5.112 garbles a Worker that comes from node:worker_threads.
import { Worker } from 'worker_threads';

const WORKERS = 2;
const mutex = new Mutex();
const done = new Semaphore(0);
const counter = new Int32Array(new SharedArrayBuffer(4));

function start(keeps) {
  const workerData = { mutex: mutex.handle, done: done.handle, counter, keeps };
  return new Worker(new URL('./worker.js', import.meta.url), { workerData });
}

for (let i = 0; i < WORKERS; i++) start(false);
await done.acquireAsync(WORKERS);
const last = start(true);
await done.acquireAsync();
last.terminate();
// This thread blocks, so it cannot hear that the worker has ended.
mutex.lock({ timeout: 10_000 });
console.log(`counted to ${counter[0]}, ${mutex.inspect().ownerDeaths} death`);
