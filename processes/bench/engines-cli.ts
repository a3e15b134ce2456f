/**
 * PostgreSQL beside Redis, as engines of a space: what a pair and a hand-over take, and what makes PostgreSQL slower.
 * All spaces are in this process, each with connections of its own. The engines are measured in turn.
 */
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

interface Given {
  rounds: number;
  seconds: number;
  aged: number;
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
async function withListeners<T>(server: PostgresServer, listeners: number, act: () => Promise<T>): Promise<T> {
  const clients = Array.from({ length: listeners }, () => new pg.Client(server.url));
  await Promise.all(clients.map((client) => client.connect()));
  await Promise.all(clients.map((client, at) => client.query(`listen idle_${at}`)));
  const made = await act();
  await Promise.all(clients.map((client) => client.end()));
  return made;
}

/** A pair after pairs were made for some seconds, while a transaction of this database holds a snapshot. */
async function aged(server: PostgresServer, database: string | undefined, seconds: number): Promise<number> {
  const holder = database === undefined ? undefined : new pg.Client(server.url.replace(/postgres$/, database));
  await holder?.connect();
  await holder?.query('begin isolation level repeatable read; select 1');
  const engine = postgres('', server, { durable: false });
  await pair(engine, seconds);
  const time = await pair(engine, 1);
  await holder?.end();
  await server.query('vacuum');
  return time;
}

async function act({ rounds, seconds, aged: age }: Given): Promise<void> {
  const memory = await startServer();
  const disk = await startServer({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
  const server = await startPostgres({ args: ['-c', 'fsync=on', '-c', 'shared_buffers=128MB'] });
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
    const time = await withListeners(server, listeners, () => handOver(off, seconds));
    console.log(`${listeners} idle listeners, durable: false: a hand-over takes ${Math.round(time)} µs`);
  }
  await server.query('create database other');
  for (const [words, database] of [
    ['no snapshot', undefined],
    ['a snapshot in another database', 'other'],
    ['a snapshot in this database', 'postgres'],
  ] as const) {
    const time = await aged(server, database, age);
    console.log(`${words}, after ${age} s of pairs, durable: false: a pair takes ${Math.round(time)} µs`);
  }
  await Promise.all([memory.kill(), disk.kill(), server.kill()]);
  await sleep(0);
  process.exit();
}

await new Command('bench:engines')
  .description('PostgreSQL beside Redis as engines of a space')
  .option('--rounds <rounds>', 'how often each engine is measured', readRuns, 3)
  .option('--seconds <seconds>', 'length of an interval', readSeconds, 1)
  .option('--aged <seconds>', 'for how long pairs are made under a snapshot', readSeconds, 20)
  .action(act)
  .parseAsync();
