/**
 * The same as names.js, where the main thread and the workers are CommonJS, and the pool is a plain list of workers.
 */
require('taketurns/share');
const { once } = require('node:events');
const { isMainThread, Worker, workerData } = require('node:worker_threads');

async function main() {
  const number = new Int32Array(new SharedArrayBuffer(4));
  const workers = [1, 2].map(() => new Worker(__filename, { workerData: { number } }));
  await Promise.all(workers.map((worker) => once(worker, 'exit')));
  console.log(`raised to ${number[0]}`);
}

async function work() {
  const { default: raise } = await import('./raises.js');
  for (let i = 0; i < 20; i++) await raise(workerData);
}

if (isMainThread) main();
else work();
