/** What an operator does: look at the objects of a space, and take holds away. */
import { expect, test } from 'vitest';
import { LeaseLostError } from '../src/errors.js';
import { onForms } from './forms.js';
import { onServers, sleep, until } from './setting.js';

onForms('an operator', ({ join, known }) => {
  test('revokes a hold: its holder hears it, the next one has a larger token, and a late release does no harm', async () => {
    const [a, b, operator] = [await join({ label: 'mine' }), await join({ label: 'yours' }), await join()];
    const lost: string[] = [];
    a.on('lost', ({ names, reason }) => lost.push(`${names}: ${reason}`));
    const [mine, yours] = [await a.mutex('m', { robust: true }), await b.mutex('m', { robust: true })];
    const held = await mine.holdAsync();
    const { signal } = held;
    const waiting = yours.holdAsync();
    const looked = await operator.mutex('m', { robust: true });
    await until(async () => (await looked.inspect())?.waiting === 1);
    const { holders = [], queue } = (await looked.inspect()) ?? {};
    expect(holders).toMatchObject([{ label: 'mine', proof: held.proof, token: held.token }]);
    expect(queue).toMatchObject([{ label: 'yours' }]);
    expect(await looked.revoke(holders[0]?.proof as string)).toBe(true);
    const next = await waiting;
    expect(next.token).toBeGreaterThan(held.token);
    expect(next.ownerDied).toBe(true);
    await until(() => signal.aborted);
    expect(signal.reason).toBeInstanceOf(LeaseLostError);
    expect(String(signal.reason)).toContain('"m" is held no more: it was revoked');
    expect(lost).toEqual(['m: it was revoked']);
    expect(held.held).toBe(false);
    await held.unlock();
    expect(next.held).toBe(true);
    expect(await looked.revoke(held.proof)).toBe(false);
    await next.unlock();
    expect(await looked.inspect()).toMatchObject({ free: 1, waiting: 0 });
    await expect(looked.revoke('x')).rejects.toThrow('Mutex.revoke: proof must be the proof of a guard, got "x"');
  });

  test('revokes while the holder gives back, passes a mutex on, or has not heard that it holds', async () => {
    const [a, operator] = [await join(), await join()];
    const [pool, looked] = [await a.semaphore('x', 2), await operator.semaphore('x', 2)];
    for (let round = 0; round < 20; round++) {
      const held = await pool.holdAsync(2);
      const [revoked] = await Promise.all([looked.revoke(held.proof), round % 2 ? held.release() : held.release(1)]);
      await held.release();
      await until(async () => (await pool.inspect())?.free === 2);
      expect(typeof revoked).toBe('boolean');
    }
    // The second and the third holder get the mutex passed on while their requests are in the queue.
    const [mine, watched] = [await a.mutex('m'), await operator.mutex('m')];
    const first = await mine.holdAsync();
    const others = [mine.holdAsync(), mine.holdAsync()];
    await until(async () => (await watched.inspect())?.waiting === 2);
    await first.unlock();
    const second = await others[0];
    await watched.revoke(second?.proof as string);
    await until(() => !second?.held);
    const third = await others[1];
    expect(third?.held).toBe(true);
    await third?.unlock();
    await until(async () => (await watched.inspect())?.free === 1);
    expect((await known()).requests).toBe(0);
  });

  test('lists the objects of all partitions, however many', async () => {
    const space = await join({ partitions: 3 });
    const names = Array.from({ length: 1500 }, (_, i) => `name ${i}`);
    await Promise.all(names.map((name) => space.semaphore(name, 2)));
    const mutex = await space.mutex('m', { bypass: 7, robust: true });
    await space.rwLock('r');
    const held = await mutex.holdAsync();
    const found = [];
    for await (const each of space.objects()) found.push(each);
    expect(found.map(({ name }) => name).sort()).toEqual([...names, 'm', 'r'].sort());
    const settings = { robust: false, ephemeral: false, bypass: 0, waiting: 0 };
    expect(found.find(({ name }) => name === 'm')).toEqual({
      ...{ ...settings, name: 'm', kind: 'mutex', max: 1, robust: true, bypass: 7, free: 0 },
    });
    expect(found.find(({ name }) => name === 'r')).toMatchObject({ kind: 'rwlock' });
    expect(found.find(({ name }) => name === 'name 7')).toEqual({
      ...settings,
      name: 'name 7',
      kind: 'semaphore',
      max: 2,
      free: 2,
    });
    await held.unlock();
    const rest = space.objects();
    await rest.next();
    await space.close();
    await sleep(1);
    await expect(
      (async () => {
        for await (const _ of rest);
      })(),
    ).rejects.toThrow('the space has been closed');
  });
});

onServers('an operator of a server', ({ join, another }) => {
  test('a holder whose message is lost hears of the revocation at the next beat', async () => {
    const [a, operator] = [await join({ lease: 500 }), await join({ lease: 500 })];
    const held = await (await a.semaphore('x', 1)).holdAsync();
    const [session] = ((await (await operator.semaphore('x', 1)).inspect())?.holders ?? []).map((each) => each.session);
    // Without the right to publish, the message of the revocation reaches nobody.
    const client = another();
    const { proof } = held;
    const pause = client.acl('SETUSER', 'default', '-publish', '-spublish');
    await pause;
    expect(await (await operator.semaphore('x', 1)).revoke(proof)).toBe(true);
    await until(() => !held.held);
    await client.acl('SETUSER', 'default', '+@all');
    expect(held.signal.reason).toBeInstanceOf(LeaseLostError);
    expect(session).toBe(proof.split('.')[0]);
  });
});
