// Runs `bench sync`. In each round every row runs once at each number of threads. The rows to compare it with run right
// after it.

import { fileURLToPath } from 'node:url';
import type { NativeBinary } from '../native.js';
import { runJson } from '../program.js';
import { counted } from '../results.js';
import type { SyncResults } from './results.js';
import { isThere, MEASURES, type Measure, type SyncRow } from './rows.js';

const PROGRAM = fileURLToPath(new URL('./program.js', import.meta.url));
const PATIENCE_MS = 60_000;

export interface SyncPlan {
  rows: readonly SyncRow[];
  /** The numbers of threads at a barrier. */
  threads: readonly number[];
  seconds: number;
  runs: number;
}

export async function measureSync(
  { rows, threads, seconds, runs }: SyncPlan,
  native: NativeBinary,
  results: SyncResults,
  progress: (what: string, run: number, of: number) => void,
): Promise<void> {
  const measure = (row: SyncRow, count: number): Promise<{ perSecond: number; evenness?: number }> => {
    const patience = PATIENCE_MS + 4000 * seconds;
    const size = [String(count), String(seconds)] as const;
    return row.kind === 'script'
      ? runJson(process.execPath, [PROGRAM, row.name, ...size], patience)
      : runJson(
          (native as { binary: string }).binary,
          ['sync', row.name, '--threads', size[0], '--seconds', size[1]],
          patience,
        );
  };
  const measurable = rows.filter((row) => (row.kind === 'script' ? isThere(row) : 'binary' in native));
  for (const row of rows) {
    if (row.kind !== 'script' || isThere(row)) continue;
    results.skipped.push({ row: row.name, at: 'import', why: `taketurns/sync exports no ${row.needs}` });
  }
  const cells = (Object.keys(MEASURES) as Measure[]).flatMap((name) =>
    (MEASURES[name].threads ?? threads).flatMap((count) =>
      measurable.filter((row) => row.measure === name).map((row) => ({ row, count })),
    ),
  );
  const broken = new Set<string>();
  let done = 0;
  for (let round = 1; round <= runs; round++) {
    for (const { row, count } of cells) {
      done++;
      if (broken.has(row.name)) continue;
      progress(`${row.name}, ${counted(count)}`, done, runs * cells.length);
      try {
        results.runs.push({
          measure: row.measure,
          threads: count,
          row: row.name,
          round,
          ...(await measure(row, count)),
        });
      } catch (error) {
        broken.add(row.name);
        results.skipped.push({
          row: row.name,
          at: `${counted(count)}, run ${round}`,
          why: (error as Error).message,
        });
      }
    }
  }
}
