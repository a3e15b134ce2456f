/** Many requests wait in one process: the cost of each does not grow with their number. */
import { expect, test } from 'vitest';
import { Request } from '../src/session/request.js';
import { SharedObject } from '../src/session/shared-object.js';
import { onServers, until } from './setting.js';

/**
 * Counts the steps of iterations over large sets. The beginning of an iteration counts as 100 steps, because some code
 * steps over a set without calls of `next` that this function can see.
 */
function countSteps(): () => number {
  const { values } = Set.prototype;
  let count = 0;
  function counting(this: Set<unknown>) {
    const iterator = values.call(this);
    if (this.size < 100) return iterator;
    const next = iterator.next.bind(iterator);
    count += 100;
    return Object.assign(iterator, {
      next() {
        count++;
        return next();
      },
    });
  }
  Set.prototype.values = counting as never;
  Set.prototype[Symbol.iterator] = counting as never;
  return () => {
    Set.prototype.values = values;
    Set.prototype[Symbol.iterator] = values;
    return count;
  };
}

test('those in a line keep their order, whoever leaves, and one that has left is held by nobody in it', () => {
  const object = new SharedObject('s', { kind: 's', max: 1, robust: false, ephemeral: false, bypass: 0 });
  const line = object.waiting;
  const caller = { granted: (base: Request) => ({ base, left: 1, stamp: 0, lose() {} }), failed() {} };
  const [a, b, c, d] = [1, 2, 3, 4].map((number) => new Request(object, number, 1, true, caller)) as [
    Request,
    Request,
    Request,
    Request,
  ];
  for (const each of [a, b, c, d]) line.add(each);
  for (const leaves of [b, b, a, d]) line.delete(leaves);
  expect([line.first, line.size, c.before, c.after]).toEqual([c, 1, undefined, undefined]);
  line.add(a);
  line.delete(c);
  expect([line.first, line.size, a.before, c.after]).toEqual([a, 1, undefined, undefined]);
  line.delete(a);
  expect([line.first, line.size]).toEqual([undefined, 0]);
});

onServers(
  'a crowd',
  (setting) => {
    test.each([0, 4096])('of waiters of a mutex costs a few steps each, with bypass %d', async (bypass) => {
      const count = 1000;
      const space = await setting.join();
      const mutex = await space.mutex('m', { bypass });
      const held = await mutex.holdAsync();
      const order: number[] = [];
      const all = Array.from({ length: count }, async (_, i) => {
        const next = await mutex.holdAsync();
        order.push(i);
        // Some holders pass the mutex on at once, and some pass it on later.
        if (i % 100 === 0) await new Promise(setImmediate);
        next.unlock();
      });
      await until(async () => (await mutex.inspect())?.waiting === count);
      const steps = countSteps();
      held.unlock();
      await Promise.all(all).finally(() => {
        expect(steps()).toBeLessThan(10 * count);
      });
      expect(order).toEqual(order.toSorted((a, b) => a - b));
      expect(await mutex.inspect()).toMatchObject({ free: 1, waiting: 0 });
    });

    test('a repair that times out is no lack of permits', async () => {
      const space = await setting.join({ lease: 500 });
      const mutex = await space.mutex('m', { robust: true });
      const dead = await setting.join({ lease: 500 });
      const end = performance.now() + 700;
      await (await dead.mutex('m', { robust: true })).holdAsync();
      while (performance.now() < end);
      await until(async () => (await mutex.inspect())?.deaths === 1);
      const busy = await space.mutex('busy');
      await busy.holdAsync();
      mutex.onOwnerDied = async () => void (await busy.holdAsync({ timeout: 10 }));
      await expect(mutex.tryHold()).rejects.toThrow('timed out after 10 ms waiting for the mutex "busy"');
    });
  },
  'first',
);
