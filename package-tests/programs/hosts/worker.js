/** Releases the semaphore of the handle that it was started with. */
import { workerData } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

Semaphore.from(workerData).release();
