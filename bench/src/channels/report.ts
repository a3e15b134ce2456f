// Formats the tables of `bench channels`.

import { fixed, makeTable, rate, ratio, skippedLines, targetTable } from '../report/tables.js';
import { LOADS } from './loads.js';
import { type Cell, type ChannelsResults, cellsOf, figureOf } from './results.js';
import { MEASURES, nameOf, POST } from './rows.js';
import { channelsTargets } from './targets.js';

export function channelsTables(results: ChannelsResults): string {
  const { cpu, processors, node } = results.environment;
  const { busy } = results.options;
  return [
    `${cpu}, ${processors} processors, Node ${node}${busy === 0 ? '' : `, ${busy} busy threads beside`}`,
    ...cellsOf(results).map((cell) => table(results, cell)),
    ...targetTable('to reach', channelsTargets(results), fixed),
    ...skippedLines(results),
  ].join('\n\n');
}

const shown = (value: number, format: (value: number) => string): string =>
  Number.isFinite(value) ? format(value) : '';

function table(results: ChannelsResults, { measure, load, shape, rows }: Cell): string {
  const what = measure === 'rate' ? LOADS[load].name : MEASURES[measure];
  const where = measure === 'rate' ? `, ${shape.replace(':', ' to ')}` : shape === '' ? '' : `, ${shape}`;
  const of = (row: string, figure: Parameters<typeof figureOf>[3]) => figureOf(results, row, shape, figure);
  const post = nameOf(POST, load, measure);
  if (measure === 'trip') {
    const made = makeTable(['row', 'median', 'least', 'most', '99 of 100\nare below', 'runs', `/ ${POST}`]);
    for (const row of rows) {
      const { median, min, max, runs } = of(row, 'microseconds');
      const times = [median, min, max, of(row, 'late').median].map(fixed);
      made.push([row, ...times, runs, shown(median / of(post, 'microseconds').median, ratio)]);
    }
    return `${what}${where}, microseconds\n${made.toString()}`;
  }
  const heads = ['a second', 'least', 'most', 'runs', `/ ${POST}`, 'fairness', 'CPU, µs\na message', 'memory,\nMB'];
  const made = makeTable(['row', ...heads]);
  for (const row of rows) {
    const { median, min, max, runs } = of(row, 'perSecond');
    made.push([
      row,
      ...[median, min, max].map(rate),
      runs,
      shown(median / of(post, 'perSecond').median, ratio),
      shown(of(row, 'fairness').median, (value) => value.toFixed(2)),
      shown(of(row, 'cpuMicroseconds').median, fixed),
      shown(of(row, 'megabytes').median, (value) => value.toFixed(0)),
    ]);
  }
  return `${what}${where}\n${made.toString()}`;
}
