/** What RateLimiter of tasks does besides taking: dates of calls, debts, pauses, other numbers. */
import { describe, expect, it } from 'vitest';
import { CancelledError, RateLimiter } from '../../src/tasks/index.js';
import { failure } from '../support/failure.js';

describe('limit', () => {
  it('counts the end of a call that throws', async () => {
    const limiter = new RateLimiter(1, 20);
    const fails = limiter.limit(() => Promise.reject(new Error('no')), { until: 'end' });
    const errors = await Promise.all([failure(fails), failure(fails)]);
    expect(errors.map(({ message }) => message)).toEqual(['no', 'no']);
  });

  it('ends a call that is sent away between its turn and its begin', async () => {
    const limiter = new RateLimiter(3, 60_000, { burst: 3 });
    const call = limiter.limit(() => 'ran', 3);
    const late = failure(call);
    limiter.resize(2);
    expect(await late).toMatchObject({
      name: 'RangeError',
      message: 'RateLimiter: a request waits for 3 permits, and since resize there are 2',
    });
    const paused = failure(limiter.limit(() => 'ran'));
    limiter.pause(60_000);
    limiter.resize(2);
    limiter.cancelAll('why');
    expect(await paused).toBeInstanceOf(CancelledError);
    expect(limiter.waiting).toBe(0);
  });
});

describe('dueIn', () => {
  it('says when permits could go, behind all who wait', async () => {
    const limiter = new RateLimiter(2, 1000, { burst: 2 });
    expect(limiter.dueIn()).toBe(0);
    await limiter.takeAsync(2);
    const wait = limiter.takeAsync(2);
    for (const [permits, least] of [
      [1, 1900],
      [2, 1900],
    ] as const) {
      expect(limiter.dueIn(permits)).toBeGreaterThan(least);
      expect(limiter.dueIn(permits)).toBeLessThanOrEqual(2000);
    }
    limiter.dispose();
    await failure(() => wait);
  });
});

describe('pause', () => {
  it('lets nobody go before it is over', async () => {
    const limiter = new RateLimiter(10, 100, { burst: 10 });
    const from = performance.now();
    limiter.pause(50);
    limiter.pause(10);
    expect(limiter.tryTake()).toBe(false);
    await limiter.takeAsync();
    expect(performance.now() - from).toBeGreaterThan(49.9);
  });

  it('holds up a call whose turn has come', async () => {
    const limiter = new RateLimiter(10, 100, { burst: 10 });
    const call = limiter.limit(() => performance.now());
    const from = performance.now();
    const wait = call();
    limiter.pause(50);
    expect((await wait) - from).toBeGreaterThan(49.9);
  });
});

describe('spend', () => {
  it('goes into debt, and gives back', async () => {
    const limiter = new RateLimiter(10, 60_000, { burst: 10 });
    limiter.spend(25);
    expect([limiter.tryTake(), limiter.inspect().taken]).toEqual([false, 25]);
    expect(limiter.dueIn()).toBeGreaterThan(60_000);
    limiter.spend(-20);
    expect(limiter.inspect().taken).toBe(5);
    expect([limiter.tryTake(5), limiter.tryTake()]).toEqual([true, false]);
  });

  it('lets those go on who wait for what is given back', async () => {
    const limiter = new RateLimiter(10, 60_000, { burst: 10 });
    await limiter.takeAsync(10);
    const wait = limiter.takeAsync(4);
    limiter.spend(-4);
    await wait;
    expect(limiter.tryTake()).toBe(false);
  });
});

describe('resize', () => {
  it('changes the numbers, and lets go on those who may', async () => {
    const limiter = new RateLimiter(1, 60_000);
    await limiter.takeAsync();
    const wait = limiter.takeAsync();
    limiter.resize(4, 60_000, { burst: 4 });
    await wait;
    expect(limiter.inspect()).toMatchObject({ permits: 4, per: 60_000, burst: 4, taken: 2 });
    limiter.resize(2);
    expect([limiter.permits, limiter.per, limiter.burst, limiter.tryTake()]).toEqual([2, 60_000, 2, false]);
  });

  it('rejects those who wait for more', async () => {
    const limiter = new RateLimiter(4, 60_000, { burst: 4 });
    await limiter.takeAsync(4);
    const wait = failure(() => limiter.takeAsync(3));
    limiter.resize(2);
    expect((await wait).name).toBe('RangeError');
  });
});

it.each([
  [(rate: RateLimiter) => rate.pause(-1), 'RateLimiter.pause: milliseconds must be from 0 to 2147483647, got -1'],
  [(rate: RateLimiter) => rate.spend(0.5), 'RateLimiter.spend: permits must be an integer from -2147483647'],
  [(rate: RateLimiter) => rate.dueIn(3), 'RateLimiter.dueIn: permits must be an integer from 1 to 2 (its permits)'],
  [(rate: RateLimiter) => rate.resize(0), 'RateLimiter.resize: permits must be an integer from 1'],
  [
    (rate: RateLimiter) => rate.limit(() => 1, { until: 'begun' as never }),
    'RateLimiter.limit: until must be "begin" or "end", got',
  ],
  [
    (rate: RateLimiter) => rate.limit(() => 1, { untill: 'end' } as never),
    'RateLimiter.limit: options must be of { permits, until, timeout, signal } (perhaps until)',
  ],
])('bad arguments are named: %#', async (call, message) => {
  expect((await failure(() => call(new RateLimiter(2, 1)))).message).toContain(message);
});
