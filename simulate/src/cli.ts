/**
 * `npm start -w simulate` runs the cases of consecutive seeds until one fails. It shortens the failing case, and
 * prints it.
 */
import { loadavg } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Command, InvalidArgumentError, Option } from 'commander';
import { Listed } from './choices.js';
import { faults } from './faults.js';
import { kinds } from './kinds/all.js';
import { collectRejections, unhandled } from './realm.js';
import { World } from './run.js';
import { search } from './search.js';
import { ofWord, report, shrink } from './shrink.js';

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError(`must be a whole number, got ${text}`);
  return value;
}

const options = new Command('simulate:library')
  .description('Runs random programs on the library under a scheduler that decides every step, from a seed.')
  .option('--seconds <number>', 'how long', whole, 60)
  .option('--seed <number>', 'of the first case', whole, 1)
  .option('--times <number>', 'how many cases at most', whole, Infinity)
  .option('--kinds <names>', 'only objects of these classes, with commas', Object.keys(kinds).join())
  .addOption(new Option('--fault <name>', 'put this fault into the library').choices(Object.keys(faults)))
  .option('--again <case>', 'run a case that was printed')
  .option('--trace', 'print each step, with --again')
  .option('--whole', 'do not make the failing case short')
  .parse()
  .opts<{
    seconds: number;
    seed: number;
    times: number;
    kinds: string;
    fault?: string;
    again?: string;
    trace?: boolean;
    whole?: boolean;
  }>();

const patches = options.fault === undefined ? [] : (faults[options.fault]?.patches ?? []);
if (options.again === undefined) await look();
else await again(options.again);

async function again(word: string): Promise<void> {
  const { program, answers } = ofWord(word);
  collectRejections(true);
  const { failure, hasDeath, trace } = new World(patches, 30).run(program, new Listed(answers), options.trace);
  await setImmediate();
  for (const line of trace) console.log(line);
  const what = inspect(hasDeath ? undefined : unhandled[0]);
  const isRejected = !hasDeath && unhandled.length > 0;
  if (failure !== undefined) console.log(failure.stack);
  else console.log(isRejected ? `the library has rejected a promise that nobody handles: ${what}` : 'nothing is wrong');
  if (failure?.cause) console.log((failure.cause as Error).stack);
  process.exitCode = Number(failure !== undefined || isRejected);
}

async function look(): Promise<void> {
  const begun = performance.now();
  const used = process.cpuUsage();
  const end = begun + options.seconds * 1000;
  const { runs, steps, found } = await search(patches, {
    seed: options.seed,
    runs: options.times,
    kinds: options.kinds.split(','),
    isOver: () => performance.now() > end,
  });
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(used);
  const rate = (time: number): string => `${(steps / time / 1000).toFixed(0)} k steps a second`;
  console.log(
    `${runs} runs, ${steps} steps in ${seconds.toFixed(1)} s: ${rate(seconds)}, ` +
      `${rate((user + system) / 1e6)} of processor time; load ${loadavg()[0]?.toFixed(1)}`,
  );
  if (found === undefined) return;
  process.exitCode = 1;
  console.log(`\nThe case of seed ${found.seed} fails: ${found.error.message}\n`);
  const world = new World(patches);
  console.log(report(world, options.whole ? found : shrink(world, found), options.fault));
}
