/**
 * Counts how often the Web Locks of Node let two threads in at once. Each thread requests one lock again and again. Under
 * the lock it sets a word, computes for some microseconds, and clears the word. A thread that finds the word set is not
 * alone. docs/guides/from-web-locks.md has the counts. The same with a `Mutex` of this library is the control.
 *
 *     node bench/programs/web-locks-exclusion.mjs [--threads 8] [--seconds 4] [--runs 5]
 *
 * Needs Node 24.5 or newer, and `npm run build` before.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, locks, Worker, workerData } from 'node:worker_threads';
import { Mutex } from 'taketurns';

const [HELD, TURNS, TOGETHER] = [0, 1, 2];
const NAME = 'web-locks-exclusion';

let seen = 0;
function compute() {
  for (let i = 0; i < 20_000; i++) seen = Math.imul(seen + i, 7);
}

async function turns({ words, by, handle }) {
  const section = () => {
    if (Atomics.exchange(words, HELD, 1) !== 0) Atomics.add(words, TOGETHER, 1);
    compute();
    Atomics.store(words, HELD, 0);
    Atomics.add(words, TURNS, 1);
  };
  const mutex = Mutex.from(handle);
  for (;;) {
    if (by === 'Web Locks') await locks.request(NAME, section);
    else await mutex.runExclusive(section);
    compute();
  }
}

async function measure(by, threads, seconds) {
  const words = new Int32Array(new SharedArrayBuffer(12));
  const mutex = new Mutex();
  const all = Array.from(
    { length: threads },
    () => new Worker(new URL(import.meta.url), { workerData: { words, by, handle: mutex.handle } }),
  );
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const counted = { turns: words[TURNS], together: words[TOGETHER] };
  await Promise.all(all.map((worker) => worker.terminate()));
  return counted;
}

if (!isMainThread) {
  setInterval(() => {}, 1000);
  await turns(workerData);
} else if (locks === undefined) {
  console.error(`Node ${process.version} has no Web Locks: Node 24.5 or newer has them`);
  process.exitCode = 2;
} else {
  const { values } = parseArgs({
    options: {
      threads: { type: 'string', default: '8' },
      seconds: { type: 'string', default: '4' },
      runs: { type: 'string', default: '5' },
    },
  });
  console.log(`${cpus()[0].model}, ${cpus().length} processors, Node ${process.version}, ${values.threads} threads`);
  for (const by of ['Web Locks', 'Mutex']) {
    for (let run = 0; run < Number(values.runs); run++) {
      const { turns: done, together } = await measure(by, Number(values.threads), Number(values.seconds));
      console.log(`${by}: ${done} turns, two threads inside at once ${together} times`);
    }
  }
}
