/** The main thread releases a permit for a worker's promise, and checks that the worker is still there. */
import { Worker } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const semaphore = new Semaphore(0);
const worker = new Worker(new URL('./workers/await-one.mjs', import.meta.url), {
  workerData: semaphore.handle,
});
worker.on('message', (message) => console.log(message));
worker.on('exit', (code) => console.log(`exit ${code}`));
while (semaphore.waiting === 0) await new Promise((resolve) => setTimeout(resolve, 1));
// If nothing kept the worker alive, it would have ended by then.
setTimeout(() => semaphore.release(), 200);
