/** `node build/processes/check/rate-history-cli.js`: see HELP. */
import { parseArgs } from 'node:util';
import { HISTORIES } from './rate-histories.js';
import { rateHistory } from './rate-history.js';

const HELP = `node build/processes/check/rate-history-cli.js [takes of each kind, 100000 by default] [first seed] [pattern]

Checks histories of rates in simulated worlds (rate-history.ts), each kind of disturbance alone and all together, or the
kinds whose name contains the pattern. Exit code: 1 if a history has a fault.`;

const { values, positionals } = parseArgs({ options: { help: { type: 'boolean' } }, allowPositionals: true });
if (values.help) {
  console.log(HELP);
  process.exit();
}

const [takes = 100_000, first = 1] = positionals.slice(0, 2).map(Number);
let isFaulty = false;
for (const [name, options] of Object.entries(HISTORIES)) {
  if (positionals[2] !== undefined && !name.includes(positionals[2])) continue;
  const { faults, most, begun, longestGap, happened, ...more } = await rateHistory({ seed: first, takes, ...options });
  isFaulty ||= faults.length > 0;
  const counts = Object.fromEntries([...happened].sort());
  console.log(
    name,
    JSON.stringify({ ...more, most, begun: Number(begun.toFixed(3)), gap: Math.round(longestGap), counts }),
  );
  for (const fault of faults) console.log(`  ${fault}`);
}
process.exit(isFaulty ? 1 : 0);
