// The command `taketurns bench hand-over`.

import { mkdirSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Command } from 'commander';
import { environment } from '../environment.js';
import { buildNative, type NativeBinary } from '../native.js';
import { readFile, readMicroseconds, readMilliseconds, readRows, readRuns, readTrials } from '../options.js';
import { listRows, note, RESULTS } from '../output.js';
import type { Row } from '../rows/row.js';
import { handOvers } from './plan.js';
import { handOverTables } from './report.js';
import type { HandOverResults } from './results.js';
import { HAND_OVERS } from './rows.js';
import type { Section } from './trials.js';

/** The lengths of the sections: microseconds of computing, and milliseconds of sleep. */
const COMPUTING = [20, 100, 300, 1000];
const SLEEPING = [1, 10, 100];
const FULL = { trials: 300, runs: 5 };
const QUICK = { trials: 200, runs: 1 };

interface Given {
  computing?: number[];
  sleeping?: number[];
  trials?: number;
  runs?: number;
  rows?: Row[];
  native: boolean;
  quick?: boolean;
  list?: boolean;
  json?: string;
}

export function addHandOver(bench: Command): void {
  bench
    .command('hand-over')
    .description(
      'from unlock to lock: how long a waiter takes to have the lock, and the processor time that a wait takes',
    )
    .option('--computing <µs>', `lengths of a section whose holder computes (default: ${COMPUTING})`, readMicroseconds)
    .option('--sleeping <ms>', `lengths of a section whose holder sleeps (default: ${SLEEPING})`, readMilliseconds)
    .option(
      '--trials <trials>',
      `hand-overs per section and run, fewer of those longer than half a millisecond (default: ${FULL.trials})`,
      readTrials,
    )
    .option('--runs <runs>', `processes per row (default: ${FULL.runs})`, readRuns)
    .option('--rows <names>', 'only these rows (default: all; see --list)', (text: string) =>
      readRows(HAND_OVERS, text),
    )
    .option('--list', 'print the names of the rows and do nothing else')
    .option('--json <file>', 'write everything measured here (default: bench/results/hand-over.json)', readFile)
    .option('--quick', `a short form: ${QUICK.runs} run of ${QUICK.trials} trials`)
    .option('--no-native', 'leave out the rows in C++')
    .action(act);
}

async function act(given: Given, command: Command): Promise<void> {
  if (given.list) return listRows(HAND_OVERS);
  const usual = given.quick ? QUICK : FULL;
  const { computing = COMPUTING, sleeping = SLEEPING, trials = usual.trials, runs = usual.runs } = given;
  const rows = (given.rows ?? HAND_OVERS).filter(({ kind }) => given.native || kind === 'script');
  if (rows.length === 0) {
    command.error("error: options '--rows' and '--no-native' together leave no row. Allowed: at least one row.");
  }
  const sections: Section[] = [
    ...computing.map((microseconds) => ({ by: 'computing' as const, microseconds })),
    ...sleeping.map((milliseconds) => ({ by: 'sleeping' as const, microseconds: milliseconds * 1000 })),
  ];

  mkdirSync(RESULTS, { recursive: true });
  const json = given.json ?? `${RESULTS}hand-over.json`;
  const wantsNative = rows.some(({ kind }) => kind === 'native');
  if (wantsNative) note('building the native rows');
  const native: NativeBinary = wantsNative ? await buildNative() : { missing: 'not asked for' };
  const results: HandOverResults = {
    benchmark: 'hand-over',
    environment: environment('compiler' in native ? native.compiler : 'none'),
    options: { computing, sleeping, trials, runs, native: given.native, rows: rows.map(({ name }) => name) },
    rows: rows.map(({ name, family }) => ({ name, family })),
    runs: [],
    skipped: [],
  };
  if (wantsNative && 'missing' in native) {
    results.skipped.push({ row: 'native rows', at: 'build', why: native.missing });
  }
  await handOvers({ rows, sections, trials, runs }, native, results, (row, run, of) =>
    note(`hand-over: ${row}, run ${run} of ${of}`),
  );
  note('');
  console.log(handOverTables(results));
  writeFileSync(json, `${JSON.stringify(results)}\n`);
  console.log(`\neverything measured: ${relative('.', json)}`);
  if (results.runs.length === 0) process.exitCode = 1;
}
