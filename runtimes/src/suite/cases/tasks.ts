/** taketurns/tasks: locks by key, and rates. */
import { KeyedMutex, KeyedSemaphore, RateLimiter } from 'taketurns/tasks';
import { equal, ok, rejects, sleep } from '../check.js';
import { test } from '../run.js';

test('tasks: a mutex by key', async () => {
  const table = new KeyedMutex();
  const order: string[] = [];
  const work = (key: string, n: number) =>
    table.runExclusive(key, async () => {
      order.push(`${key}${n}`);
      await sleep(1);
      order.push(`${key}${n}`);
    });
  await Promise.all([work('a', 1), work('a', 2), work('b', 3)]);
  equal(
    order.filter((entry) => entry.startsWith('a')),
    ['a1', 'a1', 'a2', 'a2'],
    'order',
  );
  const held = await table.holdAllAsync(['b', 'a']);
  await rejects(table.holdAsync('a', { timeout: 5 }), 'TimeoutError', 'the key "a"');
  held.unlock();
  equal([table.size, table.waiting], [0, 0], 'what is left');
});

test('tasks: permits by key', async () => {
  const table = new KeyedSemaphore(2);
  const [one, two] = [table.tryHold('a'), await table.holdAsync('a')];
  ok(one && table.tryHold('a') === undefined && table.tryHold('b'), 'two of each');
  const next = table.holdAsync('a', 2);
  one?.release();
  two.release();
  equal((await next).permits, 2, 'permits');
});

test('tasks: a rate', async () => {
  const limiter = new RateLimiter(3, 60, { burst: 3 });
  const times: number[] = [];
  await Promise.all(Array.from({ length: 7 }, () => limiter.takeAsync().then(() => times.push(performance.now()))));
  const early = times.filter((time, i) => i >= 3 && time - (times[i - 3] as number) < 60);
  // A clock of a browser may be a millisecond off.
  ok(
    early.every((time) => time - (times[times.indexOf(time) - 3] as number) > 57),
    `times: ${times}`,
  );
  equal([limiter.waiting, limiter.tryTake(3)], [0, false], 'at the end');
});
