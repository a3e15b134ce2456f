/**
 * Servers for tests and experiments: Redis and Valkey as they are installed, started on 127.0.0.1 with free ports, each
 * in a temporary directory of its own, and ended by their process ids, at the latest when this process ends.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

/** An installed server. */
export interface Binary {
  readonly name: 'redis' | 'valkey';
  readonly version: string;
  readonly path: string;
}

export interface StartOptions {
  /** Default: the first that is found. */
  readonly server?: Binary;
  /** Arguments of the command line besides, as `['--appendonly', 'yes']`. */
  readonly args?: readonly string[];
  /** A directory for its data, which then stays. Default: a temporary one, which `stop` and `kill` remove. */
  readonly dir?: string;
  readonly port?: number;
  /** Variables of its environment besides those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Server {
  readonly binary: Binary;
  readonly dir: string;
  readonly port: number;
  /** Of the process that runs now, or ran last. */
  readonly pid: number;
  readonly url: string;
  /** Sends one command over a connection of its own. */
  send(command: string, ...args: (string | number)[]): Promise<unknown>;
  /** Ends it as an administrator does: it saves what it is configured to save. */
  stop(): Promise<void>;
  /** Ends it at once (SIGKILL). */
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Ends it, at once or not, and starts it again on the same port. Data in memory is kept only if it was saved. */
  restart(options?: { keepData?: boolean; kill?: boolean }): Promise<void>;
}

export interface Cluster {
  /** The primaries, followed by the replicas. */
  readonly nodes: readonly Server[];
  /** How many of the nodes began as primaries. */
  readonly primaries: number;
  /** The index of the node that has the slot, as the first node knows it. */
  ownerOf(slot: number): Promise<number>;
  /** Moves a slot with all its keys to another node. */
  moveSlot(slot: number, to: number): Promise<void>;
  stop(): Promise<void>;
}

/** What to do where there is no server. */
export const MISSING =
  'no server of Redis or Valkey in PATH; on Debian: apt-get install redis-server (or valkey-server)';

/** The servers in the directories of PATH, at most one of each name. */
export function findServers(): Binary[] {
  const found: Binary[] = [];
  for (const name of ['redis', 'valkey'] as const) {
    for (const directory of (process.env.PATH ?? '').split(delimiter)) {
      const path = join(directory, `${name}-server`);
      if (!directory || !executable(path)) continue;
      const said = spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout ?? '';
      const version = /v=(\d+\.\d+\.\d+)/.exec(said)?.[1];
      // A distribution may install one of the two under both names.
      if (!version || !said.toLowerCase().startsWith(name)) continue;
      found.push({ name, version, path });
      break;
    }
  }
  return found;
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}

/** Starts a server, and waits until it answers. */
export function startServer(options: StartOptions = {}): Promise<Server> {
  return start(options, (dir, port) => [
    ...['--port', `${port}`, '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--daemonize', 'no'],
    // A replica need not wait for others that might come.
    ...['--repl-diskless-sync-delay', '0'],
    ...(options.args ?? []),
  ]);
}

/** Starts a replica of a server, and waits until it has its data. */
export async function startReplica(of: Server, options: StartOptions = {}): Promise<Server> {
  const args = ['--replicaof', `127.0.0.1 ${of.port}`, ...(options.args ?? [])];
  const replica = await startServer({ server: of.binary, ...options, args });
  await linked(replica);
  return replica;
}

/** Starts a sentinel that watches a server under the name of `main`, and waits until it knows its replicas. */
export async function startSentinel(
  of: Server,
  options: StartOptions & { quorum?: number; downAfter?: number; replicas?: number } = {},
): Promise<Server> {
  const { quorum = 1, downAfter = 500, replicas = 0 } = options;
  const sentinel = await start({ server: of.binary, ...options }, (dir, port) => {
    const path = join(dir, 'sentinel.conf');
    const lines = [
      `sentinel monitor main 127.0.0.1 ${of.port} ${quorum}`,
      `sentinel down-after-milliseconds main ${downAfter}`,
      'sentinel failover-timeout main 3000',
    ];
    writeFileSync(path, `${lines.join('\n')}\n`);
    return [path, '--sentinel', '--port', `${port}`, '--bind', '127.0.0.1', '--dir', dir, ...(options.args ?? [])];
  });
  await until(async () => ((await sentinel.send('SENTINEL', 'REPLICAS', 'main')) as unknown[]).length >= replicas);
  return sentinel;
}

