/**
 * The tables and figures of docs/internals/scaling.md. The counts that they show are in scaling.json beside that page.
 * On the page, the text of each table stands between two comments, and the first one names the table. So a test can
 * compare a new simulation, the counts and the text:
 *
 *     a simulation  ──  scaling.json  ──  the text between <!-- table NAME --> and <!-- end of table -->
 *
 * scaling.json has all counts. The page shows those that decide something: what a table says under `shown`.
 */
import { fileURLToPath } from 'node:url';
import type { Group } from './contender.js';
import { contenders } from './contenders.js';
import type { Configuration, Costs, Schedule } from './simulation.js';

/** What was counted for one cell of a table. Only the words that cost something are kept. */
export interface Cell extends Costs {
  readonly configuration: Configuration;
  readonly words: readonly (readonly [string, Costs])[];
}

interface Table {
  readonly name: string;
  readonly contenders: readonly string[];
  readonly processors: readonly number[];
  readonly schedules: readonly Schedule[];
  readonly costs: 'misses' | 'words';
  readonly inside: number;
  readonly outside: number;
  readonly line: number;
  /** What the page shows of the counts. A table without it has counts, and none of them on the page. */
  readonly shown?: Partial<Pick<Table, 'contenders' | 'processors' | 'schedules'>> | undefined;
}

const ROUND_ROBIN = ['round robin'] as const;
const BOTH = ['round robin', 'random'] as const;
const ALL = [1, 2, 4, 8, 16, 32, 64, 128];
/** As many hand-overs as there are chains. After these, each bucket and each chain has been touched. */
const WARM_UP = 4096;
const HAND_OVERS = 512;
const SEED = 1;

const namesOf = (...groups: readonly Group[]): string[] =>
  contenders.filter(({ of }) => groups.includes(of)).map(({ name }) => name);

const FEW = { processors: [4, 16, 64, 128], schedules: ROUND_ROBIN };
const SEMAPHORES: Table = {
  name: 'misses',
  shown: FEW,
  contenders: namesOf('semaphores'),
  processors: ALL,
  schedules: BOTH,
  costs: 'misses',
  inside: 100,
  outside: 1,
  line: 64,
};
const WAITING_APART = ['TwaSemaphore, spinning', 'TwaSemaphore', 'Semaphore', 'Semaphore, asleep'];
const HIDDEN = { ...SEMAPHORES, shown: undefined };
const SHORT = { ...HIDDEN, inside: 10, schedules: ROUND_ROBIN };
const LOCKS: Table = { ...SHORT, name: 'locks', contenders: namesOf('locks'), schedules: BOTH };
/** Locks on which all waiters spin, bare and in a capacitor, and locks whose waiters have words of their own. */
const SHOWN_LOCKS = [
  'TtsLock',
  'TtsLock, wrapped',
  'TicketLock',
  'TicketLock, wrapped',
  'McsLock',
  'McsLock, wrapped',
  'ClhLock',
  'ReciprocatingLock',
  'Mutex',
];

export const tables: readonly Table[] = [
  SEMAPHORES,
  {
    ...SEMAPHORES,
    name: 'words',
    contenders: WAITING_APART,
    processors: [16],
    schedules: ROUND_ROBIN,
    costs: 'words',
    shown: { contenders: ['TwaSemaphore, spinning', 'Semaphore', 'Semaphore, asleep'] },
  },
  { ...HIDDEN, name: 'least', contenders: WAITING_APART, inside: 1, schedules: ROUND_ROBIN },
  {
    ...SHORT,
    name: 'chains',
    contenders: namesOf('chains'),
    processors: [2, 4, 16, 64],
    shown: {
      contenders: [
        'ChainSemaphore, all',
        'ChainSemaphore, pass, spinning',
        'ChainSemaphore, pass',
        'ChainSemaphore, due',
        'ChannelSemaphore',
        'ChannelSemaphore, lazy',
        'LocationSemaphore',
        'TicketSemaphore, delay 10, spinning',
        'TwaSemaphore, sequestered',
        'TwaSemaphore, conservative',
        'MultilaneSemaphore',
        'MultilaneSemaphore, 64 lanes',
      ],
      processors: [4, 16, 64],
    },
  },
  {
    ...SHORT,
    name: 'thresholds',
    contenders: namesOf('thresholds'),
    processors: [2, 4, 16, 64],
    shown: {
      contenders: [
        ...[0, 1, 2, 4].map((threshold) => `TwaSemaphore, threshold ${threshold}, spinning`),
        'ChainSemaphore, threshold 1, spinning',
        ...[0, 1, 2].map((threshold) => `EventCount, threshold ${threshold}, spinning`),
      ],
      processors: [4, 16, 64],
    },
  },
  { ...LOCKS, shown: { ...FEW, contenders: SHOWN_LOCKS } },
  {
    ...SHORT,
    name: 'capacitors',
    contenders: namesOf('capacitors'),
    processors: [4, 8, 10, 16, 64],
    shown: {
      contenders: ['on grant', '1 lane', '4 lanes', '10 permits'].map((kind) => `TtsLock, ${kind}`),
      processors: [4, 16, 64],
    },
  },
  { ...SHORT, name: 'reading', contenders: namesOf('reading') },
  {
    ...SHORT,
    name: 'sectors',
    contenders: [
      ...WAITING_APART,
      'ChainSemaphore, pass',
      'ChannelSemaphore',
      'LocationSemaphore',
      'McsLock',
      'ClhLock',
    ],
    processors: [4, 16, 64],
    line: 128,
    shown: { contenders: ['TwaSemaphore, spinning', 'Semaphore', 'McsLock'] },
  },
  {
    ...HIDDEN,
    name: 'other-buckets',
    contenders: WAITING_APART,
    processors: [5, 12, 100],
    schedules: ROUND_ROBIN,
  },
];

