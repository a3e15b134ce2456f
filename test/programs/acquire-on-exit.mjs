// A worker acquires a permit in an exit handler that runs after that of the library, and has to wait for the permit.
import { isMainThread, Worker } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const semaphore = Semaphore.open('exit', 1);
if (isMainThread) {
  semaphore.acquire();
  const worker = new Worker(new URL(import.meta.url));
  worker.on('exit', (code) => console.log(`exit ${code}, ${semaphore.available} available`));
  const poll = setInterval(() => {
    if (semaphore.waiting === 0) return;
    clearInterval(poll);
    semaphore.release();
  }, 10);
} else {
  process.on('exit', () => {
    semaphore.acquire();
    semaphore.release();
    semaphore.acquire();
    semaphore.release();
  });
}
