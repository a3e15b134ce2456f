/** The program chooses the sizes of the default arena. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Arena } from 'taketurns';

const arena = new Arena({ objects: 3, threads: 4 }).makeDefault();
const same = Arena.default === arena;
const worker = new Worker(new URL('./workers/fill-default.mjs', import.meta.url));
const [message] = await once(worker, 'message');
await once(worker, 'exit');
console.log(JSON.stringify({ same, worker: message }));
