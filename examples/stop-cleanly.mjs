// Three workers take turns at jobs until the main thread stops them. A worker that is at work then finishes its job. A
// worker that waits leaves the queue at once, by its AbortSignal. No waiter is left, and no permit is lost.
// Run: node node_modules/taketurns/examples/stop-cleanly.mjs
// In a clone of the repository: node examples/stop-cleanly.mjs
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const turns = Semaphore.open('turns', 1);

if (isMainThread) {
  const begun = new Int32Array(new SharedArrayBuffer(4));
  const finished = new Int32Array(new SharedArrayBuffer(4));
  const workers = Array.from(
    { length: 3 },
    () => new Worker(new URL(import.meta.url), { workerData: { begun, finished } }),
  );
  // One worker is at work, and two are in the queue.
  while (begun[0] < 5 || turns.waiting < 2) await sleep(1);
  const exits = workers.map((worker) => once(worker, 'exit'));
  for (const worker of workers) worker.postMessage('stop');
  const codes = (await Promise.all(exits)).map(([code]) => code);
  console.log(`exit codes ${codes.join(' ')}`);
  console.log(finished[0] === begun[0] ? 'every job that was begun is finished' : 'a job was cut off');
  console.log(`${turns.waiting} waiting, ${turns.available} permit free`);
} else {
  const stop = new AbortController();
  parentPort.once('message', () => stop.abort());
  try {
    while (true) {
      const held = await turns.holdAsync(1, { signal: stop.signal });
      try {
        await job(workerData);
      } finally {
        held.release();
      }
    }
  } catch (error) {
    if (error !== stop.signal.reason) throw error;
  }
}

async function job({ begun, finished }) {
  Atomics.add(begun, 0, 1);
  await sleep(5);
  Atomics.add(finished, 0, 1);
}
