/** The event `metric` tells what becomes of each request, and how long this took. */
import { expect, test } from 'vitest';
import type { Metric } from '../src/events.js';
import { onForms } from './forms.js';
import { until } from './setting.js';

onForms('metrics', ({ join }) => {
  test('tell of waits, holds, returns and time-outs, by name', async () => {
    const [a, b] = [await join(), await join()];
    const heard: Metric[] = [];
    const listener = (metric: Metric): void => void heard.push(metric);
    a.on('metric', listener);
    const told = (): string[] =>
      heard.splice(0).map(({ event, name, kind, permits }) => `${event} ${kind} ${name} ${permits}`);
    const [mine, yours] = [await a.semaphore('x', 3), await b.semaphore('x', 3)];
    const held = await mine.holdAsync(2);
    await held.release(1);
    await held.release();
    await held.release();
    expect(heard.every(({ ms }) => ms >= 0)).toBe(true);
    expect(told()).toEqual(['hold semaphore x 2', 'release semaphore x 1', 'release semaphore x 1']);

    const theirs = await yours.holdAsync(3);
    const waiting = mine.holdAsync();
    await until(() => heard.length >= 1);
    const since = performance.now();
    await until(() => performance.now() > since + 20);
    await theirs.release();
    const got = await waiting;
    // The package counts by the clock of `performance.now`, as this test does.
    expect(heard.at(-1)?.ms).toBeGreaterThan(20);
    expect(told()).toEqual(['wait semaphore x 1', 'hold semaphore x 1']);
    await expect(mine.holdAsync(3, { timeout: 20 })).rejects.toThrow('timed out after 20 ms');
    expect(await mine.tryHold(3)).toBeUndefined();
    await until(() => heard.some(({ event }) => event === 'timeout'));
    // The time-out may have passed before the answer came that the request stands in the queue.
    expect(told().at(-1)).toBe('timeout semaphore x 3');
    await got.release();
    heard.splice(0);

    // A mutex is passed on within the process.
    const mutex = await a.mutex('m');
    const first = await mutex.holdAsync();
    const second = mutex.holdAsync();
    await until(async () => (await mutex.inspect())?.waiting === 1);
    await first.unlock();
    await (await second).unlock();
    const [hold, release] = ['hold mutex m 1', 'release mutex m 1'];
    await until(() => heard.length >= 5);
    expect(told()).toEqual([hold, 'wait mutex m 1', release, hold, release]);
    const lock = await a.rwLock('r');
    await (await lock.writeAsync()).downgrade().unlock();
    await until(() => heard.length >= 3);
    expect(told()).toEqual(['hold rwlock r 1048576', 'release rwlock r 1048575', 'release rwlock r 1']);

    // A request that was made while nobody listened is not measured.
    a.off('metric', listener);
    const unheard = await mine.holdAsync();
    a.on('metric', listener);
    await unheard.release();
    await (await mine.holdAsync()).release();
    await until(() => heard.length >= 2);
    expect(told()).toEqual(['hold semaphore x 1', 'release semaphore x 1']);
  });
});
