/**
 * `npm run bench -w processes`: a space of this machine without a server, beside a server of Redis or Valkey on a Unix
 * socket, and proper-lockfile. Prints each figure with its goal. The machine should have nothing else to do.
 *
 * Both sides of a ratio are measured in turn, in the same rounds; the figure is the ratio of the medians.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { findServers, type Server, startServer } from '../servers/servers.js';
import type { Place, Steps } from './local-program.js';

const PROGRAM = fileURLToPath(new URL('./local-program.js', import.meta.url));

class Child {
  readonly process: ChildProcess = fork(PROGRAM);
  readonly #waiting = new Map<number, { resolve(answer: number[]): void; reject(error: Error): void }>();
  #last = 0;

  constructor() {
    this.process.on('message', ([id, answer, error]: [number, number[], string | undefined]) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(answer);
      else waiting?.reject(new Error(error));
    });
  }

  do<S extends keyof Steps>(step: S, ...args: Parameters<Steps[S]>): Promise<number[]> {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#waiting.set(id, { resolve, reject });
      this.process.send([id, step, ...args]);
    });
  }

  kill(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' = 'SIGKILL'): void {
    this.process.kill(signal);
  }
}

/** A place of its own, where so many processes are, one after the other: the first one has the broker, in a thread. */
class Crowd {
  readonly children: Child[] = [];
  readonly place: Place;
  readonly #folder: string | undefined;

  private constructor(place: Place, folder?: string) {
    this.place = place;
    this.#folder = folder;
  }

  static async gather(count: number, socket?: string): Promise<Crowd> {
    const folder = socket === undefined ? mkdtempSync('/tmp/tt-bench-') : undefined;
    const crowd = new Crowd(folder === undefined ? { socket: socket as string } : { directory: folder }, folder);
    for (let at = 0; at < count; at++) await crowd.add();
    // By now the broker has moved to a thread, if there are several processes.
    await sleep(1000);
    return crowd;
  }

  async add(): Promise<number> {
    const child = new Child();
    this.children.push(child);
    const [micros = 0] = await child.do('join', this.place);
    return micros;
  }

  at(index: number): Child {
    return this.children[index] as Child;
  }

  async end(): Promise<void> {
    for (const child of this.children) child.kill();
    await sleep(100);
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }
}

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
const quantile = (values: readonly number[], part: number): number =>
  sorted(values)[Math.min(values.length - 1, Math.floor(part * values.length))] ?? Number.NaN;
const median = (values: readonly number[]): number => quantile(values, 0.5);

/** A figure, the goal it is to reach, and what it was made of. */
interface Figure {
  readonly what: string;
  readonly found: number;
  readonly goal?: number;
  readonly unit: string;
  readonly note?: string;
}

interface Setting {
  readonly rounds: number;
  readonly seconds: number;
  /** The Unix socket of the server, if there is a server. */
  readonly socket: string | undefined;
}

const round = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(0));

