import { Worker } from 'node:worker_threads';
import { expect, test, vi } from 'vitest';
import { VirtualClock } from '../check/simulation.js';
import { startReplica } from '../servers/servers.js';
import { LeaseLostError, TimeoutError } from '../src/errors.js';
import { type BeatOrder, Heartbeat } from '../src/heartbeat/heartbeat.js';
import type { SpaceOptions } from '../src/options.js';
import { Calls } from '../src/session/calls.js';
import { tellFailover } from '../src/session/failover.js';
import { Lease } from '../src/session/lease.js';
import type { Space } from '../src/space/space.js';
import { onForms } from './forms.js';
import { busy, onServers, sleep, until } from './setting.js';

/** Joins by the built package. Tests with a heartbeat thread need this, since that thread loads a built file. */
async function joinBuilt(client: unknown, options: SpaceOptions) {
  const { Space } = (await import('../dist/module/index.js' as string)) as typeof import('../src/index.js');
  return Space.connect(client, options);
}

/** Two processes take and give back the permits of a semaphore, and meanwhile `disturb` is called 40 times. */
async function load(spaces: readonly [Space, Space], disturb: (i: number) => Promise<unknown>): Promise<void> {
  let inside = 0;
  let most = 0;
  let over = false;
  const tasks = spaces.flatMap((space) =>
    Array.from({ length: 6 }, async (_, i) => {
      const semaphore = await space.semaphore('db', 3);
      const permits = 1 + (i % 3);
      while (!over) {
        const held = await semaphore.holdAsync(permits, { timeout: i === 5 ? 3 : 10_000 }).catch((error: unknown) => {
          expect(error).toBeInstanceOf(TimeoutError);
        });
        if (!held) continue;
        inside += permits;
        most = Math.max(most, inside);
        await sleep(1);
        inside -= permits;
        if (i % 2) await held.release();
        else void held.release();
      }
    }),
  );
  for (let i = 0; i < 40; i++) {
    await disturb(i);
    await sleep(25);
  }
  over = true;
  await Promise.all(tasks);
  expect(most).toBeLessThanOrEqual(3);
  const semaphore = await spaces[0].semaphore('db', 3);
  await until(async () => (await semaphore.inspect())?.free === 3);
}

onForms('session', ({ join, cut, forget, known }) => {
  test('waiters keep their place when connections are cut', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [await a.semaphore('db', 1), await b.semaphore('db', 1)];
    const held = await mine.holdAsync();
    const order: number[] = [];
    const waits: Promise<unknown>[] = [];
    for (let i = 0; i < 6; i++) {
      const wait = (i % 2 ? mine : yours).holdAsync();
      waits.push(
        wait.then((guard) => {
          order.push(i);
          return guard.release();
        }),
      );
      await until(async () => (await mine.inspect())?.waiting === i + 1);
    }
    await cut();
    expect(held.held).toBe(true);
    await held.release();
    await Promise.all(waits);
    expect(order).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await mine.inspect()).toMatchObject({ free: 1, waiting: 0 });
  });

  test('all that was in flight is settled when connections are cut under load', async () => {
    await load([await join(), await join()], cut);
    expect((await known()).requests).toBe(0);
  });

  test('after all data is lost, who waits is served, who held knows, and tokens rise on', async () => {
    const a = await join({ lease: 500 });
    const mine = await a.semaphore('db', 1);
    const held = await mine.holdAsync();
    const waiting = mine.holdAsync();
    await until(async () => (await mine.inspect())?.waiting === 1);
    await forget();
    const guard = await waiting;
    expect(held.held).toBe(false);
    expect(guard.token).toBeGreaterThan(held.token);
    await guard.release();
  });

  test('close gives everything back at once', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [await a.semaphore('db', 1), await b.semaphore('db', 1)];
    const held = await mine.holdAsync();
    const mineToo = mine.holdAsync();
    const waiting = yours.holdAsync();
    await until(async () => (await yours.inspect())?.waiting === 2);
    await Promise.all([a.close(), expect(mineToo).rejects.toThrow('the space has been closed')]);
    await (await waiting).release();
    expect(held.held).toBe(false);
    await held.release();
    await expect(mine.holdAsync()).rejects.toThrow('the space has been closed');
    await expect(a.semaphore('x', 1)).rejects.toThrow('the space has been closed');
    expect((await b.inspect()).sessions.length).toBe(1);
  });
});

