/**
 * Servers that answer but do not serve. Callers that wait are told why. If the trouble can pass, their requests go on
 * waiting. Otherwise the requests fail.
 */
import { rmSync } from 'node:fs';
import { Redis } from 'ioredis';
import { createCluster } from 'redis';
import { type TestContext, test } from 'vitest';
import { freePort, type Server, startCluster, startServer } from '../servers/servers.js';
import { Space } from '../src/space/space.js';
import { onEachServer } from './each-server.js';
import { sleep, until } from './setting.js';

interface Trouble {
  /** Arguments for the server. */
  readonly args?: string[];
  /** What the server says, or what the client says of the server. */
  readonly says: RegExp;
  /** The code of the error for the callers that wait, if the trouble is an error for them. */
  readonly code?: string;
  begin(admin: Redis, server: Server, onTestFinished: TestContext['onTestFinished']): Promise<unknown>;
  end(admin: Redis, server: Server): unknown;
}

const cut = (admin: Redis) => admin.call('CLIENT', 'KILL', 'USER', 'kim');
const set = (admin: Redis, ...pair: [string, string]) => admin.call('CONFIG', 'SET', ...pair);

const TROUBLES: Record<string, Trouble> = {
  'a password that was changed': {
    says: /WRONGPASS/,
    code: 'WRONGPASS',
    async begin(admin) {
      await admin.call('ACL', 'SETUSER', 'kim', 'resetpass', '>other');
      await cut(admin);
    },
    end: (admin) => admin.call('ACL', 'SETUSER', 'kim', '>secret'),
  },
  'a right that was taken away': {
    says: /NOPERM|can't run this command/,
    code: 'NOPERM',
    begin: (admin) => admin.call('ACL', 'SETUSER', 'kim', '-evalsha', '-eval'),
    end: (admin) => admin.call('ACL', 'SETUSER', 'kim', '+evalsha', '+eval'),
  },
  'a disk that is full': {
    args: ['--save', '3600 1'],
    says: /MISCONF/,
    async begin(admin, server) {
      rmSync(server.dir, { recursive: true });
      await admin.call('BGSAVE');
      await until(async () => `${await admin.info('persistence')}`.includes('last_bgsave_status:err'));
    },
    end: (admin) => set(admin, 'stop-writes-on-bgsave-error', 'no'),
  },
  'no connection left': {
    says: /max number of clients/,
    async begin(admin) {
      await set(admin, 'maxclients', '1');
      await cut(admin);
    },
    end: (admin) => set(admin, 'maxclients', '1000'),
  },
  'a server that became a replica': {
    says: /READONLY/,
    begin: async (admin, server) => admin.call('REPLICAOF', '127.0.0.1', `${server.port}`),
    end: (admin) => admin.call('REPLICAOF', 'NO', 'ONE'),
  },
  'a replica without its primary': {
    args: ['--replica-serve-stale-data', 'no'],
    says: /MASTERDOWN/,
    begin: async (admin) => admin.call('REPLICAOF', '127.0.0.1', `${await freePort()}`),
    end: (admin) => admin.call('REPLICAOF', 'NO', 'ONE'),
  },
  'too few replicas': {
    says: /NOREPLICAS/,
    begin: (admin) => set(admin, 'min-replicas-to-write', '1'),
    end: (admin) => set(admin, 'min-replicas-to-write', '0'),
  },
  'a script of somebody that does not end': {
    args: ['--lua-time-limit', '1'],
    says: /BUSY/,
    async begin(admin, _server, onTestFinished) {
      const other = admin.duplicate();
      other.on('error', () => {});
      onTestFinished(() => other.disconnect());
      other.call('EVAL', 'while true do end', '0').catch(() => {});
      await until(() =>
        admin.ping().then(
          () => false,
          () => true,
        ),
      );
    },
    end: (admin) => admin.call('SCRIPT', 'KILL'),
  },
  'a server that loads its data': {
    args: ['--key-load-delay', '10000', '--loading-process-events-interval-bytes', '1024', '--save', ''],
    says: /LOADING/,
    async begin(admin, server) {
      for (let i = 0; i < 400; i++) await admin.set(`key ${i}`, 'x'.repeat(2000));
      await admin.call('SAVE');
      void server.restart();
      await until(() =>
        admin
          .info('persistence')
          .then((text) => text.includes('\nloading:1'))
          .catch(() => false),
      );
    },
    end: (admin) => set(admin, 'key-load-delay', '0'),
  },
};

