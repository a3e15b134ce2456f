/**
 * PostgreSQL beside Redis, as engines of a space: what a pair and a hand-over take, and what makes PostgreSQL slower.
 * All spaces are in this process, each with connections of its own. The engines are measured in turn.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { readRuns, readSeconds } from '@taketurns/bench/dist/options.js';
import { note } from '@taketurns/bench/dist/output.js';
import { median } from '@taketurns/bench/dist/statistics.js';
import { Command } from 'commander';
import { Redis } from 'ioredis';
import pg from 'pg';
import { type PostgresServer, startPostgres } from '../servers/postgres.js';
import { startServer } from '../servers/servers.js';
import type { SpaceOptions } from '../src/options.js';
import { Space } from '../src/space/space.js';

type Shared = Awaited<ReturnType<Space['semaphore']>>;
type Held = Awaited<ReturnType<Shared['holdAsync']>>;

interface Given {
  rounds: number;
  seconds: number;
  held?: number;
}

/** An engine, and how a process joins a space on it. */
interface Engine {
  readonly name: string;
  join(space: string, options?: SpaceOptions): Promise<Space>;
}

/** The names of spaces, so that nothing of an earlier measurement is left. */
let count = 0;
const fresh = (): string => `bench${count++}`;

/** The median of what a call takes, in microseconds, when it is made again and again for some seconds. */
async function repeated(seconds: number, act: () => Promise<number>): Promise<number> {
  const end = performance.now() + seconds * 1000;
  const times: number[] = [];
  while (performance.now() < end) times.push(1000 * (await act()));
  return median(times);
}

/** A permit that nobody else wants is taken and given back. */
async function pair(engine: Engine, seconds: number): Promise<number> {
  const space = await engine.join(fresh());
  const semaphore = await space.semaphore('permit', 1);
  const time = await repeated(seconds, async () => {
    const began = performance.now();
    const held = await semaphore.holdAsync();
    await held.release();
    return performance.now() - began;
  });
  await space.close();
  return time;
}

/** From the release by one process until the next one holds. */
async function handOver(engine: Engine, seconds: number): Promise<number> {
  const name = fresh();
  const spaces = [await engine.join(name), await engine.join(name)];
  const [mine, yours] = await Promise.all(spaces.map((space) => space.semaphore('permit', 1)));
  let [one, other] = [mine, yours] as [NonNullable<typeof mine>, NonNullable<typeof yours>];
  let held = await one.holdAsync();
  const time = await repeated(seconds, async () => {
    let since = 0;
    const next = other.holdAsync().then((guard) => ({ guard, took: performance.now() - since }));
    while ((await one.inspect(0))?.waiting !== 1);
    since = performance.now();
    const released = held.release();
    const { guard, took } = await next;
    await released;
    held = guard;
    [one, other] = [other, one];
    return took;
  });
  await held.release();
  await Promise.all(spaces.map((space) => space.close()));
  return time;
}

/** How many turns a second eight processes have with one permit. */
async function turns(engine: Engine, seconds: number): Promise<number> {
  const name = fresh();
  const spaces = await Promise.all(Array.from({ length: 8 }, () => engine.join(name)));
  let made = 0;
  const end = performance.now() + seconds * 1000;
  await Promise.all(
    spaces.map(async (space) => {
      const semaphore = await space.semaphore('permit', 1);
      while (performance.now() < end) {
        await (await semaphore.holdAsync()).release();
        made++;
      }
    }),
  );
  await Promise.all(spaces.map((space) => space.close()));
  return made / seconds;
}

const MEASURES = { 'a pair, µs': pair, 'a hand-over, µs': handOver, 'turns a second': turns } as const;

function redis(name: string, url: string): Engine {
  return {
    name,
    async join(space, options) {
      const client = new Redis(url, { lazyConnect: true });
      return Space.connect(client, { space, ...options });
    },
  };
}

function postgres(name: string, { url }: { readonly url: string }, own: SpaceOptions): Engine {
  const pool = new pg.Pool({ connectionString: url });
  return { name, join: (space, options) => Space.connect(pool, { space, ...own, ...options }) };
}

