// The command `taketurns bench application`: two programs as people write them, under piscina. In one the threads share
// a cache of pages, in the other a server that takes few connections. In each round every row runs once, in a process of
// its own. A run fails if a request or a query is lost, if two threads are in the cache at once, if a page is damaged,
// or if the server has more queries at a time than it takes.

import { mkdirSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { environment } from '../environment.js';
import { LEAST_SECONDS, MOST_SECONDS, readFile, readRows, readRuns, readSeconds, readThreads } from '../options.js';
import { note, RESULTS } from '../output.js';
import { runJson } from '../program.js';
import { fixed, makeTable, rate, skippedLines } from '../report/tables.js';
import type { Skipped } from '../results.js';
import { spread } from '../statistics.js';
import type { ApplicationRun } from './program.js';
import { CACHE_ROWS, POOL_ROWS } from './rows.js';

const FULL = { seconds: 2, runs: 5, threads: 8 };
const QUICK = { seconds: 0.5, runs: 3, threads: 8 };
const PROGRAM = fileURLToPath(new URL('./program.js', import.meta.url));
const PATIENCE_MS = 60_000;

/** The rows of an application, and the heading of its table. */
const APPLICATIONS = {
  cache: { rows: CACHE_ROWS.map(({ name }) => name), heading: 'a cache of pages that the threads share' },
  pool: { rows: POOL_ROWS.map(({ name }) => name), heading: 'a server that takes 8 connections at a time' },
} as const;

type Application = keyof typeof APPLICATIONS;

const ROWS = Object.entries(APPLICATIONS).flatMap(([application, { rows }]) =>
  rows.map((row) => ({ name: `${application}: ${row}`, application: application as Application, row })),
);

type Measured = ApplicationRun & { name: string; round: number };

interface Given {
  seconds?: number;
  runs?: number;
  threads?: number[];
  rows?: typeof ROWS;
  quick?: boolean;
  list?: boolean;
  json?: string;
}

export function addApplication(bench: Command): void {
  bench
    .command('application')
    .description('a shared cache, and a server with few connections, in the threads of piscina')
    .option('--threads <count>', `threads of piscina (default: ${FULL.threads})`, readThreads)
    .option(
      '--seconds <seconds>',
      `length of an interval, ${LEAST_SECONDS} to ${MOST_SECONDS} (default: ${FULL.seconds})`,
      readSeconds,
    )
    .option('--runs <runs>', `processes for each row (default: ${FULL.runs})`, readRuns)
    .option('--rows <names>', 'only these rows; * stands for any text (default: all; see --list)', (text: string) =>
      readRows(ROWS, text),
    )
    .option('--list', 'print the names of the rows and do nothing else')
    .option('--json <file>', 'write everything measured here (default: bench/results/application.json)', readFile)
    .option('--quick', `a short form: ${QUICK.runs} runs of ${QUICK.seconds} seconds`)
    .action(act);
}

async function act(given: Given): Promise<void> {
  if (given.list) {
    for (const { name } of ROWS) console.log(name);
    return;
  }
  const usual = given.quick ? QUICK : FULL;
  const { seconds = usual.seconds, runs = usual.runs, rows = ROWS } = given;
  const threads = given.threads?.at(-1) ?? usual.threads;
  mkdirSync(RESULTS, { recursive: true });
  const json = given.json ?? `${RESULTS}application.json`;
  const measured: Measured[] = [];
  const skipped: Skipped[] = [];
  for (let round = 1; round <= runs; round++) {
    for (const { name, application, row } of rows) {
      if (skipped.some((one) => one.row === name)) continue;
      note(`application: ${name}, run ${round} of ${runs}`);
      try {
        const args = [PROGRAM, application, row, String(threads), String(seconds)];
        const run = await runJson<ApplicationRun>(process.execPath, args, PATIENCE_MS + 4000 * seconds);
        measured.push({ name, round, ...run });
      } catch (error) {
        skipped.push({ row: name, at: `run ${round}`, why: (error as Error).message });
      }
    }
  }
  note('');
  const own = environment('none');
  const options = { seconds, runs, threads, rows: rows.map(({ name }) => name) };
  console.log(
    [
      `${own.cpu}, ${own.processors} processors, Node ${own.node}, ${threads} threads`,
      ...Object.keys(APPLICATIONS).flatMap((application) => table(application as Application, measured)),
      ...skippedLines({ skipped }),
    ].join('\n\n'),
  );
  writeFileSync(
    json,
    `${JSON.stringify({ benchmark: 'application', environment: own, options, runs: measured, skipped })}\n`,
  );
  console.log(`\neverything measured: ${relative('.', json)}`);
  if (measured.length === 0) process.exitCode = 1;
}

function table(application: Application, measured: readonly Measured[]): string[] {
  const { heading } = APPLICATIONS[application];
  const made = makeTable([
    'row',
    'requests\na second',
    '\nmin–max',
    'a request,\nmedian, ms',
    '99.9th\npercentile',
    '\nmin–max',
    'a wait, 99.9th\npercentile, ms',
    '\nmin–max',
    'processor ms\na request',
    'hits',
  ]);
  for (const { name, application: of, row } of ROWS) {
    const runs = measured.filter((one) => one.name === name);
    if (of !== application || runs.length === 0) continue;
    const all = (key: 'rate' | 'median' | 'slow' | 'wait' | 'cpu' | 'hits') => spread(runs.map((one) => one[key]));
    const range = ({ min, max }: { min: number; max: number }, shown: (value: number) => string): string =>
      `${shown(min)}–${shown(max)}`;
    made.push([
      row,
      rate(all('rate').median),
      range(all('rate'), rate),
      fixed(all('median').median),
      fixed(all('slow').median),
      range(all('slow'), fixed),
      fixed(all('wait').median),
      range(all('wait'), fixed),
      all('cpu').median.toFixed(2),
      application === 'cache' ? all('hits').median.toFixed(2) : '',
    ]);
  }
  return made.length > 0 ? [`${heading}\n${made.toString()}`] : [];
}
