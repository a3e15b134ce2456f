/** Several objects held at once. */
import { expect, expectTypeOf, test } from 'vitest';
import { LeaseLostError, TimeoutError } from '../src/errors.js';
import type { HeldLock, HeldPermits, HeldRead, HeldWrite } from '../src/objects/hold.js';
import { onForms } from './forms.js';
import { until } from './setting.js';

onForms('holdAll', ({ join, forget }) => {
  test('takes them in one order, in whatever order they are named', async () => {
    const [a, b] = [await join(), await join()];
    const names = ['x', 'y', 'z'];
    const mine = await Promise.all(names.map((name) => a.mutex(name)));
    const yours = await Promise.all(names.map((name) => b.mutex(name)));
    const [x, y] = mine as [(typeof mine)[0], (typeof mine)[0]];
    const first = await x.holdAsync();
    const waits = [a.holdAll(mine)];
    await until(async () => (await x.inspect())?.waiting === 1);
    waits.push(b.holdAll([...yours].reverse()));
    await until(async () => (await x.inspect())?.waiting === 2);
    // A process that waits for the first object holds none of the others.
    expect((await y.inspect())?.free).toBe(1);
    await first.unlock();
    const held = await waits[0];
    expect(held?.guards.map(({ base }) => base.object.name)).toEqual(names);
    await held?.release();
    const other = await waits[1];
    expect(other?.guards.map(({ base }) => base.object.name)).toEqual(['z', 'y', 'x']);
    expect(other?.held).toBe(true);
    await other?.guards[0]?.unlock();
    expect(other?.held).toBe(false);
    await other?.release();
    for (const mutex of mine) expect(await mutex.inspect()).toMatchObject({ free: 1, waiting: 0 });
  });

  test('holds objects of all kinds, and gives all back at the end of its scope', async () => {
    const space = await join();
    const [mutex, pool] = [await space.mutex('m'), await space.semaphore('db', 3)];
    const [lock, config] = [await space.rwLock('r'), await space.rwLock('c')];
    {
      await using held = await space.holdAll([pool, mutex, [config, 'read'], lock]);
      expectTypeOf(held.guards).toEqualTypeOf<readonly [HeldPermits, HeldLock, HeldRead, HeldWrite]>();
      expect(String(held)).toBe('HeldAll(HeldPermits(1), HeldLock(held), HeldRead(held), HeldWrite(held))');
      expect(await lock.tryRead()).toBeUndefined();
      await (await config.tryRead())?.unlock();
    }
    const held = await space.holdAll([[pool, 3]]);
    expect(held.guards[0].permits).toBe(3);
    await held.release();
    await held.release();
    expect((await space.holdAll([])).held).toBe(true);
    for (const object of [mutex, pool, lock, config]) {
      const state = await object.inspect();
      expect(state).toMatchObject({ free: state?.max, waiting: 0 });
    }
  });

  test('a time-out and an abort give all back', async () => {
    const [a, b] = [await join(), await join()];
    const [x, y] = [await a.mutex('x'), await a.semaphore('y', 2)];
    const blocked = await (await b.semaphore('y', 2)).holdAsync();
    const late = await a.holdAll([[y, 2], x], { timeout: 30 }).catch((error: unknown) => error);
    expect(late).toBeInstanceOf(TimeoutError);
    expect(String(late)).toBe('TimeoutError: timed out after 30 ms waiting for all of Semaphore("y"), Mutex("x")');
    await until(async () => (await x.inspect())?.free === 1);
    await expect(a.holdAll([[y, 2], x], { timeout: 0 })).rejects.toThrow('timed out after 0 ms');
    const controller = new AbortController();
    const waiting = a.holdAll([x, [y, 2]], { signal: controller.signal });
    await until(async () => (await y.inspect())?.waiting === 1);
    expect((await x.inspect())?.free).toBe(0);
    controller.abort('enough');
    await expect(waiting).rejects.toBe('enough');
    await expect(a.holdAll([x], { signal: controller.signal })).rejects.toBe('enough');
    await until(async () => (await x.inspect())?.free === 1 && (await y.inspect())?.waiting === 0);
    await blocked.release();
  });

  test('its signal is aborted when one is lost, and so is a wait for the others', async () => {
    const [a, b] = [await join(), await join()];
    const [x, y] = [await a.mutex('x'), await a.mutex('y')];
    const held = await a.holdAll([x, y]);
    const blocked = await (await b.mutex('z')).holdAsync();
    const waiting = a.holdAll([await a.mutex('w'), await a.mutex('z')]).catch((error: unknown) => error);
    await until(async () => (await (await b.mutex('z')).inspect())?.waiting === 1);
    const aborted = new Promise((resolve) => held.signal.addEventListener('abort', resolve));
    await forget();
    await aborted;
    expect(held.signal.reason).toBeInstanceOf(LeaseLostError);
    expect(held.held).toBe(false);
    expect(await waiting).toBeInstanceOf(LeaseLostError);
    await blocked.unlock();
  });

  test('one that is lost before holdAll listens to its signal ends the wait for the others', async () => {
    const [a, b] = [await join(), await join()];
    const [x, y] = [await a.mutex('x'), await a.mutex('y')];
    const blocked = await (await b.mutex('y')).holdAsync();
    const { holdAsync } = x;
    x.holdAsync = async (options) => {
      const held = await holdAsync.call(x, options);
      held.lose('the test says so');
      return held;
    };
    await expect(a.holdAll([x, y])).rejects.toThrow('"x" is held no more: the test says so');
    await until(async () => (await y.inspect())?.waiting === 0);
    await blocked.unlock();
  });

  test('an error of the user stays what it is, though it is a TimeoutError', async () => {
    const space = await join();
    const x = await space.mutex('x', { robust: true });
    const blocked = await x.holdAsync();
    const reason = new TimeoutError('of the user');
    const controller = new AbortController();
    const waiting = space.holdAll([x], { signal: controller.signal });
    await until(async () => (await x.inspect())?.waiting === 1);
    controller.abort(reason);
    expect(await waiting.catch((error: unknown) => error)).toBe(reason);
    x.onOwnerDied = () => {
      throw reason;
    };
    blocked.base.note = 'd';
    await blocked.unlock();
    expect(await space.holdAll([x]).catch((error: unknown) => error)).toBe(reason);
  });

  test('deaths that nobody was told of go to the next holder', async () => {
    const [a, b] = [await join({ lease: 500 }), await join({ lease: 500 })];
    const [x, y] = [await a.mutex('x', { robust: true }), await a.mutex('y')];
    const dying = await (await b.mutex('x', { robust: true })).holdAsync();
    const blocked = await y.holdAsync();
    dying.base.note = 'd';
    await dying.unlock();
    await expect(a.holdAll([x, y], { timeout: 50 })).rejects.toThrow(TimeoutError);
    const next = await x.holdAsync();
    expect(next.ownerDied).toBe(true);
    await Promise.all([next.unlock(), blocked.unlock()]);
  });

  test('what is wrong is an error, and takes nothing', async () => {
    const [space, other] = [await join(), await join()];
    const [x, pool] = [await space.mutex('x'), await space.semaphore('db', 2)];
    await expect(space.holdAll([x, pool, await space.mutex('x')])).rejects.toThrow(
      'Space.holdAll: objects must be different, got Mutex("x") twice',
    );
    const wrong = 'Space.holdAll: objects must be mutexes, semaphores, [semaphore, permits], read-write locks or';
    for (const objects of [['x'], [x, null], [[x, 2]], [[pool, 1, 1]], [await other.mutex('x')]])
      await expect(space.holdAll(objects as never)).rejects.toThrow(wrong);
    for (const permits of ['read', null])
      await expect(space.holdAll([[pool, permits] as never])).rejects.toThrow('permits of Semaphore("db") must be');
    await expect(space.holdAll('xy' as never)).rejects.toThrow('Space.holdAll: objects must be an array, got "xy"');
    await expect(space.holdAll([x], { timeout: -1 })).rejects.toThrow('Space.holdAll: timeout must be from 0');
    await expect(space.holdAll([x], { permits: 1 } as never)).rejects.toThrow(
      'options must be of { timeout, signal }, got "permits"',
    );
    await expect(space.holdAll([x, [pool, 3]])).rejects.toThrow(
      'Space.holdAll: permits of Semaphore("db") must be an integer from 1 to 2, got 3',
    );
    await until(async () => (await x.inspect())?.free === 1);
    expect((await pool.inspect())?.free).toBe(2);
  });
});
