// Runs as a process of its own for one row, one number of threads and one run. Prints the result as JSON:
// {"perSecond": x}, the operations of all threads together. For some rows the result also has the evenness: how evenly
// the threads got their turns.
//
//   program.js ROW THREADS SECONDS

import { Worker } from 'node:worker_threads';
import { type Measured, SEAT_BYTES } from './loops.js';
import { syncScriptRow } from './rows.js';
import type { SyncOrder, SyncReply } from './thread.js';

type Transfer = Parameters<Worker['postMessage']>[1];

function answer(order: SyncOrder, transfer: Transfer): Promise<Measured | undefined> {
  const worker = new Worker(new URL('./thread.js', import.meta.url));
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (reply: SyncReply) => {
      if ('error' in reply) reject(new Error(reply.error));
      else resolve(reply.measured);
    });
    worker.postMessage(order, transfer);
  });
}

const [name = '', count = '1', seconds = '1'] = process.argv.slice(2);
try {
  const threads = Number(count);
  // The workers inherit the arena that `share` makes. So they are made after the call of `share`.
  const shares = syncScriptRow(name).share(threads);
  const { shared, transfer = [] } = shares;
  const common = {
    row: name,
    threads,
    seconds: Number(seconds),
    words: new Int32Array(new SharedArrayBuffer(SEAT_BYTES)),
  };
  const answers = shared.map((own, index) => answer({ ...common, shared: own, index }, transfer[index] as Transfer));
  const measured = (await Promise.all(answers)).filter((one) => one !== undefined);
  shares.dispose?.();
  const rates = measured.map(({ operations, milliseconds }) => (operations * 1000) / milliseconds);
  const perSecond = rates.reduce((sum, rate) => sum + rate, 0);
  console.log(JSON.stringify({ perSecond, evenness: syncScriptRow(name).evenness?.(rates) }));
  process.exit();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
