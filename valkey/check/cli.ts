/**
 * Searches the configurations, and prints a table. Arguments: `--short` selects the configurations that the tests
 * search. Otherwise the arguments are parts of the names of the configurations to search. Each search ends at 300,000
 * states, or at the number in the environment variable `MOST`. A million states need about 10 GB of memory.
 */
import { cpus } from 'node:os';
import { CONFIGURATIONS, SHORT } from './configurations.js';
import { search } from './search.js';

const parts = process.argv.slice(2);
const most = Number(process.env.MOST ?? 300_000);
const chosen = parts.includes('--short')
  ? SHORT
  : CONFIGURATIONS.filter(({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)));
let failed = false;
console.log(`${cpus()[0]?.model}, Node ${process.versions.node}\n`);
console.log('| configuration | states | ends | seconds | finding |\n| --- | ---: | ---: | ---: | --- |');
for (const configuration of chosen) {
  const { states, ends, seconds, complete, finding } = search(configuration, most);
  const said = finding ? finding.fault : complete ? 'none' : 'none, not all states';
  console.log(`| ${configuration.name} | ${states} | ${ends} | ${seconds.toFixed(1)} | ${said} |`);
  if (finding) failed = true;
  for (const step of finding?.trace ?? []) console.log(`      ${step}`);
}
if (failed) process.exitCode = 1;
