/**
 * One run: servers and processes work under a fault for a while. Then all come to rest, and the run checks what the
 * processes have noted.
 */
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Clients } from './clients.js';
import { connect } from './connect.js';
import { disturb, type Engine, type Fault } from './faults.js';
import { type Asked, type Checked, checkObject, type Fork, readHistory, relate } from './history.js';
import { PLANS } from './plan.js';
import type { State } from './state.js';
import type { World } from './world.js';

export interface RunOptions {
  readonly server: Engine;
  readonly fault: Fault;
  readonly seconds: number;
  readonly processes: number;
  /** How many spare processes load before the run begins, to replace killed processes at once. 0 by default. */
  readonly spares?: number;
  readonly tasks?: number;
  readonly lease?: number;
  /** A directory to which the histories go if something is wrong. */
  readonly keep?: string;
}

export interface Result {
  /** Why this machine could not do the run. */
  readonly skipped?: string;
  readonly counts: Record<string, number>;
  readonly requests: number;
  readonly grants: number;
  readonly late: number;
  readonly aborted: number;
  readonly lostLeases: number;
  readonly refusals: number;
  readonly accepted: number;
  readonly refusedWrites: number;
  readonly disorder: number;
  readonly overtaken: number;
  readonly epochs: number;
  /** The longest wait of a request that was granted, in milliseconds. */
  readonly longestWait: number;
  /** The number of processes in which a request waits for ever. */
  readonly forever: number;
  readonly lostPermits: number;
  /** How often the server's state was checked while the run lasted. */
  readonly looks: number;
  /** What is wrong. */
  readonly faults: string[];
}

/** After the last fault, requests that wait while nothing happens for this many milliseconds wait for ever. */
const PATIENCE = 30_000;

const NOTHING = {
  ...{ counts: {}, requests: 0, grants: 0, late: 0, aborted: 0, lostLeases: 0, refusals: 0, accepted: 0, looks: 0 },
  ...{ refusedWrites: 0, disorder: 0, overtaken: 0, epochs: 0, longestWait: 0, forever: 0, lostPermits: 0, faults: [] },
};

export async function run(options: RunOptions): Promise<Result> {
  const { server, fault, seconds, processes, spares = 0, tasks = 4, lease = 1000, keep } = options;
  const world = await fault.build(server);
  if (typeof world === 'string') return { ...NOTHING, skipped: world };
  const { space, address, dir } = world;
  const clients = new Clients({ address, space, lease, tasks, processes, spares, dir });
  const faults: string[] = [];
  try {
    await clients.joined();
    const end = performance.now() + seconds * 1000;
    const isOver = () => performance.now() > end;
    const disturbed = disturb(fault, { world, clients, lease }, isOver);
    let looks = 0;
    const looked = (async () => {
      while (world.isWhole && !isOver()) {
        await sleep(100);
        // A server that is down has no state to read.
        const state = await stateOf(world);
        if (state) looks++;
        if (state?.fault) faults.push(`the server's state: ${state.fault}`);
      }
    })();
    const counts = await disturbed;
    await looked;
    if (clients.kills > 0) counts.kills = clients.kills;
    if (clients.stops > 0) counts['processes stopped'] = clients.stops;
    if (world.lostTickets > 0) counts['lost tickets'] = world.lostTickets;
    const forever = await clients.drain(PATIENCE);
    if (forever > 0) {
      faults.push(`in ${forever} processes somebody waits for ever`);
      faults.push(`then the server's state is ${JSON.stringify(await stateOf(world))}`);
    }
    const lostPermits = await rest(world, lease, clients.alive().length, faults);
    await clients.leave();
    await empty(world, lease, faults);
    faults.push(...clients.troubles);

    const judged = judge(clients, fault, world.forks, faults);
    if (keep !== undefined && faults.length > 0) keepHistories(dir, join(keep, `${server.name}-${fault.name}`), faults);
    return { ...judged, counts, forever, lostPermits, looks, faults: [...new Set(faults)] };
  } finally {
    await clients.leave();
    await world.stop();
  }
}

/** What the histories of the processes show. */
export type Judged = Omit<Result, 'skipped' | 'counts' | 'forever' | 'lostPermits' | 'looks' | 'faults'>;

