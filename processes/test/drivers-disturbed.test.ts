/**
 * Each driver, while the server forgets the script and cuts connections all the time. The server runs the calls in the
 * order in which they were made, and runs none twice. Every call is answered or rejected, and each answer belongs to
 * its call.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../servers/servers.ts';
import { driverOf } from '../src/drivers/recognise.ts';
import { libraries } from './clients.ts';
import { onEachServer } from './each-server.ts';

const text = "redis.call('RPUSH', KEYS[1], ARGV[1]) return ARGV[1]";
const PUSH = { text, sha: createHash('sha1').update(text).digest('hex') };

onEachServer((binary) => {
  test.each(libraries)('$name', async (library) => {
    const server = await startServer({ server: binary });
    const disturber = await library.connect(server.port);
    onTestFinished(async () => {
      disturber.close();
      await server.kill();
    });
    const programs = await Promise.all(
      ['a', 'b', 'c'].map(async (key) => {
        const user = await library.connect(server.port);
        const driver = driverOf(user.client);
        const program = { key, driver, standing: false, ups: 0, numbers: 0, answered: new Set<string>() };
        driver.watch({
          up: () => {
            program.standing = true;
            program.ups++;
          },
          down: () => {
            program.standing = false;
          },
        });
        onTestFinished(async () => {
          await driver.close();
          user.close();
        });
        return program;
      }),
    );
    const allUp = () => expect.poll(() => programs.every(({ standing }) => standing), { timeout: 20_000 }).toBe(true);
    await allUp();

    const calls: Promise<unknown>[] = [];
    for (let round = 0; round < 300; round++) {
      if (round % 3 === 0) disturber.send('SCRIPT', 'FLUSH').catch(() => undefined);
      if (round % 40 === 20) disturber.send('CLIENT', 'KILL', 'TYPE', 'normal').catch(() => undefined);
      if (round % 40 === 0) disturber.send('CLIENT', 'KILL', 'TYPE', 'pubsub').catch(() => undefined);
      if (round % 40 === 0) await allUp();
      for (const program of programs) {
        for (let i = 0; i < 3; i++) {
          const value = `${++program.numbers}`;
          const answered = (reply: unknown) => {
            expect(reply).toBe(value);
            program.answered.add(value);
          };
          calls.push(program.driver.run(PUSH, [program.key], [value]).then(answered, () => undefined));
        }
      }
      await sleep(0);
    }
    await Promise.all(calls);
    await allUp();
    for (const { key, answered, ups } of programs) {
      expect(ups).toBeGreaterThan(1);
      expect(answered.size).toBeGreaterThan(0);
      const list = ((await server.send('LRANGE', key, 0, -1)) as string[]).map(Number);
      expect(list).toEqual([...new Set(list)].sort((one, other) => one - other));
      expect(list).toEqual(expect.arrayContaining([...answered].map(Number)));
    }
  });
});
