/** A server that is far away, opens connections slowly, or stands still: what works is kept, and nothing is given up. */
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { expect, onTestFinished, test } from 'vitest';
import { Line } from '../chaos/line.js';
import { TURN } from '../src/script/turn-source.js';
import { keysOf } from '../src/script/wire.js';
import { Space } from '../src/space/space.js';
import { onServers, until } from './setting.js';

const CLIENTS: [string, (port: number) => unknown][] = [
  ['ioredis', (port) => new Redis(port, '127.0.0.1', { lazyConnect: true })],
  ['node-redis', (port) => createClient({ socket: { port, host: '127.0.0.1' } })],
];

onServers(
  'a server that is far away or slow',
  (setting) => {
    async function line(roundTrip = 0): Promise<Line> {
      const made = await Line.start(setting.server.port, roundTrip);
      onTestFinished(() => made.stop());
      return made;
    }

    async function connect(...how: Parameters<typeof Space.connect>): Promise<Space> {
      const space = await Space.connect(...how);
      onTestFinished(() => space.close());
      return space;
    }

    test.each(CLIENTS)(
      '%s: a round trip of a third of the lease is borne, and no connection given up',
      async (name, client) => {
        const far = await line(900);
        const space = await connect(client(far.port), { space: `far ${name}`, lease: 3000, connectTimeout: 600_000 });
        const connections = far.all.filter(({ isLeft }) => !isLeft);
        const held = await (await space.mutex('m')).holdAsync();
        // Some leases later.
        const beats = async () => Number(await setting.another().hget(`tt:{far ${name}.0}:meta`, 'ticket'));
        const first = await beats();
        await until(async () => (await beats()) > first + 15);
        expect(held.held).toBe(true);
        expect(connections.filter(({ isLeft }) => isLeft)).toEqual([]);
      },
    );

    /** Plays a process that makes the mutex `m`, holds it, and has died a lease ago. */
    async function dead(space: string, lease: number): Promise<void> {
      const { keys, channel } = keysOf(space, 0);
      const enters = ['O', '2', '1', String(lease), 'dead', '-', '0'];
      const holds = ['N', 'm', 'm', '1', '0', '0', '0', 'A', 'm', '-', '0000000001', '00000001'];
      const client = setting.another();
      await client.eval(TURN.text, keys.length, ...keys, 'p000000000000001', '0', channel, ...enters, ...holds);
      await client.hset(keys[0] as string, 'since', 1);
    }

    test.each([150, 240, 330])(
      'whoever must watch comes in also if a round trip takes %i thousandths of the lease',
      async (roundTrip) => {
        const far = await line(roundTrip);
        const name = `watched ${roundTrip}`;
        await dead(name, 1000);
        const client = new Redis(far.port, '127.0.0.1', { lazyConnect: true });
        const space = await connect(client, { space: name, lease: 1000, connectTimeout: 10_000 });
        await (await space.mutex('m', { bypass: 0 })).runExclusive(() => {});
      },
    );

    test('close gives much back, however many round trips this takes', async () => {
      const far = await line(300);
      const options = { space: 'much', lease: 3_600_000, connectTimeout: 600_000 };
      const space = await Space.connect(new Redis(far.port, '127.0.0.1', { lazyConnect: true }), options);
      const semaphore = await space.semaphore('s', 1000);
      await Promise.all(Array.from({ length: 1000 }, () => semaphore.holdAsync()));
      // One call takes back at most 128 of them, and all of these calls take longer than `close` waits for one answer.
      await space.close();
      const other = await connect(setting.another(), options);
      expect(await (await other.semaphore('s', 1000)).inspect()).toMatchObject({ free: 1000 });
    });

    test('connect ends also if the process watches again and again', async () => {
      const far = await line();
      await dead('in vain', 1000);
      const client = new Redis(far.port, '127.0.0.1', { lazyConnect: true });
      // Each answer is of another history, so nothing that the process has watched ever counts.
      const other = setting.another();
      const [meta = ''] = keysOf('in vain', 0).keys;
      const changing = setInterval(() => void other.hincrby(meta, 'epoch', 1).catch(() => {}), 20);
      onTestFinished(() => clearInterval(changing));
      const connecting = Space.connect(client, { space: 'in vain', lease: 1000, connectTimeout: 500 });
      await expect(connecting).rejects.toMatchObject({ code: 'UNREACHABLE' });
    });

    test('if the lease is too short for the round trip, connect says which lease is long enough', async () => {
      const far = await line(400);
      const client = new Redis(far.port, '127.0.0.1', { lazyConnect: true });
      const options = { space: 'short', lease: 500, connectTimeout: 6000 };
      const error = await Space.connect(client, options).catch((error: unknown) => error);
      expect(error).toMatchObject({ code: 'UNREACHABLE' });
      const [, lease] = /the server answers, but .* give a lease of (\d+) ms/.exec((error as Error).message) ?? [];
      const space = await connect(client, { ...options, lease: Number(lease), connectTimeout: 600_000 });
      await (await space.mutex('m')).runExclusive(() => {});
    });

    test('if connectTimeout is too short for the round trip, connect says which is long enough', async () => {
      const far = await line(400);
      const client = new Redis(far.port, '127.0.0.1', { lazyConnect: true });
      const error = await Space.connect(client, { space: 'late', connectTimeout: 1500 }).catch(
        (error: unknown) => error,
      );
      expect(error).toMatchObject({ code: 'UNREACHABLE' });
      const [, ms] = /several are needed; give a connectTimeout of (\d+) ms/.exec((error as Error).message) ?? [];
      await connect(client, { space: 'late', connectTimeout: Number(ms) });
    });

    test.each(CLIENTS)(
      '%s: a connection that is not opened in time is given up before the lease is lost',
      async (name, client) => {
        const far = await line();
        const space = await connect(client(far.port), { space: `mute ${name}`, lease: 8000 });
        const held = await (await space.mutex('m')).holdAsync();
        const resumed = new Promise<void>((heard) => space.on('resumed', heard));
        const { length } = far.all;
        far.mute();
        far.cut();
        // The proxy has accepted these, and nothing else comes.
        await until(() => far.all.slice(length).some(({ isLeft }) => isLeft));
        expect(held.held).toBe(true);
        far.carry();
        await resumed;
        expect(held.held).toBe(true);
      },
    );

    test.each(CLIENTS)(
      '%s: a server that stands still keeps its connections, and is asked for one more',
      async (name, client) => {
        const far = await line();
        const space = await connect(client(far.port), { space: `still ${name}`, lease: 4000 });
        let resumed = 0;
        space.on('resumed', () => resumed++);
        const troubles: unknown[] = [];
        space.on('trouble', (error) => troubles.push((error as Error).message));
        const mutex = await space.mutex('m');
        const held = await mutex.holdAsync();
        setting.server.pause();
        try {
          await until(() => far.all.length > 2);
        } finally {
          setting.server.resume();
        }
        expect(await mutex.validate(held.proof)).toBe(true);
        expect(troubles).toEqual(['the server does not answer']);
        expect(resumed).toBe(0);
        expect(far.all.slice(0, 2).map(({ isLeft }) => isLeft)).toEqual([false, false]);
        // When the connections have answered, the other one is not needed.
        await until(() => far.all.slice(2).every(({ client }) => client.destroyed));
      },
    );
  },
  'first',
);