async function pairs({ rounds, socket }: Setting): Promise<Figure[]> {
  const folder = mkdtempSync('/tmp/tt-bench-');
  const ours = await Crowd.gather(2);
  const single = await Crowd.gather(1);
  const theirs = socket === undefined ? undefined : await Crowd.gather(1, socket);
  const times = {
    ...{ ours: [] as number[], single: [] as number[], server: [] as number[], files: [] as number[] },
    ...{ lines: [] as number[], quick: [] as number[] },
  };
  await ours.at(0).do('echo', `${folder}/echo`);
  for (let at = 0; at < rounds; at++) {
    // The process without the broker: each call goes to another process.
    times.ours.push(...(await ours.at(1).do('pairs', 2000)));
    times.quick.push(...(await ours.at(1).do('pairsWithoutWaiting', 2000)));
    times.lines.push(...(await ours.at(1).do('lines', `${folder}/echo`, 2000)).slice(1));
    times.single.push(...(await single.at(0).do('pairs', 2000)));
    if (theirs) times.server.push(...(await theirs.at(0).do('pairs', 2000)));
    times.files.push(...(await ours.at(1).do('files', `${folder}/file`, 500)));
  }
  await Promise.all([ours.end(), single.end(), theirs?.end()]);
  rmSync(folder, { recursive: true });
  const [mine, alone, server] = [median(times.ours), median(times.single), median(times.server)];
  const [files, lines, quick] = [median(times.files), median(times.lines), median(times.quick)];
  const note = `${round(mine)} µs`;
  return [
    {
      what: 'awaited pair / a server on a Unix socket',
      found: mine / server,
      goal: 1,
      unit: '',
      note: `${note} / ${round(server)} µs`,
    },
    {
      what: 'awaited pair / proper-lockfile',
      found: mine / files,
      unit: '',
      note: `${note} / ${round(files)} µs`,
    },
    {
      what: 'pair whose release nobody awaits / proper-lockfile',
      found: quick / files,
      unit: '',
      note: `${round(quick)} µs / ${round(files)} µs`,
    },
    {
      what: 'two bare lines to and fro over a Unix socket / proper-lockfile',
      found: lines / files,
      unit: '',
      note: `${round(lines)} µs / ${round(files)} µs`,
    },
    {
      what: 'awaited pair / two bare lines to and fro over a Unix socket',
      found: mine / lines,
      unit: '',
      note: `${note} / ${round(lines)} µs`,
    },
    {
      what: 'awaited pair of a process that is alone / proper-lockfile',
      found: alone / files,
      goal: 0.1,
      unit: '',
      note: `${round(alone)} µs / ${round(files)} µs`,
    },
  ];
}

/** The microseconds from one hand-over to the next, while so many processes take turns. */
async function handOver(crowd: Crowd, processes: number, ms: number): Promise<{ every: number; waits: number[] }> {
  const children = crowd.children.slice(-processes);
  const waits = (await Promise.all(children.map((child) => child.do('turns', ms)))).flat();
  return { every: (ms * 1000) / waits.length, waits };
}

async function handOvers({ rounds, seconds, socket }: Setting): Promise<Figure[]> {
  const ours = await Crowd.gather(3);
  const theirs = socket === undefined ? undefined : await Crowd.gather(2, socket);
  const every = { ours: [] as number[], server: [] as number[] };
  for (let at = 0; at < rounds; at++) {
    every.ours.push((await handOver(ours, 2, seconds * 1000)).every);
    if (theirs) every.server.push((await handOver(theirs, 2, seconds * 1000)).every);
  }
  await Promise.all([ours.end(), theirs?.end()]);
  const [mine, server] = [median(every.ours), median(every.server)];
  const note = `${round(mine)} / ${round(server)} µs`;
  return [{ what: 'hand-over between two processes / a server', found: mine / server, goal: 1.2, unit: '', note }];
}

/** What so many hand-overs between 8 processes are made of. */
class Turns {
  readonly waits: number[] = [];
  #switches = 0;

  async take(crowd: Crowd, act: (children: readonly Child[]) => Promise<number[]>): Promise<void> {
    const children = crowd.children.slice(-8);
    const switches = async (): Promise<number> => {
      const all = await Promise.all(children.map((child) => child.do('switches')));
      return all.flat().reduce((sum, each) => sum + each, 0);
    };
    const before = await switches();
    this.waits.push(...(await act(children)));
    this.#switches += (await switches()) - before;
  }

