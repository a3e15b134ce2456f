/** `npm run check` searches every model over the built core, on up to two processors, and prints the table. */
import { availableParallelism } from 'node:os';
import Table from 'cli-table3';
import { Command, InvalidArgumentError } from 'commander';
import { boundsOf, type SearchResult, search } from './engine/search/search.js';
import { parse, render, shorten } from './engine/search/trace.js';
import { walk } from './engine/search/walk.js';
import { breaks } from './engine/wasm/uninterruptible.js';
import { performAll } from './jobs.js';
import { models } from './models/all.js';
import { loadProgram, programOf } from './programs.js';
import { Driver } from './scene/driver.js';
import type { Model } from './scene/model.js';
import { sections } from './uninterruptible.js';
import type { Job } from './worker.js';

/** The ways in which a waiter leaves a chain that it need not have joined (core/papers/chains.ts). */
const WAYS = ['undone', 'detached', 'open', 'flushed'];

/** The states of more than two searches at once would not fit the memory of most machines. */
const workers = {
  filename: new URL('./worker.js', import.meta.url),
  count: Math.min(2, availableParallelism()),
  megabytes: 8192,
};

interface Options {
  readonly short?: boolean;
  readonly model?: string;
  readonly replay?: string;
  readonly reduce: boolean;
  readonly whole?: boolean;
  readonly walks?: number;
  readonly seed: number;
  readonly seconds: number;
}

function positive(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError(`must be a positive integer, got ${text}`);
  return value;
}

const command: Command = new Command('check')
  .description('Searches every interleaving of the models over the built modules.')
  .option('--short', 'only the models that take a few seconds')
  .option('--model <name>', 'only this model, in this process, with the trace of what is found')
  .option('--replay <schedule>', 'play a schedule on --model and print the trace')
  .option('--no-reduce', 'search without any reduction (with --model)')
  .option('--whole', 'search to the end even if the model has a bound on preemptions (with --model)')
  .option('--walks <number>', 'random walks instead of a search (with --model)', positive)
  .option('--seed <number>', 'of the walks', positive, 1)
  .option('--seconds <number>', 'most seconds a model; one that takes longer is reported as bounded', positive, 600)
  .parse();
const options = command.opts<Options>();
const only = options.model === undefined ? undefined : modelOf(options.model);

if (only === undefined) process.exitCode = await all();
else process.exitCode = one(only);

function modelOf(name: string): Model {
  const model = models.find((candidate) => candidate.name === name);
  if (model === undefined) {
    command.error(`no model is called '${name}'. There are: ${models.map((m) => m.name).join(', ')}`);
  }
  return model;
}

function one(model: Model): number {
  const program = programOf(model);
  const make = (): Driver => new Driver(program, model);
  if (options.replay !== undefined) {
    console.log(render(make(), parse(options.replay)));
    return 0;
  }
  let result =
    options.walks === undefined
      ? search(make, {
          ...(options.reduce ? {} : { reduce: false, symmetry: 0 }),
          ...boundsOf(options.whole ? {} : model, options.seconds * 1000),
          progress: everyMinute(),
        })
      : walked(make());
  console.log(row(model, result).join('  '));
  const ways = recoveries([result]);
  if (ways.some((count) => count > 0)) console.log(waysText(ways));
  if (result.violation === undefined) return result.complete || options.walks !== undefined ? 0 : 1;
  result = shorten(make, result);
  console.log(render(make(), result.violation?.schedule ?? []));
  return 1;
}

/** Returns a function that tells once a minute how far a search has come. */
function everyMinute(): (states: number, steps: number) => void {
  let last = performance.now();
  return (states, steps) => {
    if (performance.now() - last < 60_000) return;
    last = performance.now();
    console.error(`${states.toLocaleString('en')} states, ${steps.toLocaleString('en')} steps`);
  };
}

