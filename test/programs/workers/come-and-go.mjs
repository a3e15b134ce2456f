// A worker that holds, waits, exits or ends, as `way` says.
import { parentPort, workerData } from 'node:worker_threads';
import { Mutex, Semaphore } from 'taketurns';

const { way } = workerData;
const mutex = Mutex.from(workerData.mutex);
const permits = Semaphore.from(workerData.permits);
const never = Semaphore.from(workerData.never);
const mine = new Semaphore(1);
mine.acquire();
mutex.lock();
mutex.unlock();
permits.acquire();
never.acquireAsync().catch(() => {});
if (way === 'holds') {
  mutex.lock();
  parentPort.postMessage('');
  never.acquire();
} else if (way === 'waits') {
  parentPort.postMessage('');
  never.acquire(2);
} else {
  permits.release();
  if (way === 'exits') process.exit();
  never.acquireAsync(1, { timeout: 1 }).catch(() => process.exit());
}
