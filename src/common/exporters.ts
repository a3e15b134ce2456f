/**
 * Exporters of metrics: as the text that Prometheus reads, and by the instruments of OpenTelemetry. Both take the metrics
 * of threads and of processes, also in one list: what has the same name becomes one metric there, as both systems demand.
 */
import { badType, checkType } from './errors.js';
import type { Histogram, Metric, MetricPoint } from './metric.js';

type Attributes = MetricPoint['attributes'];
type Type = Metric['type'];

/** What `openTelemetry` hands to a meter: the name in an instrument's place, and what describes it. */
export interface InstrumentOptions {
  /** What the values are, in a sentence. */
  readonly description: string;
  /** The unit of the values. */
  readonly unit?: string;
}

/** What a callback of a meter observes values with. */
export interface ObservableResult {
  /**
   * Observes a value of an instrument. Never blocks. Throws nothing.
   * @param value in the unit of the instrument: from 0 on, or any number for a gauge.
   */
  observe(instrument: unknown, value: number, attributes: MetricPoint['attributes']): void;
}

/** What `openTelemetry` needs of a `Meter` of `@opentelemetry/api`. */
export interface Meter {
  /** Makes an instrument for what only grows. Never blocks. Throws nothing. */
  createObservableCounter(name: string, options: InstrumentOptions): unknown;
  /** Makes an instrument for what may be summed over its attributes. Never blocks. Throws nothing. */
  createObservableUpDownCounter(name: string, options: InstrumentOptions): unknown;
  /** Makes an instrument for what may not be summed. Never blocks. Throws nothing. */
  createObservableGauge(name: string, options: InstrumentOptions): unknown;
  /** Calls the function whenever somebody collects these instruments. Never blocks. Throws nothing. */
  addBatchObservableCallback(callback: (result: ObservableResult) => void, instruments: unknown[]): void;
  /** Calls the function no more. Never blocks. Throws nothing. */
  removeBatchObservableCallback(callback: (result: ObservableResult) => void, instruments: unknown[]): void;
}

/**
 * Puts metrics into the text format of Prometheus, version 0.0.4, for the answer of a service at `/metrics`. A name
 * becomes one of Prometheus: `taketurns.wait.duration` in seconds is `taketurns_wait_duration_seconds`, and a counter
 * ends with `_total`. An `updowncounter` is a gauge there. Values of the same name and the same attributes count
 * together: counts are added up, and of two gauges the greater one counts. Never blocks.
 * @param metrics what `metrics()` of `taketurns/metrics` returns, or `metrics(space)` of `taketurns-processes`, or both
 *   in one array.
 * @throws {TypeError} if `metrics` is no array.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { metrics, prometheus, startMetrics } from 'taketurns/metrics';
 *
 * startMetrics();
 * const server = createServer((_, response) => {
 *   response.setHeader('Content-Type', 'text/plain; version=0.0.4');
 *   response.end(prometheus(metrics()));
 * });
 * ```
 * @since 0.3.0
 */
