/**
 * Measures locks in C++ whose waiters spin for ever, with more threads than processors, beside the rate that the
 * scheduler alone explains. docs/papers/capacitors.md has the formula and a table of this program.
 *
 *     node bench/programs/preemption.mjs [--threads 4,8,16,64] [--limits 1,3,10,30,100] [--lock ticket] [--runs 5]
 *
 * A spinning thread acts only while it runs. With T threads on P processors, each runs for a slice of s seconds and then
 * waits for the others, so a rotation takes T s / P seconds.
 *
 *     bare queue lock        waits for one given thread, which runs after half a rotation:        2 P / (T s)
 *     capacitor, B < T       a platoon of B ends with its last thread, which runs after the
 *                            part B / (B + 1) of a rotation:                                (B + 1) P / (T s)
 *     capacitor, B >= T      the threads of a platoon wait for the T - P that do not run:       B P / ((T - P) s)
 *
 * The slice is measured in the same run: the processor time of the threads over the number of their slices
 * (/proc/PID/task/TID/schedstat). So the program runs only on Linux, and only an idle machine gives whole slices.
 * `npm run build` must come before.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { median } from 'simple-statistics';
import { buildNative } from '../dist/native.js';
import { makeTable, rate } from '../dist/report/tables.js';
import { SPINNING } from '../dist/rows/row.js';

const { values } = parseArgs({
  options: {
    threads: { type: 'string', default: '4,8,16,64' },
    limits: { type: 'string', default: '1,3,10,30,100' },
    lock: { type: 'string', default: 'ticket' },
    runs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
  },
});
const numbers = (text) => text.split(',').map(Number);
const P = availableParallelism();

const native = await buildNative();
if (!('binary' in native)) throw new Error(native.missing);

/** Returns the processor time of the threads of a process, in seconds, and the number of their slices, while all live. */
function slices(pid, threads) {
  let time = 0;
  let count = 0;
  const all = readdirSync(`/proc/${pid}/task`);
  if (all.length <= threads) return undefined; // some are not there yet, or have ended
  for (const thread of all) {
    const [ran, , times] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ').map(Number);
    time += ran / 1e9;
    count += times;
  }
  return { time, count };
}

/** Runs one row. Returns its rate, the length of a slice and the number of processors that it had. */
function run(algorithm, threads, more) {
  const seconds = Number(values.seconds);
  const args = [
    'mutexbench',
    algorithm,
    '--threads',
    String(threads),
    '--seconds',
    String(seconds),
    '--spin',
    SPINNING,
  ];
  const child = spawn(native.binary, [...args, ...more], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  let first;
  let last;
  const look = setInterval(() => {
    try {
      last = slices(child.pid, threads) ?? last;
      first ??= last;
    } catch {
      // The process has ended between two looks.
    }
  }, 200);
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (data) => {
      text += data;
    });
    child.once('error', reject).once('exit', () => {
      clearInterval(look);
      const { iterations, seconds: interval, cpuSeconds } = JSON.parse(text);
      resolve({
        rate: iterations.reduce((sum, count) => sum + count, 0) / interval,
        slice: (last.time - first.time) / (last.count - first.count),
        processors: cpuSeconds / interval,
      });
    });
  });
}

/** Returns the turns a second by the formula; without a limit, those of the bare lock. */
function formula(threads, slice, limit) {
  if (limit === undefined) return (2 * P) / (threads * slice);
  return limit < threads ? ((limit + 1) * P) / (threads * slice) : (limit * P) / ((threads - P) * slice);
}

const rows = [undefined, ...numbers(values.limits)];
const measured = new Map();
for (let round = 0; round < Number(values.runs); round++) {
  for (const threads of numbers(values.threads)) {
    for (const limit of rows) {
      const bare = limit === undefined;
      const algorithm = `${values.lock}-futex${bare ? '' : '+capacitor'}`;
      const result = await run(algorithm, threads, bare ? [] : ['--far-spin', SPINNING, '--bypass', String(limit)]);
      const key = `${threads} ${limit ?? 'bare'}`;
      measured.set(key, [...(measured.get(key) ?? []), { threads, limit, ...result }]);
    }
  }
}

const table = makeTable([
  'threads',
  'limit',
  'a second',
  'least–most',
  'formula',
  'measured / formula',
  'slice, ms',
  'processors',
]);
for (const runs of measured.values()) {
  const [{ threads, limit }] = runs;
  const of = (name) => runs.map((one) => one[name]);
  const found = median(of('rate'));
  const expected = formula(threads, median(of('slice')), limit);
  table.push([
    threads,
    limit ?? 'bare',
    rate(found),
    `${rate(Math.min(...of('rate')))}–${rate(Math.max(...of('rate')))}`,
    rate(expected),
    (found / expected).toFixed(2),
    (median(of('slice')) * 1000).toFixed(2),
    median(of('processors')).toFixed(2),
  ]);
}
console.log(
  `${cpus()[0].model}, ${P} processors, load ${loadavg()[0].toFixed(1)}; ${values.lock} lock in C++, all waiters spin`,
);
console.log(table.toString());
