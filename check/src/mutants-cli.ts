/** `npm run mutants -w check`: changes each access of the core in turn, and looks whether the models tell. */
import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { loadCore } from './core.js';
import { models } from './models/table.js';
import { mutants, namer, sites } from './mutants/mutate.js';
import { perform } from './mutants/pool.js';
import { reasons } from './mutants/reasons.js';
import { type Finding, report, summary } from './mutants/report.js';
import { type Measure, measureSetUp, type Verdict, wordsIn } from './mutants/trial.js';
import type { Job } from './mutants/worker.js';

interface Options {
  readonly only?: string;
  readonly write?: string;
  readonly states: number;
}

/**
 * So many of the smallest models are tried with every mutant: of what only the set-up comes to, they are all.
 */
const ALWAYS = 15;

const options = new Command('mutants')
  .description('Changes each access of build/core.wasm in turn, and searches the models that come to it.')
  .option('--only <text>', 'only mutants whose name contains this')
  .option('--states <number>', 'leave out models of more states', Number, 150_000)
  .option('--write <file>', 'write the report there')
  .parse()
  .opts<Options>();

const progress = (what: string, of: number) => (count: number) => {
  const text = `${count} of ${of} ${what}`;
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
  else if (Math.floor((10 * count) / of) > Math.floor((10 * (count - 1)) / of)) console.error(text);
};
const measures = (
  await perform<Measure>(
    models.map(({ name }) => ({ measure: name, states: options.states })),
    progress('models', models.length),
  )
)
  .filter(({ states }) => states <= options.states)
  .sort((a, b) => a.states - b.states);

const core = loadCore();
const nameOf = namer(sites(core), wordsIn([measureSetUp(core), ...measures]));
const named = mutants(core)
  .map((mutant, index) => ({ mutant, index, name: nameOf(mutant) }))
  .filter(({ name }) => name.includes(options.only ?? ''));
const jobs = named.map(({ mutant, index }): Job => {
  const candidates = measures.filter(({ words }, i) => i < ALWAYS || words.has(mutant.site.offset));
  return { mutant: index, candidates: candidates.map(({ model, states }) => [model, states]) };
});
const verdicts = await perform<Verdict>(jobs, progress('mutants', jobs.length));
if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');

const used = new Set<RegExp>();
const findings = named.map(({ mutant, name }, i): Finding => {
  const verdict = verdicts[i] as Verdict;
  const [pattern, reason] =
    reasons.find(([pattern]) => verdict.outcome === 'survives' && pattern.test(name)) ?? [];
  if (pattern !== undefined) used.add(pattern);
  return { name, fn: mutant.site.fn, change: mutant.change, verdict, reason };
});
if (options.write !== undefined) writeFileSync(options.write, report(findings));
const unexplained = findings.filter(
  ({ verdict, reason }) => verdict.outcome === 'survives' && reason === undefined,
);
for (const { name } of unexplained) console.log(`survives: ${name}`);
const idle = options.only === undefined ? reasons.filter(([pattern]) => !used.has(pattern)) : [];
for (const [pattern] of idle) console.log(`a reason for no survivor: ${pattern}`);
console.log(summary(findings));
process.exitCode = unexplained.length + idle.length > 0 ? 1 : 0;
