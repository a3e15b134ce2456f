// The command `taketurns bench keyed`: locks by key beside a mutex, stripes of mutexes and async-lock. All rows take turns
// in one process, so both sides of each ratio come from one run.

import { mkdirSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Command } from 'commander';
import { Arena, Mutex } from 'taketurns';
import { KeyedMutex } from 'taketurns/keyed';
import { environment } from '../environment.js';
import { readFile, readRuns } from '../options.js';
import { note, RESULTS } from '../output.js';
import { fixed, makeTable, targetTable } from '../report/tables.js';
import type { Target } from '../report/targets.js';
import { spread } from '../statistics.js';
import { type Choice, keyOf, SUBJECTS, TABLE } from './subjects.js';
import type { Task } from './thread.js';

const FULL = { runs: 15, operations: 20_000, milliseconds: 1000, keys: 1_000_000 };
const QUICK = { runs: 5, operations: 5000, milliseconds: 200, keys: 100_000 };
const THREADS = 8;
const KEYS = 100_000;
/** The mutexes without keys, chosen by hand. */
const MUTEXES = 4096;

interface Given {
  runs?: number;
  quick?: boolean;
  json?: string;
}

/** The time of an operation in each round, by the name of the row. */
type Times = Record<string, number[]>;

function add(times: Times, name: string, value: number): void {
  times[name] ??= [];
  times[name].push(value);
}

export function addKeyed(bench: Command): void {
  bench
    .command('keyed')
    .description('locks by key: a key used lately, a new key, a million keys, and 8 threads over 100,000 keys')
    .option('--runs <runs>', `rounds in which each row takes its turn (default: ${FULL.runs})`, readRuns)
    .option('--json <file>', 'write everything measured here (default: bench/results/keyed.json)', readFile)
    .option('--quick', `a short form: ${QUICK.runs} rounds`)
    .action(act);
}

async function act(given: Given): Promise<void> {
  const usual = given.quick ? QUICK : FULL;
  const runs = given.runs ?? usual.runs;
  mkdirSync(RESULTS, { recursive: true });
  const json = given.json ?? `${RESULTS}keyed.json`;
  const times = await inOneThread(runs, usual.operations);
  const million = await manyKeys(usual.keys);
  const throughput: Times = {};
  for (let round = 1; round <= Math.max(3, Math.ceil(runs / 3)); round++) {
    for (const choice of ['uniform', 'zipf'] as const) {
      note(`keyed: ${THREADS} threads, ${choice}, round ${round}`);
      for (const isKeyed of [true, false])
        add(
          throughput,
          `${choice}, ${isKeyed ? 'KeyedMutex' : `${MUTEXES} mutexes`}`,
          await inThreads(choice, isKeyed, usual.milliseconds),
        );
    }
  }
  note('');
  const own = environment('none');
  const results = { benchmark: 'keyed', environment: own, options: { ...usual, runs }, times, million, throughput };
  console.log(`${own.cpu}, ${own.processors} processors, Node ${own.node}`);
  console.log(`\nin one thread, nanoseconds\n${table(times)}`);
  console.log(`\n${THREADS} threads over ${KEYS} keys, thousand operations a second\n${table(throughput)}`);
  console.log(
    `\n${million.keys} keys through the default arena: ${million.errors} errors, ${million.objects} objects left, ` +
      `${million.megabytes} MB more`,
  );
  console.log(`\n${targetTable('to reach', targets(times, throughput), fixed).join('\n')}`);
  writeFileSync(json, `${JSON.stringify(results)}\n`);
  console.log(`\neverything measured: ${relative('.', json)}`);
}

async function inOneThread(runs: number, operations: number): Promise<Times> {
  const loops = SUBJECTS.map(({ name, make }) => ({ name, loop: make() }));
  const times: Times = {};
  // The first rounds are not counted: the runtime compiles the loops then.
  for (let round = -2; round < runs; round++) {
    note(`keyed: one thread, round ${Math.max(round + 1, 0)} of ${runs}`);
    for (const { name, loop } of loops) {
      const begun = performance.now();
      await loop(operations);
      if (round >= 0) add(times, name, ((performance.now() - begun) * 1e6) / operations);
    }
  }
  return times;
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 200));

/** Locks so many different keys, one after the other. */
async function manyKeys(keys: number) {
  note(`keyed: ${keys} keys`);
  const table = KeyedMutex.open(TABLE);
  await settled();
  const before = { objects: Arena.default.stats().objects.used, bytes: 0 };
  let errors = 0;
  for (let i = 0; i < keys; i++) {
    // Until then the heap of the process has its size.
    if (i === keys / 10) before.bytes = process.memoryUsage().rss;
    try {
      table.hold(keyOf(i)).unlock();
    } catch {
      errors++;
    }
  }
  await settled();
  return {
    keys,
    errors,
    objects: Arena.default.stats().objects.used - before.objects,
    megabytes: Math.round((process.memoryUsage().rss - before.bytes) / 1e6),
  };
}

/** Returns the thousand operations a second of all threads. */
async function inThreads(choice: Choice, isKeyed: boolean, milliseconds: number): Promise<number> {
  KeyedMutex.open(TABLE);
  const mutexes = isKeyed ? undefined : Array.from({ length: MUTEXES }, () => new Mutex());
  const handles = mutexes?.map(({ handle }) => handle);
  const rates = await Promise.all(
    Array.from({ length: THREADS }, (_, i) => {
      const workerData: Task = { choice, keys: KEYS, seed: i + 1, milliseconds, mutexes: handles };
      const worker = new Worker(new URL('./thread.js', import.meta.url), { workerData });
      return new Promise<number>((resolve, reject) => {
        let rate = 0;
        worker.on('message', (operations: number) => {
          rate = operations;
        });
        worker.on('error', reject);
        worker.on('exit', () => resolve(rate));
      });
    }),
  );
  for (const mutex of mutexes ?? []) mutex.dispose();
  return rates.reduce((sum, rate) => sum + rate) / 1000;
}

function table(times: Times): string {
  const made = makeTable(['row', 'median', 'least', 'most', 'rounds']);
  for (const [name, values] of Object.entries(times)) {
    const { median, min, max } = spread(values);
    made.push([name, fixed(median), fixed(min), fixed(max), values.length]);
  }
  return made.toString();
}

function targets(times: Times, throughput: Times): Target[] {
  const median = (of: Times, name: string): number => spread(of[name] ?? []).median;
  const target = (what: string, bound: Target['bound'], wanted: number, value: number): Target => ({
    what,
    bound,
    wanted,
    found: new Map([['KeyedMutex', value]]),
  });
  const hot = median(times, 'KeyedMutex, a key used lately');
  const over = (choice: Choice): number =>
    median(throughput, `${choice}, KeyedMutex`) / median(throughput, `${choice}, ${MUTEXES} mutexes`);
  const asyncLock = median(times, 'async-lock, a new key');
  return [
    target('a key used lately / a pair of Mutex', '<=', 6, hot / median(times, 'a pair of Mutex')),
    target('a key used lately / stripes', '<=', 2, hot / median(times, 'stripes, a key used lately')),
    target('a new key / async-lock', '<=', 1, median(times, 'KeyedMutex, a new key') / asyncLock),
    target(
      'a new key, runExclusive / async-lock',
      '<=',
      1,
      median(times, 'KeyedMutex.runExclusive, a new key') / asyncLock,
    ),
    target(`${THREADS} threads, uniform / ${MUTEXES} mutexes`, '>=', 0.8, over('uniform')),
    target(`${THREADS} threads, zipf / ${MUTEXES} mutexes`, '>=', 0.8, over('zipf')),
  ];
}
