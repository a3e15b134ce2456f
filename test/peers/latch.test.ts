/**
 * What others check of a latch, as far as `Latch` promises the same: CountDownLatchTest of JSR-166's TCK, and
 * libcxx/test/std/thread/thread.latch of LLVM. Each test names the case that it follows.
 */
import { Latch } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { callers } from '../support/callers.js';
import { until } from '../support/until.js';

const { call, calls } = callers(3);
/** For what never happens. */
const timeout = 60_000;

describe('CountDownLatchTest', () => {
  it('testNegativeConstructor: a count below 0 is refused', () => {
    expect(() => new Latch(-1)).toThrow(RangeError);
  });

  it('testGetCount, testCountDown: the count falls, and stays 0', () => {
    const latch = new Latch(2);
    expect(latch.count).toBe(2);
    latch.countDown();
    expect(latch.count).toBe(1);
    latch.countDown();
    expect(latch.count).toBe(0);
    // There, one more has no effect. Here it is an error, and changes nothing either.
    expect(() => latch.countDown()).toThrow(RangeError);
    expect([latch.count, latch.wait()]).toEqual([0, true]);
  });

  it.each([
    ['testAwait', []],
    ['testTimedAwait', [{ timeout }]],
  ] as const)('%s: a thread goes on after the last count, and not before', async (_, args) => {
    const latch = new Latch(2);
    const blocked = call(0, latch, 'wait', ...args);
    await until(() => latch.waiting === 1, 'it waits');
    expect(latch.count).toBe(2);
    latch.countDown();
    expect([latch.count, latch.waiting]).toEqual([1, 1]);
    latch.countDown();
    expect(latch.count).toBe(0);
    expect(await blocked).toBe(true);
  });

  it.each([
    ['testAwait_Interruptible', {}],
    ['testTimedAwait_Interruptible', { timeout }],
  ])('%s: a wait that is aborted before it begins, or while it waits, ends with the reason', async (_, options) => {
    const latch = new Latch(1);
    const abort = new AbortController();
    const waits = latch.waitAsync({ ...options, signal: abort.signal });
    expect(latch.waiting).toBe(1);
    abort.abort(new Error('interrupted'));
    await expect(waits).rejects.toThrow('interrupted');
    await expect(latch.waitAsync({ ...options, signal: abort.signal })).rejects.toThrow('interrupted');
    expect(() => latch.wait({ ...options, signal: abort.signal })).toThrow('interrupted');
    expect([latch.count, latch.waiting]).toEqual([1, 0]);
  });

  it('testAwaitTimeout: a wait whose time has passed answers false, and the count stays', async () => {
    const latch = new Latch(1);
    expect(await call(0, latch, 'wait', { timeout: 5 })).toBe(false);
    expect([latch.count, latch.waiting]).toEqual([1, 0]);
  });
});

describe('thread.latch', () => {
  it('max: the largest count', () => {
    const latch = new Latch(2 ** 30 - 1);
    latch.countDown(2 ** 30 - 2);
    expect(latch.count).toBe(1);
    latch.countDown();
    expect(latch.wait()).toBe(true);
  });

  it('try_wait: looks, and does not wait', async () => {
    const latch = new Latch(1);
    expect([latch.wait({ timeout: 0 }), await latch.waitAsync({ timeout: 0 })]).toEqual([false, false]);
    latch.countDown();
    expect([latch.wait({ timeout: 0 }), await latch.waitAsync({ timeout: 0 })]).toEqual([true, true]);
  });

  it('count_down: counts of several threads, one and more at a time, open it', async () => {
    const latch = new Latch(10);
    await call(0, latch, 'countDown');
    await call(1, latch, 'countDown', 3);
    expect(latch.count).toBe(6);
    const counts = [call(0, latch, 'countDown', 4), call(1, latch, 'countDown'), call(2, latch, 'countDown')];
    expect(latch.wait({ timeout })).toBe(true);
    await Promise.all(counts);
    expect(latch.count).toBe(0);
  });

  it('arrive_and_wait: each counts and waits, and all go on', async () => {
    const latch = new Latch(4);
    const counts = calls(3, latch, 'countDown');
    const waits = calls(3, latch, 'wait');
    await until(() => latch.waiting === 3, 'they wait');
    expect(latch.count).toBe(1);
    latch.countDown();
    expect(latch.wait({ timeout })).toBe(true);
    expect(await Promise.all(waits)).toEqual([true, true, true]);
    await Promise.all(counts);
  });
});
