/**
 * Each worker has two copies (or versions) of the package, takes a mutex and a permit by each copy, and ends. Each
 * worker ends in another way. After each, the main thread blocks until it gets these mutexes and permits. The folder of
 * the second copy is an argument.
 */

import { pathToFileURL } from 'node:url';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import * as one from 'taketurns';

const [, , folder] = process.argv;
// The second copy loads after the first copy has started its keeper.
if (isMainThread) one.Arena.default.handle;
const copies = [one, await import(pathToFileURL(`${folder}/index.js`).href)];
const WAYS = ['terminated', 'exit', 'all listeners removed', 'listener throws', 'throws', 'ends'];

function end(way) {
  if (way === 'terminated') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (way === 'all listeners removed') process.removeAllListeners('exit');
  if (way === 'listener throws') {
    process.on('exit', () => {
      throw new Error(way);
    });
  }
  if (way === 'throws') throw new Error(way);
  if (way !== 'ends') process.exit();
}

if (isMainThread) {
  const timeout = 5000;
  const objects = copies.map(({ Mutex, Semaphore }) => [
    new Mutex(),
    new Semaphore(1, { robust: true }),
    new Semaphore(0),
  ]);
  const handles = objects.map((some) => some.map(({ handle }) => handle));
  for (const way of WAYS) {
    const worker = new Worker(new URL(import.meta.url), { workerData: { way, handles }, argv: [folder] });
    worker.on('error', () => {});
    for (const [, , taken] of objects) taken.acquire(1, { timeout });
    if (way === 'terminated') worker.terminate();
    for (const [mutex, permit] of objects) {
      mutex.lock({ timeout });
      mutex.unlock();
      permit.acquire(1, { timeout });
      permit.release();
    }
  }
  console.log('all came back');
} else {
  // References keep the objects from being collected.
  globalThis.kept = copies.map(({ Mutex, Semaphore }, i) => {
    const [mutex, permit, taken] = workerData.handles[i];
    const held = [Mutex.from(mutex), Semaphore.from(permit)];
    held[0].lock();
    held[1].acquire();
    return [...held, Semaphore.from(taken)];
  });
  for (const [, , taken] of globalThis.kept) taken.release();
  end(workerData.way);
}
