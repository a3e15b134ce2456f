/** What the pages of PostgreSQL say: their programs run as they stand, and each row of the guide is two programs. */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type pg from 'pg';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { guide, outcome, waits } from '../../test/guides/rows.js';
import { proxy } from './postgres-proxy.js';
import { onPostgres } from './postgres-setting.js';
import { until } from './setting.js';

const pageOf = (name: string): string => readFileSync(new URL(`../docs/${name}`, import.meta.url), 'utf8');

onPostgres('pages', (setting) => {
  test.each([
    ['postgresql.md', /^alone, turn \d+\n$/],
    ['from-advisory-locks.md', /^alone\nalone bigint\n$/],
  ])('the programs of %s run as they stand, with the rights that the first page gives', async (name, says) => {
    await setting.server.query('create role shop login');
    onTestFinished(async () => {
      await setting.server.query('drop owned by shop; drop role shop');
    });
    for (const [statement] of pageOf('postgresql.md').matchAll(/(?<=^ {4})GRANT .*;$/gm))
      await setting.server.query(statement);
    const DATABASE_URL = setting.server.url.replace('postgres@', 'shop@');
    const file = new URL('zz-page.mjs', import.meta.url);
    onTestFinished(() => rmSync(file));
    let output = '';
    for (const [, program = ''] of pageOf(name).matchAll(/^```js\n(.*?)^```$/gms)) {
      writeFileSync(file, program);
      const ran = await promisify(execFile)(process.execPath, [file.pathname], {
        env: { ...process.env, DATABASE_URL },
      });
      expect(ran.stderr).toBe('');
      output += ran.stdout;
    }
    expect(output).toMatch(says);
  });
});

