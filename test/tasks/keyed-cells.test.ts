/** The cells of KeyedRateLimiter of tasks: they go over into a queue when somebody waits, and back; they grow and shrink. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

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

it('a key keeps its log when somebody waits for it, and when nobody does any more', async () => {
  const users = new tasks.KeyedRateLimiter(3, 1000, { burst: 3 });
  users.tryTake('Ann', 2);
  time = 500;
  users.tryTake('Ann');
  users.pause('Tom', 2000);
  // Each of these has a queue now, and later looks at two.
  const waits = ['Ann', 'Tom', 'Bob'].map((key) => users.takeAsync(key, { timeout: 0 }).catch(() => 'late'));
  expect(await Promise.all(waits)).toEqual(['late', 'late', undefined]);
  const whole = () => [users.inspect('Ann').taken, users.dueIn('Ann'), users.dueIn('Ann', 3), users.dueIn('Tom')];
  expect(whole()).toEqual([3, 500, 1000, 2000]);
  for (const key of ['x', 'y', 'z']) users.tryTake(key);
  expect(whole()).toEqual([3, 500, 1000, 2000]);
  expect([users.tryTake('Ann'), users.tryTake('Tom'), users.waiting]).toEqual([false, false, 0]);
  time = 1000;
  expect([users.tryTake('Ann', 2), users.tryTake('Ann')]).toEqual([true, false]);
  time = 2500;
  expect([users.tryTake('Tom', 3), users.tryTake('Ann', 3), users.size]).toEqual([true, true, 2]);
});

it('a call that counts until its end keeps its key in a queue', async () => {
  const users = new tasks.KeyedRateLimiter(1, 10);
  let end = () => {};
  const call = users.limit((_: string) => new Promise<void>((resolve) => (end = resolve)), { until: 'end' });
  const running = call('Ann');
  await undefined;
  for (let i = 0; i < 10; i++) users.tryTake(i);
  time = 100;
  expect([users.tryTake('Ann'), users.dueIn('Ann')]).toEqual([false, Infinity]);
  end();
  await running;
  for (let i = 0; i < 10; i++) users.tryTake(-i);
  expect(users.dueIn('Ann')).toBe(10);
});

it('keys grow to many, all exact, and their memory shrinks again', () => {
  const users = new tasks.KeyedRateLimiter(2, 1000, { burst: 2 });
  const many = Array.from({ length: 20_000 }, (_, i) => `user ${i}`);
  for (let tries = 0; tries < 3; tries++)
    for (const user of many) if (users.tryTake(user) !== tries < 2) throw new Error(`${user} at ${tries}`);
  expect(users.size).toBe(20_000);
  time = 1000;
  expect(users.size).toBe(0);
  for (let i = 0; i < 60_000; i++) {
    time += 1;
    users.tryTake(i);
    if (i % 1000 === 0) expect(users.tryTake('always')).toBe(true);
  }
  expect(users.size).toBeLessThan(1010);
});
