/** `npm run simulate` counts coherence misses of the built modules in simulated caches, on all processors. */
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError } from 'commander';
import { performAll } from './jobs.js';
import { contenderOf, contenders } from './simulate/contenders.js';
import { table, wordTable } from './simulate/cost-tables.js';
import { figure } from './simulate/figure.js';
import type { Configuration, Counted } from './simulate/simulation.js';

interface Options {
  readonly processors: readonly number[];
  readonly inside: number;
  readonly outside: number;
  readonly warmUp: number;
  readonly handOvers: number;
  readonly seed: number;
  readonly words?: boolean;
  readonly svg?: string;
  readonly locks?: boolean;
}

const MOST_PROCESSORS = 128;

function positive(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError(`must be a positive integer, got ${text}`);
  return value;
}

function processorCounts(text: string): number[] {
  const counts = text.split(',').map(positive);
  if (Math.max(...counts) > MOST_PROCESSORS) throw new InvalidArgumentError(`must be at most ${MOST_PROCESSORS} each`);
  return counts;
}

const command: Command = new Command('simulate')
  .description('Counts coherence misses per hand-over of the built modules in simulated caches.')
  .option('--processors <list>', `how many, at most ${MOST_PROCESSORS}`, processorCounts, [1, 2, 4, 8, 16, 32, 64, 128])
  .option('--inside <turns>', 'of work while holding the permit', positive, 100)
  .option('--outside <turns>', 'of work between two acquisitions', positive, 1)
  .option('--warm-up <hand-overs>', 'before counting', positive, 2048)
  .option('--hand-overs <number>', 'that are counted', positive, 2048)
  .option('--seed <number>', 'of the random schedule', positive, 1)
  .option('--locks', 'locks, bare and in a capacitor, instead of semaphores')
  .option('--words', 'also print which words the misses are on')
  .option('--svg <file>', 'draw the curve')
  .parse();
const { processors, words, svg, locks, ...rest } = command.opts<Options>();

const simulated = contenders.filter(({ of }) => of === (locks ? 'locks' : 'semaphores'));
const configurations: Configuration[] = simulated.flatMap(({ name: contender }) =>
  processors.flatMap((count) =>
    (['round robin', 'random'] as const).map((schedule) => ({
      ...rest,
      contender,
      processors: count,
      schedule,
    })),
  ),
);
// The longest configurations come first, so that no processor idles at the end.
const jobs = [...configurations.keys()].sort((a, b) => effort(configurations[b]) - effort(configurations[a]));
const counted: Counted[] = [];
const performed = await performAll<Configuration, Counted>(
  { filename: new URL('./simulate/worker.js', import.meta.url), count: availableParallelism() },
  jobs.map((index) => configurations[index]),
);
for (const [i, index] of jobs.entries()) counted[index] = performed[i];

console.log(table(counted, 'misses'));
console.log(table(counted, 'upgrades'));
if (words) for (const one of counted) console.log(wordTable(one));
if (svg !== undefined) await writeFile(svg, await figure(counted));

/** Estimates how long a simulation takes: waiters poll until they park. */
function effort({ contender, processors: count }: Configuration): number {
  return Math.max(...contenderOf(contender).objects.map(({ spin }) => spin)) * count;
}
