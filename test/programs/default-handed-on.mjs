/** A worker that is older than the default arena gets the arena by a handle, and then starts a worker of its own. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const worker = new Worker(new URL('./workers/hand-on.mjs', import.meta.url));
await once(worker, 'online');
const semaphore = Semaphore.open('handed on', 1);
worker.postMessage(semaphore.handle);
const [nested] = await once(worker, 'message');
await once(worker, 'exit');
console.log(JSON.stringify({ nested: nested === 'taken' && semaphore.available === 0 ? 'the same arena' : nested }));