  figure(what: string): Figure {
    const [middle, late] = [median(this.waits), quantile(this.waits, 0.99)];
    const each = round(this.#switches / this.waits.length);
    const note = `${round(middle)} and ${round(late)} µs from asking to holding, ${each} times asleep for a turn`;
    return { what, found: late / middle, unit: '', note };
  }
}

async function eight({ rounds, seconds, socket }: Setting): Promise<Figure[]> {
  const what = '8 processes, 99th percentile / median';
  const ours = await Crowd.gather(9);
  const theirs = socket === undefined ? undefined : await Crowd.gather(8, socket);
  const folder = mkdtempSync('/tmp/tt-bench-');
  const relay = `${folder}/relay`;
  await ours.at(0).do('relay', relay);
  const turns = { ours: new Turns(), server: new Turns(), bare: new Turns() };
  const all = async (children: readonly Child[], step: (child: Child) => Promise<number[]>): Promise<number[]> =>
    (await Promise.all(children.map(step))).flat();
  const ms = seconds * 1000;
  for (let at = 0; at < rounds; at++) {
    await turns.ours.take(ours, (children) => all(children, (child) => child.do('turns', ms)));
    if (theirs) await turns.server.take(theirs, (children) => all(children, (child) => child.do('turns', ms)));
    await turns.bare.take(ours, (children) => all(children, (child) => child.do('bareTurns', relay, ms)));
  }
  await Promise.all([ours.end(), theirs?.end()]);
  rmSync(folder, { recursive: true });
  return [
    { ...turns.ours.figure(what), goal: 3 },
    ...(theirs ? [turns.server.figure(`${what}, with a server`)] : []),
    turns.bare.figure(`${what}, of bare lines over Unix sockets`),
  ];
}

/** Lets one of 32 processes hold and another one wait, and does something to the first. Returns how long the second waits. */
async function takesOver(
  rounds: number,
  holder: (crowd: Crowd) => Child,
  strike: (crowd: Crowd) => void,
): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < rounds; at++) {
    const crowd = await Crowd.gather(32);
    await holder(crowd).do('hold');
    const next = crowd.at(31).do('next');
    await sleep(500);
    const from = Number(process.hrtime.bigint() / 1000n);
    strike(crowd);
    const [held = Number.NaN] = await next;
    times.push((held - from) / 1000);
    await crowd.end();
  }
  return times;
}

async function deaths({ rounds }: Setting): Promise<Figure[]> {
  const figure = (what: string, times: number[], goal: number): Figure => {
    const note = `${round(Math.min(...times))} to ${round(Math.max(...times))} ms`;
    return { what: `32 processes, next owner after ${what}`, found: median(times), goal, unit: 'ms', note };
  };
  const holder = await takesOver(
    rounds,
    (crowd) => crowd.at(7),
    (crowd) => crowd.at(7).kill(),
  );
  const broker = await takesOver(
    rounds,
    (crowd) => crowd.at(0),
    (crowd) => crowd.at(0).kill(),
  );
  const stopped = await takesOver(
    rounds,
    (crowd) => crowd.at(7),
    (crowd) => {
      crowd.at(0).kill('SIGSTOP');
      crowd.at(7).kill();
    },
  );
  return [
    figure('SIGKILL of the holder', holder, 10),
    figure('SIGKILL of the broker, which holds', broker, 50),
    figure('SIGKILL of the holder, the broker being stopped', stopped, 2500),
  ];
}

async function waiters({ rounds, seconds }: Setting): Promise<Figure[]> {
  const turns = { few: [] as number[], many: [] as number[] };
  for (let at = 0; at < rounds; at++) {
    for (const [name, requests] of [
      ['few', 2],
      ['many', 128],
    ] as const) {
      const crowd = await Crowd.gather(9);
      const all = crowd.children.slice(1).map((child) => child.do('crowd', requests, seconds * 1000));
      const [sum] = (await Promise.all(all)).flat().reduce(([total = 0], each) => [total + each], [0]);
      turns[name].push((seconds * 1e6) / (sum as number));
      await crowd.end();
    }
  }
  const [few, many] = [median(turns.few), median(turns.many)];
  const note = `${round(many)} / ${round(few)} µs`;
  return [{ what: 'a hand-over with 1,024 waiters / with 16', found: many / few, goal: 1.2, unit: '', note }];
}

