/** One run of rates: processes call limited functions while something happens to them and to the server. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Binary } from '../servers/servers.js';
import { directoryOf } from '../src/local/directory.js';
import { Folder } from '../src/local/generations.js';
import { microseconds } from './clients.js';
import { present } from './local-run.js';
import { type Judgement, judgeRates, type Loss } from './rates-history.js';
import { loses, type RatesFault, type RatesOrder, type RatesPlan } from './rates-plan.js';
import { RedisWorld } from './redis-world.js';

const PROGRAM = fileURLToPath(new URL('./rates-client.js', import.meta.url));
/** After the last fault, requests that wait for so many milliseconds wait for ever. */
const PATIENCE = 60_000;
/** So many windows lie between two losses of a kind, on the average. */
const WINDOWS = 4;
/** For which part of a lease nobody gets a date after a loss (rates.lua). */
const BEATS = 5;

export interface RatesResult extends Judgement {
  /** How often what was done. */
  readonly counts: Readonly<Record<string, number>>;
  /** What a call of the script cost the server, in microseconds, and how many there were. */
  readonly calls: number;
  readonly usACall: number;
}

/** @param keep a folder to which the history goes if something is wrong. */
export async function runRates(
  fault: RatesFault,
  plan: RatesPlan,
  seconds: number,
  binary: Binary | undefined,
  keep?: string,
): Promise<RatesResult | string> {
  const { jumps, failovers, restarts } = fault;
  const both = jumps !== undefined && failovers !== undefined;
  const kind = both ? 'mixed' : failovers ? 'pair' : jumps ? 'clock' : restarts ? 'always' : 'server';
  const world = binary && (await RedisWorld.build(binary, kind));
  if (typeof world === 'string') return world;
  const directory = mkdtempSync(join(tmpdir(), 'rates-'));
  const file = join(directory, 'history');
  writeFileSync(file, '');
  const order: RatesOrder = {
    ...plan,
    port: world?.address.kind === 'server' ? world.address.port : undefined,
    directory: world ? undefined : directory,
    file,
    pauses: fault.pauses ?? 0,
  };
  const faults: string[] = [];
  const running: ChildProcess[] = [];
  const start = (): ChildProcess => {
    const child = fork(PROGRAM, [JSON.stringify(order)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    let said = '';
    child.stderr?.on('data', (data) => {
      said += `${data}`;
    });
    child.on('exit', (code) => {
      if (code) faults.push(`a process has failed: ${said.slice(-2000)}`);
    });
    running.push(child);
    return child;
  };
  const clean = (): void => {
    for (const child of running) child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  };
  process.on('exit', clean);
  try {
    for (let i = 0; i < plan.processes; i++) start();
    // One that fails at its start says nothing.
    await Promise.all(running.map((child) => Promise.race([once(child, 'message'), once(child, 'exit')])));

    const counts: Record<string, number> = {};
    const losses: Loss[] = [];
    const end = performance.now() + seconds * 1000;
    /** Does something again and again, so often on the average. */
    const often = async (what: string, every: number | undefined, act: () => unknown): Promise<void> => {
      while (every !== undefined) {
        const ms = every * (0.2 + 1.6 * Math.random());
        if (performance.now() + ms > end) break;
        await sleep(ms);
        await act();
        counts[what] = (counts[what] ?? 0) + 1;
      }
    };
    // A loss delays new dates by a window, and by what lies ahead. So losses that come faster stop everything.
    const rarely = (every: number | undefined): number | undefined =>
      every && Math.max(every, WINDOWS * (plan.per + plan.slack));
    /** A server can do one of these at a time. */
    let before = Promise.resolve();
    const atServer = (act: () => unknown, loses: boolean) => (): Promise<void> => {
      before = before.then(async () => {
        const loss = { from: microseconds(), to: Infinity };
        if (loses) losses.push(loss);
        await act();
        loss.to = microseconds();
      });
      return before;
    };
    const kill = (child: ChildProcess | undefined): void => {
      if (!child) return;
      running.splice(running.indexOf(child), 1);
      child.kill('SIGKILL');
      start();
    };
    const some = (): ChildProcess | undefined => running[Math.floor(Math.random() * running.length)];
    const folder = new Folder(directoryOf('rates', directory));
    await Promise.all([
      sleep(seconds * 1000),
      often('kills', fault.kills, () => kill(some())),
      often('kills of brokers', fault.brokers, () => {
        const { pid } = present(folder);
        kill(running.find((child) => child.pid === pid));
      }),
      often('stops', fault.stops, async () => {
        const child = some();
        child?.kill('SIGSTOP');
        await sleep(20 + 980 * Math.random());
        child?.kill('SIGCONT');
      }),
      often(
        'jumps',
        rarely(jumps),
        atServer(() => world?.clock?.jump(), true),
      ),
      often(
        'flushes',
        rarely(fault.flushes),
        atServer(() => world?.primary.send('FLUSHALL'), true),
      ),
      often(
        'restarts',
        restarts,
        atServer(() => world?.primary.restart({ kill: true, keepData: true }), false),
      ),
      often(
        'failovers',
        rarely(failovers),
        atServer(() => world?.promote(20 + Math.random() * 280, 0), true),
      ),
    ]);
    const exits = running.map((child) => once(child, 'exit'));
    for (const child of running) if (child.connected) child.send('over');
    const areOver = await Promise.race([Promise.all(exits).then(() => true), sleep(PATIENCE, false, { ref: false })]);
    if (!areOver) faults.push(`somebody waits ${PATIENCE / 1000} seconds after the end`);
    const stats = `${(await world?.primary.send('INFO', 'commandstats')) ?? ''}`;
    const [, calls = '0', us = '0'] = /cmdstat_evalsha:calls=(\d+),usec=(\d+)/.exec(stats) ?? [];
    const mayLose = loses(fault) && fault.kills !== undefined;
    const rests = !restarts && losses.length === 0 ? 0 : plan.lease / BEATS;
    const judgement = await judgeRates(file, plan, losses, mayLose, rests);
    judgement.faults.push(...faults);
    if (keep !== undefined && judgement.faults.length > 0) {
      mkdirSync(keep, { recursive: true });
      copyFileSync(file, join(keep, `rates-${fault.name}`));
    }
    return { ...judgement, counts, calls: Number(calls), usACall: Number(us) / Math.max(1, Number(calls)) };
  } finally {
    clean();
    process.off('exit', clean);
    await world?.stop();
  }
}
