/** Takes a permit of a semaphore that it knows only by its name, and lets a worker of its own do the same. */
import { once } from 'node:events';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const taken = Semaphore.open('inherited').tryAcquire() ? 1 : 0;
const found = { [workerData.nest ? 'worker' : 'nested']: taken };
if (workerData.nest) {
  const nested = new Worker(new URL(import.meta.url), { workerData: { nest: false } });
  const [message] = await once(nested, 'message');
  Object.assign(found, message);
  await once(nested, 'exit');
}
parentPort.postMessage(found);