onServers('session with a server', (setting) => {
  const { join, key, another } = setting;

  test('a grant is found whose message was lost', async () => {
    const [a, b] = [await join({ lease: 1000 }), await join({ lease: 1000 })];
    const [mine, yours] = [await a.semaphore('db', 1), await b.semaphore('db', 1)];
    const held = await mine.holdAsync();
    const waiting = yours.holdAsync();
    await until(async () => (await mine.inspect())?.waiting === 1);
    const client = another();
    await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await held.release();
    await (await waiting).release();
  });

  test('all that was in flight is settled when single connections are cut under load, and scripts forgotten', async () => {
    const client = another();
    await load([await join({ lease: 2000 }), await join({ lease: 2000 })], async (i) => {
      await client.call('CLIENT', 'KILL', 'TYPE', i % 2 ? 'pubsub' : 'normal', 'SKIPME', 'yes');
      if (i % 4 === 0) await client.script('FLUSH');
    });
    expect(await client.zcard(key('records'))).toBe(0);
    expect(await client.zcard(key('queue'))).toBe(0);
  });

  test('who cannot reach the server for 0.85 of the lease knows that it holds no more; who waits goes on', async () => {
    const a = await join({ lease: 500 });
    const lost: string[][] = [];
    a.on('lost', ({ names }) => lost.push([...names]));
    const mine = await a.semaphore('db', 1);
    const held = await mine.holdAsync();
    const { signal } = held;
    const waiting = mine.holdAsync();
    setting.server.pause();
    await until(() => signal.aborted);
    setting.server.resume();
    expect(signal.reason).toBeInstanceOf(LeaseLostError);
    expect(held.held).toBe(false);
    await held.release();
    await sleep(0);
    expect(lost).toEqual([['db']]);
    await (await waiting).release();
    expect(await mine.inspect()).toMatchObject({ free: 1, waiting: 0 });
  });

  test('a process that was stopped for long sees that at its next look', async () => {
    const a = await join({ lease: 500 });
    const mine = await a.semaphore('db', 1);
    const held = await mine.holdAsync();
    // The event loop is busy, so no timer fires and no answer is read.
    busy(450);
    expect(held.held).toBe(false);
    expect(held.signal.aborted).toBe(true);
    const running = mine.runExclusive(() => {
      busy(450);
    });
    await expect(running).rejects.toBeInstanceOf(LeaseLostError);
    await (await mine.holdAsync()).release();
    expect(await mine.inspect()).toMatchObject({ free: 1, waiting: 0 });
  });

  test('what a dead process held goes to the next one, and its requests leave the queue', async () => {
    const [a, b] = [await join({ lease: 500 }), await join({ lease: 500 })];
    const [mine, yours] = [await a.semaphore('db', 2), await b.semaphore('db', 2)];
    const client = another();
    const held = await mine.holdAsync(2);
    const behind = mine.holdAsync(2);
    behind.catch(() => {});
    const waiting = yours.holdAsync(2);
    await until(async () => (await yours.inspect())?.waiting === 2);
    const stopped = setInterval(() => void client.zadd(key('leases'), 'XX', -1, held.proof.slice(0, 16)), 5);
    const guard = await waiting;
    clearInterval(stopped);
    expect(guard.token).toBeGreaterThan(held.token);
    await guard.release();
    await (await behind).release();
    expect(await yours.inspect()).toMatchObject({ free: 2, waiting: 0 });
  });

  test('a restart without data is a failover: tokens leap', async () => {
    const a = await join({ lease: 1000 });
    const events: string[] = [];
    for (const event of ['failover', 'resumed'] as const) a.on(event, () => events.push(event));
    const mine = await a.semaphore('db', 1);
    const held = await mine.holdAsync();
    const waiting = mine.holdAsync();
    await until(async () => (await mine.inspect())?.waiting === 1);
    await setting.server.restart({ keepData: false, kill: true });
    const guard = await waiting;
    expect(guard.token - held.token).toBeGreaterThan(4096n);
    expect(held.held).toBe(false);
    await guard.release();
  });

  test('an idle process keeps its session, and enters again if the server has lost it', async () => {
    const a = await join({ lease: 500 });
    const mine = await a.semaphore('db', 1);
    const client = another();
    const sign = () => client.zrange(key('leases'), '0', '0', 'WITHSCORES');
    const [first, ticket] = await sign();
    // So many signs come in more than one lease.
    for (let beats = 0, last = ticket; beats < 6; beats++) {
      await until(async () => (await sign())[1] !== last);
      [, last] = await sign();
    }
    expect((await sign())[0]).toBe(first);
    await client.flushdb();
    await until(async () => (await client.zcard(key('leases'))) === 1);
    expect((await sign())[0]).not.toBe(first);
    await (await mine.holdAsync()).release();
  });

  test('tokens rise over the loss of all data though the clock was set back, for all whom a process has told', async () => {
    const client = another();
    const a = await join({ lease: 1000 });
    const mutex = await a.mutex('m');
    // The first tickets come from the clock. This is as if the clock had been days ahead then.
    await client.hincrby(key('meta'), 'ticket', 2 ** 39);
    const first = await mutex.holdAsync();
    await client.del(['meta', 'objects', 'queue', 'records', 'sessions', 'leases', 'seqs'].map(key));
    await until(() => !first.held);
    const second = await mutex.holdAsync();
    expect(second.token).toBeGreaterThan(first.token);
    await second.unlock();
    const b = await join({ lease: 1000 });
    const third = await (await b.mutex('m')).holdAsync();
    expect(third.token).toBeGreaterThan(second.token);
    await third.unlock();
  });

  test('a process that beats from a thread computes for longer than a lease and loses nothing', async () => {
    process.env.TEST_SERVER = setting.server.url;
    const heartbeat = new URL('./heartbeat-client.mjs', import.meta.url);
    const a = await joinBuilt(another(), { space: 'beats', lease: 500, heartbeat, connectTimeout: 30_000 });
    const b = await join({ space: 'beats', lease: 500 });
    const mine = await a.mutex('m');
    const held = await mine.holdAsync();
    const waiting = (await b.mutex('m')).holdAsync();
    await sleep(300);
    busy(1500);
    expect(held.held).toBe(true);
    await held.unlock();
    await (await waiting).unlock();
    await a.close();
    await expect(joinBuilt(another(), { space: 'beats', heartbeat: 'file:///no/such/module.mjs' })).rejects.toThrow();
  });

  test('with durability a grant counts once replicas have it', async () => {
    const hasty = await join({ durability: { replicas: 1, timeout: 50 } });
    await expect((await hasty.semaphore('db', 1)).holdAsync()).rejects.toThrow(
      '0 of 1 replicas have confirmed the grant',
    );
    const replica = await startReplica(setting.server);
    await until(async () => /connected_slaves:1[\s\S]*state=online/.test(await another().info('replication')));
    const patient = await join({ durability: { replicas: 1, timeout: 20_000 } });
    const mine = await patient.semaphore('db', 1);
    const held = await mine.holdAsync();
    expect(held.held).toBe(true);
    await held.release();
    await replica.stop();
    expect(await mine.inspect()).toMatchObject({ free: 1, waiting: 0 });
  });

  test('a space that is closed waits for no replicas', async () => {
    const a = await join({ durability: { replicas: 1, timeout: 60_000 } });
    const client = another();
    const closed = expect((await a.mutex('m')).holdAsync()).rejects.toThrow('the space has been closed');
    await until(async () => /cmd=wait/i.test(`${await client.call('CLIENT', 'LIST')}`));
    await a.close();
    await closed;
  });
});

