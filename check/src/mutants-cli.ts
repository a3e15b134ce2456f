/** `npm run mutants -w check` changes each access of the modules in turn, and tries which models kill the mutant. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Command, Option } from 'commander';
import { type Mutant, namer, sites } from './engine/mutation/mutate.js';
import { performAll } from './jobs.js';
import { models } from './models/all.js';
import { firstModels } from './mutants/first-models.js';
import { mutantsOf } from './mutants/modules.js';
import { reasons } from './mutants/reasons.js';
import { explain, type Finding, guardsIn, killers, part, report, summary } from './mutants/report.js';
import { type Measure, measureSetUp, type Verdict, wordsIn } from './mutants/trial.js';
import type { Job } from './mutants/worker.js';
import { loadProgram, PROGRAMS, type ProgramName } from './programs.js';

interface Options {
  readonly only?: readonly string[];
  readonly program?: ProgramName;
  readonly write?: string;
  readonly states: number;
  readonly budget: number;
  readonly again: boolean;
  readonly explain: boolean;
  readonly guards: boolean;
  readonly last: string;
}

const LAST = new URL('../../build/mutants.md', import.meta.url).pathname;

/** The heaps of more workers would not fit the memory of most machines. */
const workers = {
  filename: new URL('./mutants/worker.js', import.meta.url),
  count: Math.min(2, availableParallelism()),
  megabytes: 4096,
};

/** If the set-up makes the changed access, a mutant is also tried with all models of at most this many states. */
const SMALL = 500;

const options = new Command('mutants')
  .description('Changes each access of the built modules in turn, and searches the models that come to it.')
  .option('--only <text...>', 'only mutants whose name contains one of these')
  .addOption(new Option('--program <name>', 'only mutants of this module').choices(PROGRAMS))
  .option('--states <number>', 'leave out models of more states', Number, 110_000)
  .option('--budget <number>', 'try no further models when those tried have so many states', Number, 400_000)
  .option('--last <file>', 'a report: what killed a mutant then is tried first', LAST)
  .option('--again', 'only mutants that nothing has killed, as that report says', false)
  .option('--explain', 'try nothing, and give the reasons to the survivors of that report anew', false)
  .option('--guards', 'say which model finds each mutant of --only; if that report knows none, try them', false)
  .option('--write <file>', 'where the report goes; the last one, if every mutant is tried, else nowhere')
  .parse()
  .opts<Options>();

const progress = (what: string, of: number) => (count: number) => {
  const text = `${count} of ${of} ${what}`;
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
  else if (Math.floor((10 * count) / of) > Math.floor((10 * (count - 1)) / of)) console.error(text);
};
const last = existsSync(options.last) ? readFileSync(options.last, 'utf8') : '';
const used = new Set<RegExp>();
function reasonOf(name: string): string | undefined {
  const [pattern, reason] = reasons.find(([pattern]) => pattern.test(name)) ?? [];
  if (pattern !== undefined) used.add(pattern);
  return reason;
}
/** Prints the mutants without a reason, and the reasons without a mutant, if all have been tried. */
function complain(open: readonly string[], tried: readonly ProgramName[]): void {
  for (const name of open) console.log(`survived: ${name}`);
  const idle = reasons.filter(([pattern]) => !used.has(pattern) && tried.includes(programOfReason(pattern)));
  for (const [pattern] of idle) console.log(`a reason for no survivor: ${pattern}`);
  process.exitCode = open.length + idle.length > 0 ? 1 : 0;
}
const programOfReason = (pattern: RegExp): ProgramName => (/^\^papers/.test(pattern.source) ? 'algorithms' : 'core');

if (options.explain) {
  if (last === '') throw new Error(`there is no report ${options.last}: npm run mutants -w check writes one`);
  const { text, open } = explain(last, reasonOf);
  writeFileSync(options.write ?? options.last, text);
  complain(open, PROGRAMS);
  process.exit();
}
if (options.guards) {
  const guards = guardsIn(last, options.only ?? ['']);
  if (guards !== '') {
    console.log(guards);
    process.exit();
  }
}
const killed = killers(last);
const chosen = models.filter(({ program = 'core' }) => program === (options.program ?? program));
const measured = chosen.filter(({ long }) => !long);
const measures = (
  await performAll<Job, Measure>(
    workers,
    measured.map(({ name }) => ({ measure: name, states: options.states })),
    progress('models', measured.length),
  )
)
  .filter(({ states }) => states <= options.states)
  .sort((a, b) => a.states - b.states);

const sizes = new Map(measures.map(({ model, states }) => [model, states]));
const measuresOn = (program: ProgramName): Measure[] => measures.filter((one) => one.program === program);

const setUps = new Map(PROGRAMS.map((program) => [program, measureSetUp(program)]));
const names = new Map(
  PROGRAMS.map((program): [ProgramName, (mutant: Mutant) => string] => {
    const seen = [setUps.get(program) as Measure, ...measuresOn(program)];
    return [program, namer(sites(loadProgram(program)), wordsIn(seen))];
  }),
);

const named = PROGRAMS.flatMap(mutantsOf)
  .map((mutant, index) => ({ mutant, index, name: names.get(mutant.program)?.(mutant) ?? '' }))
  .filter(({ mutant: { program } }) => program === (options.program ?? program))
  .filter(
    ({ name }) => (options.only ?? ['']).some((text) => name.includes(text)) && !(options.again && killed.has(name)),
  );
const jobs = named.map(({ mutant, index, name }): Job => {
  const { offset } = mutant.site;
  const ofSetUp = setUps.get(mutant.program)?.words.has(offset) ?? false;
  const running = measuresOn(mutant.program).filter(
    ({ words, states }) => words.has(offset) || (states <= SMALL && ofSetUp),
  );
  // Some accesses are made only before the threads start.
  const candidates =
    running.length > 0 ? running : measuresOn(mutant.program).filter(({ before }) => before.has(offset));
  // The model that killed the mutant in the last report is tried first, however large the model is.
  const before = killed.get(name) ?? firstModels.find(([mutant]) => mutant.test(name))?.[1];
  const first = chosen.some((model) => model.name === before && (model.program ?? 'core') === mutant.program)
    ? [{ model: before as string, states: sizes.get(before as string) ?? Number.POSITIVE_INFINITY }]
    : [];
  const others = candidates.filter(({ model }) => model !== before);
  return {
    mutant: index,
    candidates: [...first, ...others].map(({ model, states }) => [model, states]),
    budget: options.budget,
  };
});
const verdicts = await performAll<Job, Verdict>(workers, jobs, progress('mutants', jobs.length));
if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');

const findings = named.map(({ mutant, name }, i): Finding => {
  const verdict = verdicts[i] as Verdict;
  const reason = verdict.outcome === 'survived' ? reasonOf(name) : undefined;
  return { name, fn: mutant.site.fn, change: mutant.change, verdict, reason };
});
const whole = options.only === undefined && !options.again;
const tried = PROGRAMS.filter((program) => program === (options.program ?? program));
const parts = tried.map((program): [ProgramName, string] => [
  program,
  part(
    program,
    findings.filter((_, i) => named[i]?.mutant.program === program),
    options.states,
    options.budget,
  ),
]);
const write = options.write ?? (whole ? LAST : undefined);
if (write !== undefined) writeFileSync(write, report(new Map(parts), last));
if (options.guards) console.log(guardsIn([...parts].map(([, text]) => text).join(''), ['']));
const unexplained = findings.filter(({ verdict, reason }) => verdict.outcome === 'survived' && reason === undefined);
complain(
  unexplained.map(({ name }) => name),
  whole ? tried : [],
);
console.log(summary(findings));
