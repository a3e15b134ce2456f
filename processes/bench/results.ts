/** What a run of the benchmark has measured, in the shape of the JSON file. */
import { median, type Spread, spread } from '@taketurns/bench/dist/statistics.js';

export type Part = 'hand-over' | 'waiters' | 'pairs' | 'mutex' | 'latency' | 'rates';

/** One measurement. */
export interface Run {
  /** The server's name and version. */
  readonly server: string;
  readonly part: Part;
  readonly row: string;
  /** The number that varies: of clients, of waiters, of dates, or of milliseconds of a round trip; 0 if nothing varies. */
  readonly at: number;
  readonly round: number;
  readonly figures: Readonly<Record<string, number>>;
}

export interface Results {
  readonly environment: Readonly<Record<string, string | number>>;
  readonly servers: readonly string[];
  /** The load of the machine before and after the run, averaged over a minute. */
  readonly load: { before: number; after: number };
  readonly options: Readonly<Record<string, unknown>>;
  readonly runs: Run[];
}

export type Where = Pick<Run, 'server' | 'part' | 'row' | 'at'>;

/** Returns a figure of every round. */
export function valuesOf({ runs }: Results, where: Where, figure: string): number[] {
  const keys = ['server', 'part', 'row', 'at'] as const;
  return runs.filter((run) => keys.every((key) => run[key] === where[key])).map((run) => run.figures[figure] as number);
}

export function spreadOf(results: Results, where: Where, figure: string): Spread {
  return spread(valuesOf(results, where, figure));
}

/**
 * Divides a figure of one row by the same figure of another row, round by round, and returns the median of the
 * quotients. The two rows of one round saw the same load of the machine. NaN if one of the two rows was not measured.
 */
export function quotient(results: Results, above: Where, below: Where, figure: string): number {
  const divisors = valuesOf(results, below, figure);
  return median(valuesOf(results, above, figure).map((value, round) => value / (divisors[round] ?? Number.NaN)));
}

/** Returns the different values of a field, in the order in which they were measured. */
export function each<K extends keyof Where>(runs: readonly Run[], field: K): Run[K][] {
  return [...new Set(runs.map((run) => run[field]))];
}
