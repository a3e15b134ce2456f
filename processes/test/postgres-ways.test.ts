/** The ways to PostgreSQL: TLS, passwords, a Unix socket, a thread that beats, and a replica that takes over. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type PostgresServer, startPostgres } from '../servers/postgres.js';
import { driverOf } from '../src/drivers/recognise.js';
import type { SpaceOptions } from '../src/options.js';
import { Space } from '../src/space/space.js';
import { Watched } from './drivers-suite.js';
import { proxy } from './postgres-proxy.js';
import { handOver, LONG_LEASE, onPostgres, PATIENT } from './postgres-setting.js';
import { busy, until } from './setting.js';

const LIBRARIES = ['Pool', 'Client', 'postgres'] as const;

/** Two processes join a space, hand a permit over, and leave. */
async function takeTurns(make: () => unknown, given: SpaceOptions = {}): Promise<void> {
  const options = { ...PATIENT, ...given };
  const [one, other] = [await Space.connect(make(), options), await Space.connect(make(), options)];
  await handOver(one, other);
  await Promise.all([one.close(), other.close()]);
}

/** A certificate for localhost, and its key. */
function certificate(): { cert: string; key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'taketurns-'));
  const [cert, key] = [join(folder, 'cert'), join(folder, 'key')];
  const line = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
  const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  execFileSync('openssl', [...line, ...names, '-keyout', key, '-out', cert], { stdio: 'pipe' });
  const made = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  rmSync(folder, { recursive: true });
  return made;
}

