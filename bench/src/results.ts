// The results of a benchmark run: the shape of the JSON file, and the summaries for tables and figures. The file has
// only the raw figures. Everything else is computed from these.

import type { Benchmark, Work } from './benchmarks.js';
import type { Trace } from './rows/platoon.js';
import type { Row, Wakes } from './rows/row.js';
import { fairness, jain, median, type Spread, spread, total } from './statistics.js';

/** The consecutive parts of an interval. */
export interface Parts {
  /** The true length of each part. */
  seconds: number[];
  /** The iterations of all threads together. */
  iterations: number[];
}

export interface Run {
  row: string;
  threads: number;
  round: number;
  /** The interval's true length. */
  seconds: number;
  cpuSeconds: number;
  /** One number for each thread. */
  iterations: number[];
  /** The parts of the interval. Absent in results of older versions and of other programs. */
  parts?: Parts;
  /** The counts inside the interval, for rows that count. */
  wakes?: Wakes;
}

export interface Probe {
  row: string;
  threads: number;
  /** Absent in the first round. */
  round?: number;
  longestWaitMs: number;
  /**
   * Exact if the row has tickets: the later tickets that were admitted before. Otherwise it counts from a stamp that the
   * thread draws before its call, and is an upper bound: a thread that stops between the two counts as waiting.
   */
  largestBypass: number;
  /** Admissions by their bypass (workers/bypass-bands.ts). Records of older versions have wider bands. */
  bypasses: number[];
  /** Admissions whose ticket was not the next one; absent if the row has no tickets, and the bypass an upper bound. */
  outOfOrder?: number;
  /** The number of admissions that were observed; absent if the row does not report it. */
  admissions?: number;
}

export interface Timing {
  row: string;
  round: number;
  nanoseconds: number;
}

export interface AsyncTiming extends Timing {
  shape: 'uncontended' | 'queued';
}

export interface Skipped {
  row: string;
  /** The place of the failure, such as `64 threads`. */
  at: string;
  why: string;
}

/** The time to release 64 permits: in one step, or by the papers' loop of posts. */
export interface ReleaseTiming extends Timing {
  shape: 'one step' | 'loop';
}

export type ResultRow = Pick<Row, 'name' | 'family' | 'lock' | 'only' | 'hash' | 'apart'>;

export interface Results {
  benchmark: Benchmark['name'];
  environment: Record<string, string | number>;
  options: Record<string, unknown>;
  /** The work, if it is not the default work of the benchmark. */
  work?: Work;
  rows: ResultRow[];
  runs: Run[];
  probes: Probe[];
  pairs: Timing[];
  asyncs: AsyncTiming[];
  /** Releases of many permits. Absent in results of older versions. */
  releases?: ReleaseTiming[];
  trace?: Trace & { lock: string; bypass: number; threads: number };
  skipped: Skipped[];
}

/** The summary of the runs of one row at one thread count. */
export interface Cell {
  row: string;
  family: string;
  threads: number;
  /** The number of runs that the figures are of. */
  runs: number;
  /** Iterations of all threads together, per second. */
  throughput: Spread;
  /** The throughput in the slowest part of any interval; NaN if the results have no parts. */
  slowestPart: number;
  fairness: Spread;
  jain: Spread;
  cpuSeconds: Spread;
  /** Iterations of all threads together, per second of processor time. Other work on the machine affects this least. */
  perCpuSecond: Spread;
  /** Collisions for each iteration; NaN for rows that do not count them. */
  collisions: Spread;
  futile: Spread;
  /** All probes joined into one: the median of the longest waits, the largest bypass, and the sums of the counts. */
  probe: Probe | undefined;
  /** The longest waits of the probes, in milliseconds. */
  longestWait: Spread;
}

/** Formats a thread count: `1 thread`, `2 threads`. */
export function counted(threads: number): string {
  return threads === 1 ? '1 thread' : `${threads} threads`;
}

export function threadCounts(results: Results): number[] {
  return [...new Set(results.runs.map((run) => run.threads))].sort((a, b) => a - b);
}

/** Returns one cell for each row and thread count that has runs. */
export function cells(results: Results): Cell[] {
  return threadCounts(results).flatMap((threads) =>
    results.rows.flatMap(({ name, family }) => {
      const runs = results.runs.filter((run) => run.row === name && run.threads === threads);
      if (runs.length === 0) return [];
      const probes = results.probes.filter((probe) => probe.row === name && probe.threads === threads);
      return {
        row: name,
        family,
        threads,
        runs: runs.length,
        throughput: spread(runs.map((run) => total(run.iterations) / run.seconds)),
        slowestPart: slowest(runs),
        fairness: spread(runs.map((run) => fairness(run.iterations))),
        jain: spread(runs.map((run) => jain(run.iterations))),
        cpuSeconds: spread(runs.map((run) => run.cpuSeconds)),
        perCpuSecond: spread(runs.map((run) => total(run.iterations) / run.cpuSeconds)),
        collisions: spread(runs.map((run) => (run.wakes?.collisions ?? Number.NaN) / total(run.iterations))),
        futile: spread(runs.map((run) => (run.wakes?.futile ?? Number.NaN) / total(run.iterations))),
        probe: merged(probes),
        longestWait: spread(probes.map((probe) => probe.longestWaitMs)),
      };
    }),
  );
}

function merged(probes: readonly Probe[]): Probe | undefined {
  const [first] = probes;
  if (first === undefined || probes.length === 1) return first;
  const sum = (counts: (number | undefined)[]): number | undefined =>
    counts.includes(undefined) ? undefined : total(counts as number[]);
  const [admissions, outOfOrder] = [
    sum(probes.map((probe) => probe.admissions)),
    sum(probes.map((probe) => probe.outOfOrder)),
  ];
  return {
    row: first.row,
    threads: first.threads,
    longestWaitMs: median(probes.map((probe) => probe.longestWaitMs)),
    largestBypass: Math.max(...probes.map((probe) => probe.largestBypass)),
    bypasses: first.bypasses.map((_, band) => total(probes.map(({ bypasses }) => bypasses[band] ?? 0))),
    ...(admissions !== undefined && { admissions }),
    ...(outOfOrder !== undefined && { outOfOrder }),
  };
}

function slowest(runs: readonly Run[]): number {
  const rates = runs.flatMap(({ parts }) =>
    parts ? parts.iterations.map((count, part) => count / (parts.seconds[part] as number)) : [],
  );
  return rates.length > 0 ? Math.min(...rates) : Number.NaN;
}

/** Returns the median nanoseconds of a row, or NaN if it was not timed. */
export function medianOf(timings: readonly Timing[], row: string): number {
  return median(timings.filter((timing) => timing.row === row).map((timing) => timing.nanoseconds));
}
