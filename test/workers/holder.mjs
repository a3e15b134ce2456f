/**
 * Takes the lock or the permit of its handle, says so in word 0 of `told`, and never gives it back. `way` says how the
 * worker goes on.
 */
import { Worker, workerData } from 'node:worker_threads';
import { Arena, Mutex, Semaphore } from 'taketurns';

const { handle, told, way, limits } = workerData;
if (way === 'starts another') {
  new Worker(new URL(import.meta.url), { workerData: { ...workerData, way: 'sleeps' }, resourceLimits: limits });
  Atomics.wait(told, 1, 0);
}
if (way === 'leaves and comes back') {
  for (let i = 0; i < 3; i++) {
    handle.kind === 'Mutex' ? Mutex.from(handle).lock() : Semaphore.from(handle).acquire();
    Arena.from(handle.arena).dispose();
  }
}
const kept = handle.kind === 'Mutex' ? Mutex.from(handle) : Semaphore.from(handle);
if (handle.kind === 'Mutex') kept.lock();
else kept.acquire();
Atomics.store(told, 0, 1);
Atomics.notify(told, 0);
if (way === 'sleeps' || way === 'leaves and comes back') Atomics.wait(told, 1, 0);
if (way === 'computes') for (;;) Atomics.add(told, 2, 1);
if (way === 'needs too much memory') for (const all = []; ; ) all.push(new Array(1000).fill(kept));
if (way === 'turns its loop') setInterval(() => kept.waiting, 1);
