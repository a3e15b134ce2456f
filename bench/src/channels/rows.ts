// The rows of `bench channels`: what is measured, and by which transport. To add a row, add an entry.

import type { Family } from '../rows/row.js';
import { LOADS, type Load, type LoadName } from './loads.js';
import { multithreading, ringbuf } from './peers.js';
import {
  channelBy,
  channelInPlace,
  postMessage,
  postTouched,
  postTransferred,
  receiveOnPort,
  type Transport,
} from './transports.js';

/** `rate`: senders and receivers that do nothing else. The others are in MEASURES. */
export type Measure = 'rate' | 'trip' | 'pipeline' | 'burst' | 'alone';

export const MEASURES: Record<Exclude<Measure, 'rate'>, string> = {
  trip: 'a number goes to another thread and back',
  pipeline: 'objects through three stages, a thread each',
  burst: 'small objects at once, from one thread to another',
  alone: 'one thread sends and receives',
};

/** Senders and receivers. */
export const SHAPES = ['1:1', '4:1', '1:4', '4:4'] as const;
/** What else the machine does while a round trip is measured: nothing, or so many threads compute. */
export const BUSY_THREADS = 4;
export const LOADED = ['idle', `${BUSY_THREADS} busy threads`] as const;

interface Place {
  readonly name: string;
  readonly family: Family;
  readonly measure: Measure;
  /** What travels. Rows of a measure and a load stand in one table. */
  readonly load: LoadName;
  /** The only shapes that the row has. */
  readonly shapes?: readonly string[];
}

export interface ChannelsScriptRow extends Place {
  readonly kind: 'script';
  readonly transport: Transport;
}

/** A row of the native binary. */
export interface ChannelsNativeRow extends Place {
  readonly kind: 'native';
}

export type ChannelsRow = ChannelsScriptRow | ChannelsNativeRow;

/** The shapes in which a row is measured. */
export function shapesOf({ measure, shapes }: Place): readonly string[] {
  if (shapes !== undefined) return shapes;
  return measure === 'rate' ? SHAPES : measure === 'trip' ? LOADED : [''];
}

export const POST = 'postMessage';
export const BOOST = 'boost.lockfree';

function script(
  by: string,
  family: Family,
  load: LoadName,
  transport: Transport,
  measure: Measure = 'rate',
  shapes?: readonly string[],
): ChannelsScriptRow {
  return {
    kind: 'script',
    name: nameOf(by, load, measure),
    family,
    measure,
    load,
    transport,
    ...(shapes && { shapes }),
  };
}

/** The name of a row. */
export function nameOf(by: string, load: LoadName, measure: Measure = 'rate'): string {
  const what = measure === 'rate' ? LOADS[load].name.replace(/, each.*/, ', touched') : WHAT[measure];
  return `${by}: ${what}`;
}

const WHAT = { trip: 'round trip', pipeline: 'pipeline', burst: 'burst', alone: 'alone' } as const;

const native = (load: LoadName, measure: Measure): ChannelsNativeRow => ({
  kind: 'native',
  name: nameOf(BOOST, load, measure),
  family: 'native',
  measure,
  load,
});

const byNumber = channelBy('number');
const byBytes = channelBy('bytes');
const byValue = channelBy('value');
const own = 'taketurns' as const;
const JS = 'JavaScript' as const;
const ON_PORT = 'receiveMessageOnPort';

export const CHANNELS_ROWS: readonly ChannelsRow[] = [
  script(POST, JS, 'number', postMessage),
  script('Channel', own, 'number', byNumber),
  script('Channel by for', own, 'number', channelBy('number', 'for')),
  script('Channel in batches', own, 'number', channelBy('number', 'batches')),
  script(ON_PORT, JS, 'number', receiveOnPort),
  script('multithreading', 'npm', 'number', multithreading),
  native('number', 'rate'),
  script(POST, JS, 'small', postMessage),
  script('Channel', own, 'small', byBytes),
  script('Channel by for', own, 'small', channelBy('bytes', 'for')),
  script('Channel in batches', own, 'small', channelBy('bytes', 'batches')),
  script(ON_PORT, JS, 'small', receiveOnPort),
  script('ringbuf.js', 'npm', 'small', ringbuf, 'rate', ['1:1']),
  script(POST, JS, 'kilobyte', postMessage),
  script('Channel', own, 'kilobyte', byBytes),
  script(POST, JS, 'large', postMessage),
  script('Channel', own, 'large', byBytes),
  script(POST, JS, 'touched', postTouched),
  script(`${POST} of a buffer to transfer`, JS, 'touched', postTransferred),
  script('Channel in place', own, 'touched', channelInPlace),
  script(POST, JS, 'object', postMessage),
  script('Channel', own, 'object', byValue),
  script('Channel of records', own, 'object', channelBy('record')),
  script(POST, JS, 'object', postMessage, 'pipeline'),
  script('Channel', own, 'object', byValue, 'pipeline'),
  script(POST, JS, 'object', postMessage, 'burst'),
  script('Channel', own, 'object', byValue, 'burst'),
  script(POST, JS, 'number', postMessage, 'trip'),
  script('Channel', own, 'number', byNumber, 'trip'),
  script(ON_PORT, JS, 'number', receiveOnPort, 'trip'),
  script('multithreading', 'npm', 'number', multithreading, 'trip'),
  native('number', 'trip'),
  script('Channel', own, 'number', byNumber, 'alone'),
  script('Semaphore', own, 'number', byNumber, 'alone'),
];

export function channelsScriptRow(name: string): ChannelsScriptRow {
  const row = CHANNELS_ROWS.find((candidate) => candidate.name === name);
  if (row?.kind !== 'script') throw new Error(`no script row of channels is called ${name}`);
  return row;
}

export const loadOf = ({ load }: Pick<Place, 'load'>): Load => LOADS[load];
