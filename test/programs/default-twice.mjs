/** A worker that has inherited the default arena: what it says of that arena, and whether it could get another one. */
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Arena, Semaphore } from 'taketurns';

const attempt = (call) => {
  try {
    call();
    return 'no error';
  } catch (error) {
    return error.message;
  }
};

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url), { workerData: new Semaphore(1).handle });
  const [found] = await once(worker, 'message');
  console.log(JSON.stringify(found));
} else {
  // The worker has not asked for its default arena yet, and is attached to no arena.
  const made = attempt(() => new Arena().makeDefault());
  const apart = new Arena();
  const ofAnother = apart.handle.isDefault;
  apart.dispose();
  const ofObject = Semaphore.from(workerData).handle.arena.isDefault;
  const left = attempt(() => Arena.from(workerData.arena).dispose());
  const same = Arena.from(workerData.arena) === Arena.default && Arena.default.makeDefault() === Arena.default;
  const ofArena = Arena.default.handle.isDefault;
  parentPort.postMessage({ made, ofAnother, ofObject, left, same, ofArena });
}