/** The medians of the rounds, with the least and the largest. */
const shown = (values: readonly number[]): string => {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${Math.round(median([...values]))} (${Math.round(least)}–${Math.round(most)})`;
};

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** Calls `act` while connections listen that hear nothing of their own. */
async function withListeners(server: PostgresServer, listeners: number, act: () => Promise<void>): Promise<void> {
  const clients = Array.from({ length: listeners }, () => new pg.Client(server.url));
  await Promise.all(clients.map((client) => client.connect()));
  await Promise.all(clients.map((client, at) => client.query(`listen idle_${at}`)));
  await act();
  await Promise.all(clients.map((client) => client.end()));
}

/** Two connections wake each other by NOTIFY, and do nothing else: the least that a hand-over can take, in microseconds. */
async function bareHandOver(server: PostgresServer, seconds: number): Promise<number> {
  const connect = async (channel: string) => {
    const client = new pg.Client(server.url);
    await client.connect();
    await client.query(`set synchronous_commit = off; listen ${channel}`);
    return { client, channel };
  };
  let [teller, hearer] = [await connect('bare_0'), await connect('bare_1')];
  const time = await repeated(seconds, async () => {
    const heard = once(hearer.client, 'notification');
    const began = performance.now();
    const told = teller.client.query(`notify ${hearer.channel}`);
    await heard;
    const took = performance.now() - began;
    await told;
    [teller, hearer] = [hearer, teller];
    return took;
  });
  await Promise.all([teller.client.end(), hearer.client.end()]);
  return time;
}

/** Settings of the server: its own default, and one with which fewer commits wake the process that writes the log. */
const FLUSHES = ['1MB', '0'];

/** A pair with each of these settings in turn. */
async function pairsByFlush(server: PostgresServer, engine: Engine, rounds: number, seconds: number): Promise<void> {
  const found = new Map<string, number[]>(FLUSHES.map((flush) => [flush, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [flush, times] of found) {
      await server.query(`alter system set wal_writer_flush_after = '${flush}'`);
      await server.query('select pg_reload_conf()');
      times.push(await pair(engine, seconds));
    }
  }
  for (const [flush, times] of found) {
    console.log(`wal_writer_flush_after = ${flush}, durable: false: a pair takes ${shown(times)} µs`);
  }
}

/** How many waiters stand behind those that are measured. */
const CROWDS = [10, 1_000, 10_000, 100_000];

/** How many hand-overs are measured before a crowd. */
const MEASURED = 400;

/** A hand-over between two processes while a crowd waits behind them, in microseconds. */
async function crowded(engine: Engine, crowd: number): Promise<number> {
  const name = fresh();
  const spaces = [await engine.join(name), await engine.join(name)];
  const [one, other] = (await Promise.all(spaces.map((space) => space.semaphore('permit', 1)))) as [Shared, Shared];
  const queue = async (length: number): Promise<void> => {
    while ((await one.inspect(0))?.waiting !== length) await sleep(1);
  };
  let held = await one.holdAsync();
  const next: Promise<Held>[] = [];
  while (next.length < MEASURED) {
    next.push((next.length % 2 ? one : other).holdAsync());
    await queue(next.length);
  }
  for (let count = 0; count < crowd; count++) one.holdAsync().catch(() => {});
  await queue(MEASURED + crowd);
  const times: number[] = [];
  for (const turn of next) {
    const since = performance.now();
    const released = held.release();
    held = await turn;
    times.push(1000 * (performance.now() - since));
    await released;
  }
  await Promise.all(spaces.map((space) => space.close()));
  return median(times);
}

/** How many pairs a second are made while a snapshot is held. */
const PACE = 50;

/**
 * Pairs in two databases of a server in turn: in one a transaction holds a snapshot all the time. Tells the medians of
 * each part of the time.
 */
async function heldSnapshot(minutes: number): Promise<void> {
  const server = await startEngine();
  await server.query('create database locks');
  const url = server.url.replace(/postgres$/, 'locks');
  const holder = new pg.Client(server.url);
  await holder.connect();
  await holder.query('begin isolation level repeatable read; select 1');
  const spaces = await Promise.all(
    [url, server.url].map((connectionString) =>
      Space.connect(new pg.Pool({ connectionString }), { createSchema: true, durable: false }),
    ),
  );
  const semaphores = await Promise.all(spaces.map((space) => space.semaphore('permit', 1)));
  const start = performance.now();
  for (let part = 1; part <= 4; part++) {
    const times: number[][] = semaphores.map(() => []);
    while (performance.now() - start < part * minutes * 15_000) {
      for (const [at, semaphore] of semaphores.entries()) {
        const began = performance.now();
        await (await semaphore.holdAsync()).release();
        times[at]?.push(1000 * (performance.now() - began));
      }
      await sleep(1000 / PACE);
    }
    const [own, same] = times.map((each) => Math.round(median(each)));
    console.log(
      `until ${(part * minutes) / 4} minutes, ${times[0]?.length} pairs: ${own} µs in a database of its own, ` +
        `${same} µs in the database with the snapshot`,
    );
  }
  console.log((await spaces[1]?.inspect())?.warning);
  await holder.end();
  await server.kill();
  process.exit();
}

/** PostgreSQL as it writes to its disk. */
const startEngine = (): Promise<PostgresServer> =>
  startPostgres({ args: ['-c', 'fsync=on', '-c', 'shared_buffers=128MB'] });

async function act({ rounds, seconds, held }: Given): Promise<void> {
  if (held !== undefined) return heldSnapshot(held);
  const memory = await startServer();
  const disk = await startServer({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
  const server = await startEngine();
  const made = await Space.connect(new pg.Pool({ connectionString: server.url }), { createSchema: true });
  await made.close();
  const engines = [
    redis('Redis, nothing written', memory.url),
    postgres('PostgreSQL, durable: false', server, { durable: false }),
    redis('Redis, appendfsync always', disk.url),
    postgres('PostgreSQL', server, {}),
  ];
  const found = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++) {
    for (const [what, measure] of Object.entries(MEASURES)) {
      for (const engine of engines) {
        const value = await measure(engine, seconds);
        note(`${what}, ${engine.name}: ${Math.round(value)}`);
        const key = `${what} ${engine.name}`;
        found.set(key, [...(found.get(key) ?? []), value]);
      }
    }
  }
  const names = Object.keys(MEASURES);
  console.log(`${memory.binary.name} ${memory.binary.version}, PostgreSQL ${server.installed.version}`);
  console.log(row(['', ...names]));
  console.log(row(['---', ...names.map(() => '---:')]));
  for (const { name } of engines) {
    console.log(row([name, ...names.map((what) => shown(found.get(`${what} ${name}`) ?? []))]));
  }
  const off = engines[1] as Engine;
  for (const listeners of [0, 20, 100]) {
    await withListeners(server, listeners, async () => {
      const [time, bare] = [await handOver(off, seconds), await bareHandOver(server, seconds)];
      console.log(
        `${listeners} idle listeners, durable: false: a hand-over takes ${Math.round(time)} µs, ` +
          `and one by NOTIFY alone ${Math.round(bare)} µs`,
      );
    });
  }
  await pairsByFlush(server, off, rounds, seconds);
  for (const crowd of CROWDS) {
    const time = await crowded(off, crowd);
    console.log(`${crowd} waiters, durable: false: a hand-over takes ${Math.round(time)} µs`);
  }
  await Promise.all([memory.kill(), disk.kill(), server.kill()]);
  process.exit();
}

await new Command('bench:engines')
  .description('PostgreSQL beside Redis as engines of a space')
  .option('--rounds <rounds>', 'how often each engine is measured', readRuns, 3)
  .option('--seconds <seconds>', 'length of an interval', readSeconds, 1)
  .option('--held <minutes>', 'measures only pairs while a snapshot is held for so long', readSeconds)
  .action(act)
  .parseAsync();
