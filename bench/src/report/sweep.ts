// The figure of the bypass limits, which shows fairness against throughput. Each thread count has a panel. In a panel,
// each lock has a line from the lowest limit to the highest. The line ends at the lock without a capacitor, which has
// no limit.

import type { TopLevelSpec } from 'vega-lite';
import { cells, counted, type Results } from '../results.js';
import { frame, medians, THROUGHPUT } from './frame.js';

const COLOURS = ['#c1121f', '#0b5394', '#2b8a3e', '#f08c00', '#7048a8', '#343a40', '#c026a8'];

/** Returns undefined if only one limit was measured. */
export function sweep(results: Results): TopLevelSpec | undefined {
  const places = new Map(results.rows.map(({ name, lock }) => [name, lock]));
  const swept = new Set(results.rows.flatMap(({ lock, only }) => (lock && only ? lock.of : [])));
  const counts = new Set(
    results.rows.flatMap(({ only }) => (only === undefined || typeof only === 'string' ? [] : only)),
  );
  const values = cells(results).flatMap(({ row, threads, throughput, fairness }) => {
    const place = places.get(row);
    if (place === undefined || !swept.has(place.of) || !counts.has(threads)) return [];
    if (place.form !== 'wrapped' && place.form !== 'bare') return [];
    return {
      lock: place.of,
      threads,
      limit: place.bypass === undefined ? '∞' : String(place.bypass),
      order: place.bypass ?? Number.MAX_SAFE_INTEGER,
      fairness: fairness.median,
      ...throughput,
    };
  });
  if (values.length === 0) return undefined;
  const locks = [...swept];

  const x = {
    field: 'fairness',
    type: 'quantitative',
    title: 'Fairness',
    scale: { domain: [0, 1] as number[] },
  } as const;
  const y = { ...THROUGHPUT, title: 'Iterations per second' };
  const color = {
    field: 'lock',
    type: 'nominal',
    title: null,
    scale: { domain: locks, range: locks.map((_, index) => COLOURS[index % COLOURS.length] as string) },
    legend: { symbolType: 'stroke', symbolStrokeWidth: 3, symbolOpacity: 1, labelFontSize: 13 },
  } as const;

  return {
    ...frame(
      results,
      'MutexBench: the price of a bypass limit',
      medians(results),
      'numbers: the limit; ∞: the lock without a capacitor',
    ),
    data: { values },
    columns: 3,
    concat: [...counts]
      .sort((a, b) => a - b)
      .map((threads) => ({
        title: { text: counted(threads), fontSize: 14, anchor: 'middle' as const },
        width: 300,
        height: 300,
        transform: [{ filter: { field: 'threads', equal: threads } }],
        layer: [
          {
            mark: { type: 'line' as const, strokeWidth: 1.5, opacity: 0.6 },
            encoding: { x, y, color, order: { field: 'order', type: 'quantitative' as const } },
          },
          {
            mark: { type: 'point' as const, filled: true, size: 45, opacity: 1 },
            encoding: { x, y, color },
          },
          {
            mark: { type: 'text' as const, dy: -9, fontSize: 11 },
            encoding: { x, y, color, text: { field: 'limit' } },
          },
        ],
      })),
  };
}
