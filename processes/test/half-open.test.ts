/** Connections that are open but carry nothing: a proxy swallows all data without a notice. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { GlideClient } from '@valkey/valkey-glide';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import { createClient } from 'redis';
import { expect, onTestFinished, test } from 'vitest';
import { Space } from '../src/space.js';
import { onServers, until } from './setting.js';

/** A proxy. A call of `swallow` makes its present connections swallow all data. Later connections work. */
async function proxy(port: number) {
  const pairs = new Set<{ kind: 'commands' | 'messages'; swallows: boolean; sockets: Socket[] }>();
  const listener = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    const pair = { kind: 'commands' as 'commands' | 'messages', swallows: false, sockets: [client, server] };
    pairs.add(pair);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('data', (data) => {
        if (/subscribe/i.test(`${data}`)) pair.kind = 'messages';
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
    swallow(kind: 'commands' | 'messages' | 'all') {
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

onServers(
  'half-open',
  (setting) => {
    const clients: [string, (port: number) => unknown][] = [
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

    test.each(clients)('%s: a dead connection for messages is found and replaced', async (_, client) => {
      const between = await proxy(setting.server.port);
      const lease = 2000;
      const space = await Space.connect(await client(between.port), { space: 'messages', lease });
      onTestFinished(() => space.close());
      const resumed = new Promise<void>((heard) => space.on('resumed', heard));
      const lost: unknown[] = [];
      space.on('lost', (event) => lost.push(event));
      const held = await (await space.mutex('m')).holdAsync();
      expect(between.swallow('messages')).toBe(1);
      await resumed;
      // Messages come again: the space hears of its turn before its next beat could tell.
      const theirs = await (await setting.join({ space: 'messages', lease })).mutex('n');
      const other = await theirs.holdAsync();
      const waiting = (await space.mutex('n')).holdAsync();
      await until(async () => (await theirs.inspect())?.waiting === 1);
      await other.unlock();
      await (await waiting).unlock();
      expect(lost).toEqual([]);
      expect(held.held).toBe(true);
    });

    test.each(clients)('%s: a dead connection for commands is replaced before the lease is lost', async (_, client) => {
      const between = await proxy(setting.server.port);
      const space = await Space.connect(await client(between.port), { space: 'commands', lease: 4000 });
      onTestFinished(() => space.close());
      const resumed = new Promise<string>((heard) => space.on('resumed', () => heard('resumed')));
      const lost = new Promise<string>((heard) => space.on('lost', () => heard('lost')));
      const mutex = await space.mutex('m');
      const held = await mutex.holdAsync();
      expect(between.swallow('commands')).toBe(1);
      expect(await Promise.race([resumed, lost])).toBe('resumed');
      expect(held.held).toBe(true);
      expect(await mutex.validate(held.proof)).toBe(true);
    });

    test.each(clients)('%s: the first request after an idle time needs no good luck', async (_, client) => {
      const between = await proxy(setting.server.port);
      const space = await Space.connect(await client(between.port), { space: 'idle', lease: 1000 });
      onTestFinished(() => space.close());
      const mutex = await space.mutex('m');
      await mutex.runExclusive(() => {});
      const theirs = await setting.join({ space: 'idle', lease: 1000 });
      // The session of the space has ended, and its connections are silent.
      await until(async () => (await theirs.inspect()).sessions.length === 1);
      expect(between.swallow('all')).toBe(2);
      expect(await mutex.runExclusive(() => 'runs', { timeout: 6000 })).toBe('runs');
    });
  },
  'first',
);
