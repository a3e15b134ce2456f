/**
 * Draws misses per hand-over against processors, with both axes logarithmic and a line for each contender. Vega-Lite
 * draws the figure without a DOM. Lines of round robin are solid with circles, and lines of the random schedule are
 * dashed with triangles. So the two can be told apart in grey, too.
 */
import * as vega from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { rows } from './cost-tables.js';
import type { Counted } from './simulation.js';

const COLOURS: Record<string, string> = {
  Semaphore: '#c1121f',
  TwaSemaphore: '#f08c00',
  'TwaSemaphore, spinning': '#0b5394',
  TicketSemaphore: '#c99700',
  'TicketSemaphore, spinning': '#7048a8',
};
/** The colours of the other contenders, which come in pairs: the bare lock is dark, and the wrapped lock is light. */
const PAIRS = ['#c1121f', '#0b5394', '#2b8a3e', '#7048a8', '#c99700', '#0c8599', '#495057', '#d6336c'];
const FONT = 'Helvetica, Arial, "DejaVu Sans", sans-serif';

function colourOf(name: string, _: number, order: readonly string[]): string {
  const known = COLOURS[name];
  if (known !== undefined) return known;
  const bare = [...new Set(order.map((one) => one.replace(', wrapped', '')))].sort();
  const colour = PAIRS[bare.indexOf(name.replace(', wrapped', '')) % PAIRS.length] as string;
  return name.endsWith(', wrapped') ? `${colour}80` : colour;
}

export async function figure(counted: readonly Counted[]): Promise<string> {
  const { spec } = compile(specification(counted));
  const view = new vega.View(vega.parse(spec), { renderer: 'none', logLevel: vega.Error });
  const svg = await view.toSVG();
  view.finalize();
  return svg;
}

function specification(counted: readonly Counted[]): TopLevelSpec {
  const values = rows(counted).flatMap(({ name, schedule, counted: row }) =>
    // One processor alone has no misses, and a logarithmic axis cannot show 0.
    row
      .filter(({ misses }) => misses > 0)
      .map(({ misses, configuration: { processors } }) => ({ name, schedule, processors, misses })),
  );
  const processors = [...new Set(values.map((value) => value.processors))].sort((a, b) => a - b);
  const many = processors.at(-1) ?? 1;
  const last = (name: string) => values.find((value) => value.name === name && value.processors === many)?.misses ?? 0;
  const order = [...new Set(values.map(({ name }) => name))].sort((a, b) => last(b) - last(a));
  const x = {
    field: 'processors',
    type: 'quantitative',
    title: 'Processors, one thread each',
    scale: {
      type: 'log',
      base: 2,
      domain: [(processors[0] ?? 1) * 0.9, many * 1.1] as number[],
      nice: false,
    },
    axis: { values: processors, format: 'd' },
  } as const;
  const y = {
    field: 'misses',
    type: 'quantitative',
    title: 'Coherence misses per hand-over',
    scale: { type: 'log', base: 2 },
    axis: { format: 'd' },
  } as const;
  const color = {
    field: 'name',
    type: 'nominal',
    title: null,
    sort: order,
    scale: { domain: order, range: order.map(colourOf) },
    legend: { symbolSize: 90, symbolOpacity: 1, labelFontSize: 13, labelLimit: 0, rowPadding: 7 },
  } as const;
  const schedules = ['round robin', 'random'];
  const shape = {
    field: 'schedule',
    type: 'nominal',
    title: null,
    scale: { domain: schedules, range: ['circle', 'triangle-up'] },
  } as const;
  const strokeDash = {
    field: 'schedule',
    type: 'nominal',
    title: null,
    scale: {
      domain: schedules,
      range: [
        [1, 0],
        [6, 3],
      ],
    },
  } as const;
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v5.json',
    width: 620,
    height: 400,
    background: 'white',
    padding: 16,
    title: {
      text: 'Misses of simulated caches',
      subtitle: ['MESI, 64-byte lines, one cache a processor; one permit passed around'],
      anchor: 'start',
      fontSize: 18,
      subtitleFontSize: 12,
      subtitleColor: '#495057',
      offset: 14,
    },
    data: { values },
    layer: [
      { mark: { type: 'line', strokeWidth: 2 }, encoding: { x, y, color, strokeDash } },
      { mark: { type: 'point', filled: true, size: 60, opacity: 1 }, encoding: { x, y, color, shape } },
    ],
    config: {
      font: FONT,
      view: { stroke: '#ced4da' },
      axis: { labelFontSize: 12, titleFontSize: 13, titleFontWeight: 'normal', titlePadding: 10 },
      legend: { offset: 22 },
    },
  };
}
