/**
 * docs/internals/claims.md cites figures of other pages and of kept records. Each of them must be in the section that the
 * link names, or in what count-claims.mjs prints. If a table is measured again, this test says which rows still have the old
 * figures.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FROM_RECORDS } from '../../bench/programs/claims-from-records.mjs';

const PAGE = new URL('../../docs/internals/claims.md', import.meta.url);
const KEPT = new URL('../../bench/records/claims/', import.meta.url);
const ROW = /^\| (?<name>[SCP]\d+) \|/;
const LINK = /\[(?<label>[^\]]*)\]\((?<path>[^)#]*)#(?<anchor>[^)]*)\)/;
/** A number with a unit or with decimals. Whole numbers are also counts of threads and the like. */
const FIGURE = /(?<![\w.#-])(?:\d[\d,]*\.\d+(?: [kM]\b)?|\d[\d,]* [kM]\b)/g;

const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .trim()
    .replaceAll(' ', '-');

function sectionOf(path: string, anchor: string): string {
  const lines = readFileSync(new URL(path, PAGE), 'utf8').split('\n');
  const headings = lines.map((line) => /^(#+) (.*)/.exec(line));
  const from = headings.findIndex((heading) => heading && slug(heading[2] as string) === anchor);
  const level = headings[from]?.[1]?.length ?? 0;
  const to = headings.findIndex((heading, i) => i > from && heading && (heading[1] as string).length <= level);
  return lines.slice(from, to < 0 ? undefined : to).join('\n');
}

const amount = (figure: string): number =>
  Number.parseFloat(figure.replaceAll(',', '')) * (figure.endsWith('k') ? 1e3 : figure.endsWith('M') ? 1e6 : 1);

/** Whether one of the figures, or a whole number, is this one, to the places that it has. */
function has(section: string, figure: string): boolean {
  const value = amount(figure);
  const digits = figure
    .replace(/[ kM,]/g, '')
    .replace(/^0?\./, '')
    .replace('.', '').length;
  return (section.match(/\d[\d,]*(?:\.\d+)?(?: [kM]\b)?/g) ?? []).some(
    (one) => amount(one).toPrecision(digits) === value.toPrecision(digits),
  );
}

/** The sources of figures in a cell: links and runs of count-claims.mjs. The figures of each stand before it. */
const SOURCES = /(\[[^\]]*\]\([^)]*\)|`count \w+`)/;

/** Returns the figures of a cell with the section in which each must be. */
function citedIn(cell: string): { figures: readonly string[]; path: string; anchor: string }[] {
  const parts = cell.split(SOURCES);
  return parts.flatMap((part, i) => {
    const link = LINK.exec(part)?.groups;
    if (link === undefined) return [];
    const { path, anchor } = link as Record<'path' | 'anchor', string>;
    return [{ figures: parts[i - 1]?.match(FIGURE) ?? [], path, anchor }];
  });
}

const COMMAND = /`count (\w+)`/;
const PERCENT = /(?<![\w.])\d+ %/g;

/** What the command prints, from records, or what it printed when it last measured. */
function printedBy(name: string): string {
  if (Object.hasOwn(FROM_RECORDS, name)) return FROM_RECORDS[name as keyof typeof FROM_RECORDS]().join('\n');
  const kept = new URL(`${name}.txt`, KEPT);
  return existsSync(kept) ? readFileSync(kept, 'utf8') : '';
}

it('cites figures that are in what the command prints, or has printed', () => {
  const cited: string[] = [];
  const missing = readFileSync(PAGE, 'utf8')
    .split('\n')
    .filter((line) => ROW.test(line))
    .flatMap((row) => {
      const parts = row.split(SOURCES);
      return parts.flatMap((part, i) => {
        const name = COMMAND.exec(part)?.[1];
        if (name === undefined) return [];
        const printed = printedBy(name);
        const shares: readonly string[] = printed.match(PERCENT) ?? [];
        const before = parts[i - 1] ?? '';
        cited.push(name);
        return [
          ...(before.match(FIGURE) ?? []).filter((figure) => !has(printed, figure)),
          ...(before.match(PERCENT) ?? []).filter((share) => !shares.includes(share)),
        ].map((figure) => `${ROW.exec(row)?.groups?.name}: ${figure} is not in what count ${name} prints`);
      });
    });
  expect(missing).toEqual([]);
  const kept = readdirSync(KEPT).map((file) => file.replace('.txt', ''));
  expect(new Set(cited)).toEqual(new Set([...Object.keys(FROM_RECORDS), ...kept]));
});

it('cites figures that are in the section to which the link leads', () => {
  const rows = readFileSync(PAGE, 'utf8')
    .split('\n')
    .filter((line) => ROW.test(line));
  expect(rows.length).toBeGreaterThan(100);
  let count = 0;
  const missing = rows.flatMap((row) =>
    row
      .split(' | ')
      .slice(3)
      .flatMap(citedIn)
      .flatMap(({ figures, path, anchor }) => {
        count += figures.length;
        const section = sectionOf(path, anchor);
        return figures
          .filter((figure) => !has(section, figure))
          .map((figure) => `${ROW.exec(row)?.groups?.name}: ${figure} is not in ${path}#${anchor}`);
      }),
  );
  expect(missing).toEqual([]);
  expect(count).toBeGreaterThan(100);
});
