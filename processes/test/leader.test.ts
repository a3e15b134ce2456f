/** One process of a space leads. */
import { expect, test } from 'vitest';
import { DisposedError, LeaseLostError, TimeoutError } from '../src/errors.js';
import { Leader } from '../src/objects/leader.js';
import { clock } from '../src/runtime/clock.js';
import { onForms } from './forms.js';
import { onServers, until } from './setting.js';

onForms('leader', ({ join }) => {
  test('one leads, all see who, and close hands over at once with a larger token', async () => {
    const [a, b, c] = [await join({ label: 'one' }), await join({ label: 'two' }), await join()];
    const mine = await a.leader('scheduler');
    const first = await mine.elected();
    expect(await mine.elected()).toBe(first);
    expect(mine.held).toBe(first);
    const yours = await b.leader('scheduler');
    expect(yours.held).toBeUndefined();
    await until(async () => (await mine.inspect())?.waiting === 1);
    expect(await yours.inspect()).toMatchObject({ label: 'one', token: first.token, waiting: 1 });
    const next = yours.elected();
    await mine.close();
    const second = await next;
    expect(second.token).toBeGreaterThan(first.token);
    expect([mine.held, first.held, yours.held]).toEqual([undefined, false, second]);
    // A process that does not stand for election may look, too.
    const seen = await (await c.mutex('scheduler', { bypass: 0 })).inspect();
    expect(seen?.holders).toMatchObject([{ label: 'two', token: second.token }]);
    await expect(mine.elected()).rejects.toThrow(DisposedError);
    await expect(mine.elected()).rejects.toThrow('Leader("scheduler") has been closed');
    await yours.close();
    expect(await yours.inspect()).toBeUndefined();
  });

  test('who waits for its election may give up, and stands on; who resigns stands again when asked', async () => {
    const [a, b] = [await join(), await join()];
    const mine = await a.leader('x');
    const first = await mine.elected({ timeout: 1000 });
    const yours = await b.leader('x');
    const late = yours.elected({ timeout: 20 });
    await expect(late).rejects.toThrow(TimeoutError);
    const controller = new AbortController();
    const waiting = yours.elected({ signal: controller.signal });
    controller.abort('enough');
    await expect(waiting).rejects.toBe('enough');
    await expect(yours.elected({ signal: controller.signal })).rejects.toBe('enough');
    await first.unlock();
    await until(() => yours.held);
    const again = mine.elected();
    await until(async () => (await mine.inspect())?.waiting === 1);
    await yours.held?.unlock();
    expect((await again).token).toBeGreaterThan(first.token);
  });

  test('with an inherited option it is robust', async () => {
    const space = await join();
    await using leader = await space.leader('x', Object.create({ robust: true }));
    await leader.elected();
    expect(await space.mutex('x', { robust: true, bypass: 0 })).toHaveProperty('name', 'x');
  });

  test('a term that is over before it has begun is followed by another without a further call', async () => {
    const space = await join();
    const mutex = await space.mutex('x', { bypass: 0 });
    const { holdAsync } = mutex;
    let terms = 0;
    mutex.holdAsync = async (options) => {
      const held = await holdAsync.call(mutex, options);
      if (terms++ === 0) {
        held.lose('the test says so');
        await mutex.revoke(held.proof);
      }
      return held;
    };
    await using leader = new Leader(mutex, clock);
    await until(() => leader.held);
    expect(terms).toBe(2);
  });

  test('an operator takes the office away, and its process stands again behind those who wait', async () => {
    const [a, b] = [await join(), await join()];
    const mine = await a.leader('x');
    const first = await mine.elected();
    const yours = await b.leader('x');
    await until(async () => (await mine.inspect())?.waiting === 1);
    expect(await (await b.mutex('x', { bypass: 0 })).revoke(first.proof)).toBe(true);
    const second = await yours.elected();
    expect(second.token).toBeGreaterThan(first.token);
    await until(() => first.signal.aborted);
    await until(async () => (await yours.inspect())?.waiting === 1);
    const again = mine.elected();
    await yours.close();
    expect((await again).token).toBeGreaterThan(second.token);
  });

  test('what is closed while it is elected holds nothing, and what is wrong is an error', async () => {
    const space = await join();
    {
      await using leader = await space.leader('x');
      expect(String(leader)).toBe('Leader("x")');
      await expect(leader.elected({ timeout: -1 })).rejects.toThrow('Leader.elected: timeout must be from 0');
      await expect(leader.elected({ every: 1 } as never)).rejects.toThrow(
        'options must be of { timeout, signal }, got "every"',
      );
    }
    const mutex = await space.mutex('x', { bypass: 0 });
    expect(await mutex.inspect()).toMatchObject({ free: 1, waiting: 0 });
    await expect(space.leader('y', { bypass: 1 } as never)).rejects.toThrow(
      'Space.leader: options must be of { robust, ephemeral }, got "bypass"',
    );
    await using robust = await space.leader('y', { robust: true });
    expect((await robust.elected()).ownerDied).toBe(false);
    await expect(space.leader('y')).rejects.toThrow('exists already, as a mutex (bypass 0, robust)');
    await expect(space.leader('')).rejects.toThrow('Space.leader: name must be a string of 1 to 108 bytes');
    await space.semaphore('pool', 1);
    await expect(space.leader('pool')).rejects.toThrow(
      'exists already, as a semaphore (max 1), not a mutex (bypass 0)',
    );
  });
});

onServers('leader on a server', ({ join, another }) => {
  test('when the session of the leader is lost another leads, and the old one stands again', async () => {
    const [a, b] = [await join({ lease: 500 }), await join({ lease: 500 })];
    const mine = await a.leader('x');
    const first = await mine.elected();
    const yours = await b.leader('x');
    const lost = new Promise((resolve) => first.signal.addEventListener('abort', resolve));
    await until(async () => (await mine.inspect())?.waiting === 1);
    // This ends the session on the server, as if the process had been silent for too long.
    const session = (await mine.inspect())?.session as string;
    const channels = (await another().call('PUBSUB', 'CHANNELS')) as string[];
    const channel = channels.find((each) => each.endsWith(session)) as string;
    const key = channel.slice(0, channel.indexOf('}:') + 2);
    await another().zadd(`${key}leases`, '0', session);
    await another().hdel(`${key}sessions`, session);
    await lost;
    expect(first.signal.reason).toBeInstanceOf(LeaseLostError);
    const second = await yours.elected();
    expect(second.token).toBeGreaterThan(first.token);
    await until(async () => (await yours.inspect())?.waiting === 1);
    expect(mine.held).toBeUndefined();
    await yours.close();
    expect((await mine.elected()).token).toBeGreaterThan(second.token);
  });
});
