/** The exporters of metrics: what a parser of Prometheus and the SDK of OpenTelemetry read is what `metrics` has told. */
import { metrics as api, type Meter as RealMeter } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { Arena, Semaphore } from 'taketurns';
import {
  type Histogram,
  type Meter,
  type Metric,
  type MetricPoint,
  metrics,
  openTelemetry,
  prometheus,
  startMetrics,
} from 'taketurns/metrics';
import { describe, expect, it } from 'vitest';
import { failure } from '../support/failure.js';

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

/** Reads the text format of Prometheus, and throws for each line that the format does not allow where it stands. */
function parse(text: string): Family[] {
  const families: (Family & { samples: Sample[] })[] = [];
  const lines = text.split('\n');
  expect(lines.pop()).toBe('');
  for (const line of lines) {
    const family = families.at(-1);
    const [, word, about, rest] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line) ?? [];
    if (word === 'HELP') {
      if (families.some(({ name }) => name === about)) throw new Error(`twice: ${line}`);
      families.push({ name: `${about}`, help: unescaped(`${rest}`), type: '', samples: [] });
      continue;
    }
    if (family === undefined) throw new Error(`before the first HELP: ${line}`);
    if (word === 'TYPE') {
      if (about !== family.name || family.type !== '') throw new Error(`not after its HELP: ${line}`);
      Object.assign(family, { type: rest });
      continue;
    }
    const sample = sampleOf(line);
    const suffix = sample.name.slice(family.name.length);
    const allowed = family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    if (!sample.name.startsWith(family.name) || !allowed.includes(suffix))
      throw new Error(`in ${family.name}: ${line}`);
    const same = ({ name, labels }: Sample) =>
      name === sample.name && JSON.stringify(labels) === JSON.stringify(sample.labels);
    if (family.samples.some(same)) throw new Error(`twice: ${line}`);
    family.samples.push(sample);
  }
  return families;
}

function sampleOf(line: string): Sample {
  const [, name, inside = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.+)\})? (\S+)$/.exec(line) ?? [];
  if (name === undefined || Number.isNaN(Number(value))) throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  const left = inside.replace(/([a-zA-Z_]\w*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/g, (_, label, text) => {
    labels[label] = unescaped(text);
    return '';
  });
  if (left !== '') throw new Error(`no labels: ${line}`);
  return { name, labels, value: Number(value) };
}

const unescaped = (text: string): string => text.replace(/\\(.)/g, (_, one) => (one === 'n' ? '\n' : one));

/** What stands for a name that nobody should give. */
const ODD = 'a "b"\\n\nc';

/** Metrics of each type, whose names and values are odd. */
const ODD_METRICS: readonly Metric[] = [
  {
    name: 'taketurns.wait.duration',
    description: 'Two lines:\nand a \\.',
    unit: 's',
    type: 'histogram',
    points: [
      {
        attributes: { 'taketurns.object.name': ODD },
        value: { count: 3, sum: 7.5, bounds: [1, 5], counts: [1, 0, 2] },
      },
      { attributes: { 'otel.metric.overflow': true }, value: { count: 0, sum: 0, bounds: [1, 5], counts: [0, 0, 0] } },
    ],
  },
  { name: 'failures', description: 'Failures.', unit: '{request}', type: 'counter', points: [point({}, 4)] },
  { name: 'memory', description: 'Memory.', unit: 'By', type: 'gauge', points: [point({ a: 'b' }, 5)] },
  {
    name: 'pending',
    description: 'Pending.',
    unit: '{request}',
    type: 'updowncounter',
    points: [point({ a: 'b' }, 6)],
  },
];

function point(attributes: MetricPoint['attributes'], value: number): MetricPoint {
  return { attributes, value };
}

/** An arena in which one request waits, and one has waited in vain. */
async function busy(): Promise<Arena> {
  const arena = new Arena();
  startMetrics(arena);
  const pool = Semaphore.open('pool', 1, { arena });
  await pool.acquireAsync();
  await failure(() => pool.acquireAsync({ timeout: 1 }));
  return arena;
}

class Reader extends MetricReader {
  protected async onForceFlush(): Promise<void> {}
  protected async onShutdown(): Promise<void> {}
}

