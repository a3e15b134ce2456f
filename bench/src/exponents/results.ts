// What `bench exponents` has measured, and how the time grows.

export interface Point {
  n: number;
  /** Of processor time. */
  milliseconds: number;
}

export interface ExponentResults {
  benchmark: 'exponents';
  environment: Record<string, string | number>;
  options: Record<string, unknown>;
  rows: { name: string; points: Point[]; why?: string }[];
}

/** A shorter time is that of a few calls, and tells nothing about n. */
const LEAST_MS = 0.05;
/** From 10,000 to 100,000, n log n grows with the exponent 1.10. A larger exponent than this counts as too large. */
export const MOST_EXPONENT = 1.2;

/**
 * Returns with which power of n the time grows between the last two sizes; undefined if the time is too short to tell.
 */
export function exponentOf(points: readonly Point[]): number | undefined {
  const [before, last] = points.slice(-2);
  if (points.length < 3 || !before || !last) return undefined;
  if (last.milliseconds < 20 * LEAST_MS) return undefined;
  return Math.log(last.milliseconds / Math.max(before.milliseconds, LEAST_MS)) / Math.log(last.n / before.n);
}
