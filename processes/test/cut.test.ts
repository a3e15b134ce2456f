import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Driver } from '../src/drivers/driver.js';
import { driverOf } from '../src/drivers/recognise.js';
import { TimeoutError } from '../src/errors.js';
import { refusal } from '../src/session/server-error.js';
import { Space } from '../src/space/space.js';
import { onServers, sleep, until } from './setting.js';

onServers(
  'cut',
  (setting) => {
    test('a connection that is cut while a process joins is no reason to fail', async () => {
      let cuts = 0;
      const listener = createServer((client) => {
        const server = connect(setting.server.port, '127.0.0.1');
        const end = () => {
          client.destroy();
          server.destroy();
        };
        for (const socket of [client, server]) socket.on('error', end).on('close', end);
        client.on('data', (data) => {
          // The first cut comes at the question for the eviction policy, the second at the first call of the script.
          if (cuts < 2 && /memory|EVALSHA/i.test(`${data}`)) {
            cuts++;
            end();
          } else server.write(data);
        });
        server.pipe(client);
      }).listen(0, '127.0.0.1');
      await once(listener, 'listening');
      const client = new Redis((listener.address() as { port: number }).port, '127.0.0.1', { lazyConnect: true });
      onTestFinished(() => void listener.close());
      const space = await Space.connect(client);
      const semaphore = await space.semaphore('db', 1);
      await (await semaphore.holdAsync()).release();
      await space.close();
      expect(cuts).toBe(2);
    });

    /**
     * Joins through a proxy whose connections `cut` ends, and resolves when the space knows. While `gate.isShut`, the
     * proxy lets nobody through.
     */
    async function joinThroughProxy() {
      const sockets = new Set<Socket>();
      const gate = { isShut: false };
      const listener = createServer((client) => {
        if (gate.isShut) {
          client.destroy();
          return;
        }
        const server = connect(setting.server.port, '127.0.0.1');
        for (const socket of [client, server]) {
          sockets.add(socket);
          socket.on('error', () => {}).on('close', () => [client, server].map((each) => each.destroy()));
        }
        client.pipe(server).pipe(client);
      }).listen(0, '127.0.0.1');
      await once(listener, 'listening');
      const client = new Redis((listener.address() as { port: number }).port, '127.0.0.1', {
        lazyConnect: true,
        retryStrategy: () => 20,
      });
      client.on('error', () => {});
      onTestFinished(() => void listener.close());
      const space = await Space.connect(client, { space: 'cut' });
      const cut = async (): Promise<void> => {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => space.on('trouble', resolve));
      };
      return { space, cut, gate };
    }

    test('what is free is got after a time-out that passes while there is no connection', async () => {
      const { space, cut } = await joinThroughProxy();
      const mutex = await space.mutex('free');
      const other = await space.semaphore('held', 1);
      const held = await other.holdAsync();
      // Is sent, and its time-out passes later.
      const waiting = expect(other.holdAsync({ timeout: 1 })).rejects.toThrow(TimeoutError);
      await cut();
      await (await mutex.holdAsync({ timeout: 1 })).unlock();
      await waiting;
      await expect(other.holdAsync({ timeout: 1 })).rejects.toThrow(TimeoutError);
      await held.release();
      await space.close();
    });

    test('what is free is got after a time-out that passes while the server forgets the session', async () => {
      const { space, cut } = await joinThroughProxy();
      const mutex = await space.mutex('free');
      await (await mutex.holdAsync()).unlock();
      await setting.another().flushall();
      await cut();
      await (await mutex.holdAsync({ timeout: 1 })).unlock();
      await space.close();
    });

    test('what a failover has made free is got after a time-out that passes meanwhile', async () => {
      const { space, cut, gate } = await joinThroughProxy();
      const semaphore = await space.semaphore('lost', 1);
      await semaphore.holdAsync();
      const waiting = semaphore.holdAsync({ timeout: 1000 });
      const late = sleep(1000);
      await until(async () => (await semaphore.inspect())?.waiting === 1);
      gate.isShut = true;
      await cut();
      // The server has the session, and neither the object nor its requests: as a replica that lacks the last writes.
      const server = setting.another();
      for (const key of await server.keys('tt:{cut.*}:*')) {
        if (/:(objects|queue|records)$/.test(key)) await server.del(key);
        if (key.endsWith(':meta')) await server.hset(key, 'history', 'another');
      }
      await late;
      gate.isShut = false;
      await (await waiting).release();
      await space.close();
    });
  },
  'first',
);

