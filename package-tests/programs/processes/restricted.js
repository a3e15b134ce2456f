/** Uses the library in a process that may start no threads, or that may do so only by a flag of Node. */
import { Worker } from 'node:worker_threads';
import { Mutex, Semaphore, TimeoutError } from 'taketurns';

const [mutex, done] = [new Mutex(), new Semaphore(0)];
// The program asks for handles. This makes the library start the thread that notices deaths.
const workerData = { done: done.handle, held: mutex.handle };

function start() {
  try {
    return new Worker(new URL('../hosts/worker.js', import.meta.url), { workerData });
  } catch (error) {
    return console.log(error.code);
  }
}

const worker = start();
if (worker) {
  done.acquire();
  worker.terminate();
}
mutex.lock({ timeout: 10_000 });
try {
  done.acquire(1, { timeout: 5 });
} catch (error) {
  if (!(error instanceof TimeoutError)) throw error;
}
console.log(`${mutex.inspect().ownerDeaths} deaths`);
