/**
 * `node build/processes/chaos/rates-cli.js`: see HELP. The history has the moments at which calls began, by the monotonic
 * clock that all processes of the machine share, and what the server has answered. So nothing that the library makes of
 * it is believed.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { findServers } from '../servers/servers.js';
import { RATES_FAULTS, type RatesPlan } from './rates-plan.js';
import { runRates } from './rates-run.js';

const NAMES = [...new Set(RATES_FAULTS.map(({ name }) => name))];
const HELP = `node build/processes/chaos/rates-cli.js [options]

Processes call limited functions, while they and the servers are killed, stopped and worse.

  --on A,B        local (without a server), redis, valkey; by default without a server, and each server in PATH
  --faults A,B    ${NAMES.join(', ')}; by default each that is possible there
  --seconds N     for each; 30 by default
  --processes N   8 by default
  --permits N --per MS --burst N --slack MS
                  the rate: 500 in 500 ms, with a burst of 100 and a slack of 100 by default
  --width N       the most permits of a call; 3 by default. Four of five calls take one
  --rates N       how many such rates there are: 1 by default
  --keys N        how many keys of a rate for each key there are besides: 1 by default
  --tasks N       in each process; 32 by default
  --busy PART     after which part of the calls a task keeps its process busy, for up to two slacks: 0.0005 by default
  --rest MS       how long a task rests between two calls, at most: 5 by default
  --lease MS      of each process, with a server: 2000 by default
  --keep DIR      where something is wrong, the histories go there

Checks of each rate: the permits that begin in any window; the order of the dates; that no window of the server passes
without a date while somebody asks; that calls begin at the dates that they were told, or up to three quarters of the
slack later; and that nobody waits for ever. If processes are killed and data are lost, a window may have twice its
permits (docs/rates.md). A line for each fault says how many calls and permits began; the most permits in a window, also
of the windows that a loss excuses; which part of the possible permits began; and the longest time in which nothing
began, of any rate, in milliseconds. Exit code: 0 nothing is wrong, 1 something is, 2 an argument is wrong.`;

const { values } = parseArgs({
  options: {
    on: { type: 'string' },
    faults: { type: 'string', default: NAMES.join(',') },
    seconds: { type: 'string', default: '30' },
    processes: { type: 'string', default: '8' },
    permits: { type: 'string', default: '500' },
    per: { type: 'string', default: '500' },
    burst: { type: 'string', default: '100' },
    slack: { type: 'string', default: '100' },
    width: { type: 'string', default: '3' },
    rates: { type: 'string', default: '1' },
    keys: { type: 'string', default: '1' },
    tasks: { type: 'string', default: '32' },
    busy: { type: 'string', default: '0.0005' },
    rest: { type: 'string', default: '5' },
    lease: { type: 'string', default: '2000' },
    keep: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const { on, faults: wanted, seconds, keep, help, ...numbers } = values;
const servers = findServers();
const places = on?.split(',') ?? ['local', ...servers.map(({ name }) => name)];
const chosen = wanted.split(',');
const plan = Object.fromEntries(Object.entries(numbers).map(([name, text]) => [name, Number(text)]));
const areRight =
  [...Object.values(plan), Number(seconds)].every((number) => number >= 0) &&
  chosen.every((name) => NAMES.includes(name)) &&
  places.every((place) => place === 'local' || servers.some(({ name }) => name === place));
if (help || !areRight) {
  console.log(HELP);
  process.exit(help ? 0 : 2);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(2));

console.log(`${numbers.processes} processes, ${cpus()[0]?.model} (${cpus().length}), Node ${process.version}`);
const { permits, per, slack, rates, keys } = plan as unknown as RatesPlan;
let isFaulty = false;
let all = 0;
for (const place of places) {
  const server = servers.find(({ name }) => name === place);
  let takes = 0;
  for (const fault of RATES_FAULTS) {
    if (!chosen.includes(fault.name) || fault.only === (server ? 'local' : 'server')) continue;
    const result = await runRates(fault, plan as unknown as RatesPlan, Number(seconds), server, keep);
    if (typeof result === 'string') {
      console.log(`${place} ${fault.name}: left out: ${result}`);
      continue;
    }
    const { faults, counts, others, most, mostAfterLoss, longestGap, taken, ordered, told, span } = result;
    const possible = ((rates + keys) * permits * span) / (per + slack);
    const shown = {
      ...{ takes: result.takes, permits: result.permits, most, ...(mostAfterLoss > 0 && { mostAfterLoss }) },
      ...{
        ofPossible: Number((result.permits / possible).toFixed(3)),
        longestGap: Math.round(longestGap),
        slack: result.slack,
      },
      ...{
        ordered,
        told,
        early: Math.round(result.early),
        taken,
        ...others,
      },
      ...counts,
      ...(server && { calls: result.calls, usACall: Number(result.usACall.toFixed(1)) }),
    };
    console.log(`${place}${server ? ` ${server.version}` : ''} ${fault.name}: ${JSON.stringify(shown)}`);
    for (const text of faults.slice(0, 20)) console.log(`  WRONG: ${text.slice(0, 2000)}`);
    isFaulty ||= faults.length > 0;
    takes += result.takes;
  }
  all += takes;
  console.log(`${place}: ${takes} takes`);
}
console.log(`${all} takes, ${isFaulty ? 'something is WRONG' : 'nothing is wrong'}`);
process.exit(isFaulty ? 1 : 0);
