/** `npm run lease-table -w processes`: see HELP. */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { findServers, MISSING } from '../servers/servers.js';
import { type Cell, leaseTable, type Outage, type Outcome } from './lease-table.js';

const HELP = `npm run lease-table -w processes -- [options]

  --leases N,N        in milliseconds, 1000,4000,10000 by default
  --round-trips N,N   in milliseconds, 1,100,300,700 by default
  --outages N,N       in parts of a lease, 0.1,0.2,...,1 by default
  --how HOW           mute: the server does not answer (by default); gone: it refuses connections
  --holders N         for each cell, 4 by default
  --lanes N           how many holders are measured at once, 32 by default

Prints for each lease, round trip and outage how many holders kept what they held. The default takes some minutes.
Exit code: 1 if an outage of at most 0.7 of a lease less two round trips and 100 ms has cost a holder what it held, with
a round trip of at most a third of the lease; 2 if there is no server.`;

const { values } = parseArgs({
  options: {
    leases: { type: 'string', default: '1000,4000,10000' },
    'round-trips': { type: 'string', default: '1,100,300,700' },
    outages: { type: 'string', default: '0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1' },
    how: { type: 'string', default: 'mute' },
    holders: { type: 'string', default: '4' },
    lanes: { type: 'string', default: '32' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit();
}
const [server] = findServers();
if (!server) {
  console.error(MISSING);
  process.exit(2);
}
const numbers = (text: string): number[] => text.split(',').map(Number);
const [leases, roundTrips, outages] = [values.leases, values['round-trips'], values.outages].map(numbers) as [
  number[],
  number[],
  number[],
];
const cells: Cell[] = leases
  .toSorted((a, b) => b - a)
  .flatMap((lease) => outages.flatMap((outage) => roundTrips.map((roundTrip) => ({ lease, roundTrip, outage }))));

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(2));

const outcomes: Outcome[] = [];
const how = values.how as Outage;
await leaseTable(cells, how, { holders: Number(values.holders), lanes: Number(values.lanes) }, (outcome) => {
  outcomes.push(outcome);
});

/** Whether all holders are to keep what they hold. */
const isSure = ({ lease, roundTrip, outage }: Cell): boolean =>
  roundTrip <= lease / 3 && outage * lease <= 0.7 * lease - 2 * roundTrip - 100;

function told({ kept, holders }: Outcome): string {
  if (kept === undefined) return '–';
  return kept === holders ? 'kept' : kept === 0 ? 'lost' : `${kept} of ${holders}`;
}

console.log(
  `${cpus()[0]?.model}, ${cpus().length} processors, Node ${process.version}, ${server.name} ${server.version}`,
);
console.log(`${values.holders} holders for each cell; during the outage the server is ${how}\n`);
console.log(`| lease, ms | round trip, ms | ${outages.map((outage) => outage.toFixed(1)).join(' | ')} |`);
console.log(`| ---: | ---: | ${outages.map(() => '---').join(' | ')} |`);
for (const lease of leases) {
  for (const roundTrip of roundTrips) {
    const row = outages.map((outage) =>
      outcomes.find((cell) => cell.lease === lease && cell.roundTrip === roundTrip && cell.outage === outage),
    ) as Outcome[];
    console.log(`| ${lease} | ${roundTrip} | ${row.map(told).join(' | ')} |`);
  }
}
const refusals = new Map(
  outcomes.flatMap(({ refusal, lease, roundTrip }) => (refusal ? [[`${lease} ms, ${roundTrip} ms`, refusal]] : [])),
);
for (const [where, refusal] of refusals) console.log(`\n${where}: ${refusal}`);
process.exit(outcomes.some((outcome) => isSure(outcome) && outcome.kept !== outcome.holders) ? 1 : 0);
