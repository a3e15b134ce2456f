/** `npm run mutants -w check`: changes each access of the modules in turn, and looks whether the models tell. */
import { writeFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { models } from './models/table.js';
import { mutantsOf, nameOf, type Site } from './mutants/mutate.js';
import { perform } from './mutants/pool.js';
import { reasons } from './mutants/reasons.js';
import { type Finding, report, summary } from './mutants/report.js';
import type { Measure, Verdict } from './mutants/trial.js';
import type { Job } from './mutants/worker.js';
import { PROGRAMS, type ProgramName } from './programs.js';

interface Options {
  readonly only?: string;
  readonly program?: ProgramName;
  readonly write?: string;
  readonly states: number;
}

/**
 * So many of the smallest models are tried with every mutant: of what only the set-up comes to, they are all.
 */
const ALWAYS = 15;

const options = new Command('mutants')
  .description('Changes each access of the built modules in turn, and searches the models that come to it.')
  .option('--only <text>', 'only mutants whose name contains this')
  .addOption(new Option('--program <name>', 'only mutants of this module').choices(PROGRAMS))
  .option('--states <number>', 'leave out models of more states', Number, 1_000_000)
  .option('--write <file>', 'write the report there')
  .parse()
  .opts<Options>();

const progress = (what: string, of: number) => (count: number) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${count} of ${of} ${what}`);
};
const small = models.filter(
  ({ long, program = 'core' }) => long !== true && program === (options.program ?? program),
);
const measures = (
  await perform<Measure>(
    small.map(({ name }) => ({ measure: name })),
    progress('models', small.length),
  )
)
  .filter(({ states }) => states <= options.states)
  .sort((a, b) => a.states - b.states);

const measuresOn = (program: ProgramName): Measure[] => measures.filter((one) => one.program === program);

const wordOf =
  (program: ProgramName) =>
  ({ offset }: Site): string =>
    [...new Set(measuresOn(program).flatMap(({ words }) => [...(words.get(offset) ?? [])]))].sort().join('/');

const named = PROGRAMS.flatMap(mutantsOf)
  .map((mutant, index) => ({ mutant, index, name: nameOf(mutant, wordOf(mutant.program)) }))
  .filter(({ mutant: { program } }) => program === (options.program ?? program))
  .filter(({ name }) => name.includes(options.only ?? ''));
const jobs = named.map(({ mutant, index }): Job => {
  const candidates = measuresOn(mutant.program).filter(
    ({ words }, i) => i < ALWAYS || words.has(mutant.site.offset),
  );
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
const whole = options.only === undefined && options.program === undefined;
const idle = whole ? reasons.filter(([pattern]) => !used.has(pattern)) : [];
for (const [pattern] of idle) console.log(`a reason for no survivor: ${pattern}`);
console.log(summary(findings));
process.exitCode = unexplained.length + idle.length > 0 ? 1 : 0;
