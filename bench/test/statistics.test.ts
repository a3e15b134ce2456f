import { describe, expect, it } from 'vitest';
import { fairness, jain, median, quantile, spread } from '../src/statistics.js';

describe('statistics', () => {
  it('spreads', () => {
    expect(spread([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
  });

  it('gives NaN for no values', () => {
    expect(median([])).toBeNaN();
    expect(quantile([], 0.5)).toBeNaN();
    expect(spread([])).toEqual({ median: Number.NaN, min: Number.NaN, max: Number.NaN });
  });

  it('takes quantiles that are among the values', () => {
    const values = [50, 10, 40, 20, 30];
    expect([0, 0.1, 0.5, 0.9, 1].map((share) => quantile(values, share))).toEqual([10, 10, 30, 50, 50]);
  });

  it('calls equal shares fair and starvation unfair', () => {
    expect(fairness([7, 7, 7])).toBe(1);
    expect(jain([7, 7, 7])).toBeCloseTo(1);
    expect(fairness([5, 10])).toBe(0.5);
    expect(jain([5, 10])).toBeCloseTo(0.9);
    expect(fairness([0, 10, 10, 10])).toBe(0);
    expect(jain([0, 0, 0, 10])).toBeCloseTo(0.25);
  });

  it('does not divide by zero when no thread was admitted', () => {
    expect(fairness([0, 0])).toBe(0);
    expect(jain([0, 0])).toBe(0);
  });
});
