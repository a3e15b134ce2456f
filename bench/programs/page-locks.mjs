/**
 * Measures locks in a page, in Chromium without a window: the Web Locks of the browser (`navigator.locks`), and `Mutex`
 * and `Semaphore` of this library, awaited and blocking. Workers want one lock, take it, count, and give it back, as
 * often as they can. All rows take turns, run by run.
 *
 *     node bench/programs/page-locks.mjs [--workers 1,2,4,8] [--runs 3] [--seconds 1]
 *
 * For each row and each number of workers: pairs of calls a second, by all workers together; and the longest time that
 * a worker waited for the lock, in ms. Each is the median of the runs (least to most). One worker has nobody to wait
 * for.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { serve } from '@taketurns/static-server';
import { rolldown } from 'rolldown';

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '1,2,4,8' },
    runs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '1' },
  },
});
const counts = values.workers.split(',').map(Number);
const [runs, seconds] = [Number(values.runs), Number(values.seconds)];
if (![...counts, runs].every((count) => Number.isInteger(count) && count > 0) || !(seconds > 0))
  throw new RangeError('--workers must be integers from 1 on, --runs an integer from 1 on, --seconds a number above 0');

const WORKER = `
import { Arena, Mutex, Semaphore } from 'taketurns';

/** Each function takes the lock, calls the function, and gives the lock back. */
const rows = {
  'navigator.locks': () => (run) => navigator.locks.request('lock', run),
  'Mutex, awaited': () => {
    const lock = Mutex.open('mutex');
    return async (run) => { await lock.lockAsync(); run(); lock.unlock(); };
  },
  'Semaphore, awaited': () => {
    const lock = Semaphore.open('semaphore', 1);
    return async (run) => { await lock.acquireAsync(); run(); lock.release(); };
  },
  'Mutex, blocking': () => {
    const lock = Mutex.open('blocked mutex');
    return (run) => { lock.lock(); run(); lock.unlock(); };
  },
  'Semaphore, blocking': () => {
    const lock = Semaphore.open('blocked semaphore', 1);
    return (run) => { lock.acquire(); run(); lock.release(); };
  },
};

onmessage = async ({ data: { arena, row, milliseconds, starts, board } }) => {
  Arena.from(arena);
  const within = rows[row]();
  for (let i = 0; i < 100; i++) await within(() => {});
  // All workers begin at once: the last one to arrive opens the gate.
  if (Atomics.sub(starts, 0, 1) === 1) Atomics.notify(starts, 0);
  for (let left = Atomics.load(starts, 0); left > 0; left = Atomics.load(starts, 0)) Atomics.wait(starts, 0, left, 1);
  const end = performance.now() + milliseconds;
  let pairs = 0, longest = 0, before = performance.now();
  const count = () => {
    const now = performance.now();
    longest = Math.max(longest, now - before);
    pairs++;
    // Shows whether two workers ever have the lock.
    if (Atomics.add(board, 0, 1) !== 0) throw new Error(row + ' let two workers in');
    Atomics.sub(board, 0, 1);
  };
  for (; before < end; before = performance.now()) {
    const done = within(count);
    if (done !== undefined) await done;
  }
  postMessage({ pairs, longest });
};
`;

const PAGE = `
import { Arena } from 'taketurns';
const { rows, counts, runs, milliseconds } = JSON.parse(document.querySelector('script').dataset.plan);
const results = [];
try {
  for (let run = 0; run < runs; run++)
    for (const workers of counts)
      for (const row of rows) {
        const starts = new Int32Array(new SharedArrayBuffer(4));
        const board = new Int32Array(new SharedArrayBuffer(4));
        starts[0] = workers;
        const all = Array.from({ length: workers }, () => new Worker('worker.js', { type: 'module' }));
        const parts = await Promise.all(all.map((worker) => new Promise((done, failed) => {
          worker.onmessage = ({ data }) => done(data);
          worker.onerror = ({ message }) => failed(new Error(message));
          worker.postMessage({ arena: Arena.default.handle, row, milliseconds, starts, board });
        })));
        for (const worker of all) worker.terminate();
        const pairs = parts.reduce((sum, part) => sum + part.pairs, 0);
        results.push({ row, workers, rate: pairs / milliseconds * 1000, longest: Math.max(...parts.map((part) => part.longest)) });
      }
  await fetch('/result', { method: 'POST', body: JSON.stringify({ results }) });
} catch (error) {
  await fetch('/result', { method: 'POST', body: JSON.stringify({ error: String(error.stack) }) });
}
`;

const ROWS = ['navigator.locks', 'Mutex, awaited', 'Semaphore, awaited', 'Mutex, blocking', 'Semaphore, blocking'];

/** Bundles a program for the page: the library, and these lines. */
async function bundle(code, file) {
  const build = await rolldown({
    input: 'program',
    platform: 'browser',
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === 'program' ? { id: fileURLToPath(new URL('program.js', import.meta.url)) } : null),
        load: (id) => (id.endsWith('program.js') ? code : null),
      },
    ],
  });
  await build.write({ file, format: 'esm' });
  await build.close();
}

const browser = [process.env.CHROMIUM, 'chromium', 'google-chrome'].find(
  (name) => name && spawnSync(name, ['--version']).status === 0,
);
if (browser === undefined) throw new Error('there is no Chromium: the variable CHROMIUM may name its command');
const folder = mkdtempSync(join(tmpdir(), 'taketurns-page-locks-'));
await bundle(WORKER, join(folder, 'worker.js'));
await bundle(PAGE, join(folder, 'page.js'));
const plan = JSON.stringify({ rows: ROWS, counts, runs, milliseconds: seconds * 1000 });
writeFileSync(
  join(folder, 'index.html'),
  `<!doctype html><title>locks</title><script type="module" src="page.js" data-plan='${plan}'></script>`,
);
let onPost;
const posted = new Promise((resolve) => {
  onPost = resolve;
});
const server = await serve(folder, { onPost });
const profile = join(folder, 'profile');
const chromium = spawn(
  browser,
  [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    `--user-data-dir=${profile}`,
    `http://localhost:${server.port}/`,
  ],
  { stdio: 'ignore', detached: true },
);
const { results, error } = JSON.parse(await posted);
process.kill(-chromium.pid);
await new Promise((ended) => chromium.once('exit', ended));
server.close();
rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
if (error) throw new Error(error);

const shown = (all, digits) => {
  const [least, median, most] = [0, all.length >> 1, all.length - 1].map((i) =>
    Number([...all].sort((a, b) => a - b)[i].toPrecision(digits)).toLocaleString('en'),
  );
  return `${median} (${least} to ${most})`;
};
console.log(`| workers | lock | pairs of calls a second | longest wait, ms |`);
console.log('| ---: | --- | ---: | ---: |');
for (const workers of counts)
  for (const row of ROWS) {
    const own = results.filter((result) => result.row === row && result.workers === workers);
    const [rates, waits] = [own.map(({ rate }) => rate), own.map(({ longest }) => longest)];
    console.log(`| ${workers} | ${row} | ${shown(rates, 3)} | ${shown(waits, 3)} |`);
  }
console.log(
  `\n${spawnSync(browser, ['--version'], { encoding: 'utf8' }).stdout.trim()}, load average ${loadavg()[0].toFixed(1)}`,
);
