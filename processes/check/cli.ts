/**
 * Searches the configurations of the protocol, and of the takeover without a server, and prints a table. Arguments:
 * `--short` selects the configurations of the protocol that the tests search. Otherwise the arguments are parts of the
 * names of the configurations to search. Each search ends at 300,000 states, one of the takeover at 3,000,000, or at the
 * number in the environment variable `MOST`. A million states of the protocol need about 10 GB of memory.
 */
import { cpus } from 'node:os';
import { CONFIGURATIONS, SHORT } from './configurations.js';
import { explore, type Result, search } from './search.js';
import { TakeoverModel } from './takeover.js';
import { TAKEOVERS } from './takeover-configurations.js';

const parts = process.argv.slice(2);
const most = Number(process.env.MOST ?? 300_000);
/** A state of a takeover is small. */
const MOST_OF_TAKEOVER = Number(process.env.MOST ?? 3_000_000);
const chosen = parts.includes('--short')
  ? SHORT
  : CONFIGURATIONS.filter(({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)));
let failed = false;
console.log(`${cpus()[0]?.model}, Node ${process.versions.node}\n`);
console.log('| configuration | states | ends | seconds | finding |\n| --- | ---: | ---: | ---: | --- |');

function tell(name: string, { states, ends, seconds, complete, finding }: Result): void {
  const said = finding ? finding.fault : complete ? 'none' : 'none, not all states';
  console.log(`| ${name} | ${states} | ${ends} | ${seconds.toFixed(1)} | ${said} |`);
  if (finding) failed = true;
  for (const step of finding?.trace ?? []) console.log(`      ${step}`);
}

for (const configuration of chosen) tell(configuration.name, search(configuration, most));
for (const takeover of parts.includes('--short') ? [] : TAKEOVERS) {
  const name = `takeover: ${takeover.name}`;
  if (parts.length === 0 || parts.some((part) => name.includes(part))) {
    tell(name, explore(new TakeoverModel(takeover), MOST_OF_TAKEOVER));
  }
}
if (failed) process.exitCode = 1;