/** Starts a cluster of `primaries` nodes that share the slots, each with so many replicas. */
export async function startCluster(primaries: number, replicas = 0, options: StartOptions = {}): Promise<Cluster> {
  const buses = new Map<Server, number>();
  const nodes: Server[] = [];
  for (let i = 0; i < primaries * (1 + replicas); i++) {
    const bus = await freePort();
    const args = [
      ...['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000', '--cluster-port', `${bus}`],
      ...(options.args ?? []),
    ];
    const node = await startServer({ ...options, args });
    nodes.push(node);
    buses.set(node, bus);
  }
  const first = nodes[0];
  if (!first) throw new RangeError('a cluster has a primary');
  for (const [i, node] of nodes.entries()) {
    await node.send('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
    if (i < primaries) {
      const last = Math.floor((16384 * (i + 1)) / primaries) - 1;
      await node.send('CLUSTER', 'ADDSLOTSRANGE', Math.floor((16384 * i) / primaries), last);
    }
    if (i > 0) await node.send('CLUSTER', 'MEET', '127.0.0.1', first.port, buses.get(first) as number);
  }
  const id = async (i: number) => (await (nodes[i] as Server).send('CLUSTER', 'MYID')) as string;
  const agree = () =>
    until(async () => {
      for (const node of nodes) {
        const info = (await node.send('CLUSTER', 'INFO')) as string;
        if (!info.includes('cluster_state:ok') || !info.includes(`cluster_known_nodes:${nodes.length}`)) return false;
        if (((await node.send('CLUSTER', 'SLOTS')) as unknown[]).length < primaries) return false;
      }
      return true;
    });
  await until(async () => {
    for (const node of nodes) {
      const info = (await node.send('CLUSTER', 'INFO')) as string;
      if (!info.includes(`cluster_known_nodes:${nodes.length}`)) return false;
    }
    return true;
  });
  for (let i = primaries; i < nodes.length; i++) {
    await (nodes[i] as Server).send('CLUSTER', 'REPLICATE', await id(i % primaries));
  }
  for (let i = primaries; i < nodes.length; i++) await linked(nodes[i] as Server);
  await agree();

  async function ownerOf(slot: number): Promise<number> {
    const ranges = (await (first as Server).send('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
    const port = ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][1];
    return nodes.findIndex((node) => node.port === port);
  }

  return {
    nodes,
    primaries,
    ownerOf,
    async moveSlot(slot, to) {
      const source = nodes[await ownerOf(slot)] as Server;
      const target = nodes[to] as Server;
      if (source === target) return;
      const targetId = await id(to);
      await target.send('CLUSTER', 'SETSLOT', slot, 'IMPORTING', (await source.send('CLUSTER', 'MYID')) as string);
      await source.send('CLUSTER', 'SETSLOT', slot, 'MIGRATING', targetId);
      while (true) {
        const keys = (await source.send('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[];
        if (keys.length === 0) break;
        await source.send('MIGRATE', '127.0.0.1', target.port, '', 0, 5000, 'KEYS', ...keys);
      }
      for (const node of [target, source, ...nodes]) {
        // Replicas hear of it from their primaries.
        await node.send('CLUSTER', 'SETSLOT', slot, 'NODE', targetId).catch(() => undefined);
      }
      await until(async () => (await ownerOf(slot)) === to);
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.kill()));
    },
  };
}

// Processes -----------------------------------------------------------------------------------------------------------

const running = new Set<ChildProcess>();
/** Temporary directories. */
const directories = new Set<string>();
let watching = false;

/** Ends a process with this one. */
export function endsWithThisProcess(child: ChildProcess): void {
  endWithThisProcess();
  running.add(child);
  child.once('exit', () => running.delete(child));
}

/** Makes a temporary directory, which is removed with this process. */
export function temporaryDirectory(): string {
  endWithThisProcess();
  const directory = mkdtempSync(join(tmpdir(), 'taketurns-'));
  directories.add(directory);
  return directory;
}

function endAll(): void {
  for (const child of running) child.kill('SIGKILL');
  for (const dir of directories) rmSync(dir, { recursive: true, force: true });
}

/** Ends the servers with this process, also when it is told to end by a signal that nobody else handles. */
function endWithThisProcess(): void {
  if (watching) return;
  watching = true;
  process.on('exit', endAll);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      endAll();
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    });
  }
}

