/** `npm run scale -w processes`: see HELP. */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { findServers } from '../servers/servers.js';
import { type Cost, type Load, measure, memory } from './scale.js';

const HELP = `npm run scale -w processes -- [options]

  --server NAME   redis or valkey; all that are installed by default
  --ms N          how long each load is measured at least, 2000 by default
  --memory N      instead, the memory after each tenth of N requests

Prints what a hand-over costs. Exit code: 1 where commands or messages grow by more than 2 % from 4 to 1,024 waiters,
server time to more than 1.3 times, or memory by more than a tenth after the first fifth; 2 there is no server.`;

const { values } = parseArgs({
  options: {
    server: { type: 'string' },
    ms: { type: 'string', default: '2000' },
    memory: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit();
}
const servers = findServers().filter(({ name }) => values.server === undefined || name === values.server);
if (servers.length === 0) {
  console.error('no server found: apt-get install redis-server');
  process.exit(2);
}

/** The load of `count` waiters in at most 8 processes. Each waiter has connections of its own. */
const alone = (count: number): Load => ({
  processes: Math.min(8, count),
  spaces: count / Math.min(8, count),
  waiters: 1,
  names: 1,
});
const GROWTH = [4, 16, 64, 256, 1024].map((count) => ({
  what: `${count} waiters, a session each`,
  load: alone(count),
}));
const SPREAD = [1, 8, 100].map((processes) => ({
  what: `1,000 waiters in ${processes} processes`,
  load: { processes, spaces: 1, waiters: 1000 / processes, names: 1 },
}));
const NAMES = [10, 10_000].map((names) => ({
  what: `${names} names, 8 tasks`,
  load: { processes: 2, spaces: 1, waiters: 4, names },
}));

// When this process exits, its processes and servers end, and its files are removed.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(2));

let failed = false;
console.log(`${cpus()[0]?.model}, ${cpus().length} processors, Node ${process.version}`);
for (const server of servers) {
  if (values.memory !== undefined) {
    const rows = await memory(server, Number(values.memory));
    console.log(
      `${server.name} ${server.version}: memory in MB\n\n| requests | server | process |\n| ---: | ---: | ---: |`,
    );
    for (const row of rows) {
      console.log(`| ${row.requests} | ${(row.server / 1e6).toFixed(2)} | ${(row.process / 1e6).toFixed(1)} |`);
    }
    const [, early, ...later] = rows.map((row) => row.server) as [number, number, ...number[]];
    if (Math.max(...later) > early * 1.1) failed = true;
    continue;
  }
  console.log(
    `${server.name} ${server.version}\n\n| | commands a hand-over | messages | server us | hand-overs a second |\n| --- | ---: | ---: | ---: | ---: |`,
  );
  const costs: Cost[] = [];
  for (const { what, load } of [...GROWTH, ...SPREAD, ...NAMES]) {
    const cost = await measure(server, load, Number(values.ms));
    costs.push(cost);
    const { commands, messages, serverMicroseconds, handOvers, seconds } = cost;
    console.log(
      `| ${what} | ${commands.toFixed(3)} | ${messages.toFixed(3)} | ${serverMicroseconds.toFixed(0)} | ${(handOvers / seconds).toFixed(0)} |`,
    );
  }
  const [few, many] = [costs[0] as Cost, costs[GROWTH.length - 1] as Cost];
  const grows = (of: 'commands' | 'messages' | 'serverMicroseconds') => many[of] / few[of];
  console.log(
    `\nfrom 4 to 1,024 waiters: commands x ${grows('commands').toFixed(3)}, messages x ${grows('messages').toFixed(3)}, server time x ${grows('serverMicroseconds').toFixed(2)}\n`,
  );
  if (grows('commands') > 1.02 || grows('messages') > 1.02 || grows('serverMicroseconds') > 1.3) failed = true;
}
process.exit(failed ? 1 : 0);
