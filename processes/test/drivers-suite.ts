/** What every driver must do, with one server and with a cluster. Several files call these tests and run at once. */
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  type Cluster,
  type Server,
  startCluster,
  startReplica,
  startSentinel,
  startServer,
} from '../servers/servers.ts';
import { slotOf } from '../src/drivers/connections.ts';
import type { Driver, Script } from '../src/drivers/driver.ts';
import { driverOf } from '../src/drivers/recognise.ts';
import type { ClientLibrary, User } from './clients.ts';
import { onEachServer } from './each-server.ts';

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

const PUSH = script("return {redis.call('RPUSH', KEYS[1], ARGV[1]), ARGV[1], 'ä', {'x', false}}");
export const LIST = script("return redis.call('LRANGE', KEYS[1], 0, -1)");

/** A driver whose events `up` and `down` are counted. */
export class Watched {
  readonly driver: Driver;
  readonly downs: string[] = [];
  ups = 0;
  standing = false;

  constructor(driver: Driver) {
    this.driver = driver;
    driver.watch({
      up: () => {
        this.ups++;
        this.standing = true;
      },
      down: (error) => {
        this.downs.push(error?.message ?? '');
        this.standing = false;
      },
    });
  }

  /** Waits until the connections stand and `up` has come at least `times` times. */
  async up(times = 1): Promise<void> {
    await expect.poll(() => this.standing && this.ups >= times, { timeout: 30_000, interval: 5 }).toBe(true);
  }

  async down(): Promise<void> {
    await expect.poll(() => this.standing, { timeout: 30_000, interval: 5 }).toBe(false);
  }
}

async function watched(user: User): Promise<Watched> {
  const watching = new Watched(driverOf(user.client));
  onTestFinished(async () => {
    await watching.driver.close();
    user.close();
  });
  await watching.up();
  return watching;
}

/** The number of sockets that keep this process alive. */
function sockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;
}