/** What the SDK collects, by the name of the instrument and the attributes. */
async function collected(reader: Reader): Promise<Record<string, number>> {
  const { resourceMetrics, errors } = await reader.collect();
  expect(errors).toEqual([]);
  const found: Record<string, number> = {};
  for (const { metrics } of resourceMetrics.scopeMetrics)
    for (const { descriptor, dataPoints } of metrics)
      for (const { attributes, value } of dataPoints)
        found[`${descriptor.name} ${JSON.stringify(attributes)}`] = value as number;
  return found;
}

function observed(): { reader: Reader; meter: Meter } {
  const reader = new Reader();
  const meter: RealMeter = new MeterProvider({ readers: [reader] }).getMeter('taketurns');
  return { reader, meter }; // the real one is a Meter, as TypeScript sees it
}

describe('prometheus', () => {
  it('tells all that metrics tells', async () => {
    const all = metrics(await busy());
    const families = parse(prometheus(all));
    expect(families.map(({ help }) => help)).toEqual(all.map(({ description }) => description));
    for (const [i, { name, points }] of all.entries()) {
      const { samples } = families[i] as Family;
      const told = samples.filter((sample) => !sample.name.endsWith('_bucket')).map(({ value }) => value);
      const expected = points.flatMap(({ value }) => (typeof value === 'number' ? [value] : [value.sum, value.count]));
      expect([name, told]).toEqual([name, expected]);
    }
    const failures = families.find(({ name }) => name === 'taketurns_wait_failures_total');
    const labels = { taketurns_object_kind: 'Semaphore', taketurns_object_name: 'pool' };
    expect(failures?.samples).toEqual([{ name: 'taketurns_wait_failures_total', labels, value: 1 }]);
  });

  it('writes names, units and types as Prometheus wants them, and no odd text breaks a line', () => {
    const [waits, failures, memory, pending] = parse(prometheus(ODD_METRICS));
    expect(waits).toMatchObject({ name: 'taketurns_wait_duration_seconds', type: 'histogram' });
    expect(waits?.help).toBe('Two lines:\nand a \\.');
    const its = (labels: Sample['labels'], counts: readonly number[], sum: number) => [
      // Each bucket has all values that are at most as great as its bound.
      ...['1', '5', '+Inf'].map((le, i) => sample('_bucket', { ...labels, le }, counts[i] as number)),
      sample('_sum', labels, sum),
      sample('_count', labels, counts[2] as number),
    ];
    const sample = (suffix: string, labels: Sample['labels'], value: number) => ({
      name: `taketurns_wait_duration_seconds${suffix}`,
      labels,
      value,
    });
    expect(waits?.samples).toEqual([
      ...its({ taketurns_object_name: ODD }, [1, 1, 3], 7.5),
      ...its({ otel_metric_overflow: 'true' }, [0, 0, 0], 0),
    ]);
    expect(failures).toMatchObject({ name: 'failures_total', type: 'counter', samples: [{ labels: {}, value: 4 }] });
    expect(memory).toMatchObject({ name: 'memory_bytes', type: 'gauge', samples: [{ labels: { a: 'b' }, value: 5 }] });
    expect(pending).toMatchObject({ name: 'pending', type: 'gauge', samples: [{ value: 6 }] });
  });

  it('makes one metric of two with the same name, and one value of two with the same attributes', () => {
    const more: Metric[] = [
      { ...(ODD_METRICS[0] as Metric) },
      { ...(ODD_METRICS[1] as Metric), points: [point({}, 10), point({ a: 'c' }, 20)] },
      { ...(ODD_METRICS[2] as Metric), points: [point({ a: 'b' }, 3)] },
      { ...(ODD_METRICS[3] as Metric), points: [point({ a: 'b' }, 3)] },
    ];
    const [waits, failures, memory, pending, ...rest] = parse(prometheus([...ODD_METRICS, ...more]));
    expect(rest).toEqual([]);
    const values = (family: Family | undefined) => family?.samples.map(({ value }) => value);
    expect(values(waits)).toEqual([2, 2, 6, 15, 6, 0, 0, 0, 0, 0]);
    expect([values(failures), values(memory), values(pending)]).toEqual([[14, 20], [5], [9]]);
  });

  it('of no metrics is an empty text', () => {
    expect(prometheus([])).toBe('');
  });

  it('refuses what is no array', async () => {
    for (const bad of [undefined, null, {}, 'text', metrics])
      expect((await failure(() => prometheus(bad as never))).message).toMatch(
        /^prometheus: metrics must be an array of metrics, such as metrics\(\) returns, got /,
      );
  });
});

