/** Releases the semaphore of this name. The worker finds the semaphore in the arena that it has inherited. */
import { workerData } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

Semaphore.open(workerData).release();
