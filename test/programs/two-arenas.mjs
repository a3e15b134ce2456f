// A promise of one arena is settled while a promise of another arena still waits.
import { Worker } from 'node:worker_threads';
import { Arena, Semaphore } from 'taketurns';

const slow = new Semaphore(0, { arena: new Arena() });
const quick = new Semaphore(0, { arena: new Arena() });
const done = slow.acquireAsync();
const first = quick.acquireAsync();
quick.release();
await first;
new Worker(
  `const { workerData } = require('node:worker_threads');
   import(workerData.library).then(({ Semaphore }) => {
     const semaphore = Semaphore.from(workerData.handle);
     setTimeout(() => semaphore.release(), 100);
   });`,
  { eval: true, workerData: { handle: slow.handle, library: import.meta.resolve('taketurns') } },
).unref();
await done;
console.log('done');
