import { workerData } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const semaphore = Semaphore.from(workerData);
// Late enough that nothing but the promise has kept the process alive until then; and then the worker stays.
setTimeout(() => semaphore.release(), 200);
setInterval(() => {}, 1000);
