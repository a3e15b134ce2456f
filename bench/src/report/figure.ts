// The figure: threads against throughput, both logarithmic, one line per row, drawn by Vega-Lite without a DOM.
//
// Families share a mark and native rows are dashed, so that the figure can also be read in grey. Pale bars run from
// the slowest to the fastest run. The legend is sorted as the lines end, from top to bottom.

import * as vega from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { type Cell, cells, type Results, threadCounts } from '../results.js';

const COLOURS: Record<string, string> = {
  Semaphore: '#c1121f',
  TwaSemaphore: '#f08c00',
  TicketSemaphore: '#c99700',
  ChainSemaphore: '#d6336c',
  'ChainSemaphore all': '#e64980',
  'ChainSemaphore due': '#f783ac',
  ChannelSemaphore: '#099268',
  'ChannelSemaphore lazy': '#63e6be',
  LocationSemaphore: '#5c940d',
  'js-ticket-notify-all': '#7048a8',
  'js-barging': '#b07cc6',
  multithreading: '#2b8a3e',
  'twa-futex': '#0b5394',
  'ticket-futex': '#3d8fd1',
  sem_t: '#343a40',
  'std::counting_semaphore': '#868e96',
};
const WHOLE_DECADE = 'abs(log(datum.value) / LN10 - round(log(datum.value) / LN10)) < 1e-6';
const FONT = 'Helvetica, Arial, "DejaVu Sans", sans-serif';

export async function figure(results: Results): Promise<string> {
  const { spec } = compile(specification(results));
  const view = new vega.View(vega.parse(spec), { renderer: 'none', logLevel: vega.Error });
  const svg = await view.toSVG();
  view.finalize();
  return svg;
}

function specification(results: Results): TopLevelSpec {
  const measured = cells(results);
  const threads = threadCounts(results);
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
  const { cpu, processors, node, kernel, date } = results.environment;
  const { seconds, runs } = results.options;
  const few = Math.max(1, threads[0] ?? 1);
  const many = Math.max(2 * few, threads.at(-1) ?? 1);

  const x = {
    field: 'threads',
    type: 'quantitative',
    title: 'Threads',
    scale: { type: 'log', base: 2, domain: [few * 0.9, many * 1.1] as number[], nice: false },
    axis: { values: threads, format: 'd' },
  } as const;
  const y = {
    field: 'median',
    type: 'quantitative',
    title: 'Iterations per second, all threads together',
    scale: { type: 'log', base: 10 },
    axis: {
      format: '~s',
      gridColor: { condition: { test: WHOLE_DECADE, value: '#ced4da' }, value: '#eef0f2' },
      labelExpr: `${WHOLE_DECADE} ? datum.label : ''`,
      tickSize: { condition: { test: WHOLE_DECADE, value: 6 }, value: 0 },
    },
  } as const;
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
    $schema: 'https://vega.github.io/schema/vega-lite/v5.json',
    width: 620,
    height: 430,
    background: 'white',
    padding: 16,
    title: {
      text: 'semabench: one semaphore, many threads',
      subtitle: [
        `${cpu}, ${processors} processors, ${kernel}, Node ${node}`,
        `median of ${runs} × ${seconds} s, bars from minimum to maximum; ${String(date).slice(0, 10)}`,
        'circles: taketurns; triangles: other JavaScript; squares, dashed: native',
      ],
      anchor: 'start',
      fontSize: 18,
      subtitleFontSize: 12,
      subtitleColor: '#495057',
      offset: 14,
    },
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
    config: {
      font: FONT,
      view: { stroke: '#ced4da' },
      axis: {
        labelFontSize: 12,
        titleFontSize: 13,
        titleFontWeight: 'normal',
        titlePadding: 10,
        gridColor: '#e9ecef',
        domainColor: '#868e96',
        tickColor: '#868e96',
      },
      legend: { offset: 22 },
    },
  };
}

/** Rows by their throughput at the most threads they ran with, best first. */
function legendOrder(results: Results, measured: readonly Cell[]): string[] {
  const last = (row: string) => measured.filter((cell) => cell.row === row).at(-1)?.throughput.median;
  return results.rows
    .map(({ name }) => name)
    .filter((name) => last(name) !== undefined)
    .sort((a, b) => (last(b) ?? 0) - (last(a) ?? 0));
}
