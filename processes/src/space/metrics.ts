/**
 * Counts and histograms of what the event `metric` tells of this process's requests, in the form of
 * `taketurns/metrics`. So the same exporter serves both packages.
 */
import { badType } from '../../../src/common/errors.js';
import {
  BOUNDS,
  bucketOf,
  type Histogram,
  type MetricPoint,
  type Metric as OpenMetric,
} from '../../../src/common/metric.js';
import type { Metric } from '../events.js';
import type { Space } from './space.js';

/** A metric of this process in a space. */
export interface CollectedMetric extends OpenMetric {
  /** The unit of the values: `s`, `{request}` or `{event}`. */
  readonly unit: string;
  /** A `counter` only grows. */
  readonly type: 'counter' | 'histogram';
}

/** Objects with more names than this count together. */
const MOST = 511;
const KINDS = {
  semaphore: 'Semaphore',
  mutex: 'Mutex',
  rwlock: 'RwLock',
  ratelimiter: 'RateLimiter',
  keyedratelimiter: 'KeyedRateLimiter',
} as const;

const isRate = (kind: string): boolean => kind.endsWith('ratelimiter');
/** The kinds of what is held, and so may be lost. */
const HELD_KINDS = Object.keys(KINDS).filter((kind) => !isRate(kind));

interface Times {
  sum: number;
  readonly counts: number[];
}

interface Series {
  readonly attributes: MetricPoint['attributes'];
  readonly waits: Times;
  readonly holds: Times;
  /** Whether it counts rates, and whether it counts others. The series of the overflow may count both. */
  readonly of: { rates: boolean; others: boolean };
  queued: number;
  late: number;
  failures: number;
  lost: number;
}

interface Counted {
  /** By kind and name. */
  readonly objects: Map<string, Series>;
  troubles: number;
  failovers: number;
}

/** What is counted of each space. */
const counted = new WeakMap<Space, Counted>();

const times = (): Times => ({ sum: 0, counts: new Array(BOUNDS.length + 1).fill(0) });

function add(to: Times, seconds: number): void {
  const { counts } = to;
  const at = bucketOf(seconds);
  counts[at] = (counts[at] as number) + 1;
  to.sum += seconds;
}

function seriesOf(all: Map<string, Series>, { kind, name }: Metric): Series {
  const isKnown = all.has(`${kind} ${name}`) || all.size < MOST;
  const key = isKnown ? `${kind} ${name}` : '';
  let series = all.get(key);
  if (series === undefined) {
    const attributes = isKnown
      ? { 'taketurns.object.kind': KINDS[kind], 'taketurns.object.name': name }
      : { 'otel.metric.overflow': true };
    const of = { rates: false, others: false };
    series = { attributes, waits: times(), holds: times(), of, queued: 0, late: 0, failures: 0, lost: 0 };
    all.set(key, series);
  }
  series.of[isRate(kind) ? 'rates' : 'others'] = true;
  return series;
}

const histogram = ({ sum, counts }: Times): Histogram => ({
  count: counts.reduce((total, count) => total + count, 0),
  sum,
  bounds: BOUNDS,
  counts: [...counts],
});

/** A metric, and how its value is read from what was counted. */
type Described<Of> = Omit<CollectedMetric, 'points'> & { readonly read: (counted: Of) => MetricPoint['value'] };

/** What is told of each kind and name of an object: of all, only of rates, or only of others. */
const OF_OBJECTS: readonly (Described<Series> & { readonly only?: 'rates' | 'others' })[] = [
  {
    name: 'taketurns.wait.duration',
    description: 'How long requests have waited.',
    unit: 's',
    type: 'histogram',
    read: ({ waits }) => histogram(waits),
  },
  {
    name: 'taketurns.wait.queued',
    description: 'Requests that were not granted at once; of rates, those that were told a date that lies ahead.',
    unit: '{request}',
    type: 'counter',
    read: ({ queued }) => queued,
  },
  {
    name: 'taketurns.wait.failures',
    description: 'Requests that have not got what they waited for; of rates, those that were refused, too.',
    unit: '{request}',
    type: 'counter',
    read: ({ failures }) => failures,
  },
  {
    name: 'taketurns.hold.duration',
    description: 'How long permits and locks were held.',
    unit: 's',
    type: 'histogram',
    only: 'others',
    read: ({ holds }) => histogram(holds),
  },
  {
    name: 'taketurns.hold.lost',
    description: 'Grants that were lost before they were given back.',
    unit: '{request}',
    type: 'counter',
    only: 'others',
    read: ({ lost }) => lost,
  },
  {
    name: 'taketurns.rate.late',
    description: 'Dates of rates at which a process was too busy to begin, so that the request has asked again.',
    unit: '{request}',
    type: 'counter',
    only: 'rates',
    read: ({ late }) => late,
  },
];

