// The results of `bench channels`, in the shape of its JSON file, which keeps every run.

import type { Skipped } from '../results.js';
import type { Family } from '../rows/row.js';
import { type Spread, spread } from '../statistics.js';
import type { LoadName } from './loads.js';
import { CHANNELS_ROWS, type ChannelsRow, type Measure } from './rows.js';

/** What one run has measured. */
export interface ChannelsFigures {
  /** The messages, or operations, of all threads together. */
  perSecond?: number;
  /** The fewest messages of a receiver over the most. */
  fairness?: number;
  /** The processor time of a message, in all threads. */
  cpuMicroseconds?: number;
  /** The memory of the process; of a burst and a pipeline, the most that it had. */
  megabytes?: number;
  /** Of round trips: the median, and below what 99 of 100 are. */
  microseconds?: number;
  late?: number;
}

export interface ChannelsRun extends ChannelsFigures {
  row: string;
  shape: string;
  round: number;
}

export interface ChannelsResults {
  benchmark: 'channels';
  environment: Record<string, string | number>;
  options: { seconds: number; runs: number; busy: number; native: boolean; shapes: string[]; rows: string[] };
  rows: { name: string; family: Family; measure: Measure; load: LoadName }[];
  runs: ChannelsRun[];
  skipped: Skipped[];
}

/** Returns the median, the least and the most of one figure of a row, and the number of runs that have the figure. */
export function figureOf(
  { runs }: ChannelsResults,
  row: string,
  shape: string,
  figure: keyof ChannelsFigures,
): Spread & { runs: number } {
  const values = runs
    .filter((run) => run.row === row && run.shape === shape)
    .map((run) => run[figure])
    .filter((value) => value !== undefined);
  return { ...spread(values), runs: values.length };
}

export interface Cell {
  measure: Measure;
  load: LoadName;
  shape: string;
  rows: readonly string[];
}

/** Returns the tables: what rows of one measure, load and shape were measured. */
export function cellsOf({ rows, runs }: ChannelsResults): Cell[] {
  const cells: (Cell & { rows: string[] })[] = [];
  const place = (row: string): number => CHANNELS_ROWS.findIndex(({ name }: ChannelsRow) => name === row);
  const sorted = [...runs].sort((a, b) => place(a.row) - place(b.row));
  for (const { row, shape } of sorted) {
    const declared = rows.find(({ name }) => name === row);
    if (declared === undefined) continue;
    const { measure, load } = declared;
    const known = cells.find((cell) => cell.measure === measure && cell.load === load && cell.shape === shape);
    if (known === undefined) cells.push({ measure, load, shape, rows: [row] });
    else if (!known.rows.includes(row)) known.rows.push(row);
  }
  return cells;
}
