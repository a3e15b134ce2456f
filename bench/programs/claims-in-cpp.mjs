/**
 * Measurements in C++ of claims of the papers. `count-claims.mjs` runs and prints them. Rows take turns: each has its
 * first run before any has its second. Most figures are medians, with the least and the most in brackets.
 */
import { median } from 'simple-statistics';
import { buildNative, nativeContention } from '../dist/native.js';
import { runJson } from '../dist/program.js';
import { rate } from '../dist/report/tables.js';
import { SPINNING } from '../dist/rows/row.js';

const sum = (values) => values.reduce((a, b) => a + b, 0);

/** Returns the median, and the least and the most in brackets, each as `text` says it. */
function range(values, text) {
  return `${text(median(values))} (${text(Math.min(...values))} to ${text(Math.max(...values))})`;
}

async function binary() {
  const built = await buildNative();
  if (!('binary' in built)) throw new Error(built.missing);
  return built.binary;
}

/** Measures rows in turn. A row has a `name`, an algorithm, its knobs, threads, seconds and steps. */
async function inTurn(rows, rounds) {
  const program = await binary();
  const found = rows.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, { workload = 'semabench', knobs = [], threads, seconds = 0.5, work, ...row }] of rows.entries()) {
      found[i].push(await nativeContention(program, workload, { ...row, knobs }, threads, seconds, false, work));
    }
  }
  return rows.map((row, i) => ({ ...row, runs: found[i] }));
}

const perSecond = ({ iterations, seconds }) => sum(iterations) / seconds;
const fairness = ({ iterations }) => Math.min(...iterations) / Math.max(...iterations);
const rates = (runs) => `${range(runs.map(perSecond), rate)} a second`;
const fairnesses = (runs) => `fairness ${range(runs.map(fairness), (x) => x.toFixed(3))}`;

export const IN_CPP = {
  /** With threshold 0 no waiter is woken before its turn. */
  async S13() {
    const rows = [1, 1000, 10_000].flatMap((inside) =>
      [0, 1, 2, 4].map((threshold) => ({
        name: `section of ${inside} steps, threshold ${threshold}`,
        algorithm: 'twa-futex',
        knobs: ['--threshold', `${threshold}`],
        threads: 8,
        work: { inside, outside: 1 },
      })),
    );
    for (const { name, runs } of await inTurn(rows, 7)) console.log(`8 threads, ${name}: ${rates(runs)}`);
  },

  async S20() {
    const rows = [2, 4].flatMap((threads) =>
      [0, 1000].map((spin) => ({
        name: `${threads} threads, at most ${spin} polls before a waiter parks`,
        algorithm: 'twa-futex',
        knobs: ['--spin', `${spin}`, '--far-spin', `${spin}`],
        threads,
      })),
    );
    for (const { name, runs } of await inTurn(rows, 7)) {
      const switches = runs.map(({ contextSwitches, iterations }) => contextSwitches / sum(iterations));
      console.log(`${name}: ${range(switches, (x) => x.toFixed(4))} context switches an acquisition, ${rates(runs)}`);
    }
  },

  async S21() {
    const program = await binary();
    const rows = [1, 2].flatMap((threads) => ['futex-one-word', 'futex-word-each'].map((name) => ({ name, threads })));
    const found = rows.map(() => []);
    for (let round = 0; round < 11; round++) {
      for (const [i, { name, threads }] of rows.entries()) {
        const args = ['sync', name, '--threads', `${threads}`, '--seconds', '0.3'];
        found[i].push((await runJson(program, args, 60_000)).perSecond);
      }
    }
    for (const [i, { name, threads }] of rows.entries()) {
      console.log(`${threads} threads, ${name}: ${range(found[i], rate)} looks a second`);
    }
  },

  async C22() {
    const works = [1, 10, 100].map((inside) => ({ inside, outside: 0 }));
    works.push(...[10, 100, 1000].map((outside) => ({ inside: 1, outside })));
    const rows = [1, 2].flatMap((threads) =>
      works.flatMap((work) =>
        ['tts-futex', 'tts-futex+capacitor'].map((algorithm) => ({ algorithm, threads, work, workload: 'mutexbench' })),
      ),
    );
    const measured = await inTurn(rows, 7);
    for (let i = 0; i < measured.length; i += 2) {
      const [bare, wrapped] = [measured[i], measured[i + 1]];
      const { threads, work } = bare;
      const lost = 1 - median(wrapped.runs.map(perSecond)) / median(bare.runs.map(perSecond));
      console.log(
        `${threads} threads, ${work.inside} steps inside, ${work.outside} outside: bare ${rates(bare.runs)}, ` +
          `in a capacitor ${rates(wrapped.runs)}: ${Math.round(100 * lost)} % less`,
      );
    }
  },

  async C43() {
    const forms = [
      { name: 'in a capacitor', algorithm: 'tts-futex+capacitor' },
      ...[0.5, 0.9, 0.99, 0.999].map((fraction) => ({
        name: `fraction ${fraction}`,
        algorithm: 'tts-futex+fractional',
        knobs: ['--fraction', `${fraction}`],
      })),
      { name: 'bare', algorithm: 'tts-futex' },
    ].map((form) => ({ ...form, workload: 'mutexbench' }));
    for (const [threads, seconds] of [
      [1, 0.3],
      [8, 0.03],
      [8, 0.3],
      [8, 3],
    ]) {
      const rows = forms.map((form) => ({ ...form, threads, seconds }));
      for (const { name, runs } of await inTurn(rows, 5)) {
        const said = threads === 1 ? rates(runs) : `${rates(runs)}, ${fairnesses(runs)}`;
        console.log(`${threads} threads, ${seconds} seconds, ${name}: ${said}`);
      }
    }
  },

  /** Waiters that only spin, and waiters that poll and then park. */
  async S18() {
    const rows = [
      { name: 'spin for ever', knobs: ['--spin', SPINNING, '--far-spin', SPINNING] },
      { name: 'poll and then park', knobs: [] },
    ].map((row) => ({ ...row, algorithm: 'twa-futex', threads: 4 }));
    for (const { name, runs } of await inTurn(rows, 7)) console.log(`4 threads that ${name}: ${rates(runs)}`);
  },
};
