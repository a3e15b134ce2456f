// The command `taketurns bench tasks`. In each round every row runs once, in a process of its own.

import { mkdirSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { environment } from '../environment.js';
import { LEAST_SECONDS, MOST_SECONDS, readFile, readRows, readRuns, readSeconds } from '../options.js';
import { listRows, note, RESULTS } from '../output.js';
import { runJson } from '../program.js';
import { type TasksResults, tasksTables } from './results.js';
import { TASKS_ROWS, type TasksRow } from './rows.js';

const FULL = { seconds: 0.5, runs: 7 };
const QUICK = { seconds: 0.15, runs: 3 };
const PROGRAM = fileURLToPath(new URL('./program.js', import.meta.url));
const PATIENCE_MS = 60_000;

interface Given {
  seconds?: number;
  runs?: number;
  rows?: TasksRow[];
  quick?: boolean;
  list?: boolean;
  json?: string;
}

export function addTasks(bench: Command): void {
  bench
    .command('tasks')
    .description('taketurns/tasks beside libraries for the tasks of one thread')
    .option(
      '--seconds <seconds>',
      `length of an interval, ${LEAST_SECONDS} to ${MOST_SECONDS} (default: ${FULL.seconds})`,
      readSeconds,
    )
    .option('--runs <runs>', `processes for each row (default: ${FULL.runs})`, readRuns)
    .option('--rows <names>', 'only these rows (default: all; see --list)', (text: string) =>
      readRows(TASKS_ROWS, text),
    )
    .option('--list', 'print the names of the rows and do nothing else')
    .option('--json <file>', 'write everything measured here (default: bench/results/tasks.json)', readFile)
    .option('--quick', `a short form: ${QUICK.runs} runs of ${QUICK.seconds} seconds`)
    .action(act);
}

async function act(given: Given): Promise<void> {
  if (given.list) return listRows(TASKS_ROWS, ({ measure }) => `, ${measure}`);
  const { seconds, runs } = { ...(given.quick ? QUICK : FULL), ...given };
  const rows = given.rows ?? TASKS_ROWS;
  mkdirSync(RESULTS, { recursive: true });
  const json = given.json ?? `${RESULTS}tasks.json`;
  const results: TasksResults = {
    benchmark: 'tasks',
    environment: environment('none'),
    options: { seconds, runs, rows: rows.map(({ name }) => name) },
    rows: rows.map(({ name, family, measure }) => ({ name, family, measure })),
    runs: [],
    skipped: [],
  };
  for (let round = 1; round <= runs; round++) {
    for (const { name } of rows) {
      if (results.skipped.some(({ row }) => row === name)) continue;
      note(`tasks: ${name}, run ${round} of ${runs}`);
      try {
        const patience = PATIENCE_MS + 4000 * seconds;
        const measured = await runJson<{ nanoseconds: number }>(
          process.execPath,
          [PROGRAM, name, String(seconds)],
          patience,
        );
        results.runs.push({ row: name, round, ...measured });
      } catch (error) {
        results.skipped.push({ row: name, at: `run ${round}`, why: (error as Error).message });
      }
    }
  }
  note('');
  console.log(tasksTables(results));
  writeFileSync(json, `${JSON.stringify(results)}\n`);
  console.log(`\neverything measured: ${relative('.', json)}`);
  if (results.runs.length === 0) process.exitCode = 1;
}
