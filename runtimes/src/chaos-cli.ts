/**
 * `npm run chaos -w runtimes` runs test/programs/unwatched.mjs, which kills workers that nobody watches, in the named
 * runtimes. `npm run chaos -w runtimes -- --channel` runs test/programs/channel-chaos.mjs, which kills senders and
 * receivers of a channel, and `npm run chaos -w runtimes -- --watch` runs test/programs/watch-chaos.mjs, which kills
 * threads that set a watch and read it. `npm run chaos -w runtimes -- --rates` runs
 * test/programs/keyed-rate-history-threads.mjs, which kills threads that take permits of keys.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Missing } from './fetch.js';
import { RUNTIMES } from './runtimes.js';

const programOf = (name: string): string => fileURLToPath(new URL(`../../test/programs/${name}.mjs`, import.meta.url));
const ABLE = RUNTIMES.flatMap(({ name, command }) => (command ? [{ name, command }] : []));
const OPTIONS = { encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
const HELP = `npm run chaos -w runtimes -- RUNTIME... [options]

  RUNTIME      ${ABLE.map(({ name }) => name).join(', ')}; node20, node26, deno and bun by default
  --seconds N  how long in each, 300 by default
  --every N    milliseconds between two kills, 50 by default
  --channel    kill one of eight senders and eight receivers of a channel every 50 ms, until --messages have been sent
  --messages N with --channel, how many, 1000000 by default
  --watch      kill one of eight threads that set a watch and eight that read it, until --sets calls have returned
  --sets N     with --watch, how many, 1000000 by default
  --rates      kill one of eight threads that take permits of a KeyedRateLimiter every 50 ms, until --takes have returned
  --takes N    with --rates, how many, 1000000 by default
  --seed N     with --channel, --watch or --rates, a seed for what the threads do, 1 by default

Prints what the program reports: kills, what was lost, and the resident memory after each quarter of the time, in MB.
With --channel: kills, the messages whose send has returned, those that were received, those that were received by no
thread (missing), those that count as lost with a receiver that died, and the holes of senders that died.
With --watch: kills, the calls that have returned, and the version in the end.
With --rates: kills, takes, refusals, and what is wrong with their history.
Exit code: 0 nothing was lost, 1 something was, 2 a runtime is missing or an argument is wrong.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '300' },
    every: { type: 'string', default: '50' },
    channel: { type: 'boolean', default: false },
    messages: { type: 'string', default: '1000000' },
    watch: { type: 'boolean', default: false },
    sets: { type: 'string', default: '1000000' },
    rates: { type: 'boolean', default: false },
    takes: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

const wanted = positionals.length > 0 ? positionals : ['node20', 'node26', 'deno', 'bun'];
const unknown = wanted.filter((wish) => !ABLE.some(({ name }) => name === wish));
const { seconds, every, channel, messages, watch, sets, rates, takes, seed } = values;
const numbers = [seconds, every, messages, sets, takes, seed];
if (values.help || unknown.length > 0 || !numbers.every((text) => /^[1-9]\d*$/.test(text))) {
  console.log(HELP);
  process.exit(values.help ? 0 : 2);
}

const given = channel
  ? [programOf('channel-chaos'), '1', seed, messages]
  : watch
    ? [programOf('watch-chaos'), '1', seed, sets]
    : rates
      ? [programOf('keyed-rate-history-threads'), takes, seed]
      : [programOf('unwatched'), seconds, every];
let [lost, missing] = [0, 0];
for (const { name, command } of ABLE.filter(({ name }) => wanted.includes(name))) {
  try {
    const [program, ...args] = command();
    console.log(`${name}:`);
    const run = spawnSync(program, [...args, ...given], OPTIONS);
    console.log(run.stdout.trim());
    if (run.status === 0) continue;
    lost++;
    // Deno prints each error with which a worker ends itself on purpose.
    console.error(run.stderr.slice(-2000));
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    console.error(error.message);
    missing++;
  }
}
process.exit(lost ? 1 : missing ? 2 : 0);
