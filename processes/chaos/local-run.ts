/**
 * One run without a server: processes share a space of this machine, and are killed and stopped. Then all come to rest,
 * and the run checks what they have noted (history.ts), the registers, the files of the sections (client.ts), and what
 * is left in the space.
 *
 * Half of the blows go to the process of the broker. A chain of blows goes to one broker after the other, each as soon
 * as it has made its generation, so that the next one takes over within a takeover.
 */
import { closeSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Space } from '../src/index.js';
import { Broker } from '../src/local/broker.js';
import { directoryOf } from '../src/local/directory.js';
import { Folder, pidOf } from '../src/local/generations.js';
import { random } from '../src/local/platform.js';
import { Clients } from './clients.js';
import { PLANS } from './plan.js';
import { type Judged, judge, keepHistories } from './run.js';

const SPACE = 'chaos';

/** No process has this number: Linux gives smaller ones. */
const NOBODY = 2 ** 22 + 1;

/** After the last blow, requests that wait while nothing happens for this many milliseconds wait for ever. */
const PATIENCE = 60_000;

/** What happens to the processes. */
export interface LocalFault {
  readonly name: string;
  /** Milliseconds between two blows of a kind; no blow of this kind if it is not there. */
  readonly kills?: number;
  readonly stops?: number;
  /** Somebody takes over from a broker that lives. */
  readonly usurpations?: number;
}

export const LOCAL_FAULTS: readonly LocalFault[] = [
  { name: 'kill', kills: 50 },
  { name: 'stop', stops: 100 },
  { name: 'usurp', usurpations: 50 },
  { name: 'all', kills: 50, stops: 150, usurpations: 300 },
];

export interface LocalOptions {
  readonly fault: LocalFault;
  readonly seconds: number;
  readonly processes: number;
  readonly spares?: number;
  readonly tasks?: number;
  /** The commands that run the processes, in turn: Node, Deno, Bun. */
  readonly runtimes: readonly (readonly string[])[];
  /** Whether the processes note the time of day, because not all of them are of Node. */
  readonly isRough?: boolean;
  /** A directory to which the histories go if something is wrong. */
  readonly keep?: string;
}

export interface LocalResult extends Judged {
  readonly kills: number;
  /** The blows of `kills` that went to the process of a broker. */
  readonly brokersKilled: number;
  readonly stops: number;
  readonly generations: number;
  readonly forever: number;
  readonly lostPermits: number;
  readonly faults: readonly string[];
}

const chance = (part: number): boolean => Math.random() < part;
const between = (least: number, most: number): number => least + Math.random() * (most - least);

/** The present generation, and the process of its broker. */
export function present(folder: Folder): { readonly number: number; readonly pid: number } {
  const generation = folder.highest();
  if (!generation) return { number: 0, pid: 0 };
  closeSync(generation.fd);
  return { number: generation.number, pid: pidOf(generation.address.member) };
}

