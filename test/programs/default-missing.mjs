/** A worker starts before there is a default arena. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Arena, Semaphore } from 'taketurns';

const worker = new Worker(new URL('./workers/ask-default.mjs', import.meta.url));
const [{ name, message, handle }] = await once(worker, 'message');
const apart = Semaphore.from(handle);
apart.acquire();

// Meanwhile the main thread makes the default arena, but the worker still lacks it.
const semaphore = new Semaphore(1);
const other = new Semaphore(1, { arena: new Arena() });
worker.postMessage(other.handle);
const [afterHandle] = await once(worker, 'message');
worker.postMessage(semaphore.handle);
const [then] = await once(worker, 'message');
await once(worker, 'exit');
if (semaphore.available !== 0) throw new Error('the worker has not used it');
const apartFrom = Arena.from(handle.arena) !== Arena.default && apart.available === 0;
console.log(JSON.stringify({ name, message, afterHandle, then, apart: apartFrom && !handle.arena.isDefault }));
