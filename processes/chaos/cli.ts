/** `npm run chaos:servers -w processes`: see HELP. */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { findPostgres } from '../servers/postgres.js';
import { findServers } from '../servers/servers.js';
import { type Engine, faultsFor } from './faults.js';
import { run } from './run.js';

const ENGINES = ['redis', 'valkey', 'postgresql'] as const;
const NAMES = [...new Set(ENGINES.flatMap((name) => faultsFor({ name }).map((fault) => fault.name)))];
const HELP = `npm run chaos:servers -w processes -- [options]

  --server NAME      redis, valkey or postgresql; all that are installed by default
  --seconds N        how long all faults together last on a server, in equal parts; 300 by default
  --faults a,b,c     ${NAMES.join(', ')};
                     by default all that there are for the server
  --processes N      16 by default
  --lease N          in milliseconds; 2000 by default
  --spares N         processes that wait, at most, to replace at once those that are killed; 300 by default
  --keep DIR         where something is wrong, the histories go there

Prints what was done and what became of it, and at the end a table. Exit code: 0 nothing is wrong, 1 something is, 2 there is no server or an
argument is wrong.`;

const { values } = parseArgs({
  options: {
    server: { type: 'string' },
    seconds: { type: 'string', default: '300' },
    faults: { type: 'string', default: NAMES.join(',') },
    processes: { type: 'string', default: '16' },
    lease: { type: 'string', default: '2000' },
    spares: { type: 'string', default: '300' },
    keep: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const chosen = values.faults.split(',');
const isNumber = (text: string) => /^[1-9]\d*$/.test(text);
const isRight =
  isNumber(values.seconds) &&
  isNumber(values.processes) &&
  isNumber(values.lease) &&
  isNumber(values.spares) &&
  chosen.every((name) => NAMES.includes(name)) &&
  [...ENGINES, undefined].includes(values.server as Engine['name'] | undefined);
if (values.help || !isRight) {
  console.log(HELP);
  process.exit(values.help ? 0 : 2);
}
const postgres = findPostgres();
const found: Engine[] = [...findServers(), ...(postgres ? [{ ...postgres, name: 'postgresql' as const }] : [])];
const servers = found.filter(({ name }) => values.server === undefined || name === values.server);
if (servers.length === 0) {
  console.error('no server found: apt-get install redis-server, or postgresql');
  process.exit(2);
}

// When this process exits, its processes and servers end, and its files are removed.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(2));

const HEADS = [
  ...['fault', 'seconds', 'done', 'requests', 'granted', 'leases lost', 'permits lost', 'waits for ever'],
  ...['writes accepted', 'refused', 'out of order', 'longest wait, ms', 'wrong'],
];

let failed = false;
for (const server of servers) {
  console.log(
    `${server.name} ${server.version}, ${values.processes} processes, lease ${values.lease} ms, ${cpus()[0]?.model} (${cpus().length}), Node ${process.version}`,
  );
  const rows: (string | number)[][] = [];
  const faults = faultsFor(server).filter(({ name }) => chosen.includes(name));
  for (const fault of faults) {
    const seconds = Number(values.seconds) / faults.length;
    const [processes, lease] = [Number(values.processes), Number(values.lease)];
    const spares = Math.min(Number(values.spares), Math.ceil((fault.kills ?? 0) * seconds));
    const keep = values.keep === undefined ? {} : { keep: values.keep };
    const result = await run({ server, fault, seconds, processes, spares, lease, ...keep });
    if (result.skipped !== undefined) {
      console.log(`${fault.name}: skipped: ${result.skipped}`);
      continue;
    }
    const done = Object.entries(result.counts).map(([name, count]) => `${count} ${name}`);
    console.log(
      [
        `${fault.name}: ${seconds.toFixed(0)} s; ${done.join(', ') || 'no fault'}`,
        `  ${result.requests} requests: ${result.grants} granted, ${result.late} timed out, ${result.aborted} aborted, ${result.lostLeases} lost by the lease; longest wait ${result.longestWait} ms`,
        `  permits lost: ${result.lostPermits}; waits for ever: ${result.forever}; writes accepted ${result.accepted}, refused ${result.refusedWrites}, out of order ${result.disorder}`,
        `  histories of the data: ${result.epochs}; a mutex waiter overtaken at most ${result.overtaken} times; refusals checked ${result.refusals}; looks at the state ${result.looks}`,
      ].join('\n'),
    );
    rows.push([
      ...[fault.name, seconds.toFixed(0), done.join(', '), result.requests, result.grants, result.lostLeases],
      ...[result.lostPermits, result.forever, result.accepted, result.refusedWrites, result.disorder],
      ...[result.longestWait, result.faults.length],
    ]);
    for (const text of result.faults.slice(0, 20)) console.log(`  WRONG: ${text.slice(0, 2000)}`);
    if (result.faults.length > 20) console.log(`  WRONG: and ${result.faults.length - 20} more`);
    if (result.faults.length > 0) failed = true;
  }
  console.log(`\n| ${HEADS.join(' | ')} |\n| --- |${' ---: |'.repeat(HEADS.length - 1)}`);
  for (const row of rows) console.log(`| ${row.join(' | ')} |`);
}
process.exit(failed ? 1 : 0);
