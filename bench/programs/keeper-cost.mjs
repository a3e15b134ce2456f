/**
 * Measures what it costs that the library notices deaths by itself: `node bench/programs/keeper-cost.mjs`, or the same
 * with `bun` and `deno run -A`.
 *
 * To find the cost of the keeper, the script runs programs that share an arena with a keeper and without one, each in a
 * process of its own. The cost of attaching is measured inside workers. The script prints medians, with the least and
 * the most.
 */
import { execFileSync } from 'node:child_process';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Arena, Mutex } from 'taketurns';

const here = new URL(import.meta.url);
const RUNS = 11;
const ATTACHED = 50;

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const text = (x) => x.toFixed(x < 10 ? 2 : 1);
  return `${text(sorted[sorted.length >> 1])} (${text(sorted[0])} to ${text(sorted.at(-1))})`;
}

/** Starts a worker that runs this file, and blocks until it says that it is done. */
function start(job, given = {}) {
  const words = new BigInt64Array(new SharedArrayBuffer(16));
  const worker = new Worker(here, { workerData: { job, words, ...given } });
  Atomics.wait(words, 0, 0n);
  return { worker, words };
}

/**
 * Runs in a process that shares an arena. Prints by how much the resident memory of the process grows, how long the
 * first handle takes, and when the process begins to exit.
 */
function program(watch) {
  const arena = new Arena({ watch });
  const before = process.memoryUsage.rss();
  const shared = performance.now();
  arena.handle;
  const started = performance.now() - shared;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  const megabytes = (process.memoryUsage.rss() - before) / 2 ** 20;
  const exits = performance.now();
  process.on('exit', () => console.log(JSON.stringify({ megabytes, started, exits: performance.timeOrigin + exits })));
}

/**
 * A worker locks a mutex, and this thread terminates the worker and blocks for the lock. Measures the time from
 * `terminate` until this thread has the lock.
 */
function notice() {
  const mutex = new Mutex({ arena: new Arena() });
  const times = [];
  for (let i = 0; i < RUNS; i++) {
    const { worker } = start('holds', { handle: mutex.handle });
    const begun = performance.now();
    worker.terminate();
    mutex.lock();
    times.push(performance.now() - begun);
    mutex.unlock();
  }
  return times;
}

/** Returns how many microseconds a thread takes to attach to an arena, on average over many arenas. */
function attach(watch) {
  const arenas = Array.from({ length: ATTACHED }, () => new Arena({ watch, waiters: 8, objects: 8 }).handle);
  const { worker, words } = start('attaches', { arenas });
  worker.terminate();
  return Number(words[1]) / ATTACHED;
}

function done(words) {
  Atomics.store(words, 0, 1n);
  Atomics.notify(words, 0);
}

const jobs = {
  holds({ handle, words }) {
    Mutex.from(handle).lock();
    done(words);
    Atomics.wait(words, 0, 1n);
  },
  attaches({ arenas, words }) {
    Arena.from(new Arena().handle);
    const begun = performance.now();
    for (const handle of arenas) Arena.from(handle);
    words[1] = BigInt(Math.round((performance.now() - begun) * 1000));
    done(words);
    Atomics.wait(words, 0, 1n);
  },
};

const [, , one] = process.argv;
if (!isMainThread) jobs[workerData.job](workerData);
else if (one !== undefined) program(one === 'true');
else {
  const measured = [true, false].map((watch) =>
    Array.from({ length: RUNS }, () => {
      const out = execFileSync(process.execPath, [here.pathname, String(watch)], { encoding: 'utf8' });
      const { exits, ...others } = JSON.parse(out);
      return { ...others, exit: performance.timeOrigin + performance.now() - exits };
    }),
  );
  for (const key of ['megabytes', 'started', 'exit']) {
    const [kept, bare] = measured.map((runs) => median(runs.map((run) => run[key])));
    console.log(`${key}: with a keeper ${kept}, without ${bare}`);
  }
  for (const watch of [true, false])
    console.log(`attach, us, watch ${watch}: ${median(Array.from({ length: RUNS }, () => attach(watch)))}`);
  // Bun notices in the next turn of the main thread, and Deno does not stop a thread that sleeps.
  if (!('Bun' in globalThis || 'Deno' in globalThis)) console.log(`from terminate to lock, ms: ${median(notice())}`);
  process.exit();
}