/** What is told of the space. */
const OF_SPACE: readonly Described<Counted>[] = [
  {
    name: 'taketurns.space.troubles',
    description: 'Causes that have kept the space from its server.',
    unit: '{event}',
    type: 'counter',
    read: ({ troubles }) => troubles,
  },
  {
    name: 'taketurns.space.failovers',
    description: 'New histories of the data of the server.',
    unit: '{event}',
    type: 'counter',
    read: ({ failovers }) => failovers,
  },
];

function checkSpace(what: string, space: Space): void {
  // A space of another copy of this package counts, too.
  if ({}.toString.call(space) !== '[object Space]') throw badType(`${what}: space`, 'a Space', space);
}

/**
 * Counts the requests of this process in a space from now on: how long they wait, and how long they hold. Without this
 * call nothing is measured. Never blocks. A second call for the same space changes nothing.
 * @throws {TypeError} if `space` is no `Space`.
 * @example startMetrics(space);
 */
export function startMetrics(space: Space): void {
  checkSpace('startMetrics', space);
  if (counted.has(space)) return;
  const all = new Map<string, Series>();
  const counts: Counted = { objects: all, troubles: 0, failovers: 0 };
  counted.set(space, counts);
  space.on('metric', (metric) => {
    const series = seriesOf(all, metric);
    if (metric.event === 'wait') series.queued++;
    else if (metric.event === 'late') series.late++;
    else add(metric.event === 'release' ? series.holds : series.waits, metric.ms / 1000);
    if (metric.event === 'timeout') series.failures++;
  });
  space.on('lost', ({ names }) => {
    for (const name of names) {
      // The event tells no kind. What is lost was held, and so it was counted, unless it was held before this call.
      const key = HELD_KINDS.map((kind) => `${kind} ${name}`);
      const series = all.get(key.find((each) => all.has(each)) ?? '');
      if (series) series.lost++;
    }
  });
  space.on('trouble', () => counts.troubles++);
  space.on('failover', () => counts.failovers++);
}

/**
 * Returns what `startMetrics` has counted: an empty list if it was not called. Never blocks.
 *
 * | metric | type | |
 * | --- | --- | --- |
 * | `taketurns.wait.duration` | histogram | from the call until the grant, or until the time-out has passed; of a rate, until the call begins or is refused |
 * | `taketurns.wait.queued` | counter | requests that were not granted at once; of a rate, those with a date that lies ahead |
 * | `taketurns.wait.failures` | counter | requests that ended by a time-out; of a rate, those that were refused, too |
 * | `taketurns.rate.late` | counter | dates of a rate at which the process was too busy to begin, so that the request has asked again |
 * | `taketurns.hold.duration` | histogram | from the grant until permits were given back |
 * | `taketurns.hold.lost` | counter | grants that were lost: with the lease, by a revocation or by a failover |
 * | `taketurns.space.troubles` | counter | causes that kept the space from its server: events `trouble` |
 * | `taketurns.space.failovers` | counter | new histories of the server's data: events `failover` |
 *
 * Each kind and name of an object has its own values, and the last two metrics have one value of the space; more than
 * 511 count together, under `otel.metric.overflow`.
 * @throws {TypeError} if `space` is no `Space`.
 * @example for (const { name, points } of metrics(space)) console.log(name, points);
 */
export function metrics(space: Space): CollectedMetric[] {
  checkSpace('metrics', space);
  const counts = counted.get(space);
  if (counts === undefined) return [];
  const all = [...counts.objects.values()];
  const ofObjects = OF_OBJECTS.map(({ read, only, ...description }) => ({
    ...description,
    points: all
      .filter(({ of }) => only === undefined || of[only])
      .map((series) => ({ attributes: series.attributes, value: read(series) })),
  }));
  const ofSpace = OF_SPACE.map(({ read, ...description }) => ({
    ...description,
    points: [{ attributes: {}, value: read(counts) }],
  }));
  return [...ofObjects, ...ofSpace];
}
