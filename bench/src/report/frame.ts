// The common parts of the figures. Vega-Lite draws the figures without a DOM. Each figure names the measured machine.

import * as vega from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { cells, type Results, threadCounts } from '../results.js';

const WHOLE_DECADE = 'abs(log(datum.value) / LN10 - round(log(datum.value) / LN10)) < 1e-6';
const FONT = 'Helvetica, Arial, "DejaVu Sans", sans-serif';

export async function draw(specification: TopLevelSpec): Promise<string> {
  const { spec } = compile(specification);
  const view = new vega.View(vega.parse(spec), { renderer: 'none', logLevel: vega.Error });
  const svg = await view.toSVG();
  view.finalize();
  return svg;
}

/** Heading, conditions and style of a figure. */
export function frame(results: Results, heading: string, ...lines: string[]) {
  const { cpu, processors, node } = results.environment;
  const [kernel] = String(results.environment.kernel).split('-');
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v5.json',
    background: 'white',
    padding: 16,
    title: {
      text: heading,
      subtitle: [`${cpu}, ${processors} processors, ${kernel}, Node ${node}`, ...lines] as string[],
      anchor: 'start',
      fontSize: 18,
      subtitleFontSize: 12,
      subtitleColor: '#495057',
      offset: 14,
    },
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
  } as const;
}

/** Returns the text of a subtitle: how often, for how long and when was measured. */
export function measuredAs(results: Results): string {
  const { work } = results;
  const steps = work ? `${work.inside} steps inside and ${work.outside} outside; ` : '';
  // A kept record has no date.
  const { date } = results.environment;
  return `${steps}${medians(results)}, bars from minimum to maximum${date ? `; ${String(date).slice(0, 10)}` : ''}`;
}

/** Says of how many runs the medians are. If the benchmark was interrupted, there are fewer than were asked for. */
export function medians(results: Results): string {
  const runs = cells(results).map((cell) => cell.runs);
  const [fewest, most] = [Math.min(...runs), Math.max(...runs)];
  return `median of ${fewest === most ? most : `${fewest} to ${most}`} × ${results.options.seconds} s`;
}

/** Returns the axis of thread counts. */
export function threadsAxis(results: Results) {
  const threads = threadCounts(results);
  const few = Math.max(1, threads[0] ?? 1);
  const many = Math.max(2 * few, threads.at(-1) ?? 1);
  return {
    field: 'threads',
    type: 'quantitative',
    title: 'Threads',
    scale: { type: 'log', base: 2, domain: [few * 0.9, many * 1.1] as number[], nice: false },
    axis: { values: threads, format: 'd' },
  } as const;
}

/** The axis of throughput, labelled at whole decades. */
export const THROUGHPUT = {
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
