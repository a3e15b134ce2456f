/**
 * Measures what a hand-over costs as the numbers of waiters, processes and names grow: commands, messages and processor
 * time of the server. Each measurement has a server and processes of its own. Leases are long, so heartbeats do not add
 * to the cost.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { type Binary, type Server, startServer } from '../servers/servers.js';

const PROGRAM = fileURLToPath(new URL('./scale-client.js', import.meta.url));

export interface Load {
  readonly processes: number;
  /** The number of spaces in each process. Each space has connections of its own, as if it were a process. */
  readonly spaces: number;
  /** The number of waiters in each space. */
  readonly waiters: number;
  readonly names: number;
}

export interface ScaleOrder extends Load {
  readonly port: number;
  readonly first: number;
}

export interface Cost {
  readonly handOvers: number;
  readonly seconds: number;
  /** This figure and the next two are per hand-over. */
  readonly commands: number;
  readonly messages: number;
  readonly serverMicroseconds: number;
}

interface Reading {
  readonly at: number;
  readonly tickets: number;
  readonly commands: number;
  readonly messages: number;
  readonly microseconds: number;
}

/** Runs a load on a server of its own for at least this many milliseconds. */
export async function measure(binary: Binary, load: Load, milliseconds: number): Promise<Cost> {
  const server = await startServer({ server: binary });
  const children: ChildProcess[] = [];
  const end = () => {
    for (const child of children) child.kill('SIGKILL');
  };
  process.on('exit', end);
  const client = new Redis({ host: '127.0.0.1', port: server.port });
  try {
    for (let i = 0; i < load.processes; i++) {
      const order: ScaleOrder = { ...load, port: server.port, first: i };
      children.push(fork(PROGRAM, [JSON.stringify(order)]));
    }
    await Promise.all(
      children.map((child) =>
        Promise.race([
          once(child, 'message'),
          once(child, 'exit').then(([code]) => Promise.reject(new Error(`a process has ended: ${code}`))),
        ]),
      ),
    );
    const waiting = load.processes * load.spaces * load.waiters - 1;
    // With one name, all waiters stand in the queue, except for the few whose answers are under way.
    if (load.names === 1) while ((await client.zcard('tt:{scale.0}:queue')) < waiting - 2) await sleep(20);
    const before = await read(client);
    let after = before;
    // The measurement lasts until each waiter has had several turns on average.
    while (after.at - before.at < milliseconds || after.tickets - before.tickets < Math.max(1000, 3 * waiting)) {
      await sleep(20);
      after = await read(client);
    }
    const handOvers = after.tickets - before.tickets;
    return {
      handOvers,
      seconds: (after.at - before.at) / 1000,
      commands: (after.commands - before.commands) / handOvers,
      messages: (after.messages - before.messages) / handOvers,
      serverMicroseconds: (after.microseconds - before.microseconds) / handOvers,
    };
  } finally {
    const exits = children
      .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
      .map((child) => once(child, 'exit'));
    end();
    await Promise.all(exits);
    process.off('exit', end);
    client.disconnect();
    await server.kill();
  }
}

/** Reads the server's counts. Each hand-over begins with a request, and each request takes a ticket. */
async function read(client: Redis): Promise<Reading> {
  const results = (await client
    .multi()
    .hget('tt:{scale.0}:meta', 'ticket')
    .info('commandstats')
    .info('cpu')
    .exec()) as [unknown, string][];
  const [ticket, commands, cpu] = results.map(([, result]) => result) as [string, string, string];
  const number = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);
  const seconds = number(cpu, /used_cpu_user:([\d.]+)/) + number(cpu, /used_cpu_sys:([\d.]+)/);
  return {
    at: performance.now(),
    tickets: Number(ticket),
    commands: number(commands, /cmdstat_evalsha:calls=(\d+)/),
    messages: number(commands, /cmdstat_publish:calls=(\d+)/),
    microseconds: seconds * 1e6,
  };
}

/** The memory of the server and of a process that makes `requests` requests, after each tenth of them, in bytes. */
export async function memory(
  binary: Binary,
  requests: number,
): Promise<{ server: number; process: number; requests: number }[]> {
  const server: Server = await startServer({ server: binary });
  const client = new Redis({ host: '127.0.0.1', port: server.port });
  const load: ScaleOrder = { processes: 1, spaces: 2, waiters: 50, names: 4, port: server.port, first: 0 };
  const child = fork(PROGRAM, [JSON.stringify(load)]);
  const end = () => void child.kill('SIGKILL');
  process.on('exit', end);
  try {
    let [last] = (await once(child, 'message')) as [{ memory: number }];
    child.on('message', (report: { memory: number }) => {
      last = report;
    });
    const start = (await read(client)).tickets;
    const rows: { server: number; process: number; requests: number }[] = [];
    while (rows.length < 10) {
      await sleep(100);
      const done = (await read(client)).tickets - start;
      if (done < (requests * (rows.length + 1)) / 10) continue;
      const used = Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
      rows.push({ server: used, process: last.memory, requests: done });
    }
    return rows;
  } finally {
    const exit = once(child, 'exit');
    end();
    await exit;
    process.off('exit', end);
    client.disconnect();
    await server.kill();
  }
}
