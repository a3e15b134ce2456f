/**
 * `node build/processes/chaos/rates-cli.js`: see HELP. The history has the moments at which calls began, by the monotonic
 * clock that all processes of the machine share. So nothing that the library says is believed.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Binary, findServers, MISSING } from '../servers/servers.js';
import { World } from './world.js';

/** What a process of the run is told. */
export interface RatesOrder {
  readonly port: number | undefined;
  readonly directory: string | undefined;
  readonly file: string;
  readonly permits: number;
  readonly per: number;
  readonly burst: number;
  readonly slack: number;
  readonly tasks: number;
  /** The part of the rounds after which a task keeps its process busy, for up to two slacks. */
  readonly busy: number;
  /** For how many milliseconds a task rests between two calls, at most. */
  readonly rest: number;
}

const HELP = `node build/processes/chaos/rates-cli.js [options]

  --local         without a server
  --seconds N     30 by default
  --processes N   8 by default
  --permits N --per MS --burst N --slack MS
                  the rate: 50 in 500 ms, with a burst of 10 and a slack of 100 by default
  --tasks N       in each process; 4 by default
  --busy PART     after which part of the calls a task keeps its process busy: 0.02 by default
  --rest MS       how long a task rests between two calls, at most: 5 by default
  --kills N       how often a process is killed and replaced
  --jumps N       how often the clock of the server jumps
  --flushes N     how often the server loses all data (FLUSHALL)

  --restarts N    how often the server restarts, with its data
  --failovers N   how often a replica is promoted, and the server becomes its replica

Calls a limited function in all processes. Says how many permits began in the fullest window; how many permits, of those
that are possible, began, and what became of the others; the longest time in which none began; and what a call of the
script cost the server. Exit code: 1 if a window has too many, or a process fails.`;

const { values } = parseArgs({
  options: {
    local: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '30' },
    processes: { type: 'string', default: '8' },
    permits: { type: 'string', default: '50' },
    per: { type: 'string', default: '500' },
    burst: { type: 'string', default: '10' },
    slack: { type: 'string', default: '100' },
    tasks: { type: 'string', default: '4' },
    busy: { type: 'string', default: '0.02' },
    rest: { type: 'string', default: '5' },
    restarts: { type: 'string', default: '0' },
    failovers: { type: 'string', default: '0' },
    kills: { type: 'string', default: '0' },
    jumps: { type: 'string', default: '0' },
    flushes: { type: 'string', default: '0' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit();
}
const number = (name: Exclude<keyof typeof values, 'local' | 'help'>): number => Number(values[name]);
const seconds = number('seconds');

const directory = mkdtempSync(join(tmpdir(), 'rates-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(2));
const kind =
  number('failovers') > 0 ? 'pair' : number('jumps') > 0 ? 'clock' : number('restarts') > 0 ? 'always' : 'server';
const [binary] = findServers();
if (!values.local && !binary) {
  console.error(MISSING);
  process.exit(2);
}
const world = values.local ? undefined : await World.build(binary as Binary, kind);
if (typeof world === 'string') {
  console.error(world);
  process.exit(2);
}
const file = join(directory, 'history');
writeFileSync(file, '');
const order: RatesOrder = {
  port: world?.address.kind === 'server' ? world.address.port : undefined,
  directory: world ? undefined : directory,
  file,
  permits: number('permits'),
  per: number('per'),
  burst: number('burst'),
  slack: number('slack'),
  tasks: number('tasks'),
  busy: number('busy'),
  rest: number('rest'),
};

const program = fileURLToPath(new URL('./rates-client.js', import.meta.url));
const running: ChildProcess[] = [];
let failures = 0;
const start = (): void => {
  const child = fork(program, [JSON.stringify(order)]);
  child.on('exit', (code) => {
    if (code) failures++;
  });
  running.push(child);
};
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (let i = 0; i < number('processes'); i++) start();
await Promise.all(running.map((child) => once(child, 'message')));

/** Does something so many times while the run lasts, at random moments. */
async function often(times: number, act: () => unknown): Promise<void> {
  const moments = Array.from({ length: times }, () => Math.random() * seconds * 1000).sort((a, b) => a - b);
  const begun = performance.now();
  for (const moment of moments) {
    await sleep(Math.max(0, begun + moment - performance.now()));
    await act();
  }
}
await Promise.all([
  sleep(seconds * 1000),
  often(number('kills'), () => {
    running.splice(Math.floor(Math.random() * running.length), 1)[0]?.kill('SIGKILL');
    start();
  }),
  often(number('jumps'), () => world?.clock?.jump()),
  often(number('flushes'), () => world?.primary.send('FLUSHALL')),
  often(number('restarts'), () => world?.primary.restart({ kill: true, keepData: true })),
  often(number('failovers'), () => world?.promote(20 + Math.random() * 280)),
]);
for (const child of running) child.kill('SIGKILL');
await sleep(200);
const stats = `${(await world?.primary.send('INFO', 'commandstats')) ?? ''}`;
const [, calls = '0', us = '0'] = /cmdstat_evalsha:calls=(\d+),usec=(\d+)/.exec(stats) ?? [];
await world?.stop();

const begins: [time: number, width: number][] = [];
const others = { l: 0, t: 0, s: 0, w: 0 };
for await (const line of createInterface({ input: createReadStream(file) })) {
  const [time, width, what = ''] = line.split(' ');
  if (what === 'b') begins.push([Number(time), Number(width)]);
  else others[what as keyof typeof others] += Number(width);
}
begins.sort(([a], [b]) => a - b);
const { permits, per } = order;
let [sum, most, tooFull, first, all, gap] = [0, 0, 0, 0, 0, 0];
for (const [at, [time, width]] of begins.entries()) {
  sum += width;
  all += width;
  for (; time - (begins[first] as [number, number])[0] >= per * 1000; first++) sum -= begins[first]?.[1] as number;
  most = Math.max(most, sum);
  if (sum > permits) tooFull++;
  if (at > 0) gap = Math.max(gap, time - (begins[at - 1] as [number, number])[0]);
}
const span = ((begins.at(-1)?.[0] ?? 0) - (begins[0]?.[0] ?? 0)) / 1000;
const possible = (permits * span) / (per + order.slack);
const part = (of: number): number => Number((of / possible).toFixed(3));
console.log(
  JSON.stringify({
    ...{ begins: begins.length, permits: all, most, allowed: permits, tooFull, longestGapMs: Math.round(gap / 1000) },
    ofPossible: {
      begun: part(all),
      tooLate: part(others.l),
      refused: part(others.t),
      givenBack: part(others.s),
      told: part(others.w),
    },
    ...{ kills: number('kills'), jumps: number('jumps'), flushes: number('flushes') },
    ...{ restarts: number('restarts'), failovers: number('failovers') },
    ...(world && { calls: Number(calls), usACall: Number((Number(us) / Number(calls)).toFixed(1)) }),
  }),
);
if (failures > 0) console.error(`${failures} processes have failed`);
process.exit(most > permits || failures > 0 ? 1 : 0);
