/** The form in which threads and processes tell their metrics: the names and types are those of OpenTelemetry. */

/** How values are spread. */
export interface Histogram {
  /** The number of values. */
  readonly count: number;
  /** The sum of the values. */
  readonly sum: number;
  /** The largest value of each bucket but the last, ascending. */
  readonly bounds: readonly number[];
  /** How many values are in each bucket, one more than there are bounds. */
  readonly counts: readonly number[];
}

/** A value of a metric, with what tells it from the other values of the metric. */
export interface MetricPoint {
  /** For example `{ 'taketurns.object.kind': 'Mutex', 'taketurns.object.name': 'accounts' }`. */
  readonly attributes: Readonly<Record<string, string | boolean>>;
  /** A `Histogram` if the type of the metric is `histogram`, otherwise a number. */
  readonly value: number | Histogram;
}

/** A metric. */
export interface Metric {
  /** For example `taketurns.wait.duration`. */
  readonly name: string;
  /** What the values are, in a sentence. */
  readonly description: string;
  /** The unit of the values, in the notation of UCUM that OpenTelemetry uses: `s`, `By`, or a thing such as `{permit}`. */
  readonly unit: string;
  /** A `counter` only grows, an `updowncounter` may be summed over its attributes, and a `gauge` may not. */
  readonly type: 'counter' | 'updowncounter' | 'gauge' | 'histogram';
  /** The values. */
  readonly points: readonly MetricPoint[];
}

/** The longest time of each bucket but the last, in seconds. */
export const BOUNDS: readonly number[] = [0.00001, 0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

/** Returns the number of the bucket of a time. */
export function bucketOf(seconds: number): number {
  const bucket = BOUNDS.findIndex((bound) => seconds <= bound);
  return bucket < 0 ? BOUNDS.length : bucket;
}
