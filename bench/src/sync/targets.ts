// The project's targets for taketurns/sync, computed from one run of the benchmark.

import type { Target } from '../report/targets.js';
import { counted } from '../results.js';
import { cellsOf, type SyncResults, timesOf } from './results.js';
import { CENTRAL, type Measure, PAIR } from './rows.js';

/** A row's median over another's: of one measure, in which `peer` is a row, or a number of nanoseconds. */
interface Wanted {
  measure: Measure;
  row: string;
  peer: string | number;
  bound: Target['bound'];
  wanted: number;
  threads?: number;
}

const WANTED: readonly Wanted[] = [
  { measure: 'barrier', row: 'Barrier', peer: 'pthread_barrier', bound: '<=', wanted: 2 },
  { measure: 'condition', row: 'Condition', peer: 'pthread_cond', bound: '<=', wanted: 2 },
  { measure: 'condition', row: 'Condition', peer: 'MessageChannel', bound: '<=', wanted: 0.33 },
  { measure: 'reading', row: 'RwLock', peer: 'pthread_rwlock', bound: '<=', wanted: 1.6, threads: 1 },
  { measure: 'reading', row: 'RwLock', peer: CENTRAL, bound: '<=', wanted: 0.77, threads: 2 },
  ...['Event.wait when set', 'Latch.wait when open', 'Once.run when done', 'Condition.notify to nobody'].flatMap(
    (row): Wanted[] => [
      { measure: 'alone', row, peer: 1, bound: '<=', wanted: 5 },
      { measure: 'alone', row, peer: PAIR, bound: '<=', wanted: 1 },
    ],
  ),
];

/** The targets whose two sides have been measured. */
export function syncTargets(results: SyncResults): Target[] {
  return WANTED.flatMap(({ measure, row, peer, bound, wanted, threads: only }) =>
    cellsOf(results)
      .filter((cell) => cell.measure === measure && (only === undefined || cell.threads === only))
      .flatMap(({ threads }) => {
        const time = timesOf(results, row, threads).median;
        const other = typeof peer === 'number' ? peer : timesOf(results, peer, threads).median;
        const value = time / other;
        if (!Number.isFinite(value)) return [];
        const subject = measure === 'alone' ? row : `${row}, ${counted(threads)}`;
        const what = typeof peer === 'number' ? `${subject}, ns` : `${subject} / ${peer}`;
        return { what, bound, wanted, found: new Map([['taketurns', value]]) };
      }),
  );
}
