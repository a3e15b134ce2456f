/** The face of the package: what a user finds who guesses, and what an object shows of itself. */
import { inspect } from 'node:util';
import { expect, test, vi } from 'vitest';
import { DisposedError } from '../src/errors.js';
import { Space } from '../src/space/space.js';
import { onServers, until } from './setting.js';

onServers(
  'the face',
  ({ join, another, end }) => {
    test('a guess that is wrong is an error, and takes nothing', async () => {
      const space = await join();
      const pool = (await space.semaphore('db', 2)) as never as Record<string, (...args: unknown[]) => unknown>;
      const mutex = (await space.mutex('m')) as never as Record<string, (...args: unknown[]) => unknown>;
      const lock = (await space.rwLock('r')) as never as Record<string, (...args: unknown[]) => unknown>;
      for (const name of ['acquire', 'acquireAsync', 'tryAcquire', 'release', 'hold', 'try', 'run', 'wait']) {
        expect(pool[name]).toBeUndefined();
      }
      for (const name of ['acquire', 'lock', 'lockAsync', 'unlock', 'release']) expect(mutex[name]).toBeUndefined();
      for (const name of ['acquire', 'hold', 'runExclusive', 'unlock']) expect(lock[name]).toBeUndefined();

      const signal = AbortSignal.timeout(1);
      await expect(pool.holdAsync?.(signal)).rejects.toThrow(
        'Semaphore.holdAsync: options must be of { timeout, signal }, got an object (AbortSignal)',
      );
      await expect(mutex.holdAsync?.(signal)).rejects.toThrow('got an object (AbortSignal)');
      await expect(mutex.holdAsync?.(500)).rejects.toThrow(
        'Mutex.holdAsync: options must be of { timeout, signal }, got 500',
      );
      await expect(mutex.holdAsync?.({ timeout: null })).rejects.toThrow('Mutex.holdAsync: timeout must be from 0');
      await expect(pool.holdAsync?.({ permits: 2 })).rejects.toThrow(
        'options must be of { timeout, signal }, got "permits"',
      );
      for (const tried of [
        pool.tryHold?.(1, { timeout: 5 }),
        mutex.tryHold?.({ timeout: 5 }),
        lock.tryRead?.({}),
        lock.tryWrite?.({}),
      ]) {
        await expect(tried).rejects.toThrow(/^\w+\.try\w+ succeeds at once or not at all: it takes no options/);
      }
      await expect(pool.runExclusive?.(1, () => {})).rejects.toThrow('run must be a function, got 1');
      await expect(pool.inspect?.(-1)).rejects.toThrow('Semaphore.inspect: limit must be an integer from 0 to 10000');
      await expect(Space.connect(another(), { name: 'shop' } as never)).rejects.toThrow(
        'options must be of { space, lease, partitions, turn, label, connectTimeout, heartbeat, durability }, got "name"',
      );
      await expect(Space.connect(another(), 'shop' as never)).rejects.toThrow(
        'connectTimeout, heartbeat, durability }, got "shop"',
      );
      for (const name of ['lease', 'partitions', 'turn', 'connectTimeout']) {
        await expect(Space.connect(another(), { [name]: null })).rejects.toThrow(`${name} must be an integer from`);
      }
      for (const name of ['space', 'label']) {
        await expect(Space.connect(another(), { [name]: null })).rejects.toThrow(`${name} must be a string of 1 to`);
      }
      await expect(Space.connect('redis://localhost')).rejects.toThrow('Space.connect: client must be a client of');
      const make = Space as never as new (client: unknown) => Space;
      expect(() => new make(another())).toThrow(
        'a Space is made by await Space.local(options) or await Space.connect(client, options)',
      );
      for (const object of [pool, mutex, lock]) {
        const state = (await object.inspect?.()) as { max: number } | undefined;
        expect(state).toMatchObject({ free: state?.max, waiting: 0 });
      }
    });

    test('objects say what they are', async () => {
      const space = await join({ space: 'shop' });
      const pool = await space.semaphore('db', 4);
      const mutex = await space.mutex('m');
      const lock = await space.rwLock('r');
      expect([space, pool, mutex, lock].map(String)).toEqual([
        'Space("shop")',
        'Semaphore("db")',
        'Mutex("m")',
        'RwLock("r")',
      ]);
      expect(inspect([space, pool])).toBe('[ Space("shop"), Semaphore("db") ]');
      expect(Object.prototype.toString.call(pool)).toBe('[object Semaphore]');
      const held = await pool.holdAsync(3);
      const locked = await mutex.holdAsync();
      expect([held, locked].map((guard) => inspect(guard))).toEqual(['HeldPermits(3)', 'HeldLock(held)']);
      await held.release(1);
      expect(String(held)).toBe('HeldPermits(2)');
      await locked.unlock();
      expect(String(locked)).toBe('HeldLock(unlocked)');
      await space.close();
      expect(String(held)).toBe('HeldPermits(lost)');
    });

    test('a space is closed at the end of its scope', async () => {
      let space: Space;
      {
        await using scoped = await join();
        space = scoped;
      }
      await expect(space.mutex('m')).rejects.toThrow('the space has been closed');
    });

    test('what is disposed of stays so for its handles, and its name is free at once', async () => {
      const a = await join({ lease: 500 });
      const [session] = (await a.inspect()).sessions;
      const b = await join({ lease: 500 });
      const mine = await a.semaphore('x', 1);
      const disposing = mine.dispose();
      // The program does not await the disposal. The opening still comes after the disposal.
      const other = await a.semaphore('x', 2);
      await disposing;
      await expect(mine.holdAsync()).rejects.toThrow(DisposedError);
      await expect(mine.cancelAll()).rejects.toThrow('"x" has been disposed of');
      await (await other.holdAsync(2)).release();
      await other.dispose();
      expect(await mine.inspect()).toBeUndefined();
      // When a session has ended, the next session opens its objects anew, but not objects that were disposed of.
      await end(session?.session ?? '');
      await expect(other.holdAsync()).rejects.toThrow(DisposedError);
      const theirs = await b.semaphore('x', 3);
      expect(await theirs.inspect()).toMatchObject({ max: 3, free: 3 });
    });

    test('one signal for many requests is no leak', async () => {
      const warned = vi.fn();
      process.on('warning', warned);
      const space = await join();
      const pool = await space.semaphore('db', 1);
      const held = await pool.holdAsync();
      const controller = new AbortController();
      const { signal } = controller;
      const waits = Array.from({ length: 50 }, () => pool.holdAsync({ signal }).catch((error: unknown) => error));
      await until(async () => (await pool.inspect())?.waiting === 50);
      controller.abort('all');
      expect(new Set(await Promise.all(waits))).toEqual(new Set(['all']));
      await held.release();
      await new Promise((resolve) => setImmediate(resolve));
      expect(warned).not.toHaveBeenCalled();
      process.off('warning', warned);
      expect(await pool.inspect()).toMatchObject({ free: 1, waiting: 0 });
    });
  },
  'first',
);