test('a server that forgets the script has refused nothing for good', () => {
  expect(refusal(new Error('NOSCRIPT No matching script.'))).toBeUndefined();
});

onServers(
  'late',
  (setting) => {
    test('who hears of a grant before the answer to its return holds it for a lease at most', async () => {
      const lease = 1500;
      let mode: 'open' | 'no answers' | 'closed' = 'open';
      // The real driver, except that with `no answers` the answers never come, while the messages do.
      const real = driverOf(setting.another());
      const driver: Driver = {
        cluster: false,
        async run(...call) {
          if (mode === 'closed') return new Promise(() => {});
          const reply = await real.run(...call);
          return mode === 'open' ? reply : new Promise(() => {});
        },
        listen: (channel, heard) => real.listen(channel, (message) => mode !== 'closed' && heard(message)),
        confirm: (...call) => real.confirm(...call),
        watch: (...how) => real.watch(...how),
        info: (...call) => real.info(...call),
        keepAlive: (alive) => real.keepAlive(alive),
        probe: () => {},
        reset: () => {},
        close: () => real.close(),
      };
      const mine = await Space.connect(driver, { space: 'late', lease });
      const yours = await setting.join({ space: 'late', lease });
      const [a, b] = [await mine.semaphore('db', 1), await yours.semaphore('db', 1)];
      const held = await b.holdAsync();
      const waiting = a.holdAsync();
      await until(async () => (await b.inspect())?.waiting === 1);
      // No answer comes for 0.85 of the lease. Then the space resumes its session. It hears messages, but no answer.
      mode = 'no answers';
      await until(async () => {
        const sessions = (await setting.another().hvals('tt:{late.0}:sessions')) as string[];
        return sessions.some((session) => !session.startsWith('0 '));
      });
      await held.release();
      const guard = await waiting;
      mode = 'closed';
      // The server takes the permit back when the lease has ended.
      const next = await b.holdAsync();
      expect(guard.held).toBe(false);
      await next.release();
      mode = 'open';
      void mine.close();
    }, 20_000);
  },
  'first',
);

onServers(
  'a dispose that is cut off',
  (setting) => {
    test('disposes of no later object of the name', async () => {
      const theirs = await setting.join({ space: 'disposed' });
      const made = async () => theirs.semaphore('db', 1, { ephemeral: true });
      let waiting: Promise<unknown> | undefined;
      // The real driver, except that the answer to the first K is lost with the connection.
      const real = driverOf(setting.another());
      const driver: Driver = {
        cluster: false,
        async run(...call) {
          const reply = await real.run(...call);
          if (call[2][3] === 'K' && waiting === undefined) {
            const next = await made();
            await next.holdAsync();
            waiting = next.holdAsync();
            waiting.catch(() => {});
            await until(async () => (await next.inspect())?.waiting === 1);
            real.reset();
            throw new Error('the connection is lost');
          }
          return reply;
        },
        listen: (...call) => real.listen(...call),
        confirm: (...call) => real.confirm(...call),
        watch: (...how) => real.watch(...how),
        info: (...call) => real.info(...call),
        keepAlive: (alive) => real.keepAlive(alive),
        probe: (...call) => real.probe(...call),
        reset: () => real.reset(),
        close: () => real.close(),
      };
      const space = await Space.connect(driver, { space: 'disposed' });
      const mine = await space.semaphore('db', 1, { ephemeral: true });
      const held = await mine.holdAsync();
      await mine.dispose();
      expect(waiting).toBeDefined();
      expect(await (await made()).inspect()).toMatchObject({ free: 0, waiting: 1 });
      await held.release();
      await space.close();
    });
  },
  'first',
);

