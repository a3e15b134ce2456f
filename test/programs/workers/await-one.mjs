import { parentPort, workerData } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

await Semaphore.from(workerData).acquireAsync();
parentPort.postMessage('admitted');
