/** PgBouncer for tests, as it is installed, in front of a server of postgres.ts. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { otherUser, type PostgresServer } from './postgres.js';
import { endsWithThisProcess, freePort, temporaryDirectory } from './servers.js';

/** What to do where there is no PgBouncer. */
export const NO_PGBOUNCER = 'no PgBouncer in PATH or in /usr/sbin; on Debian: apt-get install pgbouncer';

/** The path of PgBouncer, if it is installed. */
export function findPgBouncer(): string | undefined {
  for (const path of ['pgbouncer', '/usr/sbin/pgbouncer']) {
    if (spawnSync(path, ['--version']).status === 0) return path;
  }
  return undefined;
}

/** Starts PgBouncer in front of a server. mode: when another client gets the connection of a client. */
export async function startPgBouncer(
  server: PostgresServer,
  mode: 'transaction' | 'session',
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const path = findPgBouncer();
  if (!path) throw new Error(NO_PGBOUNCER);
  const as = otherUser();
  const dir = temporaryDirectory();
  const port = await freePort();
  const users = join(dir, 'users');
  const lines = [
    '[databases]',
    `postgres = host=127.0.0.1 port=${server.port} user=postgres`,
    '[pgbouncer]',
    ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir =', 'auth_type = trust'],
    ...[`auth_file = ${users}`, `pool_mode = ${mode}`, 'ignore_startup_parameters = extra_float_digits'],
  ];
  writeFileSync(users, '"postgres" ""\n');
  writeFileSync(join(dir, 'pgbouncer.ini'), `${lines.join('\n')}\n`);
  if (as.uid !== undefined) chownSync(dir, as.uid, as.gid as number);
  const child = spawn(path, [join(dir, 'pgbouncer.ini')], { ...as, stdio: 'ignore' });
  endsWithThisProcess(child);
  child.unref();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`PgBouncer has ended with the status ${child.exitCode}`);
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    const isUp = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => {});
    if (isUp) break;
    await sleep(20);
  }
  return {
    url,
    async stop() {
      child.ref();
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}
