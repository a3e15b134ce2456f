/** How a space closes: what waits for the close, and what the close waits for. */
import { expect, test } from 'vitest';
import type { HeldLock, HeldPermits } from '../src/objects/hold.js';
import { onForms } from './forms.js';
import { onServers, until } from './setting.js';

const code = (promise: Promise<unknown>) =>
  promise.then(
    () => 'nothing',
    (error) => error.name,
  );

onForms(
  'close',
  ({ join }) => {
    test('with drain waits for functions that run, and lets nobody enter meanwhile', async () => {
      const space = await join();
      const [semaphore, mutex] = [await space.semaphore('s', 2), await space.mutex('m')];
      const theirs = await (await join()).semaphore('s', 2);
      let end = () => {};
      const running = new Promise<void>((resolve) => {
        end = resolve;
      });
      const runs = [
        semaphore.runExclusive(async ({ proof, signal }) => {
          await running;
          // The function holds its permits until it ends, and may ask the server whether it does.
          return !signal.aborted && semaphore.validate(proof);
        }),
        semaphore.limit(async () => {
          await running;
          return code(mutex.holdAsync());
        })(),
      ];
      await until(async () => (await semaphore.inspect())?.free === 0);
      const waiting = code(semaphore.holdAsync());
      await until(async () => (await semaphore.inspect())?.waiting === 1);
      const next = theirs.holdAsync(2);
      await until(async () => (await semaphore.inspect())?.waiting === 2);
      const order: string[] = [];
      const closing = Promise.all([space.close({ drain: true }), space.close({ drain: true })]);
      closing.then(() => order.push('closed'));
      const entered = next.then((held) => {
        order.push('entered');
        return held;
      });
      expect(await waiting).toBe('DisposedError');
      expect(await code(semaphore.tryHold())).toBe('DisposedError');
      expect(await code(space.mutex('new'))).toBe('DisposedError');
      expect(await semaphore.inspect()).toMatchObject({ free: 0, waiting: 1 });
      expect(order).toEqual([]);
      end();
      expect(await Promise.all(runs)).toEqual([true, 'DisposedError']);
      await closing;
      await (await entered).release();
      expect(await code(semaphore.inspect())).toBe('DisposedError');
    });

    test('with drain waits for a function that is about to begin', async () => {
      const space = await join();
      const [semaphore, mutex] = [await space.semaphore('s', 2), await space.mutex('m')];
      let closing: Promise<void> | undefined;
      // The function has its guard now, and has not begun.
      space.on('metric', ({ event }) => {
        if (event === 'hold') closing ??= space.close({ drain: true });
      });
      const isHeld = async ({ proof, signal }: HeldLock | HeldPermits): Promise<boolean> =>
        !signal.aborted && semaphore.validate(proof);
      expect(await semaphore.runExclusive(isHeld)).toBe(true);
      await closing;
      expect(await code(mutex.runExclusive(isHeld))).toBe('DisposedError');
    });

    test('calls no function whose guard is lost before the function begins', async () => {
      const space = await join();
      const mutex = await space.mutex('m');
      space.on('metric', ({ event }) => {
        if (event === 'hold') space.close();
      });
      let calls = 0;
      expect(await code(mutex.runExclusive(() => calls++))).toBe('LeaseLostError');
      expect(calls).toBe(0);
    });

    test('with drain waits for nothing where nothing runs, and ends with a close without it', async () => {
      const idle = await join();
      await idle.mutex('m');
      await idle.close({ drain: true });
      const space = await join();
      const mutex = await space.mutex('m');
      const run = code(
        mutex.runExclusive(({ signal }) => new Promise((lost) => signal.addEventListener('abort', lost))),
      );
      await until(async () => (await mutex.inspect())?.free === 0);
      const draining = space.close({ drain: true });
      await space.close();
      await draining;
      expect(await run).toBe('LeaseLostError');
      await expect(space.close({ drain: 1 } as never)).rejects.toThrow(
        'Space.close: drain must be true or false, got 1',
      );
      await expect(space.close({ dry: true } as never)).rejects.toThrow('options must be of { drain }, got "dry"');
    });
  },
  'first',
);

onServers(
  'close, on a server',
  (setting) => {
    test('a server that stands still holds it up for less than half of a long lease', async () => {
      const space = await setting.join({ lease: 600_000 });
      await (await space.mutex('m')).holdAsync();
      setting.server.pause();
      try {
        await space.close();
      } finally {
        setting.server.resume();
      }
    });
  },
  'first',
);
