// The results of `bench sync`, in the shape of its JSON file, which keeps every run.

import type { Skipped } from '../results.js';
import type { Family } from '../rows/row.js';
import { type Spread, spread } from '../statistics.js';
import { MEASURES, type Measure } from './rows.js';

export interface SyncRun {
  measure: Measure;
  threads: number;
  row: string;
  round: number;
  /** The operations of all threads together. */
  perSecond: number;
  /** How evenly the threads got their turns, where that is measured. */
  evenness?: number;
}

export interface SyncResults {
  benchmark: 'sync';
  environment: Record<string, string | number>;
  options: Record<string, unknown>;
  rows: { name: string; family: Family; measure: Measure }[];
  runs: SyncRun[];
  skipped: Skipped[];
}

/** Returns what was measured: each measure, with each of its numbers of threads. */
export function cellsOf({ runs }: SyncResults): { measure: Measure; threads: number }[] {
  const keys = (Object.keys(MEASURES) as Measure[]).flatMap((measure) =>
    [...new Set(runs.filter((run) => run.measure === measure).map(({ threads }) => threads))]
      .sort((a, b) => a - b)
      .map((threads) => ({ measure, threads })),
  );
  return keys;
}

/** Returns what the table of a measure shows for a row: the nanoseconds of an operation, or the evenness. */
export function valuesOf(results: SyncResults, row: string, threads: number): Spread & { runs: number } {
  const found = results.runs.filter((run) => run.row === row && run.threads === threads && run.evenness !== undefined);
  if (found.length === 0) return timesOf(results, row, threads);
  return { ...spread(found.map(({ evenness }) => evenness as number)), runs: found.length };
}

/** The nanoseconds of an operation, and the number of runs. */
export function timesOf({ runs }: SyncResults, row: string, threads: number): Spread & { runs: number } {
  const times = runs
    .filter((run) => run.row === row && run.threads === threads)
    .map(({ perSecond }) => 1e9 / perSecond);
  return { ...spread(times), runs: times.length };
}
