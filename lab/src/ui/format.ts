/** Formats numbers for people. */

const COUNT = new Intl.NumberFormat('en', { maximumSignificantDigits: 3, notation: 'compact' });
const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** Formats numbers below 10,000 in full, as 1,234, and others as 12.3K. */
export function count(n: number): string {
  if (!Number.isFinite(n)) return '–';
  return Math.abs(n) < 10_000 ? WHOLE.format(n) : COUNT.format(n);
}

/** Formats a number in full. */
export function whole(n: number): string {
  return WHOLE.format(n);
}

/** Formats milliseconds in a unit that suits them. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '–';
  if (ms >= 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  if (ms >= 100) return `${ms.toFixed(0)} ms`;
  if (ms >= 1) return `${ms.toFixed(1)} ms`;
  return `${(ms * 1000).toFixed(0)} µs`;
}

export function share(part: number): string {
  return `${(100 * part).toFixed(part < 0.1 ? 1 : 0)} %`;
}

/** `1 thread`, `2 threads`. */
export function counted(n: number, thing: string): string {
  return `${n} ${thing}${n === 1 ? '' : 's'}`;
}
