/**
 * `npm run alarms -w runtimes` runs test/programs/busy.mjs, in which nobody ever waits in a circle, in the named
 * runtimes, and counts the deadlocks that are told all the same.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Missing } from './fetch.js';
import { RUNTIMES } from './runtimes.js';

const PROGRAM = fileURLToPath(new URL('../../test/programs/busy.mjs', import.meta.url));
const ABLE = RUNTIMES.flatMap(({ name, command }) => (command ? [{ name, command }] : []));
const OPTIONS = { encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
const HELP = `npm run alarms -w runtimes -- RUNTIME... [options]

  RUNTIME      ${ABLE.map(({ name }) => name).join(', ')}; node20 and node26 by default
  --minutes N  how long in each, 60 by default
  --every N    milliseconds between two kills of workers, 100 by default; 0 kills none

Prints how often the main thread has looked for deadlocks, how many it has found, how many workers were killed, and how
many warnings of deadlocks were printed. Exit code: 0 no deadlock was told, 1 one was, or the program failed, 2 a runtime
is missing or an argument is wrong.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '60' },
    every: { type: 'string', default: '100' },
    help: { type: 'boolean', default: false },
  },
});

const wanted = positionals.length > 0 ? positionals : ['node20', 'node26'];
const unknown = wanted.filter((wish) => !ABLE.some(({ name }) => name === wish));
const minutes = Number(values.minutes);
if (values.help || unknown.length > 0 || !(minutes > 0 && minutes <= 1440) || !/^\d+$/.test(values.every)) {
  console.log(HELP);
  process.exit(values.help ? 0 : 2);
}

let [alarms, missing] = [0, 0];
for (const { name, command } of ABLE.filter(({ name }) => wanted.includes(name))) {
  try {
    const [program, ...args] = command();
    const run = spawnSync(program, [...args, PROGRAM, String(minutes * 60_000), values.every], OPTIONS);
    const warnings = run.stderr.match(/TaketurnsWarning: deadlock/g)?.length ?? 0;
    console.log(`${name}: ${run.stdout.trim()}, ${warnings} warnings`);
    if (run.status === 0 && warnings === 0 && JSON.parse(run.stdout).found === 0) continue;
    alarms++;
    console.error(run.stderr.slice(-2000));
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    console.error(error.message);
    missing++;
  }
}
process.exit(alarms ? 1 : missing ? 2 : 0);