test('an operation that is over has no timer, though the process had to watch before its session was opened', async () => {
  const clock = new VirtualClock();
  const around = { clock, connectTimeout: 10, keepAlive() {}, unanswered: () => new Error('late') };
  const runner = { sid: '', isOpen: false, enter() {}, around, lease: { watchesUntil: Infinity } };
  const calls = new Calls(runner as never);
  const answer = calls.operate(['J']);
  clock.time += 10;
  clock.fire();
  expect(clock.timers.size).toBe(1);
  calls.fail(new Error('closed'), () => {});
  await expect(answer).rejects.toThrow('closed');
  expect(clock.timers.size).toBe(0);
});

test('a session that opens has room for however many calls have come before', () => {
  const calls = new Calls({ isOpen: false } as never);
  for (let i = 0; i < 200_000; i++) calls.send(['J'], () => {});
  calls.sendFirst(() => calls.send(['S'], () => {}));
  expect(calls.areNeeded).toBe(true);
});

test('calls whose time has passed together are dropped together', async () => {
  const clock = new VirtualClock();
  const around = { clock, connectTimeout: 10, keepAlive() {}, unanswered: () => new Error('late') };
  const calls = new Calls({ sid: 'p', isOpen: false, enter() {}, around } as never);
  const answers = Array.from({ length: 1000 }, () => calls.operate(['J']));
  const filter = vi.spyOn(Array.prototype, 'filter');
  try {
    clock.time += 10;
    while (clock.timers.size > 0) clock.fire();
    for (const { status } of await Promise.allSettled(answers)) expect(status).toBe('rejected');
    await until(() => !calls.areNeeded);
    expect((filter.mock.contexts as unknown[][]).reduce((sum, { length }) => sum + length, 0)).toBeLessThan(10_000);
  } finally {
    filter.mockRestore();
  }
});

