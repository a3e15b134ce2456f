// The few statistics that the report needs.

/** Median, minimum and maximum of the runs of one cell. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** The middle value, or the mean of the two middle ones; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2;
}

/** The value below which so large a share of the values lies, a value that is among them; NaN of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
}

/** Median with the extremes beside it; all NaN for no values. */
export function spread(values: readonly number[]): Spread {
  if (values.length === 0) return { median: Number.NaN, min: Number.NaN, max: Number.NaN };
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** Fewest iterations by a thread over most: 1 when all threads did the same, 0 when one starved. */
export function fairness(iterations: readonly number[]): number {
  const most = Math.max(...iterations);
  return most > 0 ? Math.min(...iterations) / most : 0;
}

/** Jain's index, (sum x)^2 / (n * sum x^2): from 1/n, one thread had everything, to 1, all had the same. */
export function jain(iterations: readonly number[]): number {
  const squares = iterations.reduce((sum, x) => sum + x * x, 0);
  return squares > 0 ? total(iterations) ** 2 / (iterations.length * squares) : 0;
}

export function total(values: readonly number[]): number {
  return values.reduce((sum, x) => sum + x, 0);
}
