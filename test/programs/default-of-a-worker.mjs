/** The main thread does not use the library. A worker does, with a worker of its own. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const worker = new Worker(new URL('./workers/first-thread.mjs', import.meta.url));
const [found] = await once(worker, 'message');
console.log(JSON.stringify(found));
