// The results of `bench tasks`, in the shape of its JSON file, and its tables.

import { fixed, makeTable, ratio, skippedLines, targetTable } from '../report/tables.js';
import type { Target } from '../report/targets.js';
import type { Skipped } from '../results.js';
import type { Family } from '../rows/row.js';
import { type Spread, spread } from '../statistics.js';
import { MEASURES, type Measure } from './rows.js';

export interface TasksRun {
  row: string;
  round: number;
  /** The time of an operation. */
  nanoseconds: number;
}

export interface TasksResults {
  benchmark: 'tasks';
  environment: Record<string, string | number>;
  options: Record<string, unknown>;
  rows: { name: string; family: Family; measure: Measure }[];
  runs: TasksRun[];
  skipped: Skipped[];
}

/** Returns the nanoseconds of an operation of a row, and the number of runs. */
export function timesOf({ runs }: TasksResults, row: string): Spread & { runs: number } {
  const times = runs.filter((run) => run.row === row).map(({ nanoseconds }) => nanoseconds);
  return { ...spread(times), runs: times.length };
}

/** A row of the library takes at most so much of the time of the fastest peer. */
const WANTED = 0.8;

/** Returns the targets for which both sides have been measured. */
export function tasksTargets(results: TasksResults): Target[] {
  return (Object.keys(MEASURES) as Measure[]).flatMap((measure) => {
    const measured = results.rows.filter((row) => row.measure === measure && timesOf(results, row.name).runs > 0);
    const peers = measured.filter(({ family }) => family !== 'taketurns');
    const [fastest] = peers
      .map(({ name }) => ({ name, time: timesOf(results, name).median }))
      .sort((a, b) => a.time - b.time);
    if (fastest === undefined) return [];
    return measured
      .filter(({ family }) => family === 'taketurns')
      .map(({ name }): Target => {
        const found = new Map([['taketurns', timesOf(results, name).median / fastest.time]]);
        return { what: `${name} / ${fastest.name}`, bound: '<=', wanted: WANTED, found };
      });
  });
}

export function tasksTables(results: TasksResults): string {
  const { cpu, processors, node } = results.environment;
  return [
    `${cpu}, ${processors} processors, Node ${node}`,
    ...(Object.keys(MEASURES) as Measure[]).flatMap((measure) => table(results, measure)),
    ...targetTable('to reach', tasksTargets(results), fixed),
    ...skippedLines(results),
  ].join('\n\n');
}

function table(results: TasksResults, measure: Measure): string[] {
  const rows = results.rows
    .filter((row) => row.measure === measure)
    .map(({ name }) => ({ name, ...timesOf(results, name) }))
    .filter(({ runs }) => runs > 0);
  if (rows.length === 0) return [];
  const least = Math.min(...rows.map(({ median }) => median));
  const made = makeTable(['row', 'median', 'least', 'most', 'runs', '/ the least']);
  for (const { name, median, min, max, runs } of rows)
    made.push([name, ...[median, min, max].map(fixed), runs, ratio(median / least)]);
  return [`${MEASURES[measure]}, nanoseconds\n${made.toString()}`];
}