describe('openTelemetry', () => {
  it('observes all that metrics tells, each time that somebody collects', async () => {
    const arena = await busy();
    const { reader, meter } = observed();
    openTelemetry(meter, () => metrics(arena));
    const of = '{"taketurns.object.kind":"Semaphore","taketurns.object.name":"pool"}';
    const first = await collected(reader);
    expect(first[`taketurns.wait.failures ${of}`]).toBe(1);
    expect(first[`taketurns.wait.duration.count ${of}`]).toBe(1);
    const bucket = (le: string) => `taketurns.wait.duration.bucket ${of.slice(0, -1)},"le":"${le}"}`;
    expect(first[bucket('+Inf')]).toBe(1);
    for (const { name, type, points } of metrics(arena))
      for (const { attributes, value } of points)
        if (type === 'histogram')
          expect(first[`${name}.sum ${JSON.stringify(attributes)}`]).toBe((value as Histogram).sum);
        else if (type !== 'gauge') expect(first[`${name} ${JSON.stringify(attributes)}`]).toBe(value);
    await failure(() => Semaphore.open('pool', 1, { arena }).acquireAsync({ timeout: 1 }));
    const second = await collected(reader);
    expect([second[`taketurns.wait.failures ${of}`], second[bucket('+Inf')]]).toEqual([2, 2]);
  });

  it('describes its instruments by the descriptions, units and types of the metrics', async () => {
    const { reader, meter } = observed();
    const kinds = new Map<string, string>();
    for (const kind of ['Counter', 'UpDownCounter', 'Gauge'] as const) {
      const make = meter[`createObservable${kind}`].bind(meter);
      meter[`createObservable${kind}`] = (name, options) => {
        kinds.set(name, kind);
        return make(name, options);
      };
    }
    openTelemetry(meter, () => ODD_METRICS);
    const { resourceMetrics } = await reader.collect();
    const all = (resourceMetrics.scopeMetrics[0]?.metrics ?? []).map(({ descriptor, dataPoints }) => [
      descriptor.name,
      kinds.get(descriptor.name),
      descriptor.unit,
      dataPoints.map(({ value }) => value),
    ]);
    expect(all).toEqual([
      ['taketurns.wait.duration.count', 'Counter', '', [3, 0]],
      ['taketurns.wait.duration.sum', 'Counter', 's', [7.5, 0]],
      ['taketurns.wait.duration.bucket', 'Counter', '', [1, 1, 3, 0, 0, 0]],
      ['failures', 'Counter', '{request}', [4]],
      ['memory', 'Gauge', 'By', [5]],
      ['pending', 'UpDownCounter', '{request}', [6]],
    ]);
  });

  it('observes one value of two with the same name and attributes', async () => {
    const { reader, meter } = observed();
    openTelemetry(meter, () => [...ODD_METRICS, ...ODD_METRICS]);
    expect(await collected(reader)).toMatchObject({ 'failures {}': 8, 'memory {"a":"b"}': 5, 'pending {"a":"b"}': 12 });
  });

  it('ends by the function that it returns', async () => {
    const { reader, meter } = observed();
    let reads = 0;
    const end = openTelemetry(meter, () => {
      reads++;
      return ODD_METRICS;
    });
    await collected(reader);
    expect(reads).toBe(2);
    end();
    await collected(reader);
    expect(reads).toBe(2);
  });

  it('takes the meter of the API, which does nothing without an SDK', () => {
    openTelemetry(api.getMeter('taketurns'), metrics)();
  });

  it('refuses what is no meter, what does not return metrics, and a space that does not count yet', async () => {
    const { meter } = observed();
    const messageOf = async (...given: unknown[]) =>
      (await failure(() => openTelemetry(...(given as [Meter, () => Metric[]])))).message;
    expect(await messageOf(undefined, metrics)).toBe(
      'openTelemetry: meter must be a Meter of @opentelemetry/api (metrics.getMeter(name)), got undefined',
    );
    expect(await messageOf(meter, metrics())).toMatch(
      /^openTelemetry: read must be a function that returns metrics, got /,
    );
    expect(await messageOf(meter, () => 5)).toMatch(/^openTelemetry: the answer of read must be an array of metrics/);
    expect(await messageOf(meter, () => [])).toBe(
      'openTelemetry: read has returned no metrics: call startMetrics first, for each space',
    );
  });
});
