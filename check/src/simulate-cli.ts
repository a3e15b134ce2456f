/** `npm run simulate -w check` counts coherence misses of the built modules in simulated caches, on all processors. */
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError } from 'commander';
import { performAll } from './jobs.js';
import { GROUPS, type Group } from './simulate/contender.js';
import { contenderOf, contenders } from './simulate/contenders.js';
import { table, wordTable } from './simulate/cost-tables.js';
import { figure } from './simulate/figure.js';
import {
  type Book,
  configurationsOf,
  docsFile,
  entryOf,
  figures,
  keyOf,
  publish,
  render,
  shownTables,
  tables,
} from './simulate/published.js';
import type { Configuration, Counted } from './simulate/simulation.js';

interface Options {
  readonly processors: readonly number[];
  readonly inside: number;
  readonly outside: number;
  readonly warmUp: number;
  readonly handOvers: number;
  readonly seed: number;
  readonly line: number;
  readonly only?: string;
  readonly words?: boolean;
  readonly svg?: string;
  readonly json?: string;
  readonly updateDocs?: boolean;
  readonly chains?: boolean;
  readonly thresholds?: boolean;
  readonly locks?: boolean;
  readonly capacitors?: boolean;
  readonly reading?: boolean;
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

function lineSize(text: string): number {
  if (text !== '64' && text !== '128') throw new InvalidArgumentError(`must be 64 or 128, got ${text}`);
  return Number(text);
}

const command: Command = new Command('simulate')
  .description('Counts coherence misses per hand-over of the built modules in simulated caches.')
  .option('--processors <list>', `how many, at most ${MOST_PROCESSORS}`, processorCounts, [1, 2, 4, 8, 16, 32, 64, 128])
  .option('--inside <turns>', 'of work while holding the permit', positive, 100)
  .option('--outside <turns>', 'of work between two acquisitions', positive, 1)
  .option('--warm-up <hand-overs>', 'before counting', positive, 4096)
  .option('--hand-overs <number>', 'that are counted', positive, 2048)
  .option('--seed <number>', 'of the random schedule', positive, 1)
  .option('--line <bytes>', 'that travel together: 64, or 128 for pairs of lines', lineSize, 64)
  .option('--chains', 'semaphores over chains, channels and locations, instead of the others')
  .option('--thresholds', 'TwaSemaphore with thresholds from 0 to 4')
  .option('--locks', 'locks, bare and in a capacitor')
  .option('--capacitors', 'two locks in each kind of capacitor')
  .option('--reading', 'readers that nobody writes beside')
  .option('--only <text>', 'only what has this text in its name')
  .option('--words', 'also print which words the misses are on')
  .option('--svg <file>', 'draw the curve')
  .option('--json <file>', 'write all counts, by word too')
  .option('--update-docs', 'make the tables and figures of docs/internals/scaling.md anew, whatever else is given')
  .parse();
const {
  processors,
  only = '',
  words,
  svg,
  json,
  updateDocs,
  chains,
  thresholds,
  locks,
  capacitors,
  reading,
  ...rest
} = command.opts<Options>();

if (updateDocs) await renewDocs();
else await print();

async function print(): Promise<void> {
  const chosen: Group[] = GROUPS.filter(
    (name) => ({ chains, thresholds, locks, capacitors, reading, semaphores: false })[name],
  );
  const simulated = contenders.filter(
    ({ of, name }) => (chosen.length > 0 ? chosen : ['semaphores']).includes(of) && name.includes(only),
  );
  if (simulated.length === 0) throw new Error(`nothing that is simulated here has a name with ${only}`);
  const { inside, outside, warmUp, handOvers, seed, line } = rest;
  const configurations = simulated.flatMap(({ name: contender }) =>
    processors.flatMap((count) =>
      (['round robin', 'random'] as const).map((schedule) => ({
        ...{ inside, outside, warmUp, handOvers, seed, line },
        contender,
        processors: count,
        schedule,
      })),
    ),
  );
  const counted = await countAll(configurations);
  console.log(table(counted, 'misses'));
  console.log(table(counted, 'upgrades'));
  if (words) for (const one of counted) console.log(wordTable(one));
  if (svg !== undefined) await writeFile(svg, await figure(counted));
  if (json !== undefined) {
    const plain = counted.map((one) => ({ ...one, words: Object.fromEntries(one.words) }));
    await writeFile(json, `${JSON.stringify(plain, null, 1)}\n`);
  }
}

/** Counts every cell of the published tables, and writes the book, the tables and the figures. */
async function renewDocs(): Promise<void> {
  const begun = performance.now();
  const byKey = new Map(tables.flatMap(configurationsOf).map((one) => [keyOf(one), one]));
  const counted = await countAll([...byKey.values()], (done) => {
    if (done % 50 === 0) console.log(`${done} of ${byKey.size} cells, ${seconds(begun)} s`);
  });
  const book: Book = {};
  for (const one of counted) book[keyOf(one.configuration)] = entryOf({ ...one, words: [...one.words] });
  const entries = Object.entries(book).map(([key, entry]) => `${JSON.stringify(key)}: ${JSON.stringify(entry)}`);
  await writeFile(docsFile('scaling.json'), `{\n${entries.join(',\n')}\n}\n`);
  let page = await readFile(docsFile('scaling.md'), 'utf8');
  for (const one of shownTables) page = publish(page, one.name, render(one, book));
  await writeFile(docsFile('scaling.md'), page);
  for (const [name, one] of figures) {
    const keys = new Set(configurationsOf(one).map(keyOf));
    const drawn = counted.filter(({ configuration }) => keys.has(keyOf(configuration)));
    await writeFile(docsFile(name), await figure(drawn));
  }
  console.log(`${byKey.size} cells in ${seconds(begun)} s`);
}

function seconds(begun: number): number {
  return Math.round((performance.now() - begun) / 1000);
}

/** Simulates on all processors. The longest configurations come first, so that no processor idles at the end. */
async function countAll(configurations: readonly Configuration[], done?: (count: number) => void): Promise<Counted[]> {
  const jobs = [...configurations].sort((a, b) => effort(b) - effort(a));
  const performed = await performAll<Configuration, Counted>(
    { filename: new URL('./simulate/worker.js', import.meta.url), count: availableParallelism() },
    jobs,
    done,
  );
  const counted = new Map(jobs.map((job, i) => [job, performed[i] as Counted]));
  return configurations.map((one) => counted.get(one) as Counted);
}

/** Estimates how long a simulation takes: waiters poll until they park. */
function effort({ contender, processors: count, inside, outside }: Configuration): number {
  const polls = Math.max(...contenderOf(contender).objects.map(({ spin }) => spin));
  return count * (inside + outside) * (polls > 1000 ? 2 : 1);
}
