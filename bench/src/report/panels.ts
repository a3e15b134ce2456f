// The figure of MutexBench, drawn like the figure of the paper. Each lock has a panel, which shows by the number of
// threads the throughput (left axis, solid) and the fairness (right axis, dotted). Each form of the lock has a curve,
// and so has its native counterpart.

import type { TopLevelSpec } from 'vega-lite';
import { cells, type Results } from '../results.js';
import { frame, measuredAs, THROUGHPUT, threadsAxis } from './frame.js';

/** The forms by their names in the legend, and their colours. */
export const FORMS = {
  bare: ['baseline', '#c1121f'],
  wrapped: ['wrapped in a capacitor', '#0b5394'],
  fractional: ['fractional: 99 of 100 skip it', '#c026a8'],
  often: ['fractional: 9 of 10 skip it', '#e64980'],
  contended: ['capacitor only under contention', '#2b8a3e'],
  lanes: ['capacitor of 4 lanes', '#f08c00'],
  random: ['4 lanes at random', '#0c8599'],
  listing1: ['capacitor of Listing 1', '#5c940d'],
  semaphore: ['plain semaphore of 10', '#7048a8'],
  native: ['native counterpart', '#868e96'],
} as const;

const COLUMNS = 3;

/** Returns undefined if no row of a lock was measured. */
export function panels(results: Results): TopLevelSpec | undefined {
  const places = new Map(results.rows.map(({ name, lock, only }) => [name, only ? undefined : lock]));
  const values = cells(results).flatMap(({ row, threads, throughput, fairness }) => {
    const place = places.get(row);
    if (place === undefined) return [];
    return { of: place.of, form: FORMS[place.form][0], threads, ...throughput, fairness: fairness.median };
  });
  if (values.length === 0) return undefined;
  const shown = [...new Set(values.map(({ of }) => of))];
  const speeds = values.flatMap(({ min, max }) => [min, max]).filter((speed) => speed > 0);
  const domain = [Math.min(...speeds), Math.max(...speeds)];
  const forms = Object.values(FORMS).filter(([form]) => values.some((value) => value.form === form));

  const x = threadsAxis(results);
  const y = {
    ...THROUGHPUT,
    title: 'Iterations per second',
    scale: { ...THROUGHPUT.scale, domain, clamp: true },
  };
  const color = {
    field: 'form',
    type: 'nominal',
    title: null,
    scale: { domain: forms.map(([form]) => form), range: forms.map(([, colour]) => colour) },
    legend: {
      orient: 'top',
      symbolType: 'stroke',
      symbolStrokeWidth: 3,
      symbolOpacity: 1,
      labelFontSize: 13,
      labelLimit: 0,
    },
  } as const;
  const fairness = {
    field: 'fairness',
    type: 'quantitative',
    title: 'Fairness',
    scale: { domain: [0, 1] as number[] },
    axis: { orient: 'right', grid: false, values: [0, 0.5, 1] as number[] },
  } as const;

  return {
    ...frame(
      results,
      'MutexBench: one lock, many threads',
      measuredAs(results),
      'solid, left: throughput of all threads together; dotted, right: fairness, fewest iterations over most',
    ),
    data: { values },
    columns: COLUMNS,
    concat: shown.map((of) => ({
      title: { text: of, fontSize: 14, anchor: 'middle' as const },
      width: 250,
      height: 200,
      transform: [{ filter: { field: 'of', equal: of } }],
      layer: [
        {
          layer: [
            {
              mark: { type: 'rule' as const, strokeWidth: 4, opacity: 0.25, clip: true },
              encoding: { x, y: { ...y, field: 'min' }, y2: { field: 'max' }, color },
            },
            {
              mark: { type: 'line' as const, point: { size: 30 }, strokeWidth: 2 },
              encoding: { x, y, color },
            },
          ],
        },
        {
          mark: { type: 'line' as const, strokeDash: [2, 3], strokeWidth: 1.5 },
          encoding: { x, y: fairness, color },
        },
      ],
      resolve: { scale: { y: 'independent' as const } },
    })),
  };
}
