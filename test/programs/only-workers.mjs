/**
 * Only the workers use the library, as in a pool. The main thread imports what is named as the first argument, if
 * anything is, and the workers begin with the statement of the second one. Prints the number that the workers have
 * raised, or their errors.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const [, , entry, first] = process.argv;
if (entry) await import(entry);

const number = new Int32Array(new SharedArrayBuffer(8));
const errors = [];
await Promise.all(
  [1, 2].map(() => {
    const worker = new Worker(new URL('./workers/raises.mjs', import.meta.url), { workerData: { number, first } });
    worker.on('message', (message) => errors.push(message));
    return once(worker, 'exit');
  }),
);
console.log(JSON.stringify({ number: number[0], errors }));