/** Counts how often the searches have seen each way off a chain. */
function recoveries(results: readonly SearchResult[]): number[] {
  return WAYS.map((_, i) => results.reduce((sum, result) => sum + (result.tallies?.[i + 1] ?? 0), 0));
}

function waysText(counts: readonly number[]): string {
  return `ways off a chain: ${WAYS.map((way, i) => `${way} ${counts[i]?.toLocaleString('en')}`).join(', ')}`;
}

function walked(scene: Driver): SearchResult {
  const start = performance.now();
  const result = walk(scene, options.walks ?? 0, options.seed);
  return {
    states: 0,
    again: 0,
    seconds: (performance.now() - start) / 1000,
    exhaustive: false,
    complete: false,
    ...result,
  };
}

function row(model: Model, result: SearchResult): string[] {
  const { states, steps, seconds, exhaustive, complete, violation } = result;
  return [
    model.name,
    String(model.programs.length),
    String(model.programs.reduce((sum, program) => sum + program.length, 0)),
    String(model.arena?.buckets ?? 2),
    states.toLocaleString('en'),
    steps.toLocaleString('en'),
    seconds.toFixed(1),
    violation !== undefined ? 'VIOLATION' : options.walks ? 'walks' : outcome(model, exhaustive, complete),
  ];
}

function outcome({ preemptions }: Model, exhaustive: boolean, complete: boolean): string {
  if (exhaustive) return 'exhaustive';
  return complete ? `bounded: all of ${preemptions} preemptions` : 'bounded';
}

async function all(): Promise<number> {
  const queue = models.filter((model) => !options.short || model.long !== true);
  const start = performance.now();
  // The longest models come first, so that no processor idles at the end.
  const jobs = [...queue]
    .sort((a, b) => Number(b.long ?? false) - Number(a.long ?? false))
    .map(({ name }): Job => ({ name, milliseconds: options.seconds * 1000 }));
  const results = await performAll<Job, SearchResult>(workers, jobs, (count, { name }) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${count} of ${queue.length}: ${name}\u001b[K`);
  });
  const reports = new Map(jobs.map(({ name }, i) => [name, results[i] as SearchResult]));
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');

  const table = new Table({
    head: ['model', 'threads', 'operations', 'slots', 'states', 'steps', 's', 'result'],
    style: { head: [], border: [], compact: true },
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right', 'right', 'left'],
  });
  let failed = 0;
  let states = 0;
  let steps = 0;
  let again = 0;
  let busy = 0;
  for (const model of queue) {
    const result = reports.get(model.name) as SearchResult;
    table.push(row(model, result));
    states += result.states;
    steps += result.steps;
    again += result.again;
    busy += result.seconds;
    if (!result.complete) failed++;
  }
  console.log(table.toString());
  const seconds = (performance.now() - start) / 1000;
  console.log(
    `${queue.length} models, ${states.toLocaleString('en')} states, ${steps.toLocaleString('en')} steps in ${seconds.toFixed(0)} s; ` +
      `with ${again.toLocaleString('en')} steps taken again, ` +
      `${Math.round((steps + again) / busy).toLocaleString('en')} a second and processor`,
  );
  for (const model of queue) {
    const result = reports.get(model.name) as SearchResult;
    if (result.violation === undefined) continue;
    const make = (): Driver => new Driver(programOf(model), model);
    console.log(`\n${model.name}:`);
    console.log(render(make(), shorten(make, result).violation?.schedule ?? []));
  }
  console.log(`${queue.length - failed} models searched to their end, or bound, without a finding, ${failed} not`);
  const ways = recoveries([...reports.values()]);
  const missed = ways.filter((count) => count === 0).length;
  console.log(waysText(ways));
  const broken = sections.flatMap((run) => breaks(loadProgram('core'), run));
  console.log(
    broken.length === 0 ? `uninterruptible: ${sections.map(({ name }) => name).join('; ')}` : broken.join('\n'),
  );
  return failed + broken.length + missed > 0 ? 1 : 0;
}
