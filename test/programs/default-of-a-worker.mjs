/**
 * The main thread does not use the library. A worker makes an arena for itself and for a worker of its own, to which it
 * sends the handle. Only the second of the two may take the arena for its default arena.
 */
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Arena, Semaphore } from 'taketurns';

const file = new URL(import.meta.url);
if (isMainThread) {
  const [found] = await once(new Worker(file, { workerData: {} }), 'message');
  console.log(JSON.stringify(found));
} else if (workerData.arena) {
  Arena.from(workerData.arena).makeDefault();
  parentPort.postMessage(Semaphore.open('of the two').tryAcquire());
} else {
  const arena = new Arena();
  const errors = [];
  for (const same of [arena, Arena.from(structuredClone(arena.handle))]) {
    try {
      same.makeDefault();
    } catch (error) {
      errors.push(error.message);
    }
  }
  const semaphore = Semaphore.open('of the two', 2, { arena });
  const [taken] = await once(new Worker(file, { workerData: { arena: arena.handle } }), 'message');
  parentPort.postMessage({ errors, taken, available: semaphore.available });
}
