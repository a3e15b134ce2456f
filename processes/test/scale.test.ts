/** What many requests cost in commands and messages. `npm run scale -w processes` measures more, with more requests. */
import { expect, test } from 'vitest';
import { TimeoutError } from '../src/errors.js';
import { busy, onServers, until } from './setting.js';

onServers(
  'scale',
  (setting) => {
    const { join, another } = setting;

    async function calls(command: string): Promise<number> {
      const stats = await another().info('commandstats');
      return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
    }

    test('a thousand requests go in few calls, and so do a thousand time-outs that expire at once', async () => {
      const space = await join({ lease: 600_000 });
      const semaphore = await space.semaphore('db', 1);
      const held = await semaphore.holdAsync();
      const before = await calls('evalsha');
      const waits = Promise.allSettled(Array.from({ length: 1000 }, () => semaphore.holdAsync({ timeout: 3000 })));
      await until(async () => (await another().zcard(setting.key('queue'))) === 1000);
      const asked = await calls('evalsha');
      // A call has at most 320 arguments. A request takes five of them, and a time-out two.
      expect(asked - before).toBe(16);
      busy(3100);
      const outcomes = await waits;
      expect((await calls('evalsha')) - asked).toBe(7);
      for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: expect.any(TimeoutError) });
      expect(await semaphore.inspect()).toMatchObject({ waiting: 0, free: 0 });
      await held.release();
    });

    test.each([4, 64])('with %i waiters a hand-over is two commands and one message', async (count) => {
      const client = another();
      const spaces = await Promise.all(Array.from({ length: count }, () => join({ lease: 600_000 })));
      const semaphores = await Promise.all(spaces.map((space) => space.semaphore('db', 1)));
      const [first] = semaphores;
      const held = await first?.holdAsync();
      const rest = semaphores.slice(1).map((semaphore) => semaphore.holdAsync());
      await until(async () => (await client.zcard(setting.key('queue'))) === count - 1);
      const before = [await calls('evalsha'), await calls('publish')] as const;
      const rounds = 5;
      await held?.release();
      // Each process gives its permit back, and asks again behind the others.
      const turns = rest.map(async (wait, i) => {
        for (let round = 1, next = wait; ; round++) {
          await (await next).release();
          if (round === rounds) return;
          next = (semaphores[i + 1] as (typeof semaphores)[0]).holdAsync();
        }
      });
      await Promise.all(turns);
      const handOvers = rounds * (count - 1);
      // The first request of each process was made before `before`, and the first give-back is that of `held`.
      expect((await calls('evalsha')) - before[0]).toBe(2 * handOvers - (count - 1) + 1);
      const messages = (await calls('publish')) - before[1];
      // At the end fewer and fewer wait. So some requests are granted at once in their answers, without a message.
      expect(messages).toBeLessThanOrEqual(handOvers);
      expect(messages).toBeGreaterThan(handOvers - count);
    });
  },
  'first',
);
