/**
 * However much work there is, a call of the script does a bounded part of it, and later calls do the rest. Each test
 * counts the commands that the longest call of the script runs.
 */
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CancelledError, DisposedError } from '../src/errors.js';
import { TURN } from '../src/script/turn-source.js';
import { Calls } from '../src/session/calls.js';
import { onServers, type Setting, until } from './setting.js';

const MANY = 1500;
/** The most commands of one call. A call has at most 320 arguments, and does at most 128 records or grants. */
const MOST = 1300;
const KEYS = ['meta', 'objects', 'queue', 'records', 'sessions', 'leases', 'seqs'];

onServers(
  'many',
  (setting: Setting) => {
    const { join, another, key } = setting;
    let monitor: Redis;
    let longest = 0;
    /** The most entries that one ZRANGE was asked for. */
    let widest = 0;

    beforeEach(async () => {
      longest = 0;
      widest = 0;
      let count = 0;
      monitor = await another().monitor();
      monitor.on('error', () => {});
      monitor.on('monitor', (_time: string, args: string[], source: string) => {
        count = source === 'lua' ? count + 1 : 0;
        longest = Math.max(longest, count);
        if (source === 'lua' && args[0]?.startsWith('ZRANGE')) widest = Math.max(widest, Number(args.at(-1)));
      });
    });
    afterEach(async () => {
      monitor.disconnect();
      expect(longest).toBeGreaterThan(100);
      expect(longest).toBeLessThan(MOST);
      expect(widest).toBeLessThanOrEqual(256);
    });
    const times = <T>(make: (i: number) => T, count = MANY): T[] => Array.from({ length: count }, (_, i) => make(i));

    test('waiters are cancelled, and who comes later is not', async () => {
      const [a, b] = [await join(), await join()];
      const [mine, theirs] = [await a.semaphore('db', 1), await b.semaphore('db', 1)];
      const held = await mine.holdAsync();
      const waiting = times(() => theirs.holdAsync());
      const failures = Promise.all(
        waiting.map((each) =>
          each.then(
            () => 'held',
            (error: unknown) => error,
          ),
        ),
      );
      await until(async () => (await mine.inspect(0))?.waiting === MANY);
      const cancelled = mine.cancelAll();
      // This request is of the process that cancels, so the server gets it after the cancellation.
      const later = mine.holdAsync();
      await cancelled;
      for (const error of await failures) expect(error).toBeInstanceOf(CancelledError);
      await held.release();
      await (await later).release();
    });

    test('a message of a cancellation is lost', async () => {
      const [a, b] = [await join(), await join()];
      const [mine, theirs] = [await a.semaphore('db', 1), await b.semaphore('db', 1)];
      const others = await a.semaphore('others', 2 * MANY);
      await Promise.all(times(() => others.holdAsync()));
      await mine.holdAsync();
      const failures = Promise.all(times(() => theirs.holdAsync().catch((error: unknown) => error)));
      await until(async () => (await mine.inspect(0))?.waiting === MANY);
      // These calls cancel in the name of the session, but their messages go to channels on which nobody listens.
      const { sessions } = await a.inspect();
      for (let more = ['L -']; more[0]?.[1]; )
        more = (await another().eval(
          ...([TURN.text, 7, ...KEYS.map(key), sessions[0]?.session ?? '', '0', 'nowhere:'] as const),
          ...['L', 'db', '-', more[0].slice(2)],
        )) as string[];
      expect((await mine.inspect(0))?.waiting).toBe(0);
      for (const error of await failures) expect(error).toBeInstanceOf(CancelledError);
    });

    test('an object is disposed of that many wait for', async () => {
      const [a, b] = [await join(), await join()];
      const [mine, theirs] = [await a.semaphore('db', 1), await b.semaphore('db', 1)];
      await mine.holdAsync();
      const failures = Promise.all(times(() => theirs.holdAsync().catch((error: unknown) => error)));
      await until(async () => (await mine.inspect(0))?.waiting === MANY);
      await mine.dispose();
      for (const error of await failures) expect(error).toBeInstanceOf(DisposedError);
      expect(await another().zcard(key('queue'))).toBe(0);
    });

    test('a writer gives way to readers, and a process with many requests is cut, and ends', async () => {
      const [a, b] = [await join(), await join()];
      const [mine, theirs] = [await a.rwLock('r'), await b.rwLock('r')];
      const writing = await mine.writeAsync();
      const reading = times(() => theirs.readAsync());
      await until(async () => (await mine.inspect(0))?.waiting === MANY);
      const resumed = new Promise<void>((resolve) => b.on('resumed', resolve));
      await another().call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await resumed;
      await writing.unlock();
      expect(new Set((await Promise.all(reading)).map(({ token }) => token)).size).toBe(MANY);
      const { holders = [], free } = (await mine.inspect(10_000)) ?? {};
      expect(holders).toHaveLength(MANY);
      expect(free).toBe(2 ** 20 - MANY);
      await b.close();
      expect((await mine.inspect())?.free).toBe(2 ** 20);
    });

    test('who held and waited much has died', async () => {
      const args = [
        'p0123456789abcde',
        '0',
        `${key('c')}:`,
        'O',
        '2',
        '1',
        '500',
        'dead',
        '-',
        '0',
        'N',
        'db',
        's',
        '9999',
        '0',
        '0',
        '0',
      ];
      await another().eval(TURN.text, 7, ...KEYS.map(key), ...args);
      const rids = times((i) => i.toString(16).padStart(10, '0'), 5000);
      while (rids.length > 0) {
        const asks = rids.splice(0, 100).flatMap((rid) => ['A', 'db', '-', rid, '00000002']);
        await another().eval(TURN.text, 7, ...KEYS.map(key), ...args.slice(0, 3), ...asks);
      }
      const space = await join({ lease: 500 });
      const db = await space.semaphore('db', 9999);
      await (await db.holdAsync(9999)).release();
      const state = await db.inspect();
      expect(state).toMatchObject({ free: 9999, waiting: 0 });
    });

    test('inspect looks no further when it has found what is out', async () => {
      const a = await join();
      const [pool, lock, other] = [await a.semaphore('pool', 2), await a.rwLock('rw'), await a.semaphore('db', MANY)];
      /** How many operations `look` takes, and its result. */
      const looks = async (look: () => Promise<unknown>): Promise<unknown[]> => {
        const operate = vi.spyOn(Calls.prototype, 'operate');
        const state = await look();
        const count = operate.mock.calls.length;
        operate.mockRestore();
        return [count, state];
      };
      // Its records come first, because they are the first of this process.
      const held = await pool.holdAsync();
      const reads = [await lock.readAsync(), await lock.readAsync()];
      await Promise.all(times(() => other.holdAsync()));
      expect(await looks(() => pool.inspect())).toMatchObject([1, { free: 1, holders: [{ permits: 1 }] }]);
      expect(await looks(() => lock.inspect())).toMatchObject([1, { holders: [{ permits: 1 }, { permits: 1 }] }]);
      expect(await looks(() => other.inspect(10_000))).toMatchObject([Math.ceil((MANY + 3) / 256), { free: 0 }]);
      await held.release();
      for (const each of reads) await each.unlock();
      expect(await looks(() => pool.inspect())).toMatchObject([1, { free: 2, holders: [] }]);
      expect(await looks(() => lock.inspect())).toMatchObject([1, { holders: [] }]);
    });

    test('inspect lists whoever waits and holds, in order', async () => {
      const [a, b] = [await join(), await join()];
      const other = await a.semaphore('other', MANY);
      const semaphore = await a.semaphore('db', MANY);
      const mutex = await b.mutex('m');
      await Promise.all(times(() => other.holdAsync()));
      const held = await mutex.holdAsync();
      await Promise.all(times(() => semaphore.holdAsync()));
      const end = new AbortController();
      const waiting = times(() => semaphore.holdAsync({ signal: end.signal }).catch(() => {}), 600);
      await until(async () => (await semaphore.inspect(0))?.waiting === 600);
      const state = await semaphore.inspect(MANY);
      expect(state?.holders).toHaveLength(MANY);
      const tokens = state?.queue.map(({ token }) => token) ?? [];
      expect(tokens).toHaveLength(600);
      expect(tokens).toEqual([...tokens].sort((x, y) => (x < y ? -1 : 1)));
      expect(new Set(tokens).size).toBe(600);
      expect((await semaphore.inspect(300))?.queue).toHaveLength(300);
      expect((await mutex.inspect())?.holders).toMatchObject([{ token: held.token }]);
      end.abort();
      await Promise.all(waiting);
    });
  },
  'first',
);
