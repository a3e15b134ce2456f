/** What `startMetrics` counts, and `metrics` returns. The events are those of metrics.test.ts. */
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { type Histogram, type MetricPoint, metrics, Space, startMetrics } from '../src/index.js';
import { folder } from './local-processes.js';
import { until } from './setting.js';

const local = (): Promise<Space> => Space.local({ space: 'metrics', directory: folder() });

/** Returns the values of a metric, by the kind and name of the object; of a histogram, the number of values. */
const counts = (space: Space, name: string): Record<string, number> =>
  Object.fromEntries(
    metrics(space)
      .find((one) => one.name === name)
      ?.points.map(({ attributes, value }) => [
        Object.values(attributes).join(' '),
        typeof value === 'number' ? value : value.count,
      ]) ?? [],
  );

test('waits, holds and time-outs are counted by name', async () => {
  const space = await local();
  try {
    const pool = await space.semaphore('pool', 1);
    await (await pool.holdAsync()).release();
    expect(metrics(space)).toEqual([]);
    startMetrics(space);
    startMetrics(space);
    const held = await pool.holdAsync();
    const waiting = pool.holdAsync();
    await until(() => counts(space, 'taketurns.wait.queued')['Semaphore pool'] === 1);
    await held.release();
    const second = await waiting;
    await expect(pool.holdAsync({ timeout: 20 })).rejects.toThrow('timed out after 20 ms');
    await second.release();
    const mutex = await space.mutex('accounts');
    await mutex.runExclusive(() => {});
    await until(() => counts(space, 'taketurns.hold.duration')['Mutex accounts'] === 1);
    expect(counts(space, 'taketurns.wait.duration')).toEqual({ 'Semaphore pool': 3, 'Mutex accounts': 1 });
    expect(counts(space, 'taketurns.wait.failures')).toEqual({ 'Semaphore pool': 1, 'Mutex accounts': 0 });
    expect(counts(space, 'taketurns.hold.duration')).toEqual({ 'Semaphore pool': 2, 'Mutex accounts': 1 });
    const point = metrics(space).find(({ name }) => name === 'taketurns.wait.duration')?.points[0] as MetricPoint;
    const { count, counts: buckets, bounds, sum } = point.value as Histogram;
    expect(buckets.reduce((total, one) => total + one, 0)).toBe(count);
    expect(buckets).toHaveLength(bounds.length + 1);
    // One of the three has waited for 20 ms, until its time-out.
    expect(sum).toBeGreaterThan(0.015);
  } finally {
    await space.close();
  }
});

test('objects of more than 511 names count together', async () => {
  const space = await local();
  try {
    startMetrics(space);
    for (let i = 0; i < 520; i++) {
      const pool = await space.semaphore(`pool ${i}`, 1);
      await (await pool.holdAsync()).release();
    }
    await until(() => counts(space, 'taketurns.hold.duration').true === 9);
    expect(Object.keys(counts(space, 'taketurns.wait.duration'))).toHaveLength(512);
    // Rates and others count together, so there is what only the one or the other has.
    expect(counts(space, 'taketurns.rate.late')).toEqual({});
    await (await space.rateLimiter('api', 1, 1000)).takeAsync();
    expect(counts(space, 'taketurns.rate.late')).toEqual({ true: 0 });
    expect(Object.keys(counts(space, 'taketurns.hold.duration'))).toHaveLength(512);
  } finally {
    await space.close();
  }
});

test('a space of another copy of the package is a space', async () => {
  const copy = (await import('../dist/module/index.js' as string)) as typeof import('../src/index.js');
  const space = await copy.Space.local({ directory: folder() });
  try {
    expect(space).not.toBeInstanceOf(Space);
    startMetrics(space);
    await (await space.semaphore('pool', 1)).runExclusive(() => {});
    await until(() => counts(space, 'taketurns.hold.duration')['Semaphore pool'] === 1);
  } finally {
    await space.close();
  }
});

test.each([
  ['startMetrics', startMetrics],
  ['metrics', metrics],
])('%s refuses what is no space', (name, call) => {
  for (const space of [undefined, null, {}, 'space', new EventEmitter()])
    expect(() => call(space as never)).toThrow(new RegExp(`^${name}: space must be a Space, got `));
});