async function start(options: StartOptions, line: (dir: string, port: number) => string[]): Promise<Server> {
  const binary = options.server ?? findServers()[0];
  if (!binary) throw new Error(MISSING);
  endWithThisProcess();
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'taketurns-'));
  if (!options.dir) directories.add(dir);
  let port = options.port ?? 0;
  let child: ChildProcess;
  let args: string[] = [];

  const launch = async () => {
    mkdirSync(dir, { recursive: true });
    const output: string[] = [];
    child = spawn((binary as Binary).path, args, {
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const started = child;
    running.add(started);
    started.once('exit', () => running.delete(started));
    for (const stream of [started.stdout, started.stderr]) {
      stream?.on('data', (text) => {
        output.push(`${text}`);
        if (output.length > 100) output.shift();
      });
      (stream as unknown as { unref?(): void } | null)?.unref?.();
    }
    started.unref();
    await answers(port, password(args), started, output);
  };

  for (let attempt = 1; ; attempt++) {
    if (!options.port) port = await freePort();
    args = line(dir, port);
    try {
      await launch();
      break;
    } catch (error) {
      // Somebody else may have taken the port in the meantime.
      if (options.port || attempt === 5) throw error;
    }
  }

  const end = async (signal: NodeJS.Signals) => {
    const ended = child;
    if (ended.exitCode !== null || ended.signalCode !== null) return;
    ended.ref();
    const exit = once(ended, 'exit');
    ended.kill(signal);
    // A process that is stopped handles no signal but SIGKILL until it goes on.
    ended.kill('SIGCONT');
    await exit;
  };
  const remove = () => {
    if (!directories.delete(dir)) return;
    rmSync(dir, { recursive: true, force: true });
  };

  return {
    binary,
    dir,
    port,
    get pid() {
      return child.pid as number;
    },
    url: `redis://127.0.0.1:${port}`,
    async send(command, ...rest) {
      const client = quick(port, password(args));
      try {
        return await client.call(command, ...rest);
      } finally {
        client.disconnect();
      }
    },
    async stop() {
      await end('SIGTERM');
      remove();
    },
    async kill() {
      await end('SIGKILL');
      remove();
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async restart({ keepData = true, kill = false } = {}) {
      await end(kill ? 'SIGKILL' : 'SIGTERM');
      if (!keepData) {
        for (const name of ['dump.rdb', 'appendonlydir', 'appendonly.aof']) {
          rmSync(join(dir, name), { recursive: true, force: true });
        }
      }
      await launch();
    },
  };
}

/** Waits until the process that was started is the one that answers on the port, and has loaded its data. */
async function answers(
  port: number,
  secret: string | undefined,
  child: ChildProcess,
  output: readonly string[],
): Promise<void> {
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`the server has ended: ${output.join('').trim().split('\n').slice(-3).join(' ')}`);
    }
    const client = quick(port, secret);
    try {
      const info = `${await client.call('INFO')}`;
      if (info.includes(`process_id:${child.pid}`) && !info.includes('\nloading:1')) return;
    } catch {
      // It does not listen yet.
    } finally {
      client.disconnect();
    }
    await sleep(20);
  }
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function password(args: readonly string[]): string | undefined {
  const at = args.indexOf('--requirepass');
  return at < 0 ? undefined : args[at + 1];
}

/** A client that tries once. */
function quick(port: number, secret: string | undefined): Redis {
  const client = new Redis({
    host: '127.0.0.1',
    port,
    ...(secret === undefined ? {} : { password: secret }),
    retryStrategy: () => null,
    enableReadyCheck: false,
    disableClientInfo: true,
    maxRetriesPerRequest: 0,
  });
  client.on('error', () => undefined);
  return client;
}

async function linked(replica: Server): Promise<void> {
  await until(async () => `${await replica.send('INFO', 'replication')}`.includes('master_link_status:up'));
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20);
}
