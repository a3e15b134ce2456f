import { describe, expect, it } from 'vitest';
import { fairness, jain, median, quantile, spread } from '../src/statistics.js';

describe('statistics', () => {
  it('takes the middle, or the mean of the middle two, without reordering its input', () => {
    const values = [9, 1, 5];
    expect(median(values)).toBe(5);
    expect(values).toEqual([9, 1, 5]);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(median([10, 9, 2])).toBe(9);
    expect(median([])).toBeNaN();
  });

  it('spreads', () => {
    expect(spread([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
    expect(spread([]).min).toBeNaN();
  });

  it('takes quantiles that are among the values', () => {
    const values = [50, 10, 40, 20, 30];
    expect([0, 0.1, 0.5, 0.9, 1].map((share) => quantile(values, share))).toEqual([10, 10, 30, 50, 50]);
    expect(quantile([], 0.5)).toBeNaN();
  });

  it('calls equal shares fair and starvation unfair', () => {
    expect(fairness([7, 7, 7])).toBe(1);
    expect(jain([7, 7, 7])).toBeCloseTo(1);
    expect(fairness([5, 10])).toBe(0.5);
    expect(jain([5, 10])).toBeCloseTo(0.9);
    expect(fairness([0, 10, 10, 10])).toBe(0);
    expect(jain([0, 0, 0, 10])).toBeCloseTo(0.25);
  });

  it('does not divide by zero when nobody was admitted', () => {
    expect(fairness([0, 0])).toBe(0);
    expect(jain([0, 0])).toBe(0);
  });
});