export async function runLocal(options: LocalOptions): Promise<LocalResult> {
  const { fault, seconds, processes, spares = 0, tasks = 4, runtimes, isRough = false, keep } = options;
  const directory = mkdtempSync('/tmp/tt-chaos-');
  const folder = new Folder(directoryOf(SPACE, directory));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  process.on('exit', remove);
  const address = { kind: 'local', directory } as const;
  const clients = new Clients({
    address,
    space: SPACE,
    lease: 0,
    tasks,
    processes,
    spares,
    dir: directory,
    runtimes,
    isRough,
  });
  const faults: string[] = [];
  const brokers: Broker[] = [];
  let brokersKilled = 0;

  const kill = async (): Promise<void> => {
    if (chance(0.5)) return void clients.kill();
    for (let blows = 0; blows === 0 || (blows < 4 && chance(0.5)); blows++) {
      const { number, pid } = present(folder);
      if (clients.kill(pid) === pid) brokersKilled++;
      for (let ms = 0; ms < 100 && present(folder).number === number; ms++) await sleep(1);
    }
  };
  const stop = (): Promise<void> =>
    clients.stop(between(20, chance(0.2) ? 4000 : 500), chance(0.5) ? present(folder).pid : 0);
  /** This process takes over, and goes on for a moment, in the name of a process that does not exist. */
  const usurp = async (): Promise<void> => {
    const before = folder.highest();
    const ended = (error: unknown): void => {
      if (error) faults.push(`${error}`);
    };
    const broker = await Broker.start(folder, before, `${random()}-${NOBODY}`, { ended, joined: () => {} });
    if (before) closeSync(before.fd);
    if (broker) brokers.push(broker);
    await sleep(between(0, 50));
    broker?.end();
  };

  try {
    await clients.joined();
    const end = performance.now() + seconds * 1000;
    const repeat = async (every: number | undefined, act: () => Promise<void>): Promise<void> => {
      const running: Promise<void>[] = [];
      for (let due = performance.now(); every !== undefined && performance.now() < end; due += every) {
        await sleep(Math.max(0, due - performance.now()));
        running.push(act());
      }
      await Promise.all(running);
    };
    await Promise.all([repeat(fault.kills, kill), repeat(fault.stops, stop), repeat(fault.usurpations, usurp)]);
    const forever = await clients.drain(PATIENCE);
    if (forever > 0) faults.push(`in ${forever} processes somebody waits for ever`);
    const observer = await Space.local({ space: SPACE, directory, connectTimeout: 60_000 });
    const lostPermits = await lost(observer, clients.alive().length + 1, faults);
    await clients.leave();
    if (!(await within(10_000, async () => (await observer.inspect()).sessions.length === 1)))
      faults.push('when all have left there are sessions of others');
    await observer.close();
    faults.push(...clients.troubles);
    const judged = judge(clients, { keeps: true }, [], faults);
    if (judged.epochs !== 1) faults.push(`there are ${judged.epochs} histories`);
    if (judged.lostLeases > 0) faults.push(`${judged.lostLeases} holds were lost`);
    if (judged.refusedWrites > 0) faults.push(`${judged.refusedWrites} writes of holders were refused`);
    if (keep !== undefined && faults.length > 0) keepHistories(directory, join(keep, `local-${fault.name}`), faults);
    const { kills, stops } = clients;
    const generations = present(folder).number;
    return { ...judged, kills, brokersKilled, stops, generations, forever, lostPermits, faults: [...new Set(faults)] };
  } finally {
    for (const broker of brokers) broker.end();
    await clients.leave();
    process.off('exit', remove);
    remove();
  }
}

/** Waits until the dead have been noticed. Returns how many permits are missing at rest. */
async function lost(observer: Space, sessions: number, faults: string[]): Promise<number> {
  const handles = await Promise.all(
    PLANS.map(({ name, kind, max, bypass }) =>
      kind === 'semaphore'
        ? observer.semaphore(name, max)
        : kind === 'mutex'
          ? observer.mutex(name, { bypass })
          : observer.rwLock(name),
    ),
  );
  const look = async (): Promise<{ missing: number; waiting: number }> => {
    const states = await Promise.all(handles.map((handle) => handle.inspect()));
    const missing = states.reduce((sum, state, at) => sum + ((PLANS[at]?.max ?? 0) - (state?.free ?? 0)), 0);
    return { missing, waiting: states.reduce((sum, state) => sum + (state?.waiting ?? 0), 0) };
  };
  const isAtRest = async (): Promise<boolean> => {
    const { missing, waiting } = await look();
    return missing === 0 && waiting === 0 && (await observer.inspect()).sessions.length === sessions;
  };
  if (await within(30_000, isAtRest)) return 0;
  const { missing, waiting } = await look();
  const known = (await observer.inspect()).sessions.length;
  faults.push(
    `at rest ${missing} of the permits are missing, ${waiting} wait, and ${known} of ${sessions} sessions are known`,
  );
  return missing;
}

async function within(ms: number, condition: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + ms;
  while (performance.now() < end) {
    if (await condition()) return true;
    await sleep(50);
  }
  return false;
}
