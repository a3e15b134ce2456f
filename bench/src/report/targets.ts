// Computes the target ratios of the project from one benchmark run. Both sides of a ratio come from the same run, so a
// slow or busy machine affects both sides alike.

import { type Cell, cells, counted, medianOf, type Results, threadCounts } from '../results.js';
import { RING } from '../rows/ring.js';
import { CALLS_FLOOR } from '../rows/row.js';

export interface Target {
  what: string;
  bound: '<=' | '>=' | '<';
  wanted: number;
  /** One figure for each library row of the run; NaN if this run has not measured it. */
  found: Map<string, number>;
}

const TWA = 'twa-futex';
/** The classes of the library that are semaphores of the papers. */
const LISTINGS = ['TwaSemaphore', 'TicketSemaphore'];
const LIBRARY_TWA = 'TwaSemaphore';
const NOTIFY_ALL = 'js-ticket-notify-all';
const ASYNC_PEERS = ['async-mutex', 'async-sema'];

export function targets(results: Results): Target[] {
  if (results.benchmark === 'hashes' || results.benchmark === 'today' || results.work !== undefined) return [];
  return results.benchmark === 'semaphores' ? semaphoreTargets(results) : lockTargets(results);
}

function semaphoreTargets(results: Results): Target[] {
  const subjects = results.rows.filter(({ family }) => family === 'taketurns').map(({ name }) => name);
  const measured = cells(results);
  const { cell, throughput, pair } = figuresOf(results, measured);
  const promises = (row: string, shape: string) =>
    medianOf(
      results.asyncs.filter((timing) => timing.shape === shape),
      row,
    );
  const target = targetOf(subjects);

  const onSemaphore = (value: (row: string) => number) => (row: string) =>
    row === 'Semaphore' ? value(row) : Number.NaN;
  const overTwa = (threads: number, wanted: number) =>
    target(
      `throughput at ${threads} threads / ${TWA}`,
      '>=',
      wanted,
      (row) => throughput(row, threads) / throughput(TWA, threads),
    );
  const leastOverTwa = (threads: number, wanted: number) =>
    target(
      `least throughput at ${threads} threads / median of ${TWA}`,
      '>=',
      wanted,
      onSemaphore((row) => (cell(row, threads)?.throughput.min ?? Number.NaN) / throughput(TWA, threads)),
    );
  const listings = (row: string) => LISTINGS.includes(row);

  return [
    target('uncontended pair / two calls of wasm, each one locked instruction', '<=', 1.15, (row) =>
      listings(row) ? Number.NaN : pair(row) / pair(CALLS_FLOOR),
    ),
    target(`the same pair of ${LISTINGS.join(', ')}`, '<=', 1.25, (row) =>
      listings(row) ? pair(row) / pair(CALLS_FLOOR) : Number.NaN,
    ),
    overTwa(2, 0.6),
    leastOverTwa(2, 0.4),
    overTwa(4, 0.6),
    leastOverTwa(4, 0.3),
    target(
      'slowest tenth at 4 threads / median',
      '>=',
      0.5,
      onSemaphore((row) => (cell(row, 4)?.slowestPart ?? Number.NaN) / throughput(row, 4)),
    ),
    overTwa(8, 0.6),
    overTwa(16, 0.8),
    overTwa(64, 0.8),
    ...[16, 64].map((threads) =>
      target(
        `throughput at ${threads} threads / ${RING}`,
        '>=',
        1,
        (row) => throughput(row, threads) / throughput(RING, threads),
      ),
    ),
    ...threadCounts(results).map((threads) =>
      target(
        `throughput at ${counted(threads)} / ${LIBRARY_TWA}`,
        '>=',
        1,
        onSemaphore((row) => throughput(row, threads) / throughput(LIBRARY_TWA, threads)),
      ),
    ),
    target(
      `throughput at 64 threads / ${NOTIFY_ALL}`,
      '>=',
      15,
      (row) => throughput(row, 64) / throughput(NOTIFY_ALL, 64),
    ),
    target('admissions out of ticket order, any thread count', '<=', 0, (row) =>
      outOfOrder(measured.filter((candidate) => candidate.row === row)),
    ),
    target('fairness at 4 threads', '>=', 0.9, (row) => cell(row, 4)?.fairness.median ?? Number.NaN),
    ...[16, 64].map((threads) =>
      target(`fairness at ${threads} threads`, '>=', 0.95, (row) => cell(row, threads)?.fairness.median ?? Number.NaN),
    ),
    ...(['uncontended', 'queued'] as const).map((shape) =>
      target(
        `await acquire + release, ${shape} / the better of ${ASYNC_PEERS.join(', ')}`,
        '<=',
        0.75,
        (row) => promises(row, shape) / Math.min(...ASYNC_PEERS.map((peer) => promises(peer, shape))),
      ),
    ),
  ];
}

/** Targets of `Mutex`, with bounded barging, beside the native mutexes. */
function lockTargets(results: Results): Target[] {
  const { cell, throughput, pair } = figuresOf(results, cells(results));
  const target = targetOf(['Mutex']);
  const counts = threadCounts(results).filter((threads) => threads > 1);
  const longestWait = (row: string) => cell(row, 64)?.probe?.longestWaitMs ?? Number.NaN;
  return [
    ...(
      [
        ['sem_t', 1.5],
        ['pthread_mutex', 1],
      ] as const
    ).flatMap(([peer, wanted]) =>
      counts.map((threads) =>
        target(
          `throughput at ${threads} threads / ${peer}`,
          '>=',
          wanted,
          (row) => throughput(row, threads) / throughput(peer, threads),
        ),
      ),
    ),
    ...counts.map((threads) =>
      target(`fairness at ${threads} threads`, '>=', 0.9, (row) => cell(row, threads)?.fairness.median ?? Number.NaN),
    ),
    target('uncontended pair / pthread_mutex', '<=', 1.1, (row) => pair(row) / pair('pthread_mutex')),
    target('uncontended pair / sem_t', '<=', 1, (row) => pair(row) / pair('sem_t')),
    target(
      'longest wait at 64 threads / pthread_mutex',
      '<=',
      1,
      (row) => longestWait(row) / longestWait('pthread_mutex'),
    ),
  ];
}

/** Looks figures up by row and thread count; a missing figure is NaN. */
function figuresOf(results: Results, measured: readonly Cell[]) {
  const cell = (row: string, threads: number) =>
    measured.find((candidate) => candidate.row === row && candidate.threads === threads);
  return {
    cell,
    throughput: (row: string, threads: number) => cell(row, threads)?.throughput.median ?? Number.NaN,
    pair: (row: string) => medianOf(results.pairs, row),
  };
}

function targetOf(subjects: readonly string[]) {
  return (what: string, bound: Target['bound'], wanted: number, value: (row: string) => number): Target => ({
    what,
    bound,
    wanted,
    found: new Map(subjects.map((row) => [row, value(row)])),
  });
}

export function met({ bound, wanted }: Target, value: number): boolean {
  if (bound === '>=') return value >= wanted;
  return bound === '<' ? value < wanted : value <= wanted;
}

function outOfOrder(of: Cell[]): number {
  if (of.length === 0) return Number.NaN;
  return of.reduce((sum, { probe }) => sum + (probe?.outOfOrder ?? Number.NaN), 0);
}
