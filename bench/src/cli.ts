// The command line of `taketurns bench`. The commands `semaphores`, `hashes`, `locks` and `today` are here.
// hand-over/command.ts has `hand-over`, sync/command.ts has `sync`, tasks/command.ts has `tasks`, keyed/command.ts has `keyed`,
// channels/command.ts has `channels`, exponents/command.ts has `exponents`, application/command.ts has `application`, and
// draw-command.ts has `draw`.

import { mkdirSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { Command, Option } from 'commander';
import { addApplication } from './application/command.js';
import { BENCHMARKS, type Benchmark, LEAST_WORK, rowsOf, usualRows, type Work } from './benchmarks.js';
import { build } from './build.js';
import { addChannels } from './channels/command.js';
import { addDraw } from './draw-command.js';
import { environment } from './environment.js';
import { addExponents } from './exponents/command.js';
import { addHandOver } from './hand-over/command.js';
import { addKeyed } from './keyed/command.js';
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
import { asyncs, type Course, contention, type Progress, pairs, releases, remaining, trace } from './plan.js';
import { type Key, RecordError, Store } from './record.js';
import { summary } from './report/summary.js';
import { tables } from './report/tables.js';
import type { Results } from './results.js';
import { BYPASS, TRACED, withLimit } from './rows/locks.js';
import type { Row } from './rows/row.js';
import { addSync } from './sync/command.js';
import { addTasks } from './tasks/command.js';
import { period } from './time-left.js';
import { MOST_THREADS } from './workers/board.js';

const FULL = { threads: [1, 2, 3, 4, 8, 16, 32, 64], seconds: 1, runs: 5, probes: 1, warmUp: 60 };
const QUICK = { threads: [1, 2, 4, 16, 64], seconds: 0.15, runs: 3, probes: 1, warmUp: 15 };
/** The papers' intervals, and their thread counts as powers of two. */
const PAPER = { threads: [1, 2, 4, 8, 16, 32, 64, 128], seconds: 10, runs: 11, probes: 1, warmUp: 60 };
/** The longest interval with clocks and stamps in a run with `--paper`. The papers have no such intervals. */
const PAPER_PROBE_SECONDS = 1;

/** The bypass limits and thread counts of the sweep, by default. */
const LIMITS = [1, 10, 100, 1000];
const SWEEP_THREADS = [4, 16, 64];

interface Given {
  threads?: number[];
  seconds?: number;
  runs?: number;
  probes?: number;
  targets?: boolean;
  warmUp?: number;
  rows?: Row[];
  bypass?: number[];
  inside?: number;
  outside?: number;
  native: boolean;
  pairs: boolean;
  pairsOnly?: boolean;
  quick?: boolean;
  paper?: boolean;
  record?: string;
  list?: boolean;
  estimate?: boolean;
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
      '--probes <runs>',
      `of these runs, how many are followed by one with clocks, for the longest wait and the bypass (default: ${FULL.probes})`,
      readRuns,
    )
    .option(
      '--warm-up <ms>',
      `milliseconds of warm-up for each thread new to a row in JavaScript (default: ${FULL.warmUp})`,
      readWarmUp,
    )
    .option('--rows <names>', 'only these rows; * stands for any text (default: all; see --list)', (text: string) =>
      readRows(rowsOf(benchmark), text),
    )
    .option('--list', 'print the names of the rows and do nothing else')
    .option('--estimate', 'print how long what is not yet in the record takes with threads, and do nothing else')
    .option('--json <file>', `write everything measured here (default: bench/results/${benchmark.name}.json)`, readFile)
    .option('--svg <file>', `draw the figure here (default: bench/results/${benchmark.name}.svg)`, readFile)
    .addOption(
      new Option(
        '--quick',
        `a short form: threads ${benchmark.threads ?? QUICK.threads}, ${QUICK.runs} runs of ${QUICK.seconds} s each`,
      ),
    )
    .option(
      '--record <file>',
      'append each finished measurement here, and go on where a run with this file has stopped (default: none)',
      readFile,
    )
    .option('--targets', 'print the goals of the project as well, and whether this run reaches them')
    .option('--no-native', 'leave out the rows in C++')
    .option('--no-pairs', 'leave out the tables on one thread')
    .option(
      '--pairs-only',
      'leave out the threads: measure the tables on one thread, each figure in a process of its own',
    )
    .action((given: Given) => act(benchmark, given));
  if (benchmark.paper) {
    command.option(
      '--paper',
      `as the paper measures: the curves of its figure, whose waiters spin, threads ${PAPER.threads}, ${PAPER.runs} runs of ${PAPER.seconds} s each, no ` +
        `sweep, with a record (default: bench/results/${benchmark.name}-paper.jsonl)`,
    );
  }
  if (benchmark.name === 'locks') {
    command.option(
      '--bypass <limits>',
      `bypass limits for a sweep of the rows in a capacitor, whose own is ${BYPASS}, at ${SWEEP_THREADS} threads where ` +
        `these are measured, else at the most (default: ${LIMITS}; no sweep with --quick or --paper)`,
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
addSync(bench);
addTasks(bench);
addKeyed(bench);
addChannels(bench);
addExponents(bench);
addApplication(bench);
addDraw(bench);

/** The exit status of a program that Ctrl-C has ended. */
const INTERRUPTED = 130;

/** Returns the rows of the sweep: the wrapped locks, with the other limits. */
function sweep(rows: readonly Row[], limits: readonly number[], threads: readonly number[]): Row[] {
  const usual = threads.filter((count) => SWEEP_THREADS.includes(count));
  const only = usual.length > 0 ? usual : threads.slice(-1);
  const wrapped = rows.flatMap(({ lock }) => (lock?.form === 'wrapped' ? lock.of : []));
  const others = limits.filter((limit) => limit !== BYPASS);
  return wrapped.flatMap((of) => others.map((limit) => withLimit(of, limit, only)));
}

/** Returns the work of a run, or undefined if it is that of the loops that count no steps. */
function otherWork({ work: own, workload }: Benchmark, { inside, outside }: Given): Work | undefined {
  if (own === undefined) return undefined;
  const work = { inside: inside ?? own.inside, outside: outside ?? own.outside };
  const least = LEAST_WORK[workload];
  return work.inside === least.inside && work.outside === least.outside ? undefined : work;
}

async function act(benchmark: Benchmark, given: Given): Promise<void> {
  const { name } = benchmark;
  const all = rowsOf(benchmark);
  if (given.list) {
    const usual = usualRows(benchmark);
    const ofPaper = (row: Row): string => (benchmark.paper?.includes(row) ? ', with --paper' : ', by its name');
    listRows(all, (row) => (usual.includes(row) ? '' : ofPaper(row)));
    return;
  }
  const { paper } = given.paper ? benchmark : {};
  const short = given.quick === true;
  if (short && paper) program.error("error: options '--quick' and '--paper' exclude each other. Allowed: one of them.");
  if (given.pairsOnly && (!given.pairs || benchmark.threadsOnly)) {
    program.error(
      "error: option '--pairs-only' leaves nothing to measure. Allowed: without '--no-pairs', for semaphores and locks.",
    );
  }
  const usual = paper ? PAPER : short ? QUICK : FULL;
  const work = otherWork(benchmark, given);
  const threads = given.threads ?? [...(benchmark.threads ?? usual.threads)];
  const seconds = given.seconds ?? usual.seconds;
  const chosen = (given.rows ?? paper ?? usualRows(benchmark)).filter(({ kind }) => given.native || kind === 'script');
  const limits = given.bypass ?? (short || paper ? [] : LIMITS);
  const files = `${RESULTS}${name}${paper ? '-paper' : ''}`;
  const record = given.record ?? (paper && `${files}.jsonl`);
  const options: Options = {
    ...usual,
    benchmark,
    threads,
    seconds,
    probeSeconds: short ? seconds / 2 : paper ? Math.min(seconds, PAPER_PROBE_SECONDS) : seconds,
    rows: [...chosen, ...sweep(chosen, limits, threads)],
    native: given.native,
    targets: given.targets === true,
    contention: !given.pairsOnly,
    pairs: given.pairs && !benchmark.threadsOnly,
    quick: short,
    json: given.json ?? `${files}.json`,
    svg: given.svg ?? `${files}.svg`,
    ...(record && { record }),
    ...(work && { work }),
    ...(given.runs && { runs: given.runs }),
    ...(given.probes && { probes: given.probes }),
    ...(given.warmUp !== undefined && { warmUp: given.warmUp }),
  };
  if (options.rows.length === 0) {
    program.error("error: options '--rows' and '--no-native' together leave no row. Allowed: at least one row.");
  }
  await run(options, given.estimate === true);
}

async function run(options: Options, onlyEstimate: boolean): Promise<void> {
  mkdirSync(RESULTS, { recursive: true });
  const wantsNative = options.rows.some(({ kind }) => kind === 'native');
  if (wantsNative) note('building the native rows');
  const native: NativeBinary = wantsNative ? await buildNative() : { missing: 'not asked for' };
  const { benchmark, rows, json, svg, work, record, targets, ...measured } = options;
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

  const store = storeOf(options, results);
  if (onlyEstimate) {
    note('');
    const { intervals, seconds } = remaining(options, store);
    console.log(`to measure: ${intervals} intervals, about ${period(seconds)}`);
    return;
  }
  const interrupted = new AbortController();
  // With a record, Ctrl-C keeps what was measured. Without a record it would be lost anyway, so the program just ends.
  if (record) process.once('SIGINT', () => interrupted.abort());
  const { signal: stop } = interrupted;
  const course: Course = { store, progress: showProgress, stop };

  if (options.contention) await contention(options, native, course);
  if (options.contention && rows.some(({ lock }) => lock?.of === TRACED && lock.form === 'wrapped')) {
    await trace(options, course);
  }
  if (options.pairs) {
    await pairs(options, native, course);
    await releases(options, course);
    if (rows.some(({ name }) => name === benchmark.asyncRows[0]?.name)) await asyncs(options, course);
  }
  note('');

  console.log(tables(results, targets));
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
  const said = summary(results);
  if (said.length > 0) {
    const { cpu, node } = results.environment;
    console.log(`\nWhat was measured on this machine (${cpu}, Node ${node}):\n\n${said.join('\n')}`);
  }
  if (record) console.log(`record:              ${relative('.', record)}`);
  if (stop.aborted) {
    console.log('\ninterrupted: what was finished is in the record, and the same command goes on from there');
    process.exitCode = INTERRUPTED;
  }
}

/** Opens the record, if there is one. If the record belongs to another run, ends the program. */
function storeOf({ benchmark, rows, threads, record, ...options }: Options, results: Results): Store {
  if (record === undefined) return new Store(results);
  const { seconds, probeSeconds, warmUp, quick, work } = options;
  const { date: _, ...machine } = results.environment;
  const chosen = rows.map(({ name }) => name);
  // Floors and promises have names that are not names of rows.
  const others = rowsOf(benchmark).flatMap(({ name }) => (chosen.includes(name) ? [] : name));
  const wanted = ({ row, threads: of }: Key): boolean =>
    !others.includes(row) && (of === undefined || threads.includes(of));
  const configuration = { seconds, probeSeconds, warmUp, quick, ...(work && { work }) };
  const origin = { benchmark: benchmark.name, configuration, machine, build: build() };
  try {
    return new Store(results, { file: record, origin, wanted });
  } catch (error) {
    if (error instanceof RecordError) program.error(`error: option '--record': ${error.message}`);
    throw error;
  }
}

function showProgress(...[table, what, count, of, left]: Parameters<Progress>): void {
  note(`${table}: ${what}, run ${count} of ${of}${left === undefined ? '' : `, ${period(left)} left`}`);
}

await program.parseAsync();
