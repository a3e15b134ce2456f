/** taketurns/keyed: locks by key that threads share. */
import { Arena } from 'taketurns';
import { KeyedMutex, KeyedRateLimiter, KeyedSemaphore, RateLimiter } from 'taketurns/keyed';
import { equal, ok, sleep, until } from '../check.js';
import { test } from '../run.js';
import type { Member } from '../team.js';

const watch = ({ worker, thread }: Member): void => Arena.default.watch(worker, thread);

test('keyed: a key is the same in every thread, and nothing is left of it', async ({ team }) => {
  const table = new KeyedMutex();
  const { used } = Arena.default.stats().objects;
  const keys = ['a', 1, 'x'.repeat(300), '\u{10000}'];
  const held = await table.holdAllAsync(keys);
  const worker = await team.member();
  const told = keys.map((key) => worker.call('passKey', table.handle, key));
  await until('it waits', () => table.waiting > 0);
  equal(table.size, keys.length, 'keys');
  held.unlock();
  equal(await Promise.all(told), [false, false, false, false], 'no owner has died');
  await until('nothing is left', () => Arena.default.stats().objects.used <= used);
});

test('keyed: the next owner of a key learns of the death of an owner', async ({ team }) => {
  const table = new KeyedSemaphore(2);
  const worker = await team.member();
  watch(worker);
  await worker.call('keepKey', table.handle, 'a');
  await sleep(typeof document === 'undefined' ? 0 : 500);
  worker.terminate();
  const held = await table.holdAsync('a', 2);
  ok(held.ownerDied, 'ownerDied');
  held.release();
});

test('keyed: the threads of a rate read one clock, whenever they have started', async ({ team }) => {
  const per = 1000;
  // This thread is older than the worker by more than a window.
  await sleep(2 * per);
  const worker = await team.stranger().join();
  const limiter = new RateLimiter(1, per);
  const asked = performance.now();
  ok(await worker.call('tryTake', limiter.handle), 'the worker takes the permit');
  const isFree = limiter.tryTake();
  ok(!isFree || performance.now() - asked >= per, 'there is one permit in a window');
  await limiter.takeAsync();
  limiter.dispose();
});

test('keyed: a rate of a key is one in all threads', async ({ team }) => {
  const limiter = new KeyedRateLimiter(2, 1_000_000, { burst: 2 });
  const worker = await team.member();
  ok(limiter.tryTake('Ann'), 'the first permit');
  ok(await worker.call('tryTakeOf', limiter.handle, 'Ann'), 'the worker takes the second one');
  equal([limiter.tryTake('Ann'), limiter.tryTake('Bob')], [false, true], 'the third permit, and that of another key');
  limiter.dispose();
});
