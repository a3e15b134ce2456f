/** A semaphore gets another number of permits while processes hold and wait. */
import { expect, test } from 'vitest';
import { DisposedError } from '../src/errors.js';
import { onForms } from './forms.js';
import { noting, onServers, until } from './setting.js';

onForms('resize', ({ join }) => {
  test('with more permits those who wait are served at once, and others hear of the number', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [await a.semaphore('db', 1), await b.semaphore('db', 1)];
    const held = await mine.holdAsync();
    const order: string[] = [];
    const waits = [yours.holdAsync().then(noting(order, 'one')), yours.holdAsync().then(noting(order, 'two'))];
    const last = yours.holdAsync();
    await until(async () => (await mine.inspect())?.waiting === 3);
    await mine.resize(3);
    const guards = await Promise.all(waits);
    expect(order).toEqual(['one', 'two']);
    expect([mine.max, yours.max]).toEqual([3, 3]);
    expect(await mine.inspect()).toMatchObject({ max: 3, free: 0, waiting: 1 });
    await held.release();
    for (const guard of [...guards, await last]) await guard.release();
    await (await yours.holdAsync(3)).release();
    expect(await mine.inspect()).toMatchObject({ max: 3, free: 3 });
  });

  test('with fewer permits who holds goes on, and nobody is admitted until there is room', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [await a.semaphore('db', 4), await b.semaphore('db', 4)];
    const guards = [await mine.holdAsync(2), await yours.holdAsync(), await yours.holdAsync()];
    await mine.resize(2);
    expect(guards.map(({ held }) => held)).toEqual([true, true, true]);
    expect(await yours.inspect()).toMatchObject({ max: 2, free: -2 });
    const waiting = yours.holdAsync();
    await until(async () => (await mine.inspect())?.waiting === 1);
    await guards[0]?.release();
    expect(await yours.tryHold()).toBeUndefined();
    expect(await yours.inspect()).toMatchObject({ free: 0, waiting: 1 });
    await guards[1]?.release();
    await (await waiting).release();
    await guards[2]?.release();
    expect(await mine.inspect()).toMatchObject({ max: 2, free: 2, holders: [] });
  });

  test('who asks for more than there are hears so, and holds nobody up', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [await a.semaphore('db', 4), await b.semaphore('db', 4)];
    const held = await mine.holdAsync();
    const heavy = yours.holdAsync(4).catch((error: unknown) => error);
    await until(async () => (await mine.inspect())?.waiting === 1);
    const light = mine.holdAsync();
    await until(async () => (await mine.inspect())?.waiting === 2);
    await mine.resize(2);
    expect(String(await heavy)).toBe('RangeError: "db" has 2 permits, and 4 are asked for');
    await (await light).release();
    // A process that comes later has not heard of the new number. The server tells it.
    const c = await (await join()).semaphore('db', 4);
    expect(c.max).toBe(2);
    await mine.resize(4);
    await expect(c.holdAsync(5)).rejects.toThrow('permits must be an integer from 1 to 4, got 5');
    await mine.resize(1);
    await expect(c.holdAsync(3)).rejects.toThrow('"db" has 1 permits, and 3 are asked for');
    await mine.resize(3);
    await held.release();
    await (await yours.tryHold(3))?.release();
    expect(await mine.inspect()).toMatchObject({ max: 3, free: 3, waiting: 0 });
  });

  test('a rolling release opens it with the old number and the new one', async () => {
    const [a, b] = [await join(), await join()];
    const old = await a.semaphore('db', 4);
    await expect(b.semaphore('db', 8)).rejects.toThrow('exists already, as a semaphore (max 4)');
    await old.resize(8);
    const next = await b.semaphore('db', 8);
    expect((await b.semaphore('db', 4)).max).toBe(8);
    await expect(b.semaphore('db', 8, { robust: true })).rejects.toThrow(RangeError);
    await expect(b.mutex('db')).rejects.toThrow('exists already, as a semaphore (max 8)');
    await (await old.holdAsync(8)).release();
    await (await next.holdAsync(8)).release();
  });

  test('requests of one process are made in the order of its calls', async () => {
    const pool = await (await join()).semaphore('db', 1);
    const [tried, waiting] = [pool.tryHold(), pool.holdAsync()];
    const held = await tried;
    expect(held?.held).toBe(true);
    await held?.release();
    await (await waiting).release();
  });

  test('a process ends whose next request is turned away as it gives back', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [await a.semaphore('db', 4), await b.semaphore('db', 4)];
    await mine.holdAsync(3);
    const next = yours.holdAsync(2);
    await until(async () => (await yours.inspect())?.waiting === 1);
    const heavy = mine.holdAsync(4).catch((error: unknown) => error);
    await until(async () => (await yours.inspect())?.waiting === 2);
    await yours.resize(2);
    expect((await yours.inspect())?.waiting).toBe(2);
    await a.close();
    await heavy;
    await (await next).release();
    expect(await yours.inspect()).toMatchObject({ max: 2, free: 2, waiting: 0, holders: [], queue: [] });
    expect((await b.inspect()).sessions).toHaveLength(1);
  });

  test('an ephemeral one may be idle meanwhile', async () => {
    const space = await join();
    const pool = await space.semaphore('db', 1, { ephemeral: true });
    await pool.resize(2);
    const held = await pool.holdAsync(2);
    expect(await pool.inspect()).toMatchObject({ max: 2, free: 0 });
    await held.release();
    expect(await pool.inspect()).toBeUndefined();
  });

  test('what is wrong is an error, and changes nothing', async () => {
    const pool = await (await join()).semaphore('db', 2);
    await expect(pool.resize(0)).rejects.toThrow('Semaphore.resize: permits must be an integer from 1 to 2147483647');
    await expect(pool.resize('3' as never)).rejects.toThrow(TypeError);
    expect(await pool.inspect()).toMatchObject({ max: 2, free: 2 });
    await pool.dispose();
    await expect(pool.resize(3)).rejects.toThrow(DisposedError);
  });
});

onServers('resize on a server', ({ join, another, key, end }) => {
  test('a server that has lost the semaphore hears of the new number from a process that knows it', async () => {
    const a = await join({ lease: 500 });
    const next = await a.semaphore('db', 4);
    await next.resize(8);
    const client = another();
    const [before] = (await a.inspect()).sessions;
    await client.hdel(key('objects'), 'db');
    const late = await (await join({ lease: 500 })).semaphore('db', 4);
    // In its old session the first process would take the semaphore that the second one has made for another one, which
    // was made after a `dispose`.
    await end(before?.session ?? '');
    expect((await a.inspect()).sessions).not.toContainEqual(before);
    await (await next.holdAsync(8)).release();
    expect(await late.inspect()).toMatchObject({ max: 8, free: 8 });
    await (await late.holdAsync(8)).release();
  });
});
