// The figure at the head of the README: what the worst-served thread waits, and what all threads do together, with
// `Mutex` and `Semaphore` and with what people use today.

import type { TopLevelSpec } from 'vega-lite';
import { cells, counted, type Results } from '../results.js';
import { frame, medians } from './frame.js';
import { BARGING, BESIDE, OURS } from './palette.js';

/** The rows, by their names in the figure. */
const ROWS: Readonly<Record<string, string>> = {
  Semaphore: 'taketurns: Semaphore',
  Mutex: 'taketurns: Mutex',
  'Mutex, promises': 'taketurns: Mutex, awaited',
  'worker_threads.locks': 'Web Locks of Node, awaited',
  'async-mutex by messages': 'async-mutex, by messages, awaited',
  'js-barging': 'Atomics by hand',
  multithreading: 'multithreading (npm)',
  pthread_mutex: 'pthread_mutex (C)',
};
/** The rows that let threads overtake as often as it happens. */
const OVERTAKING = ['js-barging', 'multithreading', 'pthread_mutex'];
/** The thread count of the figure. */
const THREADS = 8;

/** Returns undefined unless rows were measured with the thread count of the figure. */
export function today(results: Results): TopLevelSpec | undefined {
  const measured = cells(results).filter(({ row, threads }) => row in ROWS && threads === THREADS);
  if (measured.length === 0) return undefined;
  const y = {
    field: 'row',
    type: 'nominal',
    title: null,
    sort: Object.values(ROWS),
    axis: { labelFontSize: 13, labelLimit: 0, domain: false, ticks: false },
  } as const;
  const panel = (title: string, of: 'longestWait' | 'throughput', labelled: boolean) => ({
    title: { text: title, fontSize: 14, fontWeight: 'normal' as const, anchor: 'start' as const },
    width: 250,
    height: { step: 30 },
    data: {
      values: measured.map(({ row, family, [of]: { median, min, max } }) => {
        const color = family === 'taketurns' ? OURS : OVERTAKING.includes(row) ? BARGING : BESIDE;
        return { row: ROWS[row], color, median, min, max };
      }),
    },
    layer: [
      {
        mark: { type: 'bar' as const, height: 16 },
        encoding: { color: { field: 'color', type: 'nominal' as const, scale: null } },
      },
      {
        mark: { type: 'rule' as const, strokeWidth: 1.5, color: '#343a40' },
        encoding: { x: { field: 'min', type: 'quantitative' as const }, x2: { field: 'max' } },
      },
      {
        mark: { type: 'text' as const, align: 'left' as const, dx: 6, fontSize: 12 },
        encoding: {
          x: { field: 'max', type: 'quantitative' as const },
          text: { field: 'median', type: 'quantitative' as const, format: '.3~s' },
        },
      },
    ],
    encoding: {
      x: {
        field: 'median',
        type: 'quantitative' as const,
        title: null,
        // The numbers stand to the right of the bars.
        scale: { domain: [0, 1.2 * Math.max(...measured.map((cell) => cell[of].max))], nice: false },
        axis: { tickCount: 4, format: '~s' },
      },
      y: labelled ? y : { ...y, axis: null },
    },
  });
  return {
    ...frame(
      results,
      `One lock, ${counted(THREADS)}, held for about 0.1 ms each time`,
      `${medians(results)}, lines from minimum to maximum; ${String(results.environment.date).slice(0, 10)}`,
    ),
    hconcat: [
      panel('Longest wait of any thread, milliseconds (shorter is better)', 'longestWait', true),
      panel('Turns a second, all threads together (longer is better)', 'throughput', false),
    ],
  } as TopLevelSpec;
}
