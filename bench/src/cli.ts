// The command line: `taketurns bench semaphores`, `hashes` and `locks`; hand-over/command.ts has `hand-over`.

import { mkdirSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { Command, Option } from 'commander';
import { BENCHMARKS, type Benchmark, rowsOf, type Work } from './benchmarks.js';
import { environment } from './environment.js';
import { addHandOver } from './hand-over/command.js';
import { buildNative, type NativeBinary } from './native.js';
import {
  LEAST_SECONDS,
  MOST_STEPS,
  type Options,
  readFile,
  readInside,
  readLimits,
  readOutside,
  readRows,
  readRuns,
  readSeconds,
  readThreads,
  readWarmUp,
} from './options.js';
import { listRows, note, RESULTS } from './output.js';
import { asyncs, contention, type Progress, pairs, releases, trace } from './plan.js';
import { tables } from './report/tables.js';
import type { Results } from './results.js';
import { BYPASS, TRACED, withLimit } from './rows/locks.js';
import type { Row } from './rows/row.js';
import { MOST_THREADS } from './workers/board.js';

const FULL = { threads: [1, 2, 3, 4, 8, 16, 32, 64], seconds: 1, runs: 5, warmUp: 60 };
const QUICK = { threads: [1, 2, 4, 16, 64], seconds: 0.15, runs: 3, warmUp: 15 };

/** The bypass limits and thread counts of the sweep, by default. */
const LIMITS = [1, 10, 100, 1000];
const SWEEP_THREADS = [4, 16, 64];

interface Given {
  threads?: number[];
  seconds?: number;
  runs?: number;
  warmUp?: number;
  rows?: Row[];
  bypass?: number[];
  inside?: number;
  outside?: number;
  native: boolean;
  pairs: boolean;
  pairsOnly?: boolean;
  quick?: boolean;
  list?: boolean;
  json?: string;
  svg?: string;
}

const program = new Command('taketurns')
  .description('benchmarks of fair semaphores and locks')
  .showHelpAfterError('(--help tells what is allowed)');
const bench = program.command('bench').description('measure');
for (const benchmark of Object.values(BENCHMARKS)) {
  const command = bench
    .command(benchmark.name)
    .description(benchmark.summary)
    .option(
      '--threads <counts>',
      `thread counts, 1 to ${MOST_THREADS} (default: ${benchmark.threads ?? FULL.threads})`,
      readThreads,
    )
    .option(
      '--seconds <seconds>',
      `length of an interval, at least ${LEAST_SECONDS} (default: ${FULL.seconds})`,
      readSeconds,
    )
    .option('--runs <runs>', `intervals per row and thread count (default: ${FULL.runs})`, readRuns)
    .option(
      '--warm-up <ms>',
      `milliseconds of warm-up for each thread new to a row in JavaScript (default: ${FULL.warmUp})`,
      readWarmUp,
    )
    .option('--rows <names>', 'only these rows (default: all; see --list)', (text: string) =>
      readRows(rowsOf(benchmark), text),
    )
    .option('--list', 'print the names of the rows and do nothing else')
    .option('--json <file>', `write everything measured here (default: bench/results/${benchmark.name}.json)`, readFile)
    .option('--svg <file>', `draw the figure here (default: bench/results/${benchmark.name}.svg)`, readFile)
    .addOption(
      new Option(
        '--quick',
        `a short form: threads ${benchmark.threads ?? QUICK.threads}, ${QUICK.runs} runs of ${QUICK.seconds} s each`,
      ),
    )
    .option('--no-native', 'leave out the rows in C++')
    .option('--no-pairs', 'leave out the tables on one thread')
    .option(
      '--pairs-only',
      'leave out the threads: measure the tables on one thread, each figure in a process of its own',
    )
    .action((given: Given) => act(benchmark, given));
  if (benchmark.name === 'locks') {
    command.option(
      '--bypass <limits>',
      `bypass limits for a sweep of the rows in a capacitor, whose own is ${BYPASS}, at ${SWEEP_THREADS} threads where ` +
        `these are measured, else at the most (default: ${LIMITS}; no sweep with --quick)`,
      readLimits,
    );
  }
  if (benchmark.work) {
    command
      .option(
        '--inside <steps>',
        `steps of the generator in the section, 1 to ${MOST_STEPS} (default: ${benchmark.work.inside})`,
        readInside,
      )
      .option(
        '--outside <steps>',
        `steps of the thread's own generator after it, 0 to ${MOST_STEPS} (default: ${benchmark.work.outside})`,
        readOutside,
      );
  }
}
addHandOver(bench);

/** Returns the rows of the sweep: the wrapped locks, with the other limits. */
function sweep(rows: readonly Row[], limits: readonly number[], threads: readonly number[]): Row[] {
  const usual = threads.filter((count) => SWEEP_THREADS.includes(count));
  const only = usual.length > 0 ? usual : threads.slice(-1);
  const wrapped = rows.flatMap(({ lock }) => (lock?.form === 'wrapped' ? lock.of : []));
  const others = limits.filter((limit) => limit !== BYPASS);
  return wrapped.flatMap((of) => others.map((limit) => withLimit(of, limit, only)));
}

/** Returns the given work, unless it is the benchmark's own. */
function otherWork({ work: own }: Benchmark, { inside, outside }: Given): Work | undefined {
  if (own === undefined) return undefined;
  const work = { inside: inside ?? own.inside, outside: outside ?? own.outside };
  return work.inside === own.inside && work.outside === own.outside ? undefined : work;
}

async function act(benchmark: Benchmark, given: Given): Promise<void> {
  const { name } = benchmark;
  const all = rowsOf(benchmark);
  if (given.list) {
    listRows(all);
    return;
  }
  const short = given.quick === true;
  if (given.pairsOnly && (!given.pairs || benchmark.crowdsOnly)) {
    program.error(
      "error: option '--pairs-only' leaves nothing to measure. Allowed: without '--no-pairs', and not of hashes.",
    );
  }
  const usual = short ? QUICK : FULL;
  const work = otherWork(benchmark, given);
  const threads = given.threads ?? [...(benchmark.threads ?? usual.threads)];
  const chosen = (given.rows ?? all).filter(({ kind }) => given.native || kind === 'script');
  const limits = given.bypass ?? (short ? [] : LIMITS);
  const options: Options = {
    ...usual,
    benchmark,
    threads,
    rows: [...chosen, ...sweep(chosen, limits, threads)],
    native: given.native,
    contention: !given.pairsOnly,
    pairs: given.pairs && !benchmark.crowdsOnly,
    quick: short,
    json: given.json ?? `${RESULTS}${name}.json`,
    svg: given.svg ?? `${RESULTS}${name}.svg`,
    ...(work && { work }),
    ...(given.seconds && { seconds: given.seconds }),
    ...(given.runs && { runs: given.runs }),
    ...(given.warmUp !== undefined && { warmUp: given.warmUp }),
  };
  if (options.rows.length === 0) {
    program.error("error: options '--rows' and '--no-native' together leave no row. Allowed: at least one row.");
  }
  await run(options);
}

async function run(options: Options): Promise<void> {
  mkdirSync(RESULTS, { recursive: true });
  const wantsNative = options.rows.some(({ kind }) => kind === 'native');
  if (wantsNative) note('building the native rows');
  const native: NativeBinary = wantsNative ? await buildNative() : { missing: 'not asked for' };
  const { benchmark, rows, json, svg, work, ...measured } = options;
  const results: Results = {
    benchmark: benchmark.name,
    environment: environment('compiler' in native ? native.compiler : 'none'),
    options: { ...measured, rows: rows.map(({ name }) => name) },
    ...(work && { work }),
    rows: rows.map(({ name, family, lock, only, hash, apart }) => ({
      name,
      family,
      ...(lock && { lock }),
      ...(only && { only }),
      ...(hash && { hash }),
      ...(apart && { apart }),
    })),
    runs: [],
    probes: [],
    pairs: [],
    asyncs: [],
    skipped: [],
  };
  if (wantsNative && 'missing' in native) {
    results.skipped.push({ row: 'native rows', at: 'build', why: native.missing });
  }

  if (options.contention) await contention(options, native, results, showProgress);
  if (options.contention && rows.some(({ lock }) => lock?.of === TRACED && lock.form === 'wrapped')) {
    await trace(options, results, showProgress);
  }
  if (options.pairs) {
    await pairs(options, native, results, showProgress);
    await releases(options, results, showProgress);
    if (rows.some(({ name }) => name === benchmark.asyncRows[0]?.name)) await asyncs(options, results, showProgress);
  }
  note('');

  console.log(tables(results));
  writeFileSync(json, `${JSON.stringify(results)}\n`);
  console.log(`\neverything measured: ${relative('.', json)}`);
  if (results.runs.length > 0) {
    // The plotting libraries take a while to load, and no earlier step needs them.
    const { figures } = await import('./report/figures.js');
    for (const [suffix, drawn] of await figures(results)) {
      const file = svg.replace(/(\.svg)?$/, `${suffix}$1`);
      writeFileSync(file, drawn);
      console.log(`figure:              ${relative('.', file)}`);
    }
  } else if (options.contention || results.pairs.length === 0) {
    console.log('no figure: no row could be run');
    process.exitCode = 1;
  }
}

function showProgress(...[table, what, count, of]: Parameters<Progress>): void {
  note(`${table}: ${what}, run ${count} of ${of}`);
}

await program.parseAsync();
