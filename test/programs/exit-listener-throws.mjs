/** A worker dies while it holds a mutex, and the user's own exit listener throws before that of the library runs. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Arena, Mutex } from 'taketurns';

const told = new Int32Array(new SharedArrayBuffer(12));
const mutex = new Mutex();
process.on('uncaughtException', () => {});
const worker = new Worker(new URL('../workers/holder.mjs', import.meta.url), {
  workerData: { handle: mutex.handle, told, way: 'sleeps' },
});
worker.on('exit', () => {
  throw new Error('of the user');
});
Arena.default.watch(worker);
Atomics.wait(told, 0, 0);
worker.terminate();
await once(process, 'uncaughtException');
mutex.lock({ timeout: 10_000 });
mutex.unlock();
console.log('noticed');
