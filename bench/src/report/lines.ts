// The figure of semabench: threads against throughput, both logarithmic, one line for each row.
//
// All rows of a family have the same mark, and native rows are dashed. So the figure can also be read in grey. Pale
// bars reach from the slowest to the fastest run. The legend lists the rows in the order of the right ends of their
// lines.

import type { TopLevelSpec } from 'vega-lite';
import { type Cell, cells, type Results } from '../results.js';
import { frame, measuredAs, THROUGHPUT, threadsAxis } from './frame.js';
import { BARGING, BESIDE, OURS } from './palette.js';

const COLOURS: Record<string, string> = {
  Semaphore: OURS,
  TwaSemaphore: '#f08c00',
  'TwaSemaphore threshold 0': '#ffd43b',
  'TwaSemaphore threshold 2': '#e8590c',
  'TwaSemaphore threshold 4': '#a61e4d',
  'TwaSemaphore conservative': '#6f4e37',
  'TwaSemaphore sequestered': '#a98467',
  TicketSemaphore: '#c99700',
  'TicketSemaphore delay 10': '#7f5f00',
  'TicketSemaphore spin': '#c99700',
  'TwaSemaphore spin': '#f08c00',
  'TwaSemaphore spin near': '#d6336c',
  'TwaSemaphore far parks': '#d6336c',
  'ChainSemaphore spin': '#d6336c',
  'ChainSemaphore spin near': '#f783ac',
  'ChannelSemaphore spin': '#099268',
  'ChannelSemaphore spin near': '#63e6be',
  'LocationSemaphore spin': '#5c940d',
  'LocationSemaphore spin near': '#a9e34b',
  ChainSemaphore: '#d6336c',
  'ChainSemaphore all': '#e64980',
  'ChainSemaphore due': '#f783ac',
  ChannelSemaphore: '#1971c2',
  'ChannelSemaphore lazy': '#74c0fc',
  LocationSemaphore: '#5c940d',
  'js-ticket-notify-all': '#7048a8',
  'js-barging': BARGING,
  'bare hand-overs': '#94d2c9',
  multithreading: '#2b8a3e',
  'twa-futex': '#0b5394',
  'ticket-futex': '#3d8fd1',
  'twa-spin': '#0b5394',
  'twa-spin near': '#15aabf',
  'ticket-spin': '#3d8fd1',
  sem_t: '#343a40',
  'std::counting_semaphore': BESIDE,
};

/** Returns undefined if only floors were measured. */
export function lines(results: Results): TopLevelSpec | undefined {
  const floors = results.rows.flatMap(({ name, apart }) => (apart ? name : []));
  const measured = cells(results).filter(({ row }) => !floors.includes(row));
  if (measured.length === 0) return undefined;
  const order = legendOrder(results, measured);
  const families = order.map((row) => results.rows.find(({ name }) => name === row)?.family);
  const values = measured.map(({ row, family, threads: count, throughput }) => ({
    row,
    native: family === 'native',
    threads: count,
    median: throughput.median,
    min: throughput.min,
    max: throughput.max,
  }));
  const x = threadsAxis(results);
  const y = THROUGHPUT;
  const color = {
    field: 'row',
    type: 'nominal',
    title: null,
    sort: order,
    scale: { domain: order, range: order.map((row) => COLOURS[row] ?? '#000000') },
    legend: { symbolSize: 90, symbolOpacity: 1, labelFontSize: 13, labelLimit: 0, rowPadding: 7 },
  } as const;
  const shape = {
    field: 'row',
    type: 'nominal',
    title: null,
    sort: order,
    scale: {
      domain: order,
      range: families.map((family) =>
        family === 'taketurns' ? 'circle' : family === 'native' ? 'square' : 'triangle-up',
      ),
    },
  } as const;

  return {
    ...frame(
      results,
      'semabench: one semaphore, many threads',
      measuredAs(results),
      'circles: taketurns; triangles: other JavaScript; squares, dashed: native',
    ),
    width: 620,
    height: 430,
    data: { values },
    layer: [
      {
        mark: { type: 'rule', strokeWidth: 5, opacity: 0.25 },
        encoding: { x, y: { ...y, field: 'min' }, y2: { field: 'max' }, color },
      },
      ...[false, true].map((native) => ({
        transform: [{ filter: `${native ? '' : '!'}datum.native` }],
        mark: { type: 'line' as const, ...(native && { strokeDash: [6, 3] }) },
        encoding: {
          x,
          y,
          color,
          strokeWidth: { condition: { test: "datum.row === 'Semaphore'", value: 3.4 }, value: 2 },
        },
      })),
      { mark: { type: 'point', filled: true, size: 60, opacity: 1 }, encoding: { x, y, color, shape } },
    ],
  };
}

/** Sorts rows by their throughput at the most threads that they ran with, best first. */
function legendOrder(results: Results, measured: readonly Cell[]): string[] {
  const last = (row: string) => measured.filter((cell) => cell.row === row).at(-1)?.throughput.median;
  return results.rows
    .map(({ name }) => name)
    .filter((name) => last(name) !== undefined)
    .sort((a, b) => (last(b) ?? 0) - (last(a) ?? 0));
}
