// A worker adds an exit handler that uses its permits, and exits in the same task.
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Mutex, Semaphore } from 'taketurns';

const semaphore = Semaphore.open('exit', 2);
const mutex = Mutex.open('exit mutex');
if (isMainThread) {
  for (const how of ['exit', 'throw', 'listener throws', 'all listeners removed']) {
    await new Promise((resolve) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: how });
      worker.on('error', (error) => console.log(error.message));
      worker.on('exit', resolve);
    });
    console.log(`${how}: ${semaphore.available} available, ${mutex.tryLock() ? 'unlocked' : 'locked'}`);
    mutex.unlock();
  }
} else {
  semaphore.acquire();
  mutex.lock();
  if (workerData === 'all listeners removed') {
    semaphore.release();
    process.removeAllListeners('exit');
    process.exit();
  }
  process.on('exit', () => {
    semaphore.acquire();
    semaphore.release(2);
    if (workerData === 'listener throws') throw new Error('thrown by a listener');
  });
  if (workerData === 'throw') throw new Error('thrown');
  process.exit();
}
