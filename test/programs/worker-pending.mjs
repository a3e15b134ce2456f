/** The main thread releases to a worker's promise, and checks that the worker is still there. */
import { Worker } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const semaphore = new Semaphore(0);
const worker = new Worker(new URL('./workers/await-one.mjs', import.meta.url), {
  workerData: semaphore.handle,
});
worker.on('message', (message) => console.log(message));
worker.on('exit', (code) => console.log(`exit ${code}`));
while (semaphore.waiting === 0) await new Promise((resolve) => setTimeout(resolve, 1));
// By then the worker would have ended, if nothing kept it alive.
setTimeout(() => semaphore.release(), 200);
