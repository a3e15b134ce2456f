/** How `inspect` tells for how long a request has held or waited. */
import { expect, test } from 'vitest';
import { onForms } from './forms.js';
import { onServers, until } from './setting.js';

onForms('since', ({ join, known }) => {
  test('inspect tells for how long each holds and waits', async () => {
    const [a, b] = [await join({ lease: 2000 }), await join({ lease: 2000 })];
    const [mine, yours] = [await a.semaphore('db', 2), await b.semaphore('db', 2)];
    const first = await mine.holdAsync();
    const state = async () => (await mine.inspect()) ?? { holders: [], queue: [] };
    await until(async () => Number((await state()).holders[0]?.since) >= 200);
    const second = await yours.holdAsync();
    const waits = [mine.holdAsync()];
    // A server counts from the last beat before the request, and there are ten beats a lease.
    await until(async () => Number((await state()).queue[0]?.since) >= 600);
    waits.push(yours.holdAsync());
    await until(async () => (await state()).queue.length === 2);
    const { holders, queue } = await state();
    const since = new Map(holders.map((each) => [each.proof, each.since]));
    expect(since.get(first.proof)).toBeGreaterThan(since.get(second.proof) as number);
    expect(queue[0]?.since).toBeGreaterThan(queue[1]?.since as number);
    // A request that waited has held since its grant, and not since it was made.
    await first.release();
    const third = await (waits[0] as (typeof waits)[0]);
    const now = await state();
    const granted = now.holders.find(({ proof }) => proof === third.proof);
    expect(granted?.since).toBeLessThanOrEqual(now.queue[0]?.since as number);
    await Promise.all([second.release(), third.release()]);
    await (await waits[1])?.release();
    expect((await known()).requests).toBe(0);
  });
});

onServers('since, on a server', ({ join, another, key }) => {
  /** The requests for which the server has noted since when they hold. */
  const marks = async () => (await another().hkeys(key('meta'))).filter((field) => field.length === 26);

  const beaten = () => another().hget(key('meta'), 'beaten');

  test('a part that goes back, and a connection that is cut, change nothing', async () => {
    const space = await join({ lease: 2000 });
    const pool = await space.semaphore('db', 3);
    const held = await pool.holdAsync(3);
    const since = async () => (await pool.inspect())?.holders[0]?.since ?? 0;
    await until(async () => (await since()) >= 200);
    await held.release(1);
    const before = await since();
    expect(before).toBeGreaterThanOrEqual(200);
    const resumed = new Promise<void>((resolve) => {
      space.on('resumed', resolve);
    });
    await another().call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await resumed;
    // The next beat names the request again.
    for (let beats = 0; beats < 2; beats++) {
      const last = await beaten();
      await until(async () => (await beaten()) !== last);
    }
    expect(await since()).toBeGreaterThanOrEqual(before);
    expect(await marks()).toHaveLength(1);
    await held.release();
    expect(await marks()).toEqual([]);
  });

  test('nothing is left of what is revoked, or of who closes; all see since when a leader leads', async () => {
    const [a, b] = [await join({ lease: 2000 }), await join({ lease: 2000 })];
    const mutex = await a.mutex('m');
    await mutex.holdAsync();
    const leader = await a.leader('x');
    const seen = await b.leader('x');
    await until(async () => Number((await seen.inspect())?.since) >= 200);
    await until(async () => (await marks()).length === 2);
    const [holder] = (await mutex.inspect())?.holders ?? [];
    expect(holder?.since).toBeGreaterThan(0);
    await mutex.revoke(holder?.proof as string);
    await until(async () => (await marks()).length === 1);
    await leader.elected();
    await a.close();
    await seen.elected();
    await b.close();
    expect(await marks()).toEqual([]);
  });
});
