/** Clients that give up, because their retry strategy says so, or because their user has closed them. */
import { GlideClient } from '@valkey/valkey-glide';
import { Cluster as Cluster6, Redis as Redis6 } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis-5';
import { Redis as RedisV } from 'iovalkey';
import { createClient, createCluster } from 'redis';
import { createClient as createClient5, createCluster as createCluster5 } from 'redis-5';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startCluster, startServer } from '../servers/servers.js';
import { slotOf } from '../src/drivers/connections.js';
import { Space } from '../src/space/space.js';
import { onEachServer } from './each-server.js';
import { until } from './setting.js';

const HOST = '127.0.0.1';
const quiet = <T extends { on(event: 'error', listener: () => void): unknown }>(client: T): T => {
  client.on('error', () => {});
  return client;
};

/** Clients whose strategies give up after at most two more attempts, in the form that each library has for this. */
const GIVING_UP: Record<string, (port: number) => unknown> = {
  'ioredis 6': (port) => new Redis6({ port, host: HOST, lazyConnect: true, retryStrategy: (n) => (n > 2 ? null : 5) }),
  'ioredis 5': (port) => new Redis5({ port, host: HOST, lazyConnect: true, retryStrategy: (n) => (n > 2 ? null : 5) }),
  iovalkey: (port) => new RedisV({ port, host: HOST, lazyConnect: true, retryStrategy: (n) => (n > 2 ? null : 5) }),
  'node-redis 6': (port) =>
    createClient({ socket: { port, host: HOST, reconnectStrategy: (n) => (n > 2 ? new Error('enough') : 5) } }),
  'node-redis 5': (port) => createClient5({ socket: { port, host: HOST, reconnectStrategy: false } }),
};

const CLUSTERS: Record<string, (port: number) => unknown> = {
  'ioredis 6': (port) => new Cluster6([{ port, host: HOST }], { lazyConnect: true, clusterRetryStrategy: () => null }),
  'ioredis 5': (port) => new Cluster5([{ port, host: HOST }], { lazyConnect: true, clusterRetryStrategy: () => null }),
  'node-redis 6': (port) =>
    createCluster({
      rootNodes: [{ socket: { port, host: HOST } }],
      defaults: { socket: { reconnectStrategy: () => new Error('enough') } },
    }),
  'node-redis 5': (port) =>
    createCluster5({
      rootNodes: [{ socket: { port, host: HOST } }],
      defaults: { socket: { reconnectStrategy: false } },
    }),
};

/** What a call says: the code of its error, or nothing. */
const code = (promise: Promise<unknown>) =>
  promise.then(
    () => 'nothing',
    (error) => error.code ?? error.name,
  );

