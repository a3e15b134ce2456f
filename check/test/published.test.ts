/**
 * The tables of docs/internals/scaling.md are what the build counts. `npm run simulate -w check -- --update-docs` makes
 * them.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { programOf } from '../src/programs.js';
import { contenderOf, contenders } from '../src/simulate/contenders.js';
import {
  type Book,
  configurationsOf,
  docsFile,
  entryOf,
  figures,
  keyOf,
  publish,
  published,
  render,
  shownTables,
  tables,
} from '../src/simulate/published.js';
import { type Configuration, simulate } from '../src/simulate/simulation.js';

const UPDATE = 'differs: npm run simulate -w check -- --update-docs makes the page anew';
const page = readFileSync(docsFile('scaling.md'), 'utf8');
const book: Book = JSON.parse(readFileSync(docsFile('scaling.json'), 'utf8'));

/** With this many turns of work or more, only the contenders in COUNTED_AGAIN are counted again. */
const LONG = 50;
/** If a table has more contenders than this, each fourth contender is counted again. */
const MANY = 12;
const COUNTED_AGAIN = ['Semaphore', 'TwaSemaphore'];

/** The counts by cell. Tables share cells, and each cell is simulated once. */
const counted = new Map<string, Book[string]>();

function count(cell: Configuration): Book[string] {
  const key = keyOf(cell);
  let entry = counted.get(key);
  if (entry === undefined) {
    const { words, ...costs } = simulate(programOf(contenderOf(cell.contender)), cell);
    entry = entryOf({ ...costs, words: [...words] });
    counted.set(key, entry);
  }
  return entry;
}

/** Returns the cells of a table that are simulated again: cells with few processors, and one with 16 processors. */
function cellsOf(table: (typeof tables)[number]): Configuration[] {
  const all = configurationsOf(table).filter(({ schedule }) => schedule === 'round robin');
  const shown = COUNTED_AGAIN.find((name) => table.contenders.includes(name)) ?? table.contenders[0];
  return all.filter(({ contender, processors, inside }) => {
    if (processors === 16) return contender === shown;
    if (processors !== 4 && processors !== 5) return false;
    if (inside >= LONG) return COUNTED_AGAIN.includes(contender);
    return table.contenders.indexOf(contender) % (table.contenders.length > MANY ? 4 : 1) === 0;
  });
}

describe.each(shownTables)('the table "$name" of the page', (table) => {
  it('has the text that its counts give', () => {
    expect(published(page, table.name), UPDATE).toBe(render(table, book));
  });
});

describe.each(tables)('the counts "$name"', (table) => {
  const cells = cellsOf(table);

  it('has cells that are counted again', () => {
    expect(cells.length).toBeGreaterThan(0);
  });

  it.each(cells)('$contender with $processors processors costs what it says', (cell) => {
    expect(book[keyOf(cell)], UPDATE).toEqual(count(cell));
  });
});

describe('the page', () => {
  it('has a table for each contender', () => {
    const shown = new Set(tables.flatMap((table) => table.contenders));
    expect(contenders.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([]);
  });

  it('has counts of nothing else', () => {
    expect(Object.keys(book).sort()).toEqual([...new Set(tables.flatMap(configurationsOf).map(keyOf))].sort());
  });

  it.each(figures)('shows %s', (name) => {
    expect(page).toContain(`](${name})`);
    expect(readFileSync(docsFile(name), 'utf8')).toMatch(/^<svg/);
  });

  it('gets the text of a table back that was put in', () => {
    expect(published(publish(page, 'misses', 'one'), 'misses')).toBe('one');
    expect(publish(publish(page, 'misses', 'one'), 'misses', published(page, 'misses'))).toBe(page);
    expect(() => publish(page, 'nothing', 'one')).toThrow('<!-- table nothing -->');
  });
});