/** The tables that the page has. */
export const shownTables: readonly Table[] = tables.filter(({ shown }) => shown !== undefined);

/** The figures by the name of their file, and the table that each draws. */
export const figures: readonly (readonly [string, Table])[] = [
  ['scaling.svg', SEMAPHORES],
  ['scaling-locks.svg', LOCKS],
];

export function configurationsOf(table: Table): Configuration[] {
  const { inside, outside, line, processors, schedules } = table;
  return table.contenders.flatMap((contender) =>
    schedules.flatMap((schedule) =>
      processors.map((count) => ({
        contender,
        processors: count,
        schedule,
        seed: SEED,
        warmUp: WARM_UP,
        handOvers: HAND_OVERS,
        inside,
        outside,
        line,
      })),
    ),
  );
}

/** Returns a text that is the same for the same configuration. */
export function keyOf({ contender, processors, schedule, inside, outside, line }: Configuration): string {
  return [contender, processors, schedule, inside, outside, line].join('; ');
}

/** What scaling.json holds: the costs by the key of the configuration, and for some the costs by word. */
export type Book = Record<string, readonly [misses: number, upgrades: number, words?: Record<string, string>]>;

const rounded = (value: number): number => Number(value.toFixed(2));

/** Returns what the book says of a cell. */
export function entryOf(cell: Cell): Book[string] {
  const costs = [rounded(cell.misses), rounded(cell.upgrades)] as const;
  if (!tables.some((one) => one.costs === 'words' && isIn(one, cell.configuration))) return costs;
  const words = cell.words.map(([name, { misses, upgrades }]) => [name, plus(misses, upgrades)] as const);
  return [...costs, Object.fromEntries(words.filter(([, text]) => text !== plus(0, 0)))];
}

const plus = (misses: number, upgrades: number): string => `${misses.toFixed(2)} + ${upgrades.toFixed(2)}`;

function isIn(table: Table, configuration: Configuration): boolean {
  return configurationsOf(table).some((one) => keyOf(one) === keyOf(configuration));
}

/** Returns the text of a table, of what it shows. */
export function render(table: Table, book: Book): string {
  const view = { ...table, ...table.shown };
  return table.costs === 'words' ? renderWords(view, book) : renderMisses(view, book);
}

function lookUp(book: Book, configuration: Configuration): Book[string] {
  const entry = book[keyOf(configuration)];
  if (entry === undefined) throw new Error(`scaling.json has nothing under ${keyOf(configuration)}`);
  return entry;
}

function renderMisses(table: Table, book: Book): string {
  const all = configurationsOf(table);
  const rows = table.contenders.map((contender) => {
    const row = all.filter((one) => one.contender === contender);
    return [contender, ...row.map((configuration) => lookUp(book, configuration)[0].toFixed(2))];
  });
  return markdown(['misses per hand-over', ...table.processors.map(String)], rows);
}

function renderWords(table: Table, book: Book): string {
  const columns = configurationsOf(table).map((configuration) => lookUp(book, configuration)[2] ?? {});
  const names = [...new Set(columns.flatMap((column) => Object.keys(column)))].sort();
  const rows = names.map((name) => [name, ...columns.map((column) => column[name] ?? '-')]);
  return markdown(['word', ...table.contenders], rows);
}

/** Returns a table in Markdown. The first column is set to the left, and the others to the right. */
function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((text, i) => Math.max(text.length, 4, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]): string => {
    const padded = cells.map((text, i) => (i === 0 ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0)));
    return `| ${padded.join(' | ')} |`;
  };
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}

/** Returns the path of a file of docs/internals. */
export function docsFile(name: string): string {
  return fileURLToPath(new URL(`../../../docs/internals/${name}`, import.meta.url));
}

const mark = (name: string): string => `<!-- table ${name} -->`;
const END = '<!-- end of table -->';

/** Returns the text of a table that a page has. */
export function published(page: string, name: string): string {
  const [, text] = cut(page, name);
  return text.trim();
}

/** Returns the page with this text as the table. */
export function publish(page: string, name: string, text: string): string {
  const [before, , after] = cut(page, name);
  return `${before}\n\n${text}\n\n${after}`;
}

function cut(page: string, name: string): [before: string, text: string, after: string] {
  const begin = page.indexOf(mark(name));
  const from = begin + mark(name).length;
  const to = page.indexOf(END, from);
  if (begin < 0 || to < 0) throw new Error(`the page has no ${mark(name)} with ${END} after it`);
  return [page.slice(0, from), page.slice(from, to), page.slice(to)];
}
