// The benchmarks: their names, their rows and the work of their threads. Everything else is one program for all of
// them.

import { HASHES } from './rows/hashes.js';
import { ASYNC_LOCKS, LOCKS, LOCKS_BY_NAME, PAPER_LOCKS, sweptRow, TRACE_ROW } from './rows/locks.js';
import { NO_LOCK } from './rows/no-lock.js';
import type { AsyncRow, Row, ScriptRow } from './rows/row.js';
import {
  ASYNC_SEMAPHORES,
  PAPER_SEMAPHORES,
  REFERENCE_SEMAPHORES,
  SEMAPHORES,
  SEMAPHORES_BY_NAME,
} from './rows/semaphores.js';
import { TODAY, TODAY_BY_NAME } from './rows/today.js';

/**
 * How many steps a thread makes: of the common generator in the section, and of its own generator after the section.
 */
export interface Work {
  inside: number;
  outside: number;
}

export interface Benchmark {
  /** The name on the command line. */
  name: 'semaphores' | 'hashes' | 'locks' | 'today';
  /** The loop of its threads, by its name in workers/loop.ts and in the native binary. */
  workload: 'semabench' | 'hashbench' | 'mutexbench';
  summary: string;
  /** The default work, if other work can be chosen. */
  work?: Work;
  /** The two calls that an iteration makes. */
  calls: string;
  /** The two calls of an iteration, if the first returns a promise. */
  asyncCalls: string;
  /** The rows of a usual run. */
  rows: readonly Row[];
  /** The rows of `--paper`, if a paper has the benchmark: the curves of its figure, and their counterparts in C++. */
  paper?: readonly Row[];
  /** Rows that are measured only if the command line names them. */
  byName?: readonly Row[];
  /** Rows that show the speed of the machine: the same work, with nothing under test. */
  floors?: readonly Row[];
  /** Finds by its name a row that cannot be chosen on the command line. */
  unlisted?: (name: string) => ScriptRow | undefined;
  asyncRows: readonly AsyncRow[];
  /** Thread counts, if they are not the usual ones. */
  threads?: readonly number[];
  /** Whether the benchmark only counts how threads disturb one another. Then it measures no order and no bypass. */
  crowdsOnly?: true;
  /** Whether the benchmark has no tables on one thread. */
  threadsOnly?: true;
}

/** The work of the loops that count no steps. */
export const LEAST_WORK: Readonly<Record<Benchmark['workload'], Work>> = {
  semabench: { inside: 1, outside: 1 },
  hashbench: { inside: 1, outside: 0 },
  mutexbench: { inside: 1, outside: 0 },
};

export const BENCHMARKS: Record<Benchmark['name'], Benchmark> = {
  semaphores: {
    name: 'semaphores',
    workload: 'semabench',
    summary: 'semabench: throughput and fairness of semaphores with one permit, beside native ones',
    work: LEAST_WORK.semabench,
    calls: 'acquire + release',
    asyncCalls: 'await acquire + release',
    rows: SEMAPHORES,
    paper: PAPER_SEMAPHORES,
    byName: [...SEMAPHORES_BY_NAME, ...REFERENCE_SEMAPHORES],
    floors: NO_LOCK,
    asyncRows: ASYNC_SEMAPHORES,
  },
  hashes: {
    name: 'hashes',
    workload: 'hashbench',
    summary:
      'the hashes of the waiting array, at 1, 8 and 64 semaphores in step: collisions, futile wake-ups, throughput',
    calls: 'acquire + release',
    asyncCalls: 'await acquire + release',
    rows: HASHES,
    asyncRows: [],
    threads: [8, 32, 64],
    crowdsOnly: true,
    threadsOnly: true,
  },
  locks: {
    name: 'locks',
    workload: 'mutexbench',
    summary: 'MutexBench: throughput and fairness of locks, with and without a capacitor, beside native ones',
    work: LEAST_WORK.mutexbench,
    calls: 'lock + unlock',
    asyncCalls: 'await lock + unlock',
    rows: LOCKS,
    paper: PAPER_LOCKS,
    byName: LOCKS_BY_NAME,
    floors: NO_LOCK,
    unlisted: (row) => (row === TRACE_ROW.name ? TRACE_ROW : sweptRow(row)),
    asyncRows: ASYNC_LOCKS,
  },
  today: {
    name: 'today',
    workload: 'mutexbench',
    summary: 'what people use today: the longest wait and the throughput of one lock held for about 0.1 ms each time',
    work: { inside: 30_000, outside: 300 },
    calls: 'lock + unlock',
    asyncCalls: 'await lock + unlock',
    rows: TODAY,
    byName: TODAY_BY_NAME,
    asyncRows: [],
    threads: [2, 4, 8, 16],
    threadsOnly: true,
  },
};

/** Returns the rows of a run that names none. */
export function usualRows({ rows, floors = [] }: Benchmark): readonly Row[] {
  return [...rows, ...floors];
}

/** Returns all rows that can be chosen. */
export function rowsOf(benchmark: Benchmark): readonly Row[] {
  return [...new Set([...usualRows(benchmark), ...(benchmark.paper ?? []), ...(benchmark.byName ?? [])])];
}

export function scriptRow(benchmark: Benchmark['name'], name: string): ScriptRow {
  const of = BENCHMARKS[benchmark];
  const row = rowsOf(of).find((candidate) => candidate.name === name) ?? of.unlisted?.(name);
  if (row?.kind !== 'script') throw new Error(`no script row of ${benchmark} is called ${name}`);
  return row;
}