onEachServer((binary) => {
  // Each of them has a server of its own, and mostly waits.
  test.concurrent.for(Object.keys(TROUBLES))('%s', async (name, { expect, onTestFinished }) => {
    const { args = [], says, code, begin, end } = TROUBLES[name] as Trouble;
    const server = await startServer({
      server: binary,
      args: [...args, '--user', 'kim', 'on', '>secret', '~*', '&*', '+@all'],
    });
    onTestFinished(() => server.kill());
    const admin = new Redis(server.port, '127.0.0.1', { enableReadyCheck: false, maxRetriesPerRequest: null });
    admin.on('error', () => {});
    const client = new Redis(server.port, '127.0.0.1', { username: 'kim', password: 'secret', lazyConnect: true });
    onTestFinished(() => {
      admin.disconnect();
      client.disconnect();
    });
    const lease = 1000;
    const space = await Space.connect(client, { lease, connectTimeout: 1000 });
    onTestFinished(() => space.close());
    const troubles: string[] = [];
    const errors: unknown[] = [];
    space.on('trouble', ({ message }) => troubles.push(message)).on('error', (error) => errors.push(error));
    // The reason of the loss has the words of the server if they came before the loss. On a busy machine they may come
    // later.
    let words = /./;
    const lost = new Promise<{ reason: string }>((heard) => {
      space.on('lost', (event) => {
        if (troubles.some((text) => says.test(text))) words = says;
        heard(event);
      });
    });
    const mutex = await space.mutex('m');
    const held = await mutex.holdAsync();
    const waiting = mutex.holdAsync();
    waiting.catch(() => {});
    await until(async () => (await mutex.inspect())?.waiting === 1);

    await begin(admin, server, onTestFinished);
    // Holders, waiters and new calls are told of the trouble in the words of the server.
    expect((await lost).reason).toMatch(words);
    expect(held.signal.reason.message).toMatch(words);
    await until(() => troubles.some((text) => says.test(text)));
    expect(troubles.filter((text) => says.test(text))).toHaveLength(1);
    const calls = [mutex.holdAsync({ timeout: 100 }), mutex.tryHold(), mutex.inspect(), space.mutex('new')];
    await Promise.all(calls.map((call) => expect(call).rejects.toThrow(says)));
    const fresh = Space.connect(client, { space: 'fresh', connectTimeout: 2000 });
    await expect(fresh).rejects.toMatchObject({ code: code ?? 'UNREACHABLE', message: expect.stringMatching(says) });
    if (code) await expect(waiting).rejects.toMatchObject({ code });

    await end(admin, server);
    const next = code ? await mutex.holdAsync() : await waiting;
    expect(next.held).toBe(true);
    await next.unlock();
    expect(errors).toEqual([]);
  });
}, 'all');

onEachServer((binary) => {
  test.concurrent('a cluster that does not serve all slots', async ({ expect, onTestFinished }) => {
    const cluster = await startCluster(1, 0, { server: binary });
    onTestFinished(() => cluster.stop());
    const [node] = cluster.nodes as [Server];
    const client = createCluster({ rootNodes: [{ socket: { host: '127.0.0.1', port: node.port } }] });
    const space = await Space.connect(client, { lease: 1000, connectTimeout: 2000 });
    onTestFinished(() => space.close());
    const mutex = await space.mutex('m');
    let words = /./;
    space.on('trouble', ({ message }) => {
      if (/CLUSTERDOWN/.test(message)) words = /CLUSTERDOWN/;
    });
    const lost = new Promise<{ reason: string; words: RegExp }>((heard) => {
      space.on('lost', ({ reason }) => heard({ reason, words }));
    });
    await mutex.holdAsync();
    const waiting = mutex.holdAsync();
    await node.send('CLUSTER', 'DELSLOTS', 0);
    const said = await lost;
    expect(said.reason).toMatch(said.words);
    await expect(mutex.inspect()).rejects.toThrow(/CLUSTERDOWN/);
    await node.send('CLUSTER', 'ADDSLOTS', 0);
    await (await waiting).unlock();
  });

  test.concurrent('a server that stands still: every call but one that may wait ends by itself', async ({
    expect,
    onTestFinished,
  }) => {
    const server = await startServer({ server: binary });
    onTestFinished(() => server.kill());
    const client = new Redis(server.port, '127.0.0.1', { lazyConnect: true });
    const space = await Space.connect(client, { lease: 1000, connectTimeout: 300 });
    const semaphore = await space.semaphore('s', 2);
    const other = await space.mutex('other');
    const held = await semaphore.holdAsync();
    await (await semaphore.holdAsync()).release();
    server.pause();
    const unanswered = { code: 'UNREACHABLE', message: expect.stringMatching(/^no server within 300 ms/) };
    const calls = [
      ...[semaphore.tryHold(), semaphore.holdAsync({ timeout: 0 }), semaphore.inspect(), space.semaphore('t', 1)],
      ...[space.inspect(), semaphore.validate(held.proof), other.cancelAll(), other.dispose()],
    ];
    await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject(unanswered)));
    // The release ends at the latest with the lease.
    await held.release();
    server.resume();
    await until(() =>
      semaphore
        .inspect()
        .then((state) => state?.free === 2)
        .catch(() => false),
    );
    await space.close();
  });

  test('a process that computes for longer than a server may take hears the answer nevertheless', async ({
    expect,
    onTestFinished,
  }) => {
    const server = await startServer({ server: binary });
    onTestFinished(() => server.kill());
    const client = new Redis(server.port, '127.0.0.1', { lazyConnect: true });
    const space = await Space.connect(client, { connectTimeout: 1000 });
    onTestFinished(() => space.close());
    const semaphore = await space.semaphore('s', 1);
    await sleep(20);
    const calls = [semaphore.tryHold(), semaphore.inspect()];
    await new Promise(setImmediate);
    const end = performance.now() + 1200;
    while (performance.now() < end);
    expect((await Promise.all(calls)).map((result) => result !== undefined)).toEqual([true, true]);
  });
}, 'first');
