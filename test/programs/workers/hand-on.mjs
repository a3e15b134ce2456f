import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

if (isMainThread) throw new Error('this is a worker');
if (workerData === 'nested') {
  try {
    parentPort.postMessage(Semaphore.open('handed on').tryAcquire() ? 'taken' : 'refused');
  } catch (error) {
    parentPort.postMessage(error.message);
  }
} else {
  const [handle] = await once(parentPort, 'message');
  Semaphore.from(handle);
  const nested = new Worker(new URL(import.meta.url), { workerData: 'nested' });
  const [message] = await once(nested, 'message');
  await once(nested, 'exit');
  parentPort.postMessage(message);
}
