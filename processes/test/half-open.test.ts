/** Connections that are open but carry nothing: a proxy swallows all data without a notice. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { GlideClient } from '@valkey/valkey-glide';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import postgres from 'postgres';
import { createClient } from 'redis';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../servers/servers.js';
import type { SpaceOptions } from '../src/options.js';
import { keysOf } from '../src/script/wire.js';
import { Space } from '../src/space/space.js';
import { proxy as postgresProxy } from './postgres-proxy.js';
import { onPostgres } from './postgres-setting.js';
import { onServers, until } from './setting.js';

type Kind = 'commands' | 'messages' | 'waits';

/** A proxy. A call of `swallow` makes its present connections swallow all data. Later connections work. */
async function proxy(port: number) {
  let leadsTo = port;
  let [opened, calls] = [0, 0];
  const pairs = new Set<{ kind: Kind; swallows: boolean; sockets: Socket[] }>();
  const listener = createServer((client) => {
    const server = connect(leadsTo, '127.0.0.1');
    const pair = { kind: 'commands' as Kind, swallows: false, sockets: [client, server] };
    pairs.add(pair);
    opened++;
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('data', (data) => {
        if (from === client) calls += `${data}`.split(/\nEVAL(?:SHA)?\r/i).length - 1;
        if (/subscribe/i.test(`${data}`)) pair.kind = 'messages';
        if (/\$4\r\nWAIT\r\n/i.test(`${data}`)) pair.kind = 'waits';
        if (!pair.swallows) to.write(data);
      });
      from.on('error', () => {});
      from.on('close', () => {
        pairs.delete(pair);
        if (!pair.swallows || from === client) to.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  onTestFinished(() => {
    listener.close();
    for (const { sockets } of pairs) for (const socket of sockets) socket.destroy();
  });
  return {
    port: (listener.address() as AddressInfo).port,
    /** How many connections were opened. */
    get opened() {
      return opened;
    },
    /** How many calls of the script were sent. */
    get calls() {
      return calls;
    },
    /** Later connections lead to this server. */
    lead(to: number) {
      leadsTo = to;
    },
    swallow(kind: Kind | 'all') {
      let count = 0;
      for (const pair of pairs) {
        if (kind !== 'all' && pair.kind !== kind) continue;
        pair.swallows = true;
        count++;
      }
      return count;
    },
  };
}

/** A client by its name, and what makes one for a port. */
type Client = readonly [name: string, make: (port: number) => unknown];

interface Ways {
  /** A way to the server whose present connections can fall silent. */
  between(): Promise<{ readonly port: number; swallow(kind: 'commands' | 'messages' | 'all'): number }>;
  join(options: SpaceOptions): Promise<Space>;
}

/** For a busy machine, in milliseconds. */
const connectTimeout = 30_000;

/** What holds for each engine. */
function silences(clients: readonly Client[], { between, join }: Ways): void {
  test.each(clients)('%s: a dead connection for messages is found and replaced', async (_, client) => {
    const way = await between();
    const lease = 2000;
    const space = await Space.connect(await client(way.port), { space: 'messages', lease, connectTimeout });
    onTestFinished(() => space.close());
    const resumed = new Promise<void>((heard) => space.on('resumed', heard));
    const lost: unknown[] = [];
    space.on('lost', (event) => lost.push(event));
    const held = await (await space.mutex('m')).holdAsync();
    expect(way.swallow('messages')).toBe(1);
    await resumed;
    // Messages come again: the space hears of its turn before its next beat could tell.
    const theirs = await (await join({ space: 'messages', lease, connectTimeout })).mutex('n');
    const other = await theirs.holdAsync();
    const waiting = (await space.mutex('n')).holdAsync();
    await until(async () => (await theirs.inspect())?.waiting === 1);
    await other.unlock();
    await (await waiting).unlock();
    expect(lost).toEqual([]);
    expect(held.held).toBe(true);
  });

  test.each(clients)('%s: a dead connection for commands is replaced before the lease is lost', async (_, client) => {
    const way = await between();
    const space = await Space.connect(await client(way.port), { space: 'commands', lease: 4000, connectTimeout });
    onTestFinished(() => space.close());
    const resumed = new Promise<string>((heard) => space.on('resumed', () => heard('resumed')));
    const lost = new Promise<string>((heard) => space.on('lost', () => heard('lost')));
    const mutex = await space.mutex('m');
    const held = await mutex.holdAsync();
    expect(way.swallow('commands')).toBe(1);
    expect(await Promise.race([resumed, lost])).toBe('resumed');
    expect(held.held).toBe(true);
    expect(await mutex.validate(held.proof)).toBe(true);
  });

  test.each(clients)(
    '%s: an idle process replaces silent connections, and a request waits for that',
    async (_, client) => {
      const way = await between();
      const space = await Space.connect(await client(way.port), { space: 'idle', lease: 1000, connectTimeout });
      onTestFinished(() => space.close());
      const mutex = await space.mutex('m');
      await mutex.runExclusive(() => {});
      const resumed = new Promise<void>((heard) => space.on('resumed', heard));
      expect(way.swallow('all')).toBe(2);
      await resumed;
      expect(way.swallow('all')).toBeGreaterThanOrEqual(2);
      expect(await mutex.runExclusive(() => 'runs', { timeout: 6000 })).toBe('runs');
    },
  );
}

onServers(
  'half-open',
  (setting) => {
    const clients: Client[] = [
      ['ioredis 6', (port) => new Redis(port, '127.0.0.1', { lazyConnect: true })],
      ['ioredis 5', (port) => new Redis5(port, '127.0.0.1', { lazyConnect: true })],
      ['node-redis', (port) => createClient({ socket: { host: '127.0.0.1', port } })],
      [
        'GLIDE',
        async (port) => {
          const client = await GlideClient.createClient({
            addresses: [{ host: '127.0.0.1', port }],
            lazyConnect: true,
          });
          onTestFinished(() => client.close());
          return client;
        },
      ],
    ];

    silences(clients, { between: () => proxy(setting.server.port), join: setting.join });

    test.each(clients)('%s: a dead connection to the replicas ends the request, and is replaced', async (_, client) => {
      const between = await proxy(setting.server.port);
      const durability = { replicas: 1, timeout: 50 };
      const space = await Space.connect(await client(between.port), { space: 'waits', durability });
      onTestFinished(() => space.close());
      const mutex = await space.mutex('m');
      const few = '0 of 1 replicas have confirmed the grant';
      await expect(mutex.holdAsync()).rejects.toThrow(few);
      expect(between.swallow('waits')).toBe(1);
      await expect(mutex.holdAsync()).rejects.toMatchObject({
        code: 'UNCONFIRMED',
        message: 'the server does not answer',
      });
      await expect(mutex.holdAsync()).rejects.toThrow(few);
      expect(await mutex.inspect()).toMatchObject({ free: 1, waiting: 0 });
    });

    test.each(clients)('%s: a wait for replicas that the server ends confirms nothing', async (_, client) => {
      const durability = { replicas: 1, timeout: 60_000 };
      const space = await Space.connect(await client(setting.server.port), { space: 'ends', durability });
      onTestFinished(() => space.close());
      const mutex = await space.mutex('m');
      const refused = expect(mutex.holdAsync()).rejects.toMatchObject({ code: 'UNCONFIRMED' });
      const server = setting.another();
      await until(async () => {
        const list = `${await server.client('LIST')}`.split('\n').find((line) => / cmd=wait /.test(line));
        const id = /\bid=(\d+)/.exec(list ?? '')?.[1];
        // As the server does with all who wait when it becomes a replica.
        return id !== undefined && (await server.client('UNBLOCK', id, 'ERROR')) === 1;
      });
      await refused;
      await until(async () => (await mutex.inspect())?.free === 1);
    });

    /** A thread that beats for a session in this space, over the proxy. */
    async function beating(space: string, { port }: { port: number }) {
      // The session is not to be resumed meanwhile, since then it has another `conn`. The thread may beat more often.
      const held = await (await (await setting.join({ space, lease: 60_000 })).mutex('m')).holdAsync();
      process.env.TEST_SERVER = `redis://127.0.0.1:${port}`;
      // The thread loads a built file.
      const { Heartbeat } = (await import(
        '../dist/module/heartbeat.js' as string
      )) as typeof import('../src/heartbeat/heartbeat.js');
      const thread = new Heartbeat(new URL('./heartbeat-client.mjs', import.meta.url).href, 1000, 1);
      onTestFinished(() => thread.stop());
      await thread.ready;
      thread.order({ partition: 0, sid: held.proof.slice(0, 16), conn: 0, ...keysOf(space, 0) });
      return thread;
    }

    test('a thread that beats replaces its dead connection', async () => {
      const between = await proxy(setting.server.port);
      const thread = await beating('thread', between);
      await until(() => thread.lastOf(0) > 0);
      expect(between.swallow('all')).toBeGreaterThanOrEqual(2);
      const dead = performance.now();
      await until(() => thread.lastOf(0) > dead);
    });

    test('a thread that beats sends no more to a server that stands still', async () => {
      const between = await proxy(setting.server.port);
      const thread = await beating('still', between);
      await until(() => thread.lastOf(0) > 0);
      const { opened } = between;
      setting.server.pause();
      let [first, last] = [0, 0];
      try {
        await until(() => between.opened > opened);
        first = between.calls;
        // It goes on asking whether the server answers.
        await until(() => between.opened > opened + 3);
        last = between.calls;
      } finally {
        setting.server.resume();
      }
      expect(first).toBeGreaterThan(0);
      expect(last).toBe(first);
      const resumed = performance.now();
      await until(() => thread.lastOf(0) > resumed);
    });

    test('a thread that beats leaves a server that does not have the session', async () => {
      const other = await startServer();
      onTestFinished(() => other.kill());
      const between = await proxy(other.port);
      const thread = await beating('astray', between);
      // This server answers each beat.
      await until(async () => /cmdstat_eval/.test(`${await other.send('INFO', 'commandstats')}`));
      between.lead(setting.server.port);
      await until(() => thread.lastOf(0) > 0);
    });
  },
  'first',
);

onPostgres(
  'half-open',
  (setting) => {
    const url = (port: number): string => `postgres://postgres@127.0.0.1:${port}/postgres`;
    const clients: Client[] = [
      ['pg', (port) => setting.another({ connectionString: url(port) })],
      ['postgres', (port) => postgres(url(port), { max: 1 })],
    ];
    const kinds = { commands: /turn_1/, messages: /^listen/, all: /./ };
    silences(clients, {
      async between() {
        const way = await postgresProxy(setting.server.port);
        return { port: way.port, swallow: (kind) => way.swallow(kinds[kind]) };
      },
      join: setting.join,
    });
  },
  'in CI',
);