test('a failover is told though INFO fails a thousand times before, and no promise waits for each of these', async () => {
  let asked = 0;
  const around = {
    driver: {
      cluster: true,
      info: async () => {
        if (++asked <= 1000) throw new Error('moved');
        return new Map();
      },
    },
    clock: { after: (_: number, run: () => void) => run() },
    whenConnected: async () => {},
    emit: vi.fn(),
  };
  const told = tellFailover(around as never, 'key', '1.a', 0, () => false);
  while (asked <= 1000) await Promise.resolve();
  // A promise that waits for a promise takes turns of its own.
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  expect(around.emit.mock.calls).toEqual([['failover']]);
  await told;
});

test('the thread that beats hears the real time under fake timers', async () => {
  const orders: BeatOrder[] = [];
  const posted = vi.spyOn(Worker.prototype, 'postMessage').mockImplementation((order) => void orders.push(order));
  const before = performance.now();
  vi.useFakeTimers({ toFake: ['performance'] });
  const heartbeat = new Heartbeat('data:text/javascript,', 500, 1);
  try {
    vi.advanceTimersByTime(1e9);
    heartbeat.order({ partition: 0, sid: '1', conn: 0, keys: [], channel: 'c' });
  } finally {
    vi.useRealTimers();
    posted.mockRestore();
    await heartbeat.stop();
  }
  const [{ at }] = orders as [BeatOrder];
  expect(at).toBeGreaterThanOrEqual(before);
  expect(at).toBeLessThanOrEqual(performance.now());
});

test('an answer to an earlier call does not shorten the lease', () => {
  const clock = new VirtualClock();
  const lease = new Lease({ clock, lease: 1000, driver: { knowsDeaths: false } } as never, 0, () => {});
  lease.renew(100);
  const { deadline } = lease;
  lease.renew(50);
  expect(lease.deadline).toBe(deadline);
});