onServers(
  'unread',
  (setting) => {
    test('what a confirmation grants besides comes by message, since nobody reads its reply', async () => {
      const real = driverOf(setting.another());
      const beats: string[] = [];
      const driver: Driver = {
        cluster: false,
        run: (...call) => real.run(...call),
        listen: (channel, heard) => real.listen(channel, heard),
        confirm: (script, keys, args, ...how) => {
          beats.push(args[3] as string);
          return real.confirm(script, keys, args, ...how);
        },
        watch: (...how) => real.watch(...how),
        info: (...call) => real.info(...call),
        keepAlive: (alive) => real.keepAlive(alive),
        probe: (...call) => real.probe(...call),
        reset: () => real.reset(),
        close: () => real.close(),
      };
      const space = await Space.connect(driver, { space: 'unread', durability: { replicas: 1, timeout: 10 } });
      await expect((await space.semaphore('db', 1)).holdAsync()).rejects.toThrow('0 of 1');
      await space.close();
      expect(beats).toEqual(['W']);
    });

    /** A driver whose script runs, and whose replicas confirm, as `confirm` says. */
    function confirming(confirm: (real: Driver, ...call: Parameters<Driver['confirm']>) => Promise<number>) {
      const real = driverOf(setting.another());
      const reset = vi.fn((error?: Error) => real.reset(error));
      const driver: Driver = {
        cluster: false,
        run: (...call) => real.run(...call),
        listen: (channel, heard) => real.listen(channel, heard),
        confirm: (...call) => confirm(real, ...call),
        watch: (...how) => real.watch(...how),
        info: (...call) => real.info(...call),
        keepAlive: (alive) => real.keepAlive(alive),
        probe: (...call) => real.probe(...call),
        reset,
        close: () => real.close(),
      };
      return { driver, reset };
    }

    const answers: [string, (reply: string) => string][] = [
      ['has no such session', () => 'DEAD'],
      ['knows a later connection of the session', () => 'STALE'],
      ['has another history', (reply) => reply.replace(/\S+$/, '2.abc')],
    ];

    test.each(answers)('replicas of a server that %s confirm no grant', async (_, told) => {
      let isAstray = true;
      const { driver, reset } = confirming(async (real, script, keys, args, replicas, timeout, ran) => {
        await real.confirm(script, keys, args, 0, timeout, (reply) =>
          ran?.(isAstray ? [told((reply as string[])[0] as string)] : reply),
        );
        return replicas;
      });
      const space = await Space.connect(driver, { space: 'astray', durability: { replicas: 1, timeout: 10 } });
      const mutex = await space.mutex('m');
      await expect(mutex.holdAsync()).rejects.toMatchObject({ code: 'UNCONFIRMED' });
      expect(reset).toHaveBeenCalledTimes(1);
      isAstray = false;
      const held = await mutex.holdAsync();
      expect(held.held).toBe(true);
      await held.unlock();
      expect(reset).toHaveBeenCalledTimes(1);
      await space.close();
    });

    test('what is granted while replicas are asked is confirmed together', async () => {
      let asked = 0;
      const { driver } = confirming(async (real, script, keys, args, replicas, timeout, ran) => {
        asked++;
        await real.confirm(script, keys, args, 0, timeout, ran);
        return replicas;
      });
      const space = await Space.connect(driver, { space: 'together', durability: { replicas: 1, timeout: 10 } });
      const mutexes = await Promise.all(Array.from({ length: 20 }, (_, i) => space.mutex(`m${i}`)));
      const held = await Promise.all(mutexes.map((mutex) => mutex.holdAsync()));
      expect(held.every((guard) => guard.held)).toBe(true);
      expect(asked).toBeLessThanOrEqual(2);
      await space.close();
    });

    test('what is under way when the space is closed is told', async () => {
      const space = await setting.join();
      const mutex = await space.mutex('m');
      const looks = Array.from({ length: 3 }, () => mutex.inspect().then(String, String));
      await space.close();
      expect(await Promise.all(looks)).toHaveLength(3);
    });

    test('a writer that has stood still for too long becomes a reader that holds nothing', async () => {
      const space = await setting.join({ lease: 500 });
      const lock = await space.rwLock('rw');
      const writing = await lock.writeAsync();
      const end = performance.now() + 450;
      while (performance.now() < end);
      const reading = writing.downgrade();
      expect(reading.held).toBe(false);
      expect(reading.signal.aborted).toBe(true);
    });
  },
  'first',
);