export function prometheus(metrics: readonly Metric[]): string {
  const lines: string[] = [];
  for (const { name, unit, type, description, points } of merged('prometheus: metrics', metrics)) {
    const its = nameInPrometheus(name, unit, type);
    lines.push(`# HELP ${its} ${escaped(description)}`, `# TYPE ${its} ${type === 'updowncounter' ? 'gauge' : type}`);
    for (const { attributes, value } of points) {
      if (typeof value === 'number') {
        lines.push(`${its}${labels(attributes)} ${value}`);
        continue;
      }
      for (const [le, count] of buckets(value)) lines.push(`${its}_bucket${labels({ ...attributes, le })} ${count}`);
      lines.push(`${its}_sum${labels(attributes)} ${value.sum}`, `${its}_count${labels(attributes)} ${value.count}`);
    }
  }
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * Lets a meter of OpenTelemetry observe metrics: it calls `read` whenever somebody collects. OpenTelemetry has no
 * histogram that is observed. So a histogram becomes three counters, `.count`, `.sum` and `.bucket`, as in Prometheus:
 * the attribute `le` of a bucket is the greatest value that counts in it. The package does not depend on OpenTelemetry:
 * the program hands in the meter. Never blocks.
 * @param meter `metrics.getMeter('taketurns')` of `@opentelemetry/api`, 1.3 or newer, or one like it.
 * @param read returns the metrics: `metrics` of `taketurns/metrics`, `() => metrics(space)` of `taketurns-processes`, or
 *   a function that puts both in one array. It is called once at once, and the names that it returns then are observed.
 * @returns a function that ends the observation.
 * @throws {TypeError} for a bad argument.
 * @throws {Error} if `read` returns no metrics, because `startMetrics` was not called for this space. What `read` throws
 *   comes out, too.
 *
 * @example
 * ```ts
 * import { metrics, openTelemetry, startMetrics, type Meter } from 'taketurns/metrics';
 *
 * startMetrics();
 * export const observe = (meter: Meter) => openTelemetry(meter, metrics);
 * ```
 * @since 0.3.0
 */
export function openTelemetry(meter: Meter, read: () => readonly Metric[]): () => void {
  if (typeof (meter as Meter | null)?.addBatchObservableCallback !== 'function')
    throw badType('openTelemetry: meter', 'a Meter of @opentelemetry/api (metrics.getMeter(name))', meter);
  checkType('openTelemetry: read', read, 'function', 'a function that returns metrics');
  const all = (): Metric[] => merged('openTelemetry: the answer of read', read());
  const make: Record<Exclude<Type, 'histogram'>, (name: string, options: InstrumentOptions) => unknown> = {
    counter: (...given) => meter.createObservableCounter(...given),
    updowncounter: (...given) => meter.createObservableUpDownCounter(...given),
    gauge: (...given) => meter.createObservableGauge(...given),
  };
  const instruments = new Map<string, unknown>();
  for (const { name, type, unit, description } of all()) {
    if (type === 'histogram') {
      instruments.set(`${name}.count`, make.counter(`${name}.count`, { description }));
      instruments.set(`${name}.sum`, make.counter(`${name}.sum`, { description, unit }));
      instruments.set(`${name}.bucket`, make.counter(`${name}.bucket`, { description }));
    } else instruments.set(name, make[type](name, { description, unit }));
  }
  if (instruments.size === 0)
    throw new Error('openTelemetry: read has returned no metrics: call startMetrics first, for each space');
  const observe = (result: ObservableResult): void => {
    const tell = (name: string, value: number, attributes: Attributes): void => {
      if (instruments.has(name)) result.observe(instruments.get(name), value, attributes);
    };
    for (const { name, points } of all())
      for (const { attributes, value } of points) {
        if (typeof value === 'number') {
          tell(name, value, attributes);
          continue;
        }
        tell(`${name}.count`, value.count, attributes);
        tell(`${name}.sum`, value.sum, attributes);
        for (const [le, count] of buckets(value)) tell(`${name}.bucket`, count, { ...attributes, le });
      }
  };
  const observed = [...instruments.values()];
  meter.addBatchObservableCallback(observe, observed);
  return () => meter.removeBatchObservableCallback(observe, observed);
}

/** Of each bucket its greatest value, and how many values are at most as great. */
function buckets({ bounds, counts }: Histogram): [le: string, count: number][] {
  let sum = 0;
  return counts.map((count, i) => {
    sum += count;
    return [String(bounds[i] ?? '+Inf'), sum];
  });
}

/** Makes one metric of those with the same name, and one value of those with the same attributes. */
function merged(what: string, metrics: readonly Metric[]): Metric[] {
  if (!Array.isArray(metrics)) throw badType(what, 'an array of metrics, such as metrics() returns', metrics);
  const families = new Map<string, { readonly metric: Metric; readonly points: Map<string, MetricPoint> }>();
  for (const metric of metrics as readonly Metric[]) {
    const points = families.get(metric.name)?.points ?? new Map<string, MetricPoint>();
    if (points.size === 0) families.set(metric.name, { metric, points });
    for (const point of metric.points) {
      const key = JSON.stringify(Object.entries(point.attributes).sort());
      const other = points.get(key);
      points.set(key, other ? { ...point, value: together(metric.type, other.value, point.value) } : point);
    }
  }
  return Array.from(families.values(), ({ metric, points }) => ({ ...metric, points: [...points.values()] }));
}

function together(type: Type, a: MetricPoint['value'], b: MetricPoint['value']): MetricPoint['value'] {
  if (typeof a === 'number' || typeof b === 'number')
    return type === 'gauge' ? Math.max(Number(a), Number(b)) : Number(a) + Number(b);
  const counts = a.counts.map((count, i) => count + (b.counts[i] ?? 0)); // all histograms have the same bounds
  return { ...a, count: a.count + b.count, sum: a.sum + b.sum, counts };
}

const UNITS: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes' };

function nameInPrometheus(name: string, unit: string, type: Type): string {
  return `${name.replaceAll('.', '_')}${UNITS[unit] ?? ''}${type === 'counter' ? '_total' : ''}`;
}

function labels(attributes: Attributes): string {
  const all = Object.entries(attributes).map(
    ([name, value]) => `${name.replaceAll('.', '_')}="${escaped(String(value)).replaceAll('"', '\\"')}"`,
  );
  return all.length === 0 ? '' : `{${all.join(',')}}`;
}

/** A text without what ends a line. */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