async function starts({ rounds }: Setting): Promise<Figure[]> {
  const times = new Map<string, number[]>();
  const note = (what: string, [micros = Number.NaN]: number[]): void => {
    times.set(what, [...(times.get(what) ?? []), micros / 1000]);
  };
  /** Lets a new process do a step that tells how long it took. */
  const alone = async <S extends keyof Steps>(what: string, step: S, ...args: Parameters<Steps[S]>): Promise<void> => {
    const child = new Child();
    note(what, await child.do(step, ...args));
    child.kill();
  };
  const folders = Array.from({ length: 5 * rounds + 1 }, () => mkdtempSync('/tmp/tt-bench-'));
  const [shared, ...others] = folders as [string, ...string[]];
  const listener = new Child();
  await listener.do('bareFirst', shared);
  for (const folder of others) {
    const crowd = await Crowd.gather(0);
    note('Space.local of a first process', [await crowd.add()]);
    for (let other = 0; other < 3; other++) note('Space.local of others', [await crowd.add()]);
    await crowd.end();
    await alone('of a first process, its system calls alone', 'bareFirst', folder);
    await alone('of others, their system calls alone', 'bareOther', shared);
    await alone('a line to and fro over a Unix socket alone', 'lines', `${shared}/start/space/b`, 0);
    await alone('of a first process, to load its code', 'load', ['local', 'serve']);
    await alone('of others, to load their code', 'load', ['local']);
  }
  listener.kill();
  for (const folder of folders) rmSync(folder, { recursive: true });
  return Array.from(times, ([what, all]) => ({
    ...{ what, found: median(all), unit: 'ms', note: `${round(Math.min(...all))} ms at least` },
  }));
}

async function memory({ rounds }: Setting): Promise<Figure[]> {
  const grown: number[] = [];
  for (let at = 0; at < rounds; at++) {
    // The second process joins like the first one, and has no broker.
    const crowd = await Crowd.gather(2);
    const [[first = 0], [second = 0]] = await Promise.all([crowd.at(0).do('memory'), crowd.at(1).do('memory')]);
    grown.push((first - second) / 1e6);
    await crowd.end();
  }
  return [
    { what: "the broker's thread", found: median(grown), goal: 15, unit: 'MB', note: 'more than a process without it' },
  ];
}

const PARTS = { pairs, handOvers, eight, deaths, waiters, starts, memory };
type Part = keyof typeof PARTS;

async function act({ parts, rounds, seconds }: { parts: string; rounds: string; seconds: string }): Promise<void> {
  const chosen = parts.split(',');
  const wrong = chosen.find((name) => !Object.hasOwn(PARTS, name));
  if (wrong !== undefined || !(Number(rounds) >= 1) || !(Number(seconds) > 0)) {
    console.error(`--parts must be some of ${Object.keys(PARTS).join(', ')}; --rounds and --seconds must be positive`);
    process.exit(2);
  }
  const [binary] = findServers();
  const folder = mkdtempSync('/tmp/tt-bench-');
  const socket = `${folder}/server`;
  const args = ['--unixsocket', socket];
  const server: Server | undefined = binary && (await startServer({ server: binary, args }));
  const name = binary ? `${binary.name} ${binary.version}` : 'no server';
  console.log(
    `Node ${process.version}, ${name}, ${cpus()[0]?.model} (${cpus().length}), ${rounds} rounds of ${seconds} s`,
  );
  try {
    const setting = { rounds: Number(rounds), seconds: Number(seconds), socket: server && socket };
    for (const part of chosen as Part[]) {
      for (const { what, found, goal, unit, note } of await PARTS[part](setting)) {
        const goals = goal === undefined ? '' : `goal <= ${goal}${found <= goal ? '' : ', missed'}`;
        console.log(`${what.padEnd(80)}${`${round(found)} ${unit}`.padEnd(10)}${goals}${note ? `  (${note})` : ''}`);
      }
    }
  } finally {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

await new Command('bench')
  .description('a space without a server, beside a server on a Unix socket and proper-lockfile')
  .option('--parts <names>', `only these parts: ${Object.keys(PARTS).join(', ')}`, Object.keys(PARTS).join(','))
  .option('--rounds <rounds>', 'how often each figure is measured', '3')
  .option('--seconds <seconds>', 'how long processes take turns in a round', '2')
  .action(act)
  .parseAsync();
