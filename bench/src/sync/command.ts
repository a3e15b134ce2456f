// The command `taketurns bench sync`.

import { mkdirSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Command } from 'commander';
import { environment } from '../environment.js';
import { buildNative, type NativeBinary } from '../native.js';
import { LEAST_SECONDS, MOST_SECONDS, readFile, readRows, readRuns, readSeconds, readThreads } from '../options.js';
import { listRows, note, RESULTS } from '../output.js';
import { measureSync } from './plan.js';
import { syncTables } from './report.js';
import type { SyncResults } from './results.js';
import { SYNC_ROWS, type SyncRow } from './rows.js';

const THREADS = [2, 4, 8];
const FULL = { seconds: 0.5, runs: 7 };
const QUICK = { seconds: 0.15, runs: 3 };

interface Given {
  threads?: number[];
  seconds?: number;
  runs?: number;
  rows?: SyncRow[];
  native: boolean;
  quick?: boolean;
  list?: boolean;
  json?: string;
}

export function addSync(bench: Command): void {
  bench
    .command('sync')
    .description('taketurns/sync: rounds of a barrier, round trips, reads, and calls that have nothing to do')
    .option('--threads <counts>', `threads at a barrier (default: ${THREADS})`, readThreads)
    .option(
      '--seconds <seconds>',
      `length of an interval, ${LEAST_SECONDS} to ${MOST_SECONDS} (default: ${FULL.seconds})`,
      readSeconds,
    )
    .option('--runs <runs>', `processes for each row and number of threads (default: ${FULL.runs})`, readRuns)
    .option('--rows <names>', 'only these rows (default: all; see --list)', (text: string) => readRows(SYNC_ROWS, text))
    .option('--list', 'print the names of the rows and do nothing else')
    .option('--json <file>', 'write everything measured here (default: bench/results/sync.json)', readFile)
    .option('--quick', `a short form: ${QUICK.runs} runs of ${QUICK.seconds} seconds`)
    .option('--no-native', 'leave out the rows in C++')
    .action(act);
}

async function act(given: Given, command: Command): Promise<void> {
  if (given.list) return listRows(SYNC_ROWS, ({ measure }) => `, ${measure}`);
  const { threads = THREADS, seconds, runs } = { ...(given.quick ? QUICK : FULL), ...given };
  const rows = (given.rows ?? SYNC_ROWS).filter(({ kind }) => given.native || kind === 'script');
  if (rows.length === 0) {
    command.error("error: options '--rows' and '--no-native' together leave no row. Allowed: at least one row.");
  }

  mkdirSync(RESULTS, { recursive: true });
  const json = given.json ?? `${RESULTS}sync.json`;
  const wantsNative = rows.some(({ kind }) => kind === 'native');
  if (wantsNative) note('building the native rows');
  const native: NativeBinary = wantsNative ? await buildNative() : { missing: 'not asked for' };
  const results: SyncResults = {
    benchmark: 'sync',
    environment: environment('compiler' in native ? native.compiler : 'none'),
    options: { threads, seconds, runs, native: given.native, rows: rows.map(({ name }) => name) },
    rows: rows.map(({ name, family, measure }) => ({ name, family, measure })),
    runs: [],
    skipped: [],
  };
  if (wantsNative && 'missing' in native) {
    results.skipped.push({ row: 'native rows', at: 'build', why: native.missing });
  }
  await measureSync({ rows, threads, seconds, runs }, native, results, (what, run, of) =>
    note(`sync: ${what}, run ${run} of ${of}`),
  );
  note('');
  console.log(syncTables(results));
  writeFileSync(json, `${JSON.stringify(results)}\n`);
  console.log(`\neverything measured: ${relative('.', json)}`);
  if (results.runs.length === 0) process.exitCode = 1;
}
