/**
 * PostgreSQL for tests and experiments, as servers.ts is for Redis and Valkey: as it is installed, started on 127.0.0.1
 * with a free port, in a temporary directory of its own, and ended by its process id.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chownSync, constants, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { endsWithThisProcess, freePort, temporaryDirectory } from './servers.js';

/** Where PostgreSQL is installed. */
export interface Installed {
  readonly version: string;
  readonly folder: string;
}

export interface PostgresServer {
  readonly installed: Installed;
  /** The folder of its data. The folder above has its socket. */
  readonly dir: string;
  readonly port: number;
  /** Of the process that runs now, or ran last. */
  readonly pid: number;
  /** Whether the process has ended that ran last. */
  readonly hasEnded: boolean;
  readonly url: string;
  /** Runs statements over a connection of its own, as a superuser. Resolves to the rows of the last one. */
  query(text: string, database?: string): Promise<Record<string, unknown>[]>;
  /** Ends it as an administrator does (SIGINT). */
  stop(): Promise<void>;
  /** Ends it and all its backends at once (SIGKILL). */
  kill(): Promise<void>;
  /** Stops it and all its backends, and lets them go on. */
  pause(): void;
  resume(): void;
  /**
   * Ends it, and starts it again on the same port. immediate: it ends its backends and itself without a checkpoint
   * (SIGQUIT). kill: at once (SIGKILL).
   */
  restart(options?: { kill?: boolean; immediate?: boolean }): Promise<void>;
}

/** A folder that only some programs see, on a disk of its own. */
export interface Disk {
  readonly folder: string;
  /** The command that runs a program which sees the folder. */
  readonly by: readonly string[];
}

export interface PostgresOptions {
  /** Arguments of the command line besides, as `['-c', 'fsync=on']`. */
  readonly args?: readonly string[];
  /** The server whose replica it is, and from which it streams. */
  readonly of?: PostgresServer;
  /** A disk of its own for its data, or for the log that it writes ahead; the other one stays where it is. */
  readonly disk?: Disk & { readonly holds: 'data' | 'log' };
  /** Variables of its environment besides those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Files that it needs in its folder, by their names. Only its user may read them. */
  readonly files?: Readonly<Record<string, string>>;
}

/** What to do where there is no PostgreSQL. */
export const NO_POSTGRES =
  'no PostgreSQL in PATH or in /usr/lib/postgresql; on Debian: apt-get install postgresql (its server need not run)';

