/** The driver for Valkey GLIDE, which connects anew by itself and keeps no order; see src/drivers/glide.ts. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { GlideClient, GlideClusterClient, Logger } from '@valkey/valkey-glide';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Cluster, type Server, startCluster, startReplica, startServer } from '../servers/servers.js';
import { slotOf } from '../src/drivers/connections.js';
import type { Driver, Script } from '../src/drivers/driver.js';
import { driverOf } from '../src/drivers/recognise.js';
import type { SpaceError } from '../src/errors.js';
import type { SpaceOptions } from '../src/options.js';
import { Space } from '../src/space/space.js';
import { onEachServer } from './each-server.js';
import { until } from './setting.js';

// Otherwise GLIDE would write a line for each error that the tests provoke.
Logger.setLoggerConfig('off');

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

const PUSH = script("return {redis.call('RPUSH', KEYS[1], ARGV[1]), ARGV[1], 'ä', {'x', false}}");
const LIST = script("return redis.call('LRANGE', KEYS[1], 0, -1)");

const addresses = (server: Server | undefined) => [{ host: '127.0.0.1', port: server?.port as number }];

async function connect(server: Server, more: object = {}): Promise<GlideClient> {
  const client = await GlideClient.createClient({ addresses: addresses(server), ...more });
  onTestFinished(() => client.close());
  return client;
}

async function watched(client: GlideClient | GlideClusterClient): Promise<{ driver: Driver; ups: () => number }> {
  const driver = driverOf(client);
  let ups = 0;
  driver.watch({ up: () => ups++, down: () => {} });
  onTestFinished(() => driver.close());
  await until(() => ups > 0);
  return { driver, ups: () => ups };
}

onEachServer((binary) => {
  describe('GLIDE', () => {
    let server: Server;
    let spaces: Space[];
    beforeEach(async () => {
      server = await startServer({ server: binary });
      spaces = [];
    });
    afterEach(async () => {
      await Promise.all(spaces.map((space) => space.close()));
      await server.kill();
    });

    const join = async (options: SpaceOptions = {}, more: object = {}): Promise<Space> => {
      const space = await Space.connect(await connect(server, more), options);
      spaces.push(space);
      return space;
    };

    test('runs scripts in order, also when the server has forgotten them, and decodes replies', async () => {
      const { driver } = await watched(await connect(server));
      expect(driver.cluster).toBe(false);
      expect(await driver.run(PUSH, ['{a}:k'], ['ü'])).toEqual([1, 'ü', 'ä', ['x', null]]);
      await expect(driver.run(script("return redis.error_reply('BAD thing')"), ['k'], [])).rejects.toThrow('BAD thing');
      expect((await driver.info('k', 'server'))?.get('process_id')).toBe(`${server.pid}`);
      const expected: string[] = [];
      for (let round = 0; round < 5; round++) {
        const calls: Promise<unknown>[] = [];
        for (let i = 0; i < 20; i++) {
          if (i % 7 === 3) await server.send('SCRIPT', 'FLUSH');
          expected.push(`${round}.${i}`);
          calls.push(driver.run(PUSH, ['k'], [`${round}.${i}`]));
        }
        await Promise.all(calls);
      }
      expect(await driver.run(LIST, ['k'], [])).toEqual(expected);
    });

    test('confirms by replicas', async () => {
      const replica = await startReplica(server);
      onTestFinished(() => replica.kill());
      const { driver } = await watched(await connect(server));
      expect(await driver.confirm(PUSH, ['k'], ['1'], 1, 20_000)).toBe(1);
      expect(await replica.send('LRANGE', 'k', 0, -1)).toEqual(['1']);
    });

    test('listens, and hears again after the connection was lost', async () => {
      const { driver } = await watched(await connect(server));
      const heard: string[] = [];
      const stop = await driver.listen('one', (message) => heard.push(message));
      await server.send('PUBLISH', 'one', 'ä');
      await expect.poll(() => heard).toEqual(['ä']);
      await driver.ping?.('one');
      await server.send('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await until(async () => (await server.send('PUBLISH', 'one', 'b')) === 1);
      await expect.poll(() => heard).toEqual(['ä', 'b']);
      await stop();
      expect(await server.send('PUBLISH', 'one', '1')).toBe(0);
    });

    test('replaces a connection that a call was lost with', async () => {
      const { driver, ups } = await watched(await connect(server));
      server.pause();
      const calls = Promise.allSettled([1, 2].map((i) => driver.run(PUSH, ['k'], [`${i}`])));
      driver.reset();
      for (const { status } of await calls) expect(status).toBe('rejected');
      await expect(driver.run(PUSH, ['k'], ['3'])).rejects.toThrow('not connected');
      server.resume();
      await until(() => ups() > 1);
      await driver.run(PUSH, ['k'], ['4']);
      const list = (await driver.run(LIST, ['k'], [])) as string[];
      expect(list.at(-1)).toBe('4');
      expect(new Set(list).size).toBe(list.length);
    });

    test('permits pass from process to process, and back after a restart', async () => {
      const [a, b] = [await join({ lease: 1000 }), await join({ lease: 1000 })];
      const [mine, yours] = [await a.semaphore('db', 1), await b.semaphore('db', 1)];
      const held = await mine.holdAsync();
      const waiting = yours.holdAsync();
      await expect(yours.holdAsync(1, { timeout: 20 })).rejects.toThrow('timed out after 20 ms');
      expect(await mine.inspect()).toMatchObject({ free: 0, waiting: 1 });
      await server.restart({ kill: true, keepData: false });
      await until(() => !held.held);
      await (await waiting).release();
      expect(await mine.inspect()).toMatchObject({ free: 1, waiting: 0 });
    });

    test('many requests keep their order, while connections are cut', async () => {
      const [a, b] = [await join({ lease: 2000 }), await join({ lease: 2000 })];
      const [mine, yours] = [await a.mutex('m', { bypass: 0 }), await b.mutex('m', { bypass: 0 })];
      let inside = 0;
      let most = 0;
      const tokens: bigint[] = [];
      const work = async (mutex: typeof mine) => {
        for (let i = 0; i < 50; i++) {
          await mutex
            .runExclusive(async ({ token }) => {
              most = Math.max(most, ++inside);
              tokens.push(token);
              await null;
              inside--;
            })
            .catch((error: Error) => expect(error.name).toBe('LeaseLostError'));
        }
      };
      const cutting = setInterval(() => {
        server.send('CLIENT', 'KILL', 'TYPE', 'pubsub').catch(() => undefined);
        server.send('CLIENT', 'KILL', 'TYPE', 'normal').catch(() => undefined);
      }, 150);
      await Promise.all([work(mine), work(mine), work(yours), work(yours)]);
      clearInterval(cutting);
      expect(most).toBe(1);
      expect(tokens).toEqual([...tokens].sort((one, other) => (one < other ? -1 : 1)));
      expect(await mine.inspect()).toMatchObject({ free: 1, waiting: 0 });
    });

    test('errors of the server have their codes', async () => {
      await server.send('ACL', 'SETUSER', 'kim', 'on', '>secret', '~*', '&*', '+@all', '-hincrby');
      const credentials = { username: 'kim', password: 'secret' };
      expect(await join({}, { credentials }).catch((error: SpaceError) => error.code)).toBe('NOPERM');
      const space = await join();
      const semaphore = await space.semaphore('db', 1);
      await server.send('CONFIG', 'SET', 'maxmemory', 1);
      expect(await semaphore.holdAsync().catch((error: SpaceError) => error.code)).toBe('OOM');
      await server.send('CONFIG', 'SET', 'maxmemory', 0);
      await (await semaphore.holdAsync()).release();
    });

    test('takes over the number of the database', async () => {
      const { driver } = await watched(await connect(server, { databaseId: 3 }));
      await driver.run(PUSH, ['k'], ['1']);
      expect(`${await server.send('INFO', 'keyspace')}`).toContain('db3:keys=1');
    });

    test('a process ends that neither holds nor waits', () => {
      const program = fileURLToPath(new URL('./glide-ends.mjs', import.meta.url));
      const { status, stdout, stderr } = spawnSync(process.execPath, [program, `${server.port}`], {
        encoding: 'utf8',
        timeout: 30_000,
      });
      expect(stderr).toBe('');
      expect(stdout).toBe('done\n');
      expect(status).toBe(0);
    });
  });

  describe('GLIDE with a cluster', () => {
    let cluster: Cluster;
    beforeAll(async () => {
      cluster = await startCluster(3, 0, { server: binary });
    });
    afterAll(() => cluster.stop());

    const publish = script("return redis.call('SPUBLISH', KEYS[1], ARGV[1])");
    const join = async () => {
      const client = await GlideClusterClient.createClient({ addresses: addresses(cluster.nodes[0]) });
      onTestFinished(() => client.close());
      return client;
    };

    test('runs scripts and hears sharded messages on all nodes, and follows a slot', async () => {
      const { driver } = await watched(await join());
      expect(driver.cluster).toBe(true);
      const tags = ['{a}', '{b}', '{c}', '{d}', '{e}', '{f}'];
      const heard: string[] = [];
      await Promise.all(tags.map((tag) => driver.listen(`${tag}:c`, (message) => heard.push(message))));
      await Promise.all(tags.map((tag) => driver.run(publish, [`${tag}:c`], [tag])));
      await expect.poll(() => heard.toSorted()).toEqual(tags);
      await Promise.all(tags.map((tag) => driver.ping?.(tag)));
      await Promise.all(['1', '2', '3'].map((value) => driver.run(PUSH, ['{z}:k'], [value])));
      expect(await driver.run(LIST, ['{z}:k'], [])).toEqual(['1', '2', '3']);
      expect(await driver.confirm(PUSH, ['{z}:k'], ['4'], 0, 10)).toBe(0);
      const owner = cluster.nodes[await cluster.ownerOf(slotOf('{z}:k'))];
      expect((await driver.info('{z}:k', 'server'))?.get('process_id')).toBe(`${owner?.pid}`);
    });

    test('permits pass while their slot moves', async () => {
      const clients = [await join(), await join()];
      const [a, b] = await Promise.all(
        clients.map((client) => Space.connect(client, { space: 'glide', partitions: 4, lease: 2000 })),
      );
      const objects = await Promise.all(
        [a, b].flatMap((space) => ['x', 'y', 'z'].map((name) => (space as Space).mutex(name, { bypass: 0 }))),
      );
      const slot = slotOf('tt:{glide.0}:meta');
      const moving = (async () => {
        for (let i = 0; i < 3; i++) await cluster.moveSlot(slot, i);
      })();
      await Promise.all(
        objects.map(async (mutex) => {
          for (let i = 0; i < 20; i++) await mutex.runExclusive(() => undefined);
        }),
      );
      await moving;
      for (const mutex of objects) expect(await mutex.inspect()).toMatchObject({ free: 1, waiting: 0 });
      await Promise.all([a?.close(), b?.close()]);
    });
  });
});