/** Checks what the processes have noted. Adds what is wrong to `faults`. */
export function judge(
  clients: Clients,
  { keeps, splits, forgets }: Pick<Fault, 'keeps' | 'splits' | 'forgets'>,
  forks: readonly Fork[],
  faults: string[],
): Judged {
  const all: Asked[] = [];
  for (const [i, { file }] of clients.all.entries()) for (const asked of readHistory(file, i)) all.push(asked);
  const inOrder = new Set(PLANS.filter(({ kind }) => kind !== 'mutex').map(({ name }) => name));
  relate(all, inOrder, forgets);
  const checked: Checked = { faults: [], refusals: 0, overtaken: 0, epochs: 0 };
  const sessions = new Map<number, Set<string>>();
  for (const { process, session, outcome } of all) {
    if (outcome !== 'granted') continue;
    const known = sessions.get(process) ?? new Set();
    sessions.set(process, known.add(session));
  }
  const isExact = clients.kills === 0 && [...sessions.values()].every(({ size }) => size === 1);
  for (const plan of PLANS) checkObject(plan, all, { keeps, splits, forks, isExact }, checked);
  for (const { object, fault: text } of checked.faults) faults.push(`${object}: ${text}`);
  const registers = [...clients.registers.values()];
  const sum = (of: 'accepted' | 'refused' | 'disorder') => registers.reduce((total, each) => total + each[of], 0);
  if (sum('disorder') > 0) faults.push(`${sum('disorder')} writes were accepted out of order`);
  const count = (outcome: Asked['outcome']) => all.filter((asked) => asked.outcome === outcome).length;
  const granted = all.filter(({ outcome }) => outcome === 'granted');
  return {
    requests: all.length,
    grants: granted.length,
    late: count('late'),
    aborted: count('aborted'),
    lostLeases: all.filter(({ lost }) => lost).length,
    refusals: checked.refusals,
    accepted: sum('accepted'),
    refusedWrites: sum('refused'),
    disorder: sum('disorder'),
    overtaken: checked.overtaken,
    epochs: checked.epochs,
    longestWait: Math.round(granted.reduce((most, { call, end }) => Math.max(most, end - call), 0) / 1000),
  };
}

export function keepHistories(from: string, to: string, faults: readonly string[]): void {
  mkdirSync(to, { recursive: true });
  writeFileSync(join(to, 'wrong.txt'), `${faults.join('\n')}\n`);
  for (const name of readdirSync(from)) if (name.endsWith('.history')) copyFileSync(join(from, name), join(to, name));
}

/**
 * Checks that at rest all permits are back and no request waits. An observer connects for this, because permits of dead
 * sessions are taken back only while a session lives. Returns how many permits are missing.
 */
async function rest(world: World, lease: number, living: number, faults: string[]): Promise<number> {
  const observer = await connect(world.address, { space: world.space, lease, connectTimeout: 30_000 });
  try {
    // The observer holds a permit, so that it sends heartbeats.
    const semaphore = await observer.semaphore('observer', 1);
    const hold = () => semaphore.holdAsync(1, { timeout: PATIENCE });
    let held = await hold();
    let state: State | undefined;
    const isAtRest = async () => {
      // On a busy machine the observer may lose its lease, and its permit with the lease.
      if (!held.held) {
        const again = await hold().catch(() => undefined);
        if (!again) return false;
        held = again;
      }
      state = await stateOf(world);
      // Some sessions could not tell the server that they end. The observer and the living processes find them dead,
      // even if they hold nothing. A process that has used no object yet has no session.
      const { records, queue, sessions } = state?.sizes ?? {};
      return records === 1 && queue === 0 && sessions !== undefined && sessions <= 1 + living;
    };
    const rested = await within(10 * lease + 60_000, isAtRest);
    await held.release();
    const { observer: mine, ...missing } = state?.taken ?? {};
    void mine;
    const lost = Object.values(missing).reduce((total, each) => total + each, 0);
    if (state === undefined) faults.push('the server does not answer at rest');
    else if (!rested || lost > 0 || state.fault !== undefined) {
      faults.push(`at rest the server's state is ${JSON.stringify(state)}`);
    }
    return lost;
  } finally {
    // On a busy machine the observer may have lost its lease. It has to enter its session again before it can end it.
    await observer.inspect().catch(() => {});
    await observer.close();
  }
}

/** Checks that no session is left when all processes have left. */
async function empty(world: World, lease: number, faults: string[]): Promise<void> {
  let state: State | undefined;
  const isEmpty = async () => {
    state = await stateOf(world);
    return (
      state !== undefined && ['sessions', 'leases', 'seqs', 'records', 'queue'].every((key) => state?.sizes[key] === 0)
    );
  };
  if (!(await within(3 * lease + 10_000, isEmpty)))
    faults.push(`when all have left the server's state is ${JSON.stringify(state)}`);
}

const stateOf = (world: World): Promise<State | undefined> => world.state().catch(() => undefined);

async function within(ms: number, condition: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + ms;
  while (performance.now() < end) {
    if (await condition()) return true;
    await sleep(50);
  }
  return false;
}