onPostgres(
  'the guide',
  (setting) => {
    const { join, connect, another } = setting;
    let clients: pg.PoolClient[] = [];
    afterEach(() => {
      for (const client of clients) client.release(true);
      clients = [];
    });
    /** A connection, as each advisory lock needs one. */
    async function connection(): Promise<pg.PoolClient> {
      const client = await another().connect();
      client.on('error', () => {}); // one of them is ended
      clients.push(client);
      return client;
    }
    let key = 0;
    /** Runs a function of advisory locks. */
    async function advisory(client: pg.PoolClient, name: string, of = key): Promise<unknown> {
      const { rows } = await client.query({ text: `select pg_${name}(${of})`, rowMode: 'array' });
      return rows[0]?.[0];
    }
    async function two(): Promise<[pg.PoolClient, pg.PoolClient]> {
      key++;
      return [await connection(), await connection()];
    }

    guide('from-advisory-locks.md', {
      '`pg_advisory_lock(key)`': [
        async () => {
          const [one, other] = await two();
          await advisory(one, 'advisory_lock');
          return waits(advisory(other, 'advisory_lock').catch(() => {}));
        },
        async () => {
          const [one, other] = [await join(), await join()];
          await (await one.mutex('key')).holdAsync();
          const waiting = (await other.mutex('key')).holdAsync();
          waiting.catch(() => {});
          return waits(waiting);
        },
        'waits',
      ],
      '`pg_try_advisory_lock(key)`': [
        async () => {
          const [one, other] = await two();
          await advisory(one, 'advisory_lock');
          return advisory(other, 'try_advisory_lock');
        },
        async () => {
          const [one, other] = [await join(), await join()];
          await (await one.mutex('key')).holdAsync();
          return (await (await other.mutex('key')).tryHold()) !== undefined;
        },
        false,
      ],
      '`pg_advisory_unlock(key)`': [
        async () => {
          const [one, other] = await two();
          await advisory(one, 'advisory_lock');
          await advisory(one, 'advisory_unlock');
          return advisory(other, 'try_advisory_lock');
        },
        async () => {
          const [one, other] = [await join(), await join()];
          const held = await (await one.mutex('key')).holdAsync();
          await held.unlock();
          return (await (await other.mutex('key')).tryHold())?.held;
        },
        true,
      ],
      '`pg_advisory_lock_shared(key)`': [
        async () => {
          const [one, other] = await two();
          await advisory(one, 'advisory_lock_shared');
          return [await advisory(other, 'try_advisory_lock_shared'), await advisory(other, 'try_advisory_lock')];
        },
        async () => {
          const [one, other] = [await join(), await join()];
          await (await one.rwLock('key')).readAsync();
          const lock = await other.rwLock('key');
          return [(await lock.tryRead()) !== undefined, (await lock.tryWrite()) !== undefined];
        },
        [true, false],
      ],
      '`pg_advisory_xact_lock(key)`': null,
      '`lock_timeout`': [
        async () => {
          const [one, other] = await two();
          await advisory(one, 'advisory_lock');
          await other.query('set lock_timeout = 10');
          return outcome(() => advisory(other, 'advisory_lock'));
        },
        async () => {
          const [one, other] = [await join(), await join()];
          await (await one.mutex('key')).holdAsync();
          const mutex = await other.mutex('key');
          return outcome(() => mutex.holdAsync({ timeout: 10 }));
        },
        'refused: error',
        'refused: TimeoutError',
      ],
      'a session takes a lock that it has already': [
        async () => {
          const [one] = await two();
          await advisory(one, 'advisory_lock');
          return advisory(one, 'try_advisory_lock');
        },
        async () => {
          const mutex = await (await join()).mutex('key');
          await mutex.holdAsync();
          return (await mutex.tryHold()) !== undefined;
        },
        true,
        false,
      ],
      '`deadlock detected`': [
        async () => {
          const [one, other] = await two();
          const [a, b] = [key, ++key];
          await advisory(one, 'advisory_lock', a);
          await advisory(other, 'advisory_lock', b);
          // The one that is told of the deadlock still has its first lock.
          const asked = [
            [one, b],
            [other, a],
          ] as const;
          const both = await Promise.allSettled(
            asked.map(([client, of]) =>
              advisory(client, 'advisory_lock', of).catch(async (error) => {
                await client.query('select pg_advisory_unlock_all()');
                throw error;
              }),
            ),
          );
          return both.map(({ status }) => status).sort();
        },
        async () => {
          const held = [];
          for (const space of [await join(), await join()]) {
            const [a, b] = [await space.mutex('a'), await space.mutex('b')];
            held.push(space.holdAll(held.length === 0 ? [a, b] : [b, a]).then((both) => both.release()));
          }
          return (await Promise.allSettled(held)).map(({ status }) => status);
        },
        ['fulfilled', 'rejected'],
        ['fulfilled', 'fulfilled'],
      ],
      'each waiter occupies a connection': [
        async () => {
          const [one, other] = await two();
          const third = await connection();
          await advisory(one, 'advisory_lock');
          for (const client of [other, third]) advisory(client, 'advisory_lock').catch(() => {});
          const all = "select count(distinct pid)::int as all from pg_locks where locktype = 'advisory'";
          await until(async () => (await one.query(`${all} and not granted`)).rows[0].all === 2);
          return (await one.query(all)).rows[0].all;
        },
        async () => {
          const way = await proxy(setting.server.port);
          const mutex = await (await connect(another({ connectionString: way.url }))).mutex('key');
          for (let count = 0; count < 3; count++) mutex.holdAsync().catch(() => {});
          await until(async () => (await mutex.inspect())?.waiting === 2);
          return way.opened;
        },
        3,
        2,
      ],
      'a lock ends with its connection': [
        async () => {
          const [one, other] = await two();
          await advisory(one, 'advisory_lock');
          const { rows } = await one.query('select pg_backend_pid() as pid');
          await setting.server.query(`select pg_terminate_backend(${rows[0].pid})`);
          await advisory(other, 'advisory_lock');
          return 'free';
        },
        async () => {
          const way = await proxy(setting.server.port);
          const [one, other] = [await connect(another({ connectionString: way.url })), await join()];
          const held = await (await one.mutex('key')).holdAsync();
          way.cut();
          const waiting = (await other.mutex('key')).holdAsync();
          await one.inspect(); // it is connected again
          const isHeld = held.held && (await waits(waiting)) === 'waits';
          await one.close();
          await waiting;
          return isHeld ? 'held' : 'free';
        },
        'free',
        'held',
      ],
    });
  },
  'in CI',
);
