// A service in one program. Three workers call an API, which bears four calls at once and 20 in any 100 milliseconds. A
// call that fails is tried again, with a longer and random wait each time. The main thread tells the waits for Prometheus.
// On SIGTERM nobody begins a new call, and the calls that run go on to their ends.
// Run: node node_modules/taketurns/examples/service.mjs
// In a clone of the repository: node examples/service.mjs
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Semaphore } from 'taketurns';
import { RateLimiter } from 'taketurns/keyed';
import { metrics, prometheus, startMetrics } from 'taketurns/metrics';

// By their names, these are the same in all threads.
const slots = Semaphore.open('slots of the api', 4, { robust: true }); // the permits of a worker that dies come back
const rate = RateLimiter.open('rate of the api', 20, 100, { burst: 20 });
const [BEGUN, ENDED, RUNNING, MOST] = [0, 1, 2, 3];

/** Stands for the API: each fifth call fails. */
async function api() {
  const calls = workerData;
  const number = Atomics.add(calls, BEGUN, 1);
  const running = Atomics.add(calls, RUNNING, 1) + 1;
  if (running > calls[MOST]) Atomics.store(calls, MOST, running);
  await sleep(5);
  Atomics.sub(calls, RUNNING, 1);
  Atomics.add(calls, ENDED, 1);
  if (number % 5 === 4) throw new Error('503');
}

if (isMainThread) {
  startMetrics();
  const calls = new Int32Array(new SharedArrayBuffer(16));
  const workers = [1, 2, 3].map(() => new Worker(new URL(import.meta.url), { workerData: calls }));
  const exits = workers.map((worker) => once(worker, 'exit'));
  process.once('SIGTERM', () => {
    for (const worker of workers) worker.postMessage('stop');
  });
  while (calls[ENDED] < 50) await sleep(5);
  process.kill(process.pid, 'SIGTERM'); // what a supervisor does
  const codes = (await Promise.all(exits)).map(([code]) => code);
  console.log(
    `${calls[BEGUN] - calls[ENDED]} calls were cut off, at most ${calls[MOST]} ran at once, exit codes ${codes}`,
  );
  console.log(
    prometheus(metrics())
      .match(/^taketurns_permit_count.*$/gm)
      .join('\n'),
  ); // at /metrics in a service
} else {
  const stop = new AbortController();
  const { signal } = stop;
  parentPort.once('message', () => stop.abort(new Error('the service stops')));
  const call = slots.limit(rate.limit(api, { signal }), { signal }); // the semaphore outside
  const work = async () => {
    for (let pause = 5; ; pause *= 2) {
      try {
        return await call();
      } catch (error) {
        if (signal.aborted || pause > 1000) throw error;
        await sleep(pause * Math.random(), undefined, { signal });
      }
    }
  };
  // Each worker has three tasks, which work until the service stops.
  await Promise.all(
    [1, 2, 3].map(async () => {
      try {
        while (!signal.aborted) await work();
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }),
  );
}
