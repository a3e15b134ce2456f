/** What users do with objects and guards: they freeze them, and print what stands for them. */
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Space } from '../src/space/space.js';
import { folder } from './local-processes.js';

test('frozen guards give back, and frozen objects go on', async () => {
  const space = Object.freeze(await Space.local({ directory: folder() }));
  const mutex = Object.freeze(await space.mutex('m'));
  const lock = Object.freeze(await space.rwLock('l'));
  const pool = Object.freeze(await space.semaphore('s', 3));
  const held = Object.freeze(await mutex.holdAsync());
  expect([held.held, await mutex.tryHold()]).toEqual([true, undefined]);
  await held.unlock();
  expect([held.held, String(held)]).toEqual([false, 'HeldLock(unlocked)']);
  await Object.freeze(await mutex.holdAsync())[Symbol.asyncDispose]();
  const permits = Object.freeze(await pool.holdAsync(3));
  await permits.release(2);
  expect(permits.permits).toBe(1);
  permits[Symbol.dispose]();
  await Object.freeze(await pool.holdAsync(3)).release();
  const written = Object.freeze(await lock.writeAsync());
  const read = Object.freeze(written.downgrade());
  expect([written.held, read.held]).toEqual([false, true]);
  await read.unlock();
  await Object.freeze(await lock.writeAsync()).unlock();
  await space.close();
});

test('the console shows objects and guards, and their proxies, heirs and prototypes', async () => {
  const space = await Space.local({ directory: folder() });
  const mutex = await space.mutex('m');
  const lock = await space.rwLock('l');
  const held = await mutex.holdAsync();
  const shown: object[] = [space, mutex, lock, await space.semaphore('s', 3), held, space.leader('x')];
  shown.push(await lock.writeAsync(), await space.holdAll([await space.mutex('n')]));
  for (const object of shown) {
    const prototype = Object.getPrototypeOf(object) as object;
    for (const each of [object, new Proxy(object, {}), Object.create(object) as object, prototype]) {
      expect(inspect(each)).toContain(object.constructor.name);
      expect(Object.prototype.toString.call(each)).toBe(`[object ${object.constructor.name}]`);
    }
  }
  await space.close();
});
