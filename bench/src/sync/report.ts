// Formats the tables of `bench sync`.

import { fixed, makeTable, ratio, skippedLines, targetTable } from '../report/tables.js';
import { counted } from '../results.js';
import { cellsOf, type SyncResults, valuesOf } from './results.js';
import { MEASURES } from './rows.js';
import { syncTargets } from './targets.js';

export function syncTables(results: SyncResults): string {
  const { cpu, processors, node } = results.environment;
  return [
    `${cpu}, ${processors} processors, Node ${node}`,
    ...cellsOf(results).map((cell) => table(results, cell)),
    ...targetTable('to reach', syncTargets(results), fixed),
    ...skippedLines(results),
  ].join('\n\n');
}

function table(results: SyncResults, { measure, threads }: ReturnType<typeof cellsOf>[number]): string {
  const { heading, unit } = MEASURES[measure];
  const scale = unit === 'microseconds' ? 1000 : 1;
  const rows = results.rows.filter((row) => row.measure === measure);
  const least = Math.min(
    ...rows.map(({ name }) => valuesOf(results, name, threads).median).filter((median) => Number.isFinite(median)),
  );
  const made = makeTable(['row', 'median', 'least', 'most', 'runs', '/ the least']);
  for (const { name } of rows) {
    const { median, min, max, runs } = valuesOf(results, name, threads);
    if (runs === 0) continue;
    made.push([name, ...[median, min, max].map((time) => fixed(time / scale)), runs, ratio(median / least)]);
  }
  return `${heading}, ${counted(threads)}, ${unit}\n${made.toString()}`;
}
