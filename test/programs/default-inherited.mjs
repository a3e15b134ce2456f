/** A worker and a worker of that worker find the default arena, although nobody has given them a handle. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Arena, Semaphore } from 'taketurns';

const semaphore = Semaphore.open('inherited', 10);
const worker = new Worker(new URL('./workers/inherit.mjs', import.meta.url), { workerData: { nest: true } });
const [found] = await once(worker, 'message');
await once(worker, 'exit');
console.log(JSON.stringify({ ...found, available: semaphore.available, threads: Arena.default.threads }));
