/** KeyedRateLimiter: each key has a rate of its own, and nothing is kept of keys that count no more. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { failure } from '../support/failure.js';

type Tasks = typeof import('taketurns/tasks');
let time = 0;
let tasks: Tasks;
beforeEach(async () => {
  time = 0;
  vi.stubGlobal('performance', { now: () => time });
  vi.resetModules();
  tasks = await import('../../src/tasks/index.js');
});
afterEach(() => {
  vi.unstubAllGlobals();
});

it('a key knows nothing of the others', async () => {
  const users = new tasks.KeyedRateLimiter(2, 1000, { burst: 2 });
  expect([users.permits, users.per, users.burst]).toEqual([2, 1000, 2]);
  expect(['Ann', 'Ann', 'Ann', 'Bob', 1, '1'].map((key) => users.tryTake(key))).toEqual([
    ...[true, true, false],
    ...[true, true, true],
  ]);
  expect([users.dueIn('Ann'), users.dueIn('Bob'), users.dueIn('Bob', 2), users.dueIn('Zoe')]).toEqual([
    1000, 0, 1000, 0,
  ]);
  users.pause('Bob', 50);
  users.spend('Zoe', 3);
  expect([users.tryTake('Bob'), users.tryTake('Zoe'), users.tryTake('Amy')]).toEqual([false, false, true]);
  expect(users.inspect('Zoe')).toEqual({
    permits: 2,
    per: 1000,
    burst: 2,
    taken: 3,
    waiting: 0,
    timeouts: 0,
    waiters: [],
  });
  expect(users.inspect()).toEqual({ permits: 2, per: 1000, burst: 2, size: 6, waiting: 0 });
  expect(String(users)).toBe('KeyedRateLimiter(2 in 1000 ms, 6 keys, 0 waiting)');
});

it('a key counts no more when its window is over, also if somebody has waited for it', async () => {
  const users = new tasks.KeyedRateLimiter(1, 1000);
  users.tryTake('Bob');
  await users.limit((key) => key)('Ann');
  expect([users.size, users.inspect().size]).toEqual([2, 2]);
  time += 3000;
  expect([users.size, users.inspect().size]).toEqual([0, 0]);
});

it('nothing is left of keys that count no more', () => {
  const users = new tasks.KeyedRateLimiter(10, 100);
  let most = 0;
  for (let i = 0; i < 20_000; i++) {
    users.tryTake(i);
    time++;
    most = Math.max(most, users.size);
  }
  expect(most).toBeLessThanOrEqual(300);
});

it('the calls of a key wait for it, and end with it', async () => {
  const users = new tasks.KeyedRateLimiter(1, 60_000);
  const call = users.limit(async (key: string, more: number) => `${key} ${more}`);
  expect(await call('Ann', 1)).toBe('Ann 1');
  const [late, cancelled] = [failure(() => users.takeAsync('Ann', { timeout: 0 })), failure(() => call('Ann', 2))];
  expect(await call('Bob', 3)).toBe('Bob 3');
  users.cancelAll('enough');
  expect((await cancelled).name).toBe('CancelledError');
  expect((await late).name).toBe('TimeoutError');
  const ended = failure(() => users.takeAsync('Ann'));
  expect(users.waiting).toBe(1);
  users.dispose();
  expect((await ended).name).toBe('DisposedError');
  expect(() => users.tryTake('Ann')).toThrow('the KeyedRateLimiter has been disposed of');
});

it('a time-out names the key', async () => {
  const users = new tasks.KeyedRateLimiter(1, 60_000);
  users.tryTake('Ann');
  const error = await failure(() => users.takeAsync('Ann', { timeout: 0 }));
  expect(error.message).toBe(
    'timed out after 0 ms waiting for 1 permit of the key "Ann" of the KeyedRateLimiter (0 waiting)',
  );
});

it('a bad key is named', () => {
  const users = new tasks.KeyedRateLimiter(1, 1);
  expect(() => users.tryTake({} as never)).toThrow('KeyedRateLimiter.tryTake: key must be a string or a safe integer');
  expect(() => users.tryTake('Ann', 2)).toThrow('KeyedRateLimiter.tryTake: permits must be an integer from 1 to 1');
});

it('gives nothing back of a run that has more permits than it can count', () => {
  const users = new tasks.KeyedRateLimiter(2, 1000, { burst: 2 });
  const most = 2 ** 31 - 1;
  expect(users.tryTake('Ann', 2)).toBe(true);
  for (const permits of [most, most, -most, -most]) users.spend('Ann', permits);
  time += 900;
  // The first two count until 1000.
  expect(users.tryTake('Ann')).toBe(false);
});
