/**
 * Prints the table of docs/locks.md from the results of `npm run bench:locks`:
 *
 *     node scripts/locks-table.mjs bench/results/locks.json
 */
import { readFileSync } from 'node:fs';
import { median, sum } from 'simple-statistics';

const { runs, probes, pairs, rows } = JSON.parse(readFileSync(process.argv[2] ?? 'bench/results/locks.json', 'utf8'));
const threads = [...new Set(runs.map((run) => run.threads))].sort((a, b) => a - b).filter((n) => n > 1);
const shown = [threads[0], threads[Math.floor(threads.length / 2)], threads.at(-1)].filter(
  (n, i, all) => n !== undefined && all.indexOf(n) === i,
);

const medianOf = (numbers) => (numbers.length === 0 ? Number.NaN : median(numbers));
const short = (n) => {
  if (Number.isNaN(n)) return '';
  if (n >= 1e6) return `${(n / 1e6).toPrecision(3)} M`;
  return n >= 1e3 ? `${(n / 1e3).toPrecision(3)} k` : n.toPrecision(3);
};
const line = (cells) => console.log(`| ${cells.join(' | ')} |`);

const most = threads.at(-1);
line([
  'lock',
  'uncontended, ns',
  ...shown.map((n) => `${n} threads, a second`),
  `fairness, ${most} threads`,
  `longest wait, ms`,
  'largest bypass',
]);
line(['---', ...Array(shown.length + 4).fill('---:')]);
for (const { name, only } of rows) {
  if (only !== undefined) continue;
  const of = (list) => list.filter(({ row }) => row === name);
  const at = (n) => of(runs).filter((run) => run.threads === n);
  const probe = of(probes).find((one) => one.threads === most);
  line([
    `\`${name}\``,
    short(medianOf(of(pairs).map(({ nanoseconds }) => nanoseconds))),
    ...shown.map((n) => short(medianOf(at(n).map(({ iterations, seconds }) => sum(iterations) / seconds)))),
    short(medianOf(at(most).map(({ iterations }) => Math.min(...iterations) / Math.max(...iterations)))),
    short(probe?.longestWaitMs ?? Number.NaN),
    probe === undefined ? '' : String(probe.largestBypass),
  ]);
}
