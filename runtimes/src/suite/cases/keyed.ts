/** taketurns/keyed: locks by key that threads share. */
import { Arena } from 'taketurns';
import { KeyedMutex, KeyedSemaphore } from 'taketurns/keyed';
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
