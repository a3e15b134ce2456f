import { workerData } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const semaphore = Semaphore.from(workerData);
// The release comes so late that only the promise has kept the process alive until then. Afterwards the worker stays
// alive.
setTimeout(() => semaphore.release(), 200);
setInterval(() => {}, 1000);