/** Finds PostgreSQL: the first in PATH, or else the newest where Debian has them. */
export function findPostgres(): Installed | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = listed(debian).toSorted((one, other) => Number(other) - Number(one));
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
  ];
  for (const folder of folders) {
    try {
      for (const name of ['postgres', 'initdb']) accessSync(join(folder, name), constants.X_OK);
    } catch {
      continue;
    }
    const said = spawnSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' }).stdout ?? '';
    const version = /(\d+(\.\d+)?)/.exec(said)?.[1];
    if (version) return { version, folder };
  }
  return undefined;
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** PostgreSQL refuses to run as root, so root runs it as another user. */
export function otherUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8');
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+)/m.exec(users) ?? /^nobody:[^:]*:(\d+):(\d+)/m.exec(users) ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** Starts a server, and waits until it answers. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const { args = [], of, disk, env = {}, files = {} } = options;
  const installed = findPostgres();
  if (!installed) throw new Error(NO_POSTGRES);
  const as = otherUser();
  const top = temporaryDirectory();
  if (as.uid !== undefined) chownSync(top, as.uid, as.gid as number);
  const dir = join(disk?.holds === 'data' ? disk.folder : top, 'data');
  const log = disk && ['--waldir', join(disk.holds === 'log' ? disk.folder : top, 'log'), '--wal-segsize', '1'];
  /** A program of PostgreSQL, as its user. */
  const program = (
    name: string,
  ): [command: string, line: string[], how: { cwd: string; uid?: number; gid?: number }] => {
    const path = join(installed.folder, name);
    if (!disk) return [path, [], { ...as, cwd: top }];
    const user =
      as.uid === undefined ? [] : ['setpriv', '--reuid', `${as.uid}`, '--regid', `${as.gid}`, '--clear-groups'];
    const [command = '', ...line] = [...disk.by, ...user, path];
    return [command, line, { cwd: top }];
  };
  const run = async (name: string, line: readonly string[]): Promise<void> => {
    const [command, first, how] = program(name);
    await promisify(execFile)(command, [...first, ...line], how);
  };
  const initdb = ['-D', dir, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync', ...(log ?? [])];
  const ofReplica = of && (await copyData(of, dir, as));
  if (!of) await run('initdb', initdb);
  for (const [name, text] of Object.entries({ ...ofReplica, ...files })) {
    const file = join(dir, name);
    writeFileSync(file, text, { mode: 0o600 });
    if (as.uid !== undefined) chownSync(file, as.uid, as.gid as number);
  }
  const port = await freePort();
  let child: ChildProcess;
  const launch = async (): Promise<void> => {
    const line = [
      ...['-D', dir, '-p', `${port}`, '-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${top}`],
      ...['-c', 'fsync=off', '-c', 'max_connections=300', '-c', 'shared_buffers=32MB', '-c', 'log_min_messages=fatal'],
      ...['-c', 'max_prepared_transactions=2'],
      ...args,
    ];
    const output: string[] = [];
    const [command, first, how] = program('postgres');
    const started = spawn(command, [...first, ...line], {
      ...how,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    endsWithThisProcess(started);
    for (const stream of [started.stdout, started.stderr]) {
      stream.on('data', (text) => {
        output.push(`${text}`);
        if (output.length > 100) output.shift();
      });
      (stream as unknown as { unref?(): void }).unref?.();
    }
    started.unref();
    for (;;) {
      if (hasEnded(started)) {
        throw new Error(`the server has ended: ${output.join('').trim().split('\n').slice(-3).join(' ')}`);
      }
      if (await query(port, 'select 1').catch(() => undefined)) return;
      await sleep(20);
    }
  };
  const backends = (): number[] => childrenOf(child.pid as number);
  const signal = (pids: readonly number[], name: NodeJS.Signals): void => {
    for (const pid of pids) {
      try {
        process.kill(pid, name);
      } catch {
        // It has ended.
      }
    }
  };
  const end = async (name: NodeJS.Signals): Promise<void> => {
    const ended = child;
    if (hasEnded(ended)) return;
    ended.ref();
    const exit = once(ended, 'exit');
    const own = backends();
    ended.kill(name);
    if (name === 'SIGKILL') signal(own, name);
    // A process that is stopped handles no signal but SIGKILL until it goes on.
    signal([ended.pid as number, ...own], 'SIGCONT');
    await exit;
    // The next server waits for the memory that they share.
    while (own.some(isAlive)) await sleep(5);
  };
  await launch();
  return {
    installed,
    dir,
    port,
    get pid() {
      return child.pid as number;
    },
    get hasEnded() {
      return hasEnded(child);
    },
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    query: (text, database) => query(port, text, database),
    async stop() {
      await end('SIGINT');
      rmSync(top, { recursive: true, force: true });
    },
    async kill() {
      await end('SIGKILL');
      rmSync(top, { recursive: true, force: true });
    },
    pause: () => signal([child.pid as number, ...backends()], 'SIGSTOP'),
    resume: () => signal([...backends(), child.pid as number], 'SIGCONT'),
    async restart({ kill = false, immediate = false } = {}) {
      await end(kill ? 'SIGKILL' : immediate ? 'SIGQUIT' : 'SIGINT');
      await launch();
    },
  };
}

/**
 * Copies the data of a server that runs, as pg_basebackup does, which not each package of PostgreSQL has. Returns the
 * files that make the copy a replica of this server.
 */
async function copyData(
  of: PostgresServer,
  dir: string,
  as: ReturnType<typeof otherUser>,
): Promise<Record<string, string>> {
  const isOld = Number.parseInt(of.installed.version, 10) < 15;
  const client = new pg.Client(of.url);
  // Without a listener, an error that comes between two queries would end the process. The next query fails anyway.
  client.on('error', () => {});
  await client.connect();
  await client.query(isOld ? "select pg_start_backup('copy', true, false)" : "select pg_backup_start('copy', true)");
  // A file that vanishes meanwhile is not needed.
  await promisify(execFile)('cp', ['-a', of.dir, dir], as).catch(() => {});
  const stop = isOld ? 'pg_stop_backup(false, false)' : 'pg_backup_stop(false)';
  const { rows } = await client.query(`select labelfile from ${stop}`);
  await client.end();
  rmSync(join(dir, 'postmaster.pid'));
  // The replica gets the log from the server.
  for (const folder of ['pg_wal', 'pg_replslot']) {
    for (const name of listed(join(dir, folder))) rmSync(join(dir, folder, name), { recursive: true });
  }
  const settings = readFileSync(join(dir, 'postgresql.auto.conf'), 'utf8');
  return {
    backup_label: rows[0].labelfile,
    'standby.signal': '',
    'postgresql.auto.conf': `${settings}primary_conninfo = 'host=127.0.0.1 port=${of.port} user=postgres'\n`,
  };
}

async function query(port: number, text: string, database = 'postgres'): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database, connectionTimeoutMillis: 2000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const results = [await client.query(text)].flat();
    return results.at(-1)?.rows ?? [];
  } finally {
    await client.end().catch(() => {});
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** The state and the parent of a process. */
function statusOf(pid: number): { readonly state: string; readonly parent: number } | undefined {
  try {
    const [, state = '', parent] = /^.*\) (\S) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

const isAlive = (pid: number): boolean => !['Z', undefined].includes(statusOf(pid)?.state);

function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => statusOf(pid)?.parent === parent);
}
