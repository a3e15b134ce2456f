// Formats the table of `bench exponents`.

import { fixed, makeTable } from '../report/tables.js';
import { type ExponentResults, exponentOf, MOST_EXPONENT } from './results.js';

export function exponentTable({ environment, rows }: ExponentResults): string {
  const { cpu, processors, node } = environment;
  const table = makeTable(['operation', 'n', 'milliseconds of processor time', 'exponent', '']);
  let marked = 0;
  for (const { name, points, why } of rows) {
    const exponent = exponentOf(points);
    const isMore = why !== undefined || (exponent ?? 0) > MOST_EXPONENT;
    if (isMore) marked++;
    const sizes = points.map(({ n }) => n).join(', ');
    const times = points.map(({ milliseconds }) => fixed(milliseconds)).join(', ');
    table.push([name, sizes, times, exponent?.toFixed(2) ?? '', isMore ? (why ?? 'MORE') : '']);
  }
  return [
    `${cpu}, ${processors} processors, Node ${node}`,
    table.toString(),
    `${marked} of ${rows.length} operations grow faster than n log n (exponent over ${MOST_EXPONENT}), or did not end`,
  ].join('\n\n');
}
