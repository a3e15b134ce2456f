/**
 * The system has no room for the thread of the keeper at first. A worker attaches to the arena meanwhile. When the
 * keeper has room, the next call that shares the arena starts it, and it hears of the death of the worker.
 */
import threads, { Worker } from 'node:worker_threads';

let hasRoom = false;
threads.Worker = class extends Worker {
  constructor(...given) {
    if (!hasRoom) throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
    super(...given);
  }
};
const { Mutex } = await import('taketurns');
const mutex = new Mutex();
const [first, second] = [mutex.handle, mutex.handle];
const told = new Int32Array(new SharedArrayBuffer(8));
const worker = new Worker(new URL('../workers/locks-all.mjs', import.meta.url), {
  workerData: { handles: [first], told },
});
await new Promise((resolve) => worker.once('message', resolve));
console.log(mutex.locked, second.address === first.address);
hasRoom = true;
mutex.handle;
worker.terminate();
mutex.lock({ timeout: 10_000 });
console.log('done');
mutex.unlock();
