/** What docs/operations.md says of rights: a user with only these rights can do everything. */
import { readFileSync } from 'node:fs';
import { GlideClient, Logger } from '@valkey/valkey-glide';
import { Cluster, Redis } from 'ioredis';
import { createClient } from 'redis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startCluster, startReplica } from '../servers/servers.js';
import { Space } from '../src/space/space.js';
import { onEachServer } from './each-server.js';
import { onServers, until } from './setting.js';

Logger.setLoggerConfig('off');

const page = readFileSync(new URL('../docs/operations.md', import.meta.url), 'utf8');
const rights = (/^ACL SETUSER shop (.*)$/m.exec(page)?.[1] ?? '').split(' ');
const ofCluster = (/In a cluster add `([^`]+)`/.exec(page)?.[1] ?? '').split(' ');
const ofDurability = (/with `durability` add `([^`]+)`/.exec(page)?.[1] ?? '').split(' ');
const ofRates = (/add `(\+get[^`]*)`/.exec(page)?.[1] ?? '').split(' ');
const credentials = { username: 'shop', password: 'secret' };

/** Uses all functions of the package, with two spaces. */
async function everything(one: unknown, two: unknown): Promise<void> {
  const [a, b] = [await Space.connect(one, { space: 'shop' }), await Space.connect(two, { space: 'shop' })];
  onTestFinished(async () => {
    await a.close();
    await b.close();
  });
  const [mine, yours] = [await a.mutex('m', { robust: true }), await b.mutex('m', { robust: true })];
  const held = await mine.holdAsync();
  const waiting = yours.holdAsync();
  const tooLong = yours.holdAsync({ timeout: 20 });
  await expect(tooLong).rejects.toThrow('timed out after 20 ms');
  await until(async () => (await mine.inspect())?.waiting === 1);
  await held.unlock();
  const next = await waiting;
  expect(await mine.validate(next.proof)).toBe(true);
  expect((await a.inspect()).sessions.length).toBe(2);
  await mine.cancelAll();
  await next.unlock();
  await mine.dispose();
  await expect(yours.holdAsync()).rejects.toThrow('has been disposed of');
}

onServers('a user with the rights of the page', (setting) => {
  const { another } = setting;

  test.each(['ioredis', 'node-redis', 'GLIDE'])('by %s', async (library) => {
    await another().acl('SETUSER', 'shop', ...rights);
    const { port } = setting.server;
    const make = async () => {
      if (library === 'ioredis') {
        const client = new Redis({ host: '127.0.0.1', port, lazyConnect: true, ...credentials });
        return client;
      }
      if (library === 'node-redis') return createClient({ socket: { host: '127.0.0.1', port }, ...credentials });
      const client = await GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port }], credentials });
      onTestFinished(() => client.close());
      return client;
    };
    await everything(await make(), await make());
    const log = (await another().call('ACL', 'LOG')) as unknown[][];
    const denied = log.map((entry) => entry[entry.indexOf('object') + 1]).filter((object) => object !== 'auth');
    console.log(`${library}: refused meanwhile: ${denied.join(', ') || 'nothing'}`);
    await another().call('ACL', 'LOG', 'RESET');
  });

  test('with confirmation by replicas', async () => {
    const replica = await startReplica(setting.server);
    await another().acl('SETUSER', 'shop', ...rights, ...ofDurability);
    const client = new Redis(setting.server.url, { lazyConnect: true, ...credentials });
    const space = await Space.connect(client, { space: 'shop', durability: { replicas: 1, timeout: 5000 } });
    await (await space.semaphore('x', 1)).runExclusive(() => {});
    await space.close();
    await replica.kill();
  });

  test('with rates, and without their rights an error', async () => {
    await another().acl('SETUSER', 'shop', ...rights, ...ofRates);
    const client = new Redis(setting.server.url, { lazyConnect: true, ...credentials });
    const space = await Space.connect(client, { space: 'shop' });
    onTestFinished(() => space.close());
    const rate = await space.rateLimiter('api', 1, 60_000);
    // The server has had its first replica, which begins another history: dates begin a fifth of a lease later.
    await rate.takeAsync();
    expect(await rate.tryTake()).toBe(false);
    for (const right of ofRates) {
      await another().acl('SETUSER', 'shop', ...rights, ...ofRates, `-${right.slice(1)}`);
      await expect(space.keyedRateLimiter('users', 1, 60_000).takeAsync('Ann')).rejects.toMatchObject({
        code: 'NOPERM',
      });
    }
    await another().acl('SETUSER', 'shop', ...ofRates);
    await space.keyedRateLimiter('users', 1, 60_000).takeAsync('Ann');
  });

  test('without PUBLISH a grant is heard of at the next heartbeat', async () => {
    await another().acl('SETUSER', 'shop', ...rights, '-publish');
    const make = () => new Redis(setting.server.url, { lazyConnect: true, ...credentials });
    await everything(make(), make());
  });

  test.each(rights.filter((right) => /^\+(?!hello|ping|client|info|publish|unsubscribe)/.test(right)))(
    'without %s there is an error at once',
    async (right) => {
      await another().acl('SETUSER', 'shop', ...rights, `-${right.slice(1)}`);
      const client = new Redis(setting.server.url, { lazyConnect: true, ...credentials });
      const opened = Space.connect(client, { space: 'shop', connectTimeout: 10_000 });
      const error = await opened.then((space) => space.close().then(() => 'none')).catch((error: unknown) => error);
      // As long as the server knows the script, no call needs EVAL.
      if (right === '+eval') expect(['none', expect.objectContaining({ code: 'NOPERM' })]).toContainEqual(error);
      else expect(error).toMatchObject({ code: 'NOPERM' });
    },
  );
});

onEachServer((binary) => {
  describe('a user with the rights of the page in a cluster', () => {
    test('by ioredis', async () => {
      const cluster = await startCluster(3, 0, { server: binary });
      onTestFinished(() => cluster.stop());
      for (const node of cluster.nodes) await node.send('ACL', 'SETUSER', 'shop', ...rights, ...ofCluster);
      const port = cluster.nodes[0]?.port as number;
      const make = () => {
        const client = new Cluster([{ host: '127.0.0.1', port }], { lazyConnect: true, redisOptions: credentials });
        client.on('error', () => {});
        onTestFinished(() => client.disconnect());
        return client;
      };
      await everything(make(), make());
    });
  });
}, 'first');
