/** Workers acquire, release and end, each in another way, while promises of other threads are pending. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const semaphore = new Semaphore(0);
const pass = new Semaphore(1);
const here = semaphore.acquireAsync().then(() => console.log('main admitted'));
const waiter = new Worker(new URL('./workers/await-one.mjs', import.meta.url), {
  workerData: semaphore.handle,
});
waiter.on('message', (message) => console.log(`worker ${message}`));
while (semaphore.waiting < 2) await new Promise((resolve) => setTimeout(resolve, 1));

for (const way of ['by itself', 'process.exit', 'an error']) {
  const worker = new Worker(new URL('./workers/pass-and-end.mjs', import.meta.url), {
    workerData: { handle: pass.handle, way },
  });
  worker.on('error', (error) => {
    if (error.message !== way) throw error;
  });
  await once(worker, 'exit').catch(() => {});
  if (semaphore.waiting !== 2) throw new Error('somebody has left the line');
}
semaphore.release();
await here;
semaphore.release();
await once(waiter, 'exit');
if (pass.available !== 1) throw new Error('a permit is lost');
