import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { freePort, startReplica } from '../servers/servers.js';
import { SpaceError } from '../src/errors.js';
import { Space } from '../src/space/space.js';
import { onServers, until } from './setting.js';

onServers('bad days', (setting) => {
  const { join, key, another } = setting;

  const code = (promise: Promise<unknown>) =>
    promise.then(
      () => 'none',
      (error: SpaceError) => error.code ?? String(error),
    );

  test('no server', async () => {
    const client = new Redis(await freePort(), '127.0.0.1', { lazyConnect: true });
    const error = await Space.connect(client, { connectTimeout: 300 }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(SpaceError);
    expect(error).toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringMatching(/^no server within 300 ms: .*ECONNREFUSED/),
    });
    client.disconnect();
  });

  test('a wrong password, and a user without the rights', async () => {
    const admin = another();
    await admin.acl('SETUSER', 'kim', 'on', '>secret', '~tt:{shop.*', '&tt:{shop.*', '+@all', '-hincrby');
    await admin.acl('SETUSER', 'lee', 'on', '>secret', '~tt:{other.*', '&tt:{shop.*', '+@all');
    await admin.acl('SETUSER', 'max', 'on', '>secret', '~tt:{shop.*', '&tt:{shop.*', '+@all', '-evalsha', '-eval');
    const connect = (username: string, password: string) => {
      const client = new Redis(setting.server.port, '127.0.0.1', { username, password, lazyConnect: true });
      client.on('error', () => {});
      return code(
        Space.connect(client, { space: 'shop', connectTimeout: 1000 }).then((space) => space.close()),
      ).finally(() => client.disconnect());
    };
    expect(await connect('kim', 'wrong')).toBe('WRONGPASS');
    expect(await connect('kim', 'secret')).toBe('NOPERM');
    expect(await connect('lee', 'secret')).toBe('NOPERM');
    expect(await connect('max', 'secret')).toBe('NOPERM');
    await admin.acl('DELUSER', 'kim', 'lee', 'max');
  });

  test('a user with only the rights that the README lists', async () => {
    const admin = another();
    const rights =
      'evalsha eval hello client ping subscribe unsubscribe hget hset hdel hmget hincrby hscan zadd ' +
      'zrem zrangebylex zrangebyscore zcard time info publish';
    await admin.acl(
      'SETUSER',
      'few',
      'on',
      '>secret',
      '~tt:{shop.*',
      '&tt:{shop.*',
      ...rights.split(' ').map((r) => `+${r}`),
    );
    const client = new Redis(setting.server.port, '127.0.0.1', {
      username: 'few',
      password: 'secret',
      lazyConnect: true,
    });
    client.on('error', () => {});
    const space = await Space.connect(client, { space: 'shop', lease: 500 });
    const other = await Space.connect(another(), { space: 'shop', lease: 500 });
    const [mine, yours] = [await space.mutex('m', { robust: true }), await other.mutex('m', { robust: true })];
    const held = await yours.holdAsync();
    const waiting = mine.holdAsync();
    await until(async () => (await yours.inspect())?.waiting === 1);
    await held.unlock();
    await (await waiting).unlock();
    await mine.dispose();
    await space.close();
    await other.close();
    client.disconnect();
    await admin.acl('DELUSER', 'few');
  });

  test('a replica that only reads', async () => {
    const replica = await startReplica(setting.server);
    const client = new Redis(replica.url, { lazyConnect: true });
    client.on('error', () => {});
    const error = await Space.connect(client, { connectTimeout: 500 }).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'UNREACHABLE', message: expect.stringMatching(/READONLY/) });
    client.disconnect();
    await replica.stop();
  });

  test('memory is full: requests are refused, what is held can be given back', async () => {
    const a = await join({ lease: 1000 });
    const mine = await a.semaphore('db', 2);
    const held = await mine.holdAsync(2);
    const admin = another();
    await admin.config('SET', 'maxmemory', '1');
    try {
      let entered = 0;
      a.on('resumed', () => entered++);
      expect(await code(mine.holdAsync())).toBe('OOM');
      expect(await code(a.semaphore('new', 1))).toBe('OOM');
      // This request goes to the server in one call with the release. The server refuses the whole call.
      const refused = code(mine.holdAsync());
      await held.release(1);
      expect(await refused).toBe('OOM');
      await held.release();
      // The process does not enter its session anew. With many waiting requests, this would take long.
      expect(entered).toBe(0);
      expect(held.held).toBe(false);
    } finally {
      await admin.config('SET', 'maxmemory', '0');
    }
    expect(await mine.inspect()).toMatchObject({ free: 2, waiting: 0 });
    await (await mine.holdAsync(2)).release();
  });

  test('a server that evicts keys', async () => {
    const admin = another();
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await code(join())).toBe('EVICTION');
    await admin.config('SET', 'maxmemory-policy', 'volatile-lru');
    await join();
    await admin.config('SET', 'maxmemory-policy', 'noeviction');
  });

  test('a space with other settings, or another version', async () => {
    const a = await join({ lease: 5000 });
    const error = await join({ lease: 6000 }).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'SETTINGS', message: expect.stringContaining('a lease of 5000 ms, and this') });
    expect(await code(join({ lease: 5000, partitions: 2 }))).toBe('SETTINGS');
    await a.close();
    const b = await join({ lease: 6000 });
    await b.close();
    await another().hset(key('meta'), 'v', '99');
    expect(await code(join({ lease: 6000 }))).toBe('SETTINGS');
  });

  test('a key of another program in the way', async () => {
    const client = another();
    await client.set(key('records'), 'mine');
    expect(await code(join())).toBe('WRONGTYPE');
    await client.del(key('records'));
  });

  test('a server that does not persist its data refuses writes for a while', async () => {
    const a = await join({ lease: 2000 });
    const mine = await a.semaphore('db', 1);
    const admin = another();
    await admin.config('SET', 'min-replicas-to-write', '1');
    const waiting = mine.holdAsync();
    await expect(mine.holdAsync(1, { timeout: 50 })).rejects.toThrow('timed out after 50 ms');
    await admin.config('SET', 'min-replicas-to-write', '0');
    await (await waiting).release();
  });

  test('bad arguments are named', async () => {
    const space = await join();
    const semaphore = await space.semaphore('db', 2);
    await expect(semaphore.holdAsync(3)).rejects.toThrow(
      'Semaphore.holdAsync: permits must be an integer from 1 to 2, got 3',
    );
    await expect(semaphore.holdAsync(1.5)).rejects.toThrow(RangeError);
    await expect(semaphore.holdAsync('1' as never)).rejects.toThrow(TypeError);
    await expect(semaphore.holdAsync(1, { timeout: -1 })).rejects.toThrow(
      'Semaphore.holdAsync: timeout must be from 0',
    );
    await expect(semaphore.holdAsync(1, { signal: {} as never })).rejects.toThrow('must be an AbortSignal');
    await expect(semaphore.holdAsync(1, { timeuot: 1 } as never)).rejects.toThrow(
      'options must be of { timeout, signal } (perhaps timeout), got "timeuot"',
    );
    const { signal } = new AbortController();
    const given = ' }, got an object (AbortSignal)';
    await expect(semaphore.holdAsync(signal as never)).rejects.toThrow(
      `Semaphore.holdAsync: options must be of { timeout, signal${given}`,
    );
    await expect(semaphore.runExclusive(() => {}, signal as never)).rejects.toThrow(given);
    await expect(space.mutex('a', signal as never)).rejects.toThrow(given);
    await expect(semaphore.holdAsync([] as never)).rejects.toThrow(
      'options must be of { timeout, signal }, got an array',
    );
    await expect(semaphore.holdAsync(new Map() as never)).rejects.toThrow('got an object (Map)');
    await expect(semaphore.runExclusive(1 as never)).rejects.toThrow('run must be a function, got 1');
    await expect(space.semaphore('', 1)).rejects.toThrow('a string of 1 to 108 bytes of UTF-8 without NUL, got ""');
    await expect(space.semaphore('a\0b', 1)).rejects.toThrow(RangeError);
    await expect(space.semaphore('\ud800', 1)).rejects.toThrow(RangeError);
    await expect(space.semaphore('é'.repeat(55), 1)).rejects.toThrow(RangeError);
    await expect(space.semaphore('a', 0)).rejects.toThrow('Space.semaphore: permits must be an integer from 1');
    await expect(space.mutex('a', { bypass: -1 })).rejects.toThrow('Space.mutex: bypass must be an integer from 0');
    await expect(space.mutex('a', null as never)).rejects.toThrow(
      'options must be of { robust, ephemeral, bypass }, got null',
    );
    await expect(Space.connect({} as never)).rejects.toThrow('Space.connect: client must be a client of');
    await expect(Space.connect(undefined as never)).rejects.toThrow(TypeError);
    await expect(join({ space: 'a}b' })).rejects.toThrow('without braces');
    await expect(join({ lease: 1 })).rejects.toThrow('Space.connect: lease must be an integer from 500');
    for (const event of ['gone', 'constructor', null]) {
      expect(() => space.on(event as never, () => {})).toThrow('Space.on: event must be');
      expect(() => space.off(event as never, () => {})).toThrow('Space.off: event must be');
    }
    for (const heartbeat of ['', './client.mjs', '../client.mjs', null, 1, {}]) {
      await expect(join({ heartbeat } as never)).rejects.toThrow(
        'Space.connect: heartbeat must be the URL or the absolute path of a module, got ',
      );
    }
    for (const clock of [null, 1, {}]) {
      await expect(join({ clock } as never)).rejects.toThrow('connectTimeout, heartbeat, durability }, got "clock"');
      await expect(Space.local({ clock } as never)).rejects.toThrow('directory }, got "clock"');
    }
    for (const repair of [null, 1, 'repair']) {
      expect(() => Object.assign(semaphore, { onOwnerDied: repair })).toThrow(
        'Semaphore.onOwnerDied must be a function or undefined, got ',
      );
    }
    semaphore.onOwnerDied = undefined;
    expect(semaphore.onOwnerDied).toBeUndefined();
    expect(await semaphore.inspect()).toMatchObject({ free: 2, waiting: 0 });
  });
});
