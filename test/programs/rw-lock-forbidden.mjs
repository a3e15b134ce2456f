/** A thread that may not block, like a browser's main thread, uses a RwLock that another thread holds. */
import { Worker } from 'node:worker_threads';

Atomics.wait = () => {
  throw new TypeError('Atomics.wait cannot be called in this context');
};
const { RwLock } = await import('taketurns/sync');

const lock = new RwLock();
const worker = new Worker(new URL('../workers/rw-lock.mjs', import.meta.url), { workerData: { handle: lock.handle } });
const there = (code) => {
  const ended = new Promise((resolve) => worker.once('message', resolve));
  worker.postMessage({ id: 0, code });
  return ended;
};
const errors = [];
const fails = (call) => {
  try {
    call();
    errors.push('none');
  } catch (error) {
    errors.push(`${error.name}: ${error.message}`);
  }
};

lock.read().unlock();
lock.write().unlock();
await there('lock.lockWrite()');
fails(() => lock.lockRead());
fails(() => lock.lockWrite());
await there('lock.unlockWrite(); lock.lockRead()');
lock.lockRead();
lock.unlockRead();
fails(() => lock.write());
const found = lock.update();
fails(() => found.upgrade());
const state = [found.held, lock.writing, lock.tryLockRead(), lock.readers];
lock.unlockRead();
const upgraded = found.upgradeAsync();
await there('lock.unlockRead()');
(await upgraded).unlock();
await worker.terminate();
console.log(JSON.stringify({ errors, state, end: [lock.readers, lock.writing, lock.waiting] }));
