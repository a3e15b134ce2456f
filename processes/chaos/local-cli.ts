/** `npm run chaos -w processes`: see HELP. */
import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { LOCAL_FAULTS, type LocalResult, runLocal } from './local-run.js';

const NAMES = LOCAL_FAULTS.map(({ name }) => name);
const HELP = `npm run chaos -w processes -- [options]

Processes that share a space of this machine without a server are killed and stopped. (chaos:processes in the root
folder does the same, and more, to processes that share a server.)

  --seconds N        how long the blows last, in rounds of 20 s at most; 60 by default
  --fault NAME       ${NAMES.join(', ')}; all by default
  --processes N      16 by default
  --runtimes A,B     the programs of Node, Deno and Bun that run the processes, in turn; this Node by default
  --spares N         processes that wait, at most, to replace at once those that are killed; 150 by default
  --keep DIR         where something is wrong, the histories go there

Exit code: 0 nothing is wrong, 1 something is, 2 an argument is wrong.`;

const ROUND = 20;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    fault: { type: 'string', default: 'all' },
    processes: { type: 'string', default: '16' },
    runtimes: { type: 'string', default: process.execPath },
    spares: { type: 'string', default: '150' },
    keep: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const isNumber = (text: string): boolean => /^[1-9]\d*$/.test(text);
const fault = LOCAL_FAULTS.find(({ name }) => name === values.fault);
if (values.help || !fault || ![values.seconds, values.processes, values.spares].every(isNumber)) {
  console.log(HELP);
  process.exit(values.help ? 0 : 2);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(2));

/** How to run a program of this runtime, and what the runtime is called. */
function runtime(path: string): {
  readonly command: readonly string[];
  readonly name: string;
  readonly isNode: boolean;
} {
  const { stdout, status } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  if (status !== 0) {
    console.error(`--runtimes: ${path} does not run`);
    process.exit(2);
  }
  const [name = ''] = stdout.split('\n');
  if (name.startsWith('v')) return { command: [path], name: `Node ${name}`, isNode: true };
  const isDeno = name.startsWith('deno');
  return isDeno
    ? { command: [path, 'run', '-A'], name, isNode: false }
    : { command: [path], name: `Bun ${name}`, isNode: false };
}
const runtimes = values.runtimes.split(',').map(runtime);
const names = runtimes.map(({ name }) => name).join(', ');
console.log(`${fault.name}, ${values.processes} processes, ${names}, ${cpus()[0]?.model} (${cpus().length})`);

const sums: Record<string, number> = {};
let longestWait = 0;
let wrong = 0;
const total = Number(values.seconds);
for (let done = 0; done < total; done += ROUND) {
  const seconds = Math.min(ROUND, total - done);
  const spares =
    fault.kills === undefined ? 0 : Math.min(Number(values.spares), Math.ceil((seconds * 1000) / fault.kills));
  const result: LocalResult = await runLocal({
    isRough: runtimes.some(({ isNode }) => !isNode),
    ...{
      fault,
      seconds,
      spares,
      processes: Number(values.processes),
      runtimes: runtimes.map(({ command }) => command),
    },
    ...(values.keep === undefined ? {} : { keep: values.keep }),
  });
  const { kills, brokersKilled, stops, generations, requests, grants, accepted, disorder } = result;
  const { forever, lostPermits, late, aborted, overtaken, faults } = result;
  const counts = { kills, 'of brokers': brokersKilled, stops, generations, requests, granted: grants, late, aborted };
  const all = { ...counts, 'writes accepted': accepted, 'out of order': disorder, 'permits lost': lostPermits };
  for (const [name, count] of Object.entries({ ...all, 'waits for ever': forever, wrong: faults.length })) {
    sums[name] = (sums[name] ?? 0) + count;
  }
  longestWait = Math.max(longestWait, result.longestWait);
  console.log(
    `after ${done + seconds} s: ${Object.entries(sums)
      .map(([name, sum]) => `${name} ${sum}`)
      .join(', ')}; longest wait ${longestWait} ms; overtaken ${overtaken}`,
  );
  for (const text of faults.slice(0, 20)) console.log(`  WRONG: ${text.slice(0, 2000)}`);
  wrong += faults.length;
}
process.exit(wrong > 0 ? 1 : 0);
