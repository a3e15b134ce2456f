import { workerData } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const semaphore = Semaphore.from(workerData.handle);
semaphore.acquire();
const next = semaphore.acquireAsync();
semaphore.release();
await next;
semaphore.release();
if (workerData.way === 'process.exit') process.exit(0);
if (workerData.way === 'an error') throw new Error(workerData.way);
