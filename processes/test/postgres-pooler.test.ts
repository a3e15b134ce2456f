/** A pooler between a process and PostgreSQL: it gives each transaction another backend, so nobody can listen there. */
import pg from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { findPgBouncer, NO_PGBOUNCER, startPgBouncer } from '../servers/pgbouncer.js';
import { proxy } from './postgres-proxy.js';
import { handOver, LONG_LEASE, onPostgres } from './postgres-setting.js';
import { until } from './setting.js';

onPostgres(
  'a pooler',
  (setting) => {
    const { connect } = setting;

    test('is noticed by the number of the backend, and the error says what to give', async () => {
      const way = await proxy(setting.server.port);
      way.backend = 12345;
      for (const client of [setting.another({ connectionString: way.url }), postgres(way.url)]) {
        // It is told at once, and not only when the time is over.
        const error = await connect(client).catch((error) => error);
        expect(error).toMatchObject({ code: 'POOLER', message: expect.stringContaining('{ listen: client }') });
        await connect(client, { listen: setting.another() });
        await connect(client, { listen: false });
      }
    });

    test('with listen: false the process looks for news while it waits', async () => {
      const way = await proxy(setting.server.port);
      // No beat comes during the test, except by a look.
      const lease = LONG_LEASE;
      const space = await connect(setting.another({ connectionString: way.url }), { listen: false, lease });
      const other = await setting.join({ lease });
      await handOver(space, other);
      expect(way.statements.filter((text) => /listen/.test(text))).toEqual([]);
      const seen = (): number => way.statements.filter((text) => text.includes('"B"')).length;
      const held = await (await other.mutex('x')).holdAsync();
      const waiting = (await space.mutex('x')).holdAsync();
      const before = seen();
      await until(() => seen() >= before + 6);
      await held.unlock();
      await (await waiting).unlock();
    });

    const described = findPgBouncer() ? describe : describe.skip;
    described.each(['transaction', 'session'] as const)(findPgBouncer() ? 'PgBouncer, %s' : NO_PGBOUNCER, (mode) => {
      let pooler: Awaited<ReturnType<typeof startPgBouncer>>;
      beforeAll(async () => {
        pooler = await startPgBouncer(setting.server, mode);
      });
      afterAll(() => pooler?.stop());

      test.each(['pg', 'postgres'])('%s: messages come by a direct client, or by looks', async (library) => {
        const make = () => {
          if (library === 'postgres') return postgres(pooler.url);
          const pool = new pg.Pool({ connectionString: pooler.url });
          onTestFinished(() => pool.end());
          return pool;
        };
        await expect(connect(make())).rejects.toMatchObject({ code: 'POOLER' });
        await handOver(await connect(make(), { listen: setting.another() }), await setting.join());
        await handOver(await connect(make(), { listen: false }), await connect(make(), { listen: false }));
        // In session mode a client keeps its backend, so it can listen.
        const own = make();
        if (mode === 'session') await handOver(await connect(own, { listen: own }), await setting.join());
      });
    });
  },
  'in CI',
);
