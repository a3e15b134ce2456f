/** Releases the semaphore of its handle, or holds the lock of its handle until the worker is terminated. */
import { workerData } from 'node:worker_threads';
import { Mutex, Semaphore } from 'taketurns';

const { done, held } = workerData;
if (held) Mutex.from(held).lock();
Semaphore.from(done).release();
if (held) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
