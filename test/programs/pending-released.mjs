/** A promise waits for a thread that does not itself keep the process alive. */
import { Worker } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const semaphore = new Semaphore(0);
const worker = new Worker(new URL('./workers/release-late.mjs', import.meta.url), {
  workerData: semaphore.handle,
});
worker.unref();
await semaphore.acquireAsync();
console.log('admitted');