/** Every request that waits or holds when the client gives up is told. Later calls try to connect again. */
async function givesUp(client: unknown, disturb: () => Promise<() => Promise<void>>): Promise<void> {
  const space = await Space.connect(client, { lease: 600_000 });
  onTestFinished(() => space.close());
  const events: string[] = [];
  space.on('error', (error) => events.push(`error: ${(error as Error).message}`));
  space.on('lost', ({ names }) => events.push(`lost: ${names}`));
  const mutex = await space.mutex('m');
  const held = await mutex.holdAsync();
  const waiting = code(mutex.holdAsync());
  await until(async () => (await mutex.inspect())?.waiting === 1);
  const repair = await disturb();
  expect(await waiting).toBe('UNREACHABLE');
  await held.unlock();
  expect(held.signal.reason).toMatchObject({ name: 'LeaseLostError', message: expect.stringMatching(/given up/) });
  await until(() => events.length >= 2);
  expect(events[0]).toMatch(/^error: the client's strategy has given up to connect: ./);
  expect(events[1]).toBe('lost: m');
  await repair();
  // The new server has no data of the earlier one, or it still has the earlier session, whose lease is long.
  const other = await space.mutex('other');
  expect(await other.runExclusive(() => 'runs')).toBe('runs');
}

/** Classes whose default strategy waits longer and longer. */
const STANDARD = { 'ioredis 6': Redis6, 'ioredis 5': Redis5, iovalkey: RedisV } as unknown as Record<
  string,
  typeof Redis6
>;

onEachServer((binary) => {
  test.each(Object.entries(STANDARD))(
    '%s: nobody has chosen the default strategy, so it is not asked',
    async (_, Class) => {
      const { defaultOptions } = Class as unknown as { defaultOptions: { retryStrategy(times: number): number } };
      const asked = vi.spyOn(defaultOptions, 'retryStrategy');
      onTestFinished(() => asked.mockRestore());
      const server = await startServer({ server: binary });
      onTestFinished(() => server.kill());
      const space = await Space.connect(quiet(new Class(server.port, HOST, { lazyConnect: true })));
      onTestFinished(() => space.close());
      const mutex = await space.mutex('m');
      const refused = new Promise<void>((heard) => {
        space.on('trouble', ({ message }) => message.includes('ECONNREFUSED') && heard());
      });
      await server.kill();
      await refused;
      const again = await startServer({ server: binary, port: server.port });
      onTestFinished(() => again.kill());
      await mutex.runExclusive(() => {});
      expect(asked).not.toHaveBeenCalled();
    },
  );
}, 'first');

onEachServer((binary) => {
  test.each(Object.keys(GIVING_UP))('%s: a strategy that gives up', async (name) => {
    const server = await startServer({ server: binary });
    const { port } = server;
    onTestFinished(() => server.kill());
    const client = GIVING_UP[name]?.(port) as never;
    await givesUp(quiet(client), async () => {
      await server.kill();
      return async () => {
        const again = await startServer({ server: binary, port });
        onTestFinished(() => again.kill());
      };
    });
  });

  test.each(Object.keys(GIVING_UP))('%s: calls while there is no server reject, and so does connect', async (name) => {
    const server = await startServer({ server: binary });
    onTestFinished(() => server.kill());
    const client = () => quiet(GIVING_UP[name]?.(server.port) as never);
    const space = await Space.connect(client());
    onTestFinished(() => space.close());
    const mutex = await space.mutex('m');
    const gone = new Promise((heard) => space.on('error', heard));
    await server.kill();
    await gone;
    const calls = [
      ...[
        mutex.holdAsync(),
        mutex.tryHold(),
        mutex.inspect(),
        mutex.validate('p000000000000000.0000000000.00000000000000'),
      ],
      ...[mutex.cancelAll(), space.mutex('n'), space.inspect(), mutex.runExclusive(() => {}), Space.connect(client())],
    ];
    expect(await Promise.all(calls.map(code))).toEqual(calls.map(() => 'UNREACHABLE'));
  });
}, 'all');

onEachServer((binary) => {
  test.each(Object.keys(CLUSTERS))('%s: a strategy of a cluster that gives up', async (name) => {
    const cluster = await startCluster(3, 0, { server: binary });
    onTestFinished(() => cluster.stop());
    const node = cluster.nodes[await cluster.ownerOf(slotOf('{default.0}'))];
    const client = CLUSTERS[name]?.(node?.port as number) as never;
    // The client gives up at the first loss of its connection.
    await givesUp(quiet(client), async () => {
      await node?.restart({ kill: true });
      return async () => {
        await until(async () => `${await node?.send('CLUSTER', 'INFO')}`.includes('cluster_state:ok'));
      };
    });
  });

  test('ioredis 6: a cluster whose nodes do not tell their addresses', async () => {
    const cluster = await startCluster(1, 0, { server: binary });
    onTestFinished(() => cluster.stop());
    const client = quiet(CLUSTERS['ioredis 6']?.(cluster.nodes[0]?.port as number) as never);
    await expect(Space.connect(client)).rejects.toThrow('no node of the cluster is known');
  });

  /** Clients that the users close. Some have options for commands that would disturb the space. */
  const CLOSED: Record<string, (port: number) => Promise<{ client: unknown; close(): unknown }>> = {
    async 'ioredis 6, quit'(port) {
      const client = new Redis6({
        port,
        host: HOST,
        maxRetriesPerRequest: 0,
        commandTimeout: 1,
        enableOfflineQueue: false,
      });
      await new Promise((ready) => quiet(client).once('ready', ready));
      return { client, close: () => client.quit() };
    },
    async 'ioredis 5, disconnect'(port) {
      const client = quiet(new Redis5({ port, host: HOST, maxRetriesPerRequest: 0, autoResubscribe: true }));
      return { client, close: () => client.disconnect() };
    },
    async 'iovalkey, quit'(port) {
      const client = quiet(new RedisV({ port, host: HOST }));
      return { client, close: () => client.quit() };
    },
    async 'node-redis 6, close'(port) {
      const client = createClient({ socket: { port, host: HOST, socketTimeout: 200 }, disableOfflineQueue: true });
      await quiet(client).connect();
      return { client, close: () => client.close() };
    },
    async 'node-redis 5, destroy'(port) {
      const client = createClient5({ socket: { port, host: HOST }, commandsQueueMaxLength: 1 });
      await quiet(client).connect();
      return { client, close: () => client.destroy() };
    },
    async 'GLIDE, close'(port) {
      const client = await GlideClient.createClient({ addresses: [{ host: HOST, port }], requestTimeout: 50 });
      return { client, close: () => client.close() };
    },
  };

  test.each(Object.keys(CLOSED))('%s: a client that its user has closed is of use to the space', async (name) => {
    const server = await startServer({ server: binary });
    onTestFinished(() => server.kill());
    const { client, close } = await (CLOSED[name] as (typeof CLOSED)[string])(server.port);
    const space = await Space.connect(client);
    onTestFinished(() => space.close());
    // The client's own options may end the client first.
    await (async () => close())().catch(() => {});
    const mutex = await space.mutex('m');
    const held = await mutex.holdAsync();
    const waiting = Promise.all(Array.from({ length: 20 }, () => mutex.holdAsync().then((next) => next.unlock())));
    await server.restart({ kill: true });
    await until(async () => held.signal.aborted);
    await waiting;
  });
}, 'first');
