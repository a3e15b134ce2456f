/**
 * Prints the table of docs/papers/locks.md from the results of `npm run bench:locks`, with the number of runs of each lock:
 *
 *     node scripts/locks-table.mjs bench/results/locks-paper.json
 */
import { readFileSync } from 'node:fs';
import { median, sum } from 'simple-statistics';

const { runs, probes, pairs, rows } = JSON.parse(
  readFileSync(process.argv[2] ?? 'bench/results/locks-paper.json', 'utf8'),
);
const threads = [...new Set(runs.map((run) => run.threads))].sort((a, b) => a - b);
const several = threads.filter((n) => n > 1);
/**
 * The numbers of threads that get a column: 1, if one thread was measured, and the least, the middle and the greatest
 * of the other numbers.
 */
const shown = [
  ...new Set([...threads.slice(0, 1), several[0], several[Math.floor(several.length / 2)], ...several.slice(-1)]),
].filter((n) => n !== undefined);

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
  'runs',
  'uncontended, ns',
  ...shown.map((n) => `${n === 1 ? '1 thread' : `${n} threads`}, a second`),
  `fairness, ${most} threads`,
  `longest wait, ms`,
  'largest bypass',
]);
line(['---', ...Array(shown.length + 5).fill('---:')]);
for (const { name, only } of rows) {
  if (only !== undefined) continue;
  const of = (list) => list.filter(({ row }) => row === name);
  const at = (n) => of(runs).filter((run) => run.threads === n);
  const probe = of(probes).find((one) => one.threads === most);
  // If the benchmark was interrupted, some cells have one run more than others.
  const counts = threads.map((n) => at(n).length).filter((count) => count > 0);
  line([
    `\`${name}\``,
    [...new Set([Math.min(...counts), Math.max(...counts)])].filter(Number.isFinite).join(' to '),
    short(medianOf(of(pairs).map(({ nanoseconds }) => nanoseconds))),
    ...shown.map((n) => short(medianOf(at(n).map(({ iterations, seconds }) => sum(iterations) / seconds)))),
    short(medianOf(at(most).map(({ iterations }) => Math.min(...iterations) / Math.max(...iterations)))),
    short(probe?.longestWaitMs ?? Number.NaN),
    probe === undefined ? '' : String(probe.largestBypass),
  ]);
}
