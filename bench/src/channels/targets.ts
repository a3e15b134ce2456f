// The project's targets for taketurns/channel, computed from one run of the benchmark.

import type { Target } from '../report/targets.js';
import { type ChannelsResults, figureOf } from './results.js';
import { BOOST, LOADED, nameOf, POST } from './rows.js';

interface Wanted {
  row: string;
  peer: string;
  shape: string;
  bound: Target['bound'];
  wanted: number;
}

const number = nameOf('Channel', 'number');
const inBatches = nameOf('Channel in batches', 'number');
const small = nameOf('Channel', 'small');
const smallInBatches = nameOf('Channel in batches', 'small');
const postNumber = nameOf(POST, 'number');
const postSmall = nameOf(POST, 'small');
const atLeast = (row: string, peer: string, shape: string, wanted: number): Wanted => ({
  ...{ row, peer, shape, wanted },
  bound: '>=',
});

/** Of messages a second. */
const IDLE: readonly Wanted[] = [
  atLeast(number, postNumber, '1:1', 5),
  atLeast(number, postNumber, '4:4', 8),
  atLeast(inBatches, postNumber, '1:1', 10),
  atLeast(inBatches, postNumber, '4:4', 15),
  ...['1:1', '4:4'].flatMap((shape) => [
    atLeast(small, postSmall, shape, 10),
    atLeast(smallInBatches, postSmall, shape, 10),
    atLeast(nameOf('Channel', 'kilobyte'), nameOf(POST, 'kilobyte'), shape, 1.5),
    atLeast(nameOf('Channel', 'large'), nameOf(POST, 'large'), shape, 1),
    atLeast(nameOf('Channel in place', 'touched'), nameOf(POST, 'touched'), shape, 3.5),
    atLeast(nameOf('Channel', 'object'), nameOf(POST, 'object'), shape, 2),
  ]),
  atLeast(nameOf('Channel', 'object', 'burst'), nameOf(POST, 'object', 'burst'), '', 2),
  atLeast(number, nameOf(BOOST, 'number'), '1:1', 0.6),
  atLeast(number, nameOf('multithreading', 'number'), '1:1', 30),
  atLeast(nameOf('Channel', 'number', 'alone'), nameOf('Semaphore', 'number', 'alone'), '', 0.25),
];

/** On a busy machine no row is below `postMessage`. */
function busy({ rows }: ChannelsResults, shapes: readonly string[]): Wanted[] {
  return rows
    .filter(({ family, measure }) => family === 'taketurns' && measure !== 'alone' && measure !== 'trip')
    .flatMap(({ name, load, measure }) =>
      (measure === 'rate' ? shapes : ['']).map((shape) => atLeast(name, nameOf(POST, load, measure), shape, 1)),
    );
}

/** Returns the targets for which both sides have been measured. */
export function channelsTargets(results: ChannelsResults): Target[] {
  const { busy: others, shapes } = results.options;
  const median = (row: string, shape: string, figure: Parameters<typeof figureOf>[3]): number =>
    figureOf(results, row, shape, figure).median;
  const target = (what: string, bound: Target['bound'], wanted: number, value: number): Target[] =>
    Number.isFinite(value) ? [{ what, bound, wanted, found: new Map([['taketurns', value]]) }] : [];
  const rates = (others > 0 ? busy(results, shapes) : IDLE).flatMap(({ row, peer, shape, bound, wanted }) =>
    target(
      `${shape === '' ? '' : `${shape} `}${row} / ${peer}`,
      bound,
      wanted,
      median(row, shape, 'perSecond') / median(peer, shape, 'perSecond'),
    ),
  );
  const trips = LOADED.flatMap((shape, i) => {
    const [row, peer] = [nameOf('Channel', 'number', 'trip'), nameOf(POST, 'number', 'trip')];
    const value = median(row, shape, 'microseconds') / median(peer, shape, 'microseconds');
    return target(`${shape}: ${row} / ${peer}`, '<=', i === 0 ? 0.1 : 1, value);
  });
  const fair = others > 0 ? [] : target('fairness, 1:8 Channel', '>=', 0.9, median(number, '1:8', 'fairness'));
  return [...rates, ...trips, ...fair];
}
