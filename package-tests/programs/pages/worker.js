/** Releases the semaphore of this name, which it finds in the arena that it has inherited. */
import { workerData } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

Semaphore.open(workerData).release();