/** The tests of drivers with one server. */
export function testWithOneServer(some: readonly ClientLibrary[]): void {
  onEachServer((binary) => {
    describe.each(some)('$name', (library) => {
      let server: Server;
      beforeEach(async () => {
        server = await startServer({ server: binary });
      });
      afterEach(() => server.kill());

      test('runs a script, and decodes its reply', async () => {
        const { driver } = await watched(await library.connect(server.port));
        expect(driver.cluster).toBe(false);
        expect(await driver.run(PUSH, ['{a}:k'], ['ü'])).toEqual([1, 'ü', 'ä', ['x', null]]);
        await expect(driver.run(script("return redis.error_reply('BAD thing')"), ['k'], [])).rejects.toThrow(
          'BAD thing',
        );
        expect((await driver.info('k', 'server'))?.get('process_id')).toBe(`${server.pid}`);
        expect(await driver.confirm(PUSH, ['{a}:k'], ['w'], 0, 10)).toBe(0);
        expect(await driver.run(LIST, ['{a}:k'], [])).toEqual(['ü', 'w']);
      });

      test('hears an answer over the connection for messages', async () => {
        const { driver } = await watched(await library.connect(server.port));
        await driver.ping?.('k');
        const heard: string[] = [];
        await driver.listen('answers', (message) => heard.push(message));
        await Promise.all([driver.ping?.('k'), driver.ping?.('k')]);
        await driver.run(script("return redis.call('PUBLISH', 'answers', '1')"), ['k'], []);
        await driver.ping?.('k');
        await expect.poll(() => heard).toEqual(['1']);
      });

      test('rejects before it is connected', async () => {
        const user = await library.connect(server.port);
        const driver = driverOf(user.client);
        onTestFinished(async () => {
          await driver.close();
          user.close();
        });
        await expect(driver.run(LIST, ['k'], [])).rejects.toThrow('not connected');
        await expect(driver.listen('c', () => undefined)).rejects.toThrow('not connected');
      });

      test('keeps the order of calls when the server has forgotten the script', async () => {
        const { driver } = await watched(await library.connect(server.port));
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

      test('waits for the script also when it confirms', async () => {
        const replica = await startReplica(server);
        onTestFinished(() => replica.kill());
        const { driver } = await watched(await library.connect(server.port));
        expect(await driver.confirm(PUSH, ['k'], ['1'], 1, 20_000)).toBe(1);
        await server.send('SCRIPT', 'FLUSH');
        const counts = await Promise.all(['2', '3'].map((value) => driver.confirm(PUSH, ['k'], [value], 1, 20_000)));
        expect(counts).toEqual([1, 1]);
        expect(await replica.send('LRANGE', 'k', 0, -1)).toEqual(['1', '2', '3']);
      });

      test('listens, also after either connection was lost', async () => {
        const watching = await watched(await library.connect(server.port));
        const { driver } = watching;
        const heard: string[] = [];
        const stop = await driver.listen('one', (message) => heard.push(`one ${message}`));
        await driver.listen('two', (message) => heard.push(`two ${message}`));
        await server.send('PUBLISH', 'one', 'ä');
        await expect.poll(() => heard).toEqual(['one ä']);

        for (const type of ['pubsub', 'normal']) {
          const { ups } = watching;
          heard.length = 0;
          await server.send('CLIENT', 'KILL', 'TYPE', type);
          await watching.up(ups + 1);
          expect(watching.ups).toBe(ups + 1);
          // The driver hears what is published after `up`.
          expect(await server.send('PUBLISH', 'one', '1')).toBe(1);
          expect(await server.send('PUBLISH', 'two', '2')).toBe(1);
          await expect.poll(() => heard).toEqual(['one 1', 'two 2']);
          expect(await driver.run(LIST, ['k'], [])).toEqual([]);
        }
        await stop();
        expect(await server.send('PUBLISH', 'one', '1')).toBe(0);
        expect(await server.send('PUBLISH', 'two', '2')).toBe(1);
      });

      test('rejects what is not answered when the connection is lost', async () => {
        const watching = await watched(await library.connect(server.port));
        const { driver } = watching;
        server.pause();
        const calls = Promise.allSettled([1, 2].map((i) => driver.run(PUSH, ['k'], [`${i}`])));
        driver.reset();
        await watching.down();
        for (const { status } of await calls) expect(status).toBe('rejected');
        await expect(driver.run(PUSH, ['k'], ['3'])).rejects.toThrow('not connected');
        server.resume();
        await watching.up(2);
        await driver.run(PUSH, ['k'], ['4']);
        const list = (await driver.run(LIST, ['k'], [])) as string[];
        expect(list.at(-1)).toBe('4');
        // The server may have run what was sent, but never twice.
        expect(new Set(list).size).toBe(list.length);
      });

      test('comes back after a restart of the server', async () => {
        const watching = await watched(await library.connect(server.port));
        const { driver } = watching;
        const heard: string[] = [];
        await driver.listen('c', (message) => heard.push(message));
        await driver.run(PUSH, ['k'], ['1']);
        const { ups } = watching;
        const restarted = server.restart({ kill: true, keepData: false });
        await watching.down();
        const refused = driver.run(PUSH, ['k'], ['2']);
        await expect(refused).rejects.toThrow();
        await restarted;
        await watching.up(ups + 1);
        expect(await driver.run(PUSH, ['k'], ['3'])).toEqual([1, '3', 'ä', ['x', null]]);
        await server.send('PUBLISH', 'c', 'back');
        await expect.poll(() => heard).toEqual(['back']);
      });

      test('keeps the process alive only if told so, and leaves the client open when it is closed', async () => {
        const user = await library.connect(server.port);
        onTestFinished(() => user.close());
        await user.send('PING');
        const before = 1;
        await expect.poll(sockets).toBe(before);
        const watching = new Watched(driverOf(user.client));
        const { driver } = watching;
        await watching.up();
        await driver.confirm(PUSH, ['k'], ['1'], 0, 10);
        expect(sockets()).toBe(before + 3);
        driver.keepAlive(false);
        expect(sockets()).toBe(before);
        await server.send('CLIENT', 'KILL', 'TYPE', 'normal');
        await watching.up(2);
        await user.send('PING').catch(() => user.send('PING'));
        await expect.poll(sockets).toBe(before);
        driver.keepAlive(true);
        expect(sockets()).toBe(before + 2);
        const { ups } = watching;
        server.pause();
        const pending = driver.run(LIST, ['k'], []);
        await driver.close();
        server.resume();
        await expect(pending).rejects.toThrow();
        await expect.poll(sockets).toBe(before);
        await expect(driver.run(LIST, ['k'], [])).rejects.toThrow('not connected');
        expect(await user.send('PING')).toBe('PONG');
        expect(watching.ups).toBe(ups);
        await driver.close();
      });

      test('takes over the password, and tells that it is wrong', async () => {
        const guarded = await startServer({ server: binary, args: ['--requirepass', 'secret'] });
        onTestFinished(() => guarded.kill());
        const { driver } = await watched(await library.connect(guarded.port, { password: 'secret' }));
        expect(await driver.run(LIST, ['k'], [])).toEqual([]);

        const user = await library.connect(guarded.port, { password: 'wrong' });
        const watching = new Watched(driverOf(user.client));
        onTestFinished(async () => {
          await watching.driver.close();
          user.close();
        });
        await expect.poll(() => watching.downs.length).toBeGreaterThan(1);
        for (const message of watching.downs) expect(message).toMatch(/^(WRONGPASS|NOAUTH)/);
        await expect(watching.driver.run(LIST, ['k'], [])).rejects.toThrow(/not connected: (WRONGPASS|NOAUTH)/);
        expect(watching.ups).toBe(0);
      });

      test('tells in the words of the server that it has no room for another connection', async () => {
        const full = await startServer({ server: binary, args: ['--maxclients', '1', '--requirepass', 'secret'] });
        const only = connect(full.port, '127.0.0.1');
        // Without a password and with RESP2, node-redis 6 drops the words of the server.
        const user = await library.connect(full.port, { password: 'secret' });
        const watching = new Watched(driverOf(user.client));
        onTestFinished(async () => {
          await watching.driver.close();
          user.close();
          only.destroy();
          await full.kill();
        });
        await expect.poll(() => watching.downs.length, { timeout: 30_000 }).toBeGreaterThan(4);
        for (const message of watching.downs) expect(message).toMatch(/^ERR max number of clients reached/);
      });

      test('takes over the number of the database, but no prefix of keys', async () => {
        const user = await library.connect(server.port, { db: 3, keyPrefix: 'mine:' });
        const { driver } = await watched(user);
        await driver.run(PUSH, ['{a}:k', '{a}:l'], ['1']);
        await driver.confirm(PUSH, ['{a}:l'], ['1'], 0, 10);
        expect(`${await server.send('INFO', 'keyspace')}`).toContain('db3:keys=2');
        expect(((await user.send('KEYS', '*')) as string[]).sort()).toEqual(['{a}:k', '{a}:l']);
        const heard: string[] = [];
        await driver.listen('c', (message) => heard.push(message));
        await server.send('PUBLISH', 'c', '1');
        await expect.poll(() => heard).toEqual(['1']);
      });

      (library.sentinel ? test : () => undefined)('follows a failover by Sentinel', async () => {
        const replica = await startReplica(server);
        const sentinel = await startSentinel(server, { replicas: 1 });
        onTestFinished(async () => {
          await sentinel.kill();
          await replica.kill();
        });
        const watching = await watched(await (library.sentinel as NonNullable<typeof library.sentinel>)(sentinel.port));
        const { driver } = watching;
        const heard: string[] = [];
        await driver.listen('c', (message) => heard.push(message));
        await driver.run(PUSH, ['k'], ['1']);
        await server.kill();
        await watching.down();
        await watching.up(2);
        expect((await driver.info('k', 'server'))?.get('process_id')).toBe(`${replica.pid}`);
        await driver.run(PUSH, ['k'], ['2']);
        await replica.send('PUBLISH', 'c', '1');
        await expect.poll(() => heard).toEqual(['1']);
      });
    });
  });
}

/** The tests of drivers with a cluster. */
export function testWithCluster(some: readonly ClientLibrary[]): void {
  onEachServer((binary) => {
    let cluster: Cluster;
    beforeAll(async () => {
      cluster = await startCluster(3, 0, { server: binary });
    });
    afterAll(() => cluster?.stop());

    describe.each(some)('$name with a cluster', (library) => {
      const publish = script("return redis.call('SPUBLISH', KEYS[1], ARGV[1])");

      test('runs scripts and hears sharded messages on all nodes', async () => {
        const { driver } = await watched(await library.cluster(cluster.nodes[0]?.port as number));
        expect(driver.cluster).toBe(true);
        const tags = ['{a}', '{b}', '{c}', '{d}', '{e}', '{f}'];
        const heard: string[] = [];
        await Promise.all(tags.map((tag) => driver.listen(`${tag}:c`, (message) => heard.push(message))));
        await Promise.all(tags.map((tag) => driver.run(publish, [`${tag}:c`], [tag])));
        await expect.poll(() => heard.toSorted()).toEqual(tags);
        await Promise.all(tags.map((tag) => driver.ping?.(tag)));
        // The first calls to a slot keep their order, too.
        await Promise.all(['1', '2', '3'].map((value) => driver.run(PUSH, ['{z}:k'], [value])));
        expect(await driver.run(LIST, ['{z}:k'], [])).toEqual(['1', '2', '3']);
        await driver.confirm(script("return redis.call('DEL', KEYS[1])"), ['{z}:k'], [], 0, 10);
        expect((await driver.info('{z}:k', 'server'))?.has('process_id')).toBe(true);
      });

      test('follows a slot that moves to another node', async () => {
        const watching = await watched(await library.cluster(cluster.nodes[0]?.port as number));
        const { driver } = watching;
        const slot = slotOf('{moved}');
        expect(await cluster.nodes[0]?.send('CLUSTER', 'KEYSLOT', '{moved}')).toBe(slot);
        const heard: string[] = [];
        await driver.listen('{moved}:c', (message) => heard.push(message));
        await driver.run(PUSH, ['{moved}:k'], ['0']);
        const values = ['0'];
        for (let i = 1; i <= 3; i++) {
          const { ups } = watching;
          await cluster.moveSlot(slot, ((await cluster.ownerOf(slot)) + 1) % 3);
          // The driver tells that the subscription has moved, without any call.
          await watching.up(ups + 1);
          await expect
            .poll(() => driver.run(publish, ['{moved}:c'], [`${i}`]).catch(() => undefined), { interval: 20 })
            .toBe(1);
          await expect.poll(() => heard.at(-1)).toBe(`${i}`);
          await driver.run(PUSH, ['{moved}:k'], [`${i}`]);
          values.push(`${i}`);
        }
        expect(await driver.run(LIST, ['{moved}:k'], [])).toEqual(values);
        await driver.run(script("return redis.call('DEL', KEYS[1])"), ['{moved}:k'], []);
      });

      test('finds the new place of a slot by a redirection', async () => {
        const watching = await watched(await library.cluster(cluster.nodes[0]?.port as number));
        const { driver } = watching;
        await driver.run(PUSH, ['{told}:k'], ['1']);
        await cluster.moveSlot(slotOf('{told}'), ((await cluster.ownerOf(slotOf('{told}'))) + 1) % 3);
        await expect(driver.run(PUSH, ['{told}:k'], ['2'])).rejects.toThrow('MOVED');
        await watching.up(2);
        await expect.poll(() => driver.run(LIST, ['{told}:k'], []).catch(() => undefined)).toEqual(['1']);
        await driver.run(script("return redis.call('DEL', KEYS[1])"), ['{told}:k'], []);
      });

      test('comes back after a node was restarted', async () => {
        const watching = await watched(await library.cluster(cluster.nodes[0]?.port as number));
        const { driver } = watching;
        const heard: string[] = [];
        await driver.listen('{r}:c', (message) => heard.push(message));
        const node = cluster.nodes[await cluster.ownerOf(slotOf('{r}'))] as Server;
        await node.restart({ kill: true });
        await watching.up(2);
        await expect
          .poll(() => driver.run(publish, ['{r}:c'], ['back']).catch(() => undefined), { timeout: 30_000 })
          .toBe(1);
        await expect.poll(() => heard).toEqual(['back']);
      });

      test('closes all its connections', async () => {
        const user = await library.cluster(cluster.nodes[0]?.port as number);
        onTestFinished(() => user.close());
        for (const tag of ['{a}', '{b}', '{c}', '{d}']) await user.send('GET', tag);
        const before = sockets();
        const watching = new Watched(driverOf(user.client));
        await watching.up();
        await watching.driver.run(LIST, ['{a}'], []);
        await watching.driver.close();
        await expect.poll(sockets).toBeLessThanOrEqual(before);
        await user.send('GET', '{a}');
      });
    });
  });
}
