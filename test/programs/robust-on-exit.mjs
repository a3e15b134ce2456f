// A worker gives a permit of a robust semaphore back in an exit handler, after the library's own has done so.
import { isMainThread, Worker } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const semaphore = Semaphore.open('exit', 2, { robust: true });
if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url));
  worker.on('exit', (code) => console.log(`exit ${code}, ${semaphore.available} available`));
} else {
  const held = semaphore.hold();
  process.on('exit', () => {
    held.release();
    try {
      semaphore.acquire();
    } catch (error) {
      console.log(error.message);
    }
  });
}
