/**
 * Two threads count, each time under the lock of a mutex and then under the one permit of a robust semaphore. A third
 * thread waits, with time-outs, for a permit that never comes. All three go on until they are told to stop.
 */
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Mutex, Semaphore, TimeoutError } from 'taketurns';

const TIMEOUT = 20;
const [STOP, LOCKED, ACQUIRED, ROUNDS, TIMEOUTS, EARLY, WORDS] = [0, 1, 2, 3, 4, 5, 6];

function count({ mutex, permit, words }) {
  mutex.lock();
  words[LOCKED] = words[LOCKED] + 1;
  mutex.unlock();
  permit.acquire();
  words[ACQUIRED] = words[ACQUIRED] + 1;
  permit.release();
  Atomics.add(words, ROUNDS, 1);
}

function timeOut({ never, words }) {
  const before = performance.now();
  try {
    never.acquire(1, { timeout: TIMEOUT });
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error;
  }
  if (performance.now() - before < TIMEOUT) Atomics.add(words, EARLY, 1);
  Atomics.add(words, TIMEOUTS, 1);
}

const jobs = { count, timeOut };

/** Starts the three threads. Every handle is of the default arena. */
export function startTeam() {
  const [mutex, permit, never, done] = [
    new Mutex(),
    new Semaphore(1, { robust: true }),
    new Semaphore(0),
    new Semaphore(0),
  ];
  const words = new Int32Array(new SharedArrayBuffer(4 * WORDS));
  const names = ['count', 'count', 'timeOut'];
  const handles = { mutex: mutex.handle, permit: permit.handle, never: never.handle, done: done.handle };
  for (const name of names) new Worker(new URL(import.meta.url), { workerData: { name, words, ...handles } });

  return {
    /** Resolves when the team has made many more rounds. */
    async progress() {
      const [rounds, timeouts] = [words[ROUNDS] + 1000, words[TIMEOUTS] + 2];
      while (Atomics.load(words, ROUNDS) < rounds || Atomics.load(words, TIMEOUTS) < timeouts)
        await new Promise((resolve) => setTimeout(resolve, 1));
    },
    /** Stops the team, and says what is wrong. */
    async finish() {
      Atomics.store(words, STOP, 1);
      await done.acquireAsync(names.length);
      const lost = [LOCKED, ACQUIRED].map((i) => words[ROUNDS] - words[i]);
      const deaths = [mutex, permit].map((object) => object.inspect().ownerDeaths);
      return `lost ${lost}, early ${words[EARLY]}, deaths ${deaths}, permits ${permit.available},${never.available}, locked ${mutex.locked}`;
    },
  };
}

if (!isMainThread) {
  const { name, words, mutex, permit, never, done } = workerData;
  const shared = { words, mutex: Mutex.from(mutex), permit: Semaphore.from(permit), never: Semaphore.from(never) };
  while (Atomics.load(words, STOP) === 0) jobs[name](shared);
  Semaphore.from(done).release();
}