onPostgres(
  'the ways',
  (setting) => {
    const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
    const described = hasOpenssl ? describe : describe.skip;
    described(hasOpenssl ? 'TLS and a password' : 'no openssl in PATH', () => {
      let server: PostgresServer;
      let ca: string;
      beforeAll(async () => {
        const { cert, key } = certificate();
        ca = cert;
        const only =
          'local all postgres trust\nhostssl all shop 127.0.0.1/32 scram-sha-256\nhost all postgres all trust\n';
        const args = ['-c', 'ssl=on', '-c', 'ssl_cert_file=tls.crt', '-c', 'ssl_key_file=tls.key'];
        server = await startPostgres({ args, files: { 'tls.crt': cert, 'tls.key': key, 'pg_hba.conf': only } });
        await server.query("create role shop login password 'se''cret'; grant create on database postgres to shop");
      });
      afterAll(() => server?.kill());

      test.each(LIBRARIES)('%s', async (library) => {
        const make = (password: string, ssl: unknown) => {
          const address = { host: 'localhost', port: server.port, user: 'shop', password, database: 'postgres', ssl };
          if (library === 'postgres') return postgres({ ...address, max: 1 } as never);
          return library === 'Pool' ? new pg.Pool(address as never) : new pg.Client(address as never);
        };
        await takeTurns(() => make("se'cret", { ca }), { createSchema: true });
        await expect(takeTurns(() => make('wrong', { ca }))).rejects.toMatchObject({ code: 'WRONGPASS' });
        await expect(takeTurns(() => make("se'cret", false))).rejects.toMatchObject({ code: 'WRONGPASS' });
        // Nobody has signed the certificate.
        const strange = takeTurns(() => make("se'cret", { rejectUnauthorized: true }), { connectTimeout: 500 });
        await expect(strange).rejects.toMatchObject({
          code: 'UNREACHABLE',
          message: expect.stringContaining('self-signed'),
        });
      });
    });

    test.each(LIBRARIES)('a Unix socket, by %s', async (library) => {
      const [host, { port }] = [dirname(setting.server.dir), setting.server];
      const address = { port, user: 'postgres', database: 'postgres' };
      await takeTurns(
        () => {
          if (library === 'postgres') return postgres({ ...address, path: `${host}/.s.PGSQL.${port}` });
          return library === 'Pool' ? new pg.Pool({ host, ...address }) : new pg.Client({ host, ...address });
        },
        { space: setting.space },
      );
    });

    test('several addresses: postgres takes the next one', async () => {
      const ports = [1, setting.server.port];
      await takeTurns(() => postgres({ host: ['127.0.0.1', '127.0.0.1'], port: ports, user: 'postgres' } as never));
    });

    test('several addresses: the error of each is told', async () => {
      const client = postgres({ host: ['127.0.0.1', '127.0.0.1'], port: [1, 1], user: 'postgres' } as never);
      await expect(Space.connect(client, { connectTimeout: 500 })).rejects.toThrow('ECONNREFUSED');
    });

    test('an address that does not answer does not keep the process alive', async () => {
      const reaching = new net.Socket();
      const connect = vi.spyOn(net, 'connect').mockReturnValue(reaching);
      syncBuiltinESMExports();
      onTestFinished(() => {
        connect.mockRestore();
        syncBuiltinESMExports();
      });
      const unref = vi.spyOn(reaching, 'unref');
      const connecting = Space.connect(postgres(setting.server.url), { connectTimeout: 300 });
      await expect(connecting).rejects.toMatchObject({ code: 'UNREACHABLE' });
      expect(unref).toHaveBeenCalled();
      await until(() => reaching.destroyed);
    });

    test('a thread that beats keeps the lease of a process that computes', async () => {
      const { Space: Built } = (await import('../dist/module/index.js' as string)) as typeof import('../src/index.js');
      const folder = mkdtempSync(join(tmpdir(), 'taketurns-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const file = join(folder, 'client.mjs');
      const module = import.meta.resolve('pg');
      writeFileSync(
        file,
        `import pg from '${module}';\nexport default () => new pg.Pool({ connectionString: '${setting.server.url}' });\n`,
      );
      const options = { space: setting.space, lease: 500, durable: false, ...PATIENT };
      const [one, other] = [
        await Built.connect(setting.another(), { ...options, heartbeat: file }),
        await Built.connect(setting.another(), options),
      ];
      const held = await (await one.mutex('x')).holdAsync();
      for (let times = 0; times < 4; times++) {
        busy(400);
        await other.inspect();
      }
      expect(held.signal.aborted).toBe(false);
      await held.unlock();
      await Promise.all([one.close(), other.close()]);
    });

    test('a replica takes over: who holds keeps it, who waits is served, and tokens rise', async () => {
      const primary = await startPostgres();
      const replica = await startPostgres({ of: primary });
      onTestFinished(async () => {
        await replica.kill();
        await primary.kill();
      });
      const way = await proxy(primary.port);
      const join = (createSchema = false) =>
        Space.connect(setting.another({ connectionString: way.url }), { createSchema, lease: LONG_LEASE, ...PATIENT });
      const [one, other] = [await join(true), await join()];
      let failovers = 0;
      one.on('failover', () => failovers++);
      const [mine, yours] = [await one.mutex('x'), await other.mutex('x')];
      const held = await mine.holdAsync();
      const waiting = yours.holdAsync();
      await until(async () => (await mine.inspect())?.waiting === 1);
      const [last] = await primary.query('select pg_current_wal_lsn()::text as at');
      const reached = `select pg_last_wal_replay_lsn() >= '${last?.at}' as reached`;
      await until(async () => (await replica.query(reached))[0]?.reached);
      // A replica that is not promoted yet is no place for calls: the driver is never up there, and comes less and less.
      const watched = new Watched(driverOf(setting.another({ connectionString: replica.url })));
      await until(() => watched.downs.length > 2);
      expect(watched.ups).toBe(0);
      await watched.driver.close();
      way.lead(replica.port);
      const troubles: string[] = [];
      one.on('trouble', ({ message }) => troubles.push(message));
      way.cut();
      await until(() => troubles.some((message) => message.startsWith('READONLY')));
      await primary.kill();
      await replica.query('select pg_promote()');
      await until(async () => (await mine.inspect())?.waiting === 1);
      expect(held.signal.aborted).toBe(false);
      await held.unlock();
      const next = await waiting;
      expect(next.token).toBeGreaterThan(held.token);
      await next.unlock();
      await until(() => failovers > 0);
      await Promise.all([one.close(), other.close()]);
    });
  },
  'in CI',
);
