/** No room: on the disk of the data, on that of the log, in the queue of notifications. Nothing is lost thereby. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { findPostgres, type PostgresServer, startPostgres } from '../servers/postgres.js';
import { Space } from '../src/space/space.js';
import { LONG_LEASE, onPostgres, PATIENT } from './postgres-setting.js';
import { sleep, until } from './setting.js';
import { NO_SMALL_DISK, type SmallDisk, smallDisk } from './small-disk.js';

/** Servers start, and one is killed: that takes long on a busy machine. */
const TIMEOUT = 240_000;

onPostgres(
  'no room',
  ({ another }) => {
    /** Two processes on a server of their own. */
    async function two(server: PostgresServer, lease: number): Promise<[Space, Space]> {
      const join = () =>
        Space.connect(another({ connectionString: server.url }), { createSchema: true, lease, ...PATIENT });
      const spaces: [Space, Space] = [await join(), await join()];
      onTestFinished(async () => {
        await Promise.all(spaces.map((space) => space.close()));
      });
      return spaces;
    }

    const described = NO_SMALL_DISK === undefined ? describe : describe.skip;
    described(NO_SMALL_DISK ?? 'on a disk', () => {
      async function serverOn(holds: 'data' | 'log', args: string[]): Promise<[PostgresServer, SmallDisk]> {
        const disk = await smallDisk(holds === 'data' ? 64 : 24);
        const server = await startPostgres({ disk: { ...disk, holds }, args });
        onTestFinished(async () => {
          await server.kill();
          await disk.stop();
        });
        return [server, disk];
      }

      test('of the data: a request fails with its class, what is held stays held, and later all goes on', {
        timeout: TIMEOUT,
      }, async () => {
        const [server, disk] = await serverOn('data', ['-c', 'autovacuum=off']);
        const lease = 6000;
        const [one, other] = await two(server, lease);
        const held = await (await one.mutex('kept')).holdAsync();
        const waiting = (await other.mutex('kept')).holdAsync();
        const semaphore = await one.semaphore('many', 1);
        const first = await semaphore.holdAsync();
        await disk.fill();
        // There is room in the pages of the tables for some requests.
        const asked: Promise<unknown>[] = [];
        const refused: unknown[] = [];
        while (refused.length === 0) {
          for (let i = 0; i < 100; i++) {
            const request = semaphore.holdAsync(1).then((next) => next.release());
            request.catch((error) => refused.push(error));
            asked.push(request);
          }
          await one.inspect().catch(() => {});
        }
        expect(refused[0]).toMatchObject({ code: 'OOM', message: expect.stringContaining('No space left on device') });
        await sleep(1.5 * lease);
        expect([held.signal.aborted, first.signal.aborted]).toEqual([false, false]);
        disk.free();
        await first.release();
        const done = await Promise.allSettled(asked);
        expect(done.filter(({ status }) => status === 'rejected').length).toBe(refused.length);
        await held.unlock();
        const next = await waiting;
        expect(next.token).toBeGreaterThan(held.token);
        await next.unlock();
        await until(async () => (await semaphore.inspect())?.free === 1);
        expect(await semaphore.inspect()).toMatchObject({ free: 1, waiting: 0 });
      });

      test('of the log: the server ends, and when it is there again, who holds holds and who waits is served', {
        timeout: TIMEOUT,
      }, async () => {
        const [server, disk] = await serverOn('log', ['-c', 'wal_keep_size=1GB']);
        const [one, other] = await two(server, LONG_LEASE);
        const troubles: string[] = [];
        one.on('trouble', ({ message }) => troubles.push(message));
        const mutex = await one.mutex('kept');
        const held = await mutex.holdAsync();
        const waiting = (await other.mutex('kept')).holdAsync();
        await until(async () => (await mutex.inspect())?.waiting === 1);
        await disk.fill();
        // The server keeps its log, so it soon needs one more file. It fails, begins again, and fails for good. A server
        // that is told to end while it begins again may never end.
        await until(async () => {
          await server.query("select pg_logical_emit_message(true, '', ''), pg_switch_wal()").catch(() => {});
          return server.hasEnded;
        });
        await until(() => troubles.length > 0);
        disk.free();
        await server.restart();
        expect(held.signal.aborted).toBe(false);
        await held.unlock();
        const next = await waiting;
        expect(next.token).toBeGreaterThan(held.token);
        await next.unlock();
        expect(await mutex.inspect()).toMatchObject({ free: 1, waiting: 0 });
      });
    });

    // Before PostgreSQL 17 the queue has 8 GB.
    const hasSmallQueue = Number.parseInt(findPostgres()?.version ?? '0', 10) >= 17;
    test.runIf(hasSmallQueue)(
      'in the queue of notifications of PostgreSQL 17, which somebody does not read',
      async () => {
        const server = await startPostgres({ args: ['-c', 'max_notify_queue_pages=64'] });
        onTestFinished(() => server.kill());
        const [one, other] = await two(server, 2000);
        const [mine, yours] = [await one.semaphore('x', 1), await other.semaphore('x', 1)];
        const held = await mine.holdAsync();
        const waiting = yours.holdAsync();
        await until(async () => (await mine.inspect())?.waiting === 1);
        const slow = await another({ connectionString: server.url }).connect();
        await slow.query('listen x; begin; select 1');
        const fill = "select pg_notify('y', i || repeat('y', 7900)) from generate_series(1, 100) i";
        await expect(server.query(fill)).rejects.toThrow('too many notifications');
        await held.release();
        await (await waiting).release();
        slow.release(true);
        const again = await mine.holdAsync();
        await again.release();
      },
    );
  },
  'in CI',
);
