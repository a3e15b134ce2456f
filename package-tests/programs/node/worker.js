import { workerData } from 'node:worker_threads';
import { Mutex, Semaphore } from 'taketurns';

const ROUNDS = 20_000;
const mutex = Mutex.from(workerData.mutex);
const { counter, keeps } = workerData;

if (keeps) mutex.lock();
for (let i = 0; i < ROUNDS && !keeps; i++) {
  mutex.lock();
  counter[0] = counter[0] + 1;
  mutex.unlock();
}
Semaphore.from(workerData.done).release();
if (keeps) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
