// The project's targets for taketurns/sync, computed from one run of the benchmark.

import type { Target } from '../report/targets.js';
import { counted } from '../results.js';
import { cellsOf, type SyncResults, valuesOf } from './results.js';
import { AMONG_WRITERS, CENTRAL, type Measure, PAIR, WRITERS } from './rows.js';

/**
 * A target for the median of a row, divided by `peer`: by the median of another row of the same measure, or by a
 * number.
 */
interface Wanted {
  measure: Measure;
  row: string;
  peer: string | number;
  bound: Target['bound'];
  wanted: number;
  threads?: number;
  /** The number of threads of the peer, if it differs from that of the row. */
  of?: number;
}

const WANTED: readonly Wanted[] = [
  { measure: 'barrier', row: 'Barrier', peer: 'pthread_barrier', bound: '<=', wanted: 1.5 },
  { measure: 'condition', row: 'Condition', peer: 'pthread_cond', bound: '<=', wanted: 2 },
  { measure: 'condition', row: 'Condition', peer: 'MessageChannel', bound: '<=', wanted: 0.33 },
  { measure: 'reading', row: 'RwLock', peer: 'pthread_rwlock', bound: '<=', wanted: 1.4, threads: 1 },
  { measure: 'reading', row: 'RwLock', peer: 'pthread_rwlock', bound: '<=', wanted: 0.36, threads: 2 },
  { measure: 'reading', row: 'RwLock', peer: CENTRAL, bound: '<=', wanted: 0.77, threads: 2 },
  // Two threads read 1.8 times as often as one.
  { measure: 'reading', row: 'RwLock', peer: 'RwLock', bound: '<=', wanted: 0.556, threads: 2, of: 1 },
  { measure: 'fairness', row: WRITERS, peer: 1, bound: '>=', wanted: 0.95 },
  // A reader waits for at most one writer. A writer waits for all others, so readers get no fewer turns.
  { measure: 'fairness', row: AMONG_WRITERS, peer: 1, bound: '>=', wanted: 1 },
  ...['Event.wait when set', 'Latch.wait when open', 'Once.run when done', 'Condition.notify to nobody'].flatMap(
    (row): Wanted[] => [
      { measure: 'alone', row, peer: 1, bound: '<=', wanted: 5 },
      { measure: 'alone', row, peer: PAIR, bound: '<=', wanted: 1 },
    ],
  ),
];

/** Returns the targets for which both sides have been measured. */
export function syncTargets(results: SyncResults): Target[] {
  return WANTED.flatMap(({ measure, row, peer, bound, wanted, threads: only, of }) =>
    cellsOf(results)
      .filter((cell) => cell.measure === measure && (only === undefined || cell.threads === only))
      .flatMap(({ threads }) => {
        const time = valuesOf(results, row, threads).median;
        const other = typeof peer === 'number' ? peer : valuesOf(results, peer, of ?? threads).median;
        const value = time / other;
        if (!Number.isFinite(value)) return [];
        const subject = measure === 'alone' || measure === 'fairness' ? row : `${row}, ${counted(threads)}`;
        const beside = of === undefined ? '' : `, ${counted(of)}`;
        const unit = measure === 'alone' ? ', ns' : '';
        const what = typeof peer === 'number' ? `${subject}${unit}` : `${subject} / ${peer}${beside}`;
        return { what, bound, wanted, found: new Map([['taketurns', value]]) };
      }),
  );
}
