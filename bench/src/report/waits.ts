// The figure at the head of the README. It shows four semaphores: on the left their longest waits, on the right their
// throughput.

import type { TopLevelSpec } from 'vega-lite';
import { cells, type Results } from '../results.js';
import { frame, measuredAs, THROUGHPUT, threadsAxis } from './frame.js';

/** The rows, with their names in the figure and their colours. */
const ROWS = {
  Semaphore: ['Semaphore', '#c1121f'],
  'js-ticket-notify-all': ['in order, plain JavaScript', '#7048a8'],
  'js-barging': ['overtaking, plain JavaScript', '#b07cc6'],
  sem_t: ["overtaking, glibc's sem_t", '#343a40'],
} as const;

/** Returns undefined unless all four rows have been measured, with their longest waits, by two threads or more. */
export function waits(results: Results): TopLevelSpec | undefined {
  const values = cells(results).flatMap(({ row, threads, throughput, longestWait }) =>
    row in ROWS && threads > 1 && longestWait.median > 0
      ? [{ row: ROWS[row as keyof typeof ROWS][0], threads, throughput, longestWait }]
      : [],
  );
  const names = Object.values(ROWS).map(([name]) => name as string);
  if (!names.every((name) => values.some(({ row }) => row === name))) return undefined;
  const counts = [...new Set(values.map(({ threads }) => threads))];
  const axis = threadsAxis(results);
  const x = {
    ...axis,
    scale: { ...axis.scale, domain: [Math.min(...counts) * 0.9, Math.max(...counts) * 1.1] as number[] },
    axis: { ...axis.axis, values: counts },
  };
  const color = {
    field: 'row',
    type: 'nominal',
    title: null,
    scale: { domain: names, range: Object.values(ROWS).map(([, colour]) => colour) },
    legend: {
      orient: 'bottom',
      columns: 2,
      symbolType: 'stroke',
      symbolStrokeWidth: 3,
      symbolOpacity: 1,
      labelFontSize: 13,
      labelLimit: 0,
    },
  } as const;
  const panel = (title: string, of: 'longestWait' | 'throughput') => {
    const y = { ...THROUGHPUT, title };
    return {
      width: 330,
      height: 260,
      data: { values: values.map(({ row, threads, [of]: spread }) => ({ row, threads, ...spread })) },
      layer: [
        {
          mark: { type: 'rule' as const, strokeWidth: 5, opacity: 0.25 },
          encoding: { x, y: { ...y, field: 'min' }, y2: { field: 'max' }, color },
        },
        {
          mark: { type: 'line' as const, point: { size: 50 } },
          encoding: {
            x,
            y,
            color,
            strokeWidth: { condition: { test: "datum.row === 'Semaphore'", value: 3.4 }, value: 2 },
          },
        },
      ],
    };
  };
  return {
    ...frame(results, 'One permit, many threads', measuredAs(results)),
    hconcat: [
      panel('Longest wait, milliseconds', 'longestWait'),
      panel('Turns a second, all threads together', 'throughput'),
    ],
  } as TopLevelSpec;
}
