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
}

export interface SyncResults {
  benchmark: 'sync';
  environment: Record<string, string | number>;
  options: Record<string, unknown>;
  rows: { name: string; family: Family; measure: Measure }[];
  runs: SyncRun[];
  skipped: Skipped[];
}

/** What was measured, each measure with each of its numbers of threads. */
export function cellsOf({ runs }: SyncResults): { measure: Measure; threads: number }[] {
  const keys = (Object.keys(MEASURES) as Measure[]).flatMap((measure) =>
    [...new Set(runs.filter((run) => run.measure === measure).map(({ threads }) => threads))]
      .sort((a, b) => a - b)
      .map((threads) => ({ measure, threads })),
  );
  return keys;
}

/** The nanoseconds of an operation, and the number of runs. */
export function timesOf({ runs }: SyncResults, row: string, threads: number): Spread & { runs: number } {
  const times = runs
    .filter((run) => run.row === row && run.threads === threads)
    .map(({ perSecond }) => 1e9 / perSecond);
  return { ...spread(times), runs: times.length };
}
