// Two workers raise a counter in plain steps, which only the mutex keeps apart. The main thread waits for both.
import { Mutex, Semaphore } from 'taketurns';
// biome-ignore lint/style/useNodejsImportProtocol: webpack 5.112 garbles a Worker that comes from node:worker_threads.
import { Worker } from 'worker_threads';

const WORKERS = 2;
const mutex = new Mutex();
const done = new Semaphore(0);
const counter = new Int32Array(new SharedArrayBuffer(4));

for (let i = 0; i < WORKERS; i++) {
  new Worker(new URL('./worker.js', import.meta.url), {
    workerData: { mutex: mutex.handle, done: done.handle, counter },
  });
}
await done.acquireAsync(WORKERS);
console.log(`counted to ${counter[0]}`);
