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

/** Times below this are no more than that of a few calls, and tell nothing. */
const LEAST_MS = 0.05;
/** n log n from 10,000 to 100,000 has 1.10; what is more than this counts as more. */
export const MOST_EXPONENT = 1.2;

/** Returns by which power of n the time grows between the last two sizes; undefined if that is too little to tell. */
export function exponentOf(points: readonly Point[]): number | undefined {
  const [before, last] = points.slice(-2);
  if (points.length < 3 || !before || !last) return undefined;
  if (last.milliseconds < 20 * LEAST_MS) return undefined;
  return Math.log(last.milliseconds / Math.max(before.milliseconds, LEAST_MS)) / Math.log(last.n / before.n);
}
