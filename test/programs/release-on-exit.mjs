// A worker releases its permit in an exit handler that runs after that of the library.
import { isMainThread, Worker } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const semaphore = Semaphore.open('exit', 1);
if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url));
  worker.on('exit', () => console.log(`${semaphore.available} available`));
} else {
  const held = semaphore.hold();
  process.on('exit', () => held.release());
}
