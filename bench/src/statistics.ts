// Statistics over the runs of a benchmark. For an empty list each function returns NaN. (simple-statistics would throw
// an error.)

import { median as medianOfSome, sum } from 'simple-statistics';

/** Median, minimum and maximum of the runs of one cell. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

export const total: (values: readonly number[]) => number = sum;

export function median(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : medianOfSome(values);
}

/**
 * Returns the value below which this share of the values lies. The result is always one of the values. (The quantiles
 * of simple-statistics may lie between two values.)
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
}

/** Returns the median and the extremes. */
export function spread(values: readonly number[]): Spread {
  if (values.length === 0) return { median: Number.NaN, min: Number.NaN, max: Number.NaN };
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** Returns the fewest iterations of a thread over the most: 1 when all threads did the same, 0 when one starved. */
export function fairness(iterations: readonly number[]): number {
  const most = Math.max(...iterations);
  return most > 0 ? Math.min(...iterations) / most : 0;
}

/**
 * Returns Jain's index, (sum x)^2 / (n * sum x^2). It is 1/n if one thread did everything, and 1 if all did the same.
 */
export function jain(iterations: readonly number[]): number {
  const squares = sum(iterations.map((x) => x * x));
  return squares > 0 ? total(iterations) ** 2 / (iterations.length * squares) : 0;
}
