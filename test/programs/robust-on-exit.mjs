// In an exit handler a worker releases a permit of a robust semaphore and takes another one. It ends while it holds
// this permit.
import { isMainThread, Worker } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const semaphore = Semaphore.open('exit', 2, { robust: true });
if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url));
  worker.on('exit', (code) => {
    const { available, ownerDeaths } = semaphore.inspect();
    console.log(`exit ${code}, ${available} available, ${ownerDeaths} has died`);
  });
} else {
  const held = semaphore.hold();
  process.on('exit', () => {
    held.release();
    semaphore.acquire();
  });
}
