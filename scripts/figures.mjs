/**
 * The figures and tables of docs/papers that come from a measurement with real threads. Each page has a line beside the
 * figure, in a comment of HTML, which names the code that was measured: a hash of each built module.
 *
 *     node scripts/figures.mjs                says of each figure whether it shows today's modules; exits with 1 if not
 *     node scripts/figures.mjs measure NAME   measures a figure anew: its table, its drawings and its line
 *
 * Measure on an idle machine. `npm run build` must come before both.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { median, sum } from 'simple-statistics';

const ROOT = new URL('../', import.meta.url);

/**
 * page: the page with the table. drawings: what the command draws. modules: the modules whose code is measured.
 * command: the arguments of the benchmark. columns: the columns of the table; a figure without columns has no table.
 */
export const FIGURES = {
  locks: {
    page: 'docs/papers/locks.md',
    drawings: ['docs/papers/locks.svg', 'docs/papers/locks-bypass.svg'],
    modules: ['core', 'algorithms'],
    command: 'locks --threads 4,16,64 --runs 1 --seconds 0.3 --warm-up 25 --no-pairs --svg docs/papers/locks.svg',
    columns: ['lock', 'rate 4', 'rate 16', 'rate 64', 'fairness 64', 'wait 64', 'bypass 64'],
  },
  semaphores: {
    page: 'docs/papers/algorithms.md',
    drawings: [],
    modules: ['core', 'algorithms'],
    command: 'semaphores --threads 1,2,4,16,64 --runs 3 --seconds 0.7 --warm-up 50 --svg build/semaphores.svg',
    columns: ['semaphore', 'pair', 'rates 2', 'rates 4', 'rates 16', 'rates 64', 'wait 64', 'release'],
  },
  platoons: {
    page: 'docs/papers/capacitors.md',
    drawings: ['docs/papers/capacitor-platoon.svg'],
    modules: ['core', 'algorithms'],
    command:
      'locks --threads 8 --rows TtsLock,TtsLock+capacitor --bypass 10 --runs 1 --seconds 0.3 --no-pairs --no-native ' +
      '--svg docs/papers/capacitor.svg',
  },
};

/** The hash of a built module, as the lines give it. */
export function hashOf(module) {
  return createHash('sha256')
    .update(readFileSync(new URL(`build/${module}.wasm`, ROOT)))
    .digest('hex')
    .slice(0, 12);
}

const lineOf = (name) => new RegExp(`^<!-- measured: ${name}, (.*) -->$`, 'm');

/** Returns the modules that have changed since a figure was measured; undefined if the page has no line of it. */
export function changedSince(name, page, hash = hashOf) {
  const line = lineOf(name).exec(page)?.[1];
  return line === undefined
    ? undefined
    : FIGURES[name].modules.filter((module) => !line.includes(`${module}.wasm ${hash(module)}`));
}

const short = (n) => {
  if (Number.isNaN(n)) return '';
  if (n >= 1e6) return `${(n / 1e6).toPrecision(3)} M`;
  return n >= 1e3 ? `${(n / 1e3).toPrecision(3)} k` : n.toPrecision(3);
};
const middle = (numbers) => (numbers.length === 0 ? Number.NaN : median(numbers));

/** The kinds of columns: the head of a column, and the text of a row in it. */
const COLUMNS = {
  lock: () => ['lock', ({ name }) => `\`${name}\``],
  semaphore: () => ['', ({ name }) => `\`${name}\``],
  pair: () => ['pair, ns', ({ pairs }) => short(middle(pairs.map(({ nanoseconds }) => nanoseconds)))],
  rate: (n) => [`${n} threads, a second`, ({ rates }) => short(middle(rates(n)))],
  rates: (n) => [
    `${n} threads`,
    ({ rates }) => {
      const all = rates(n);
      if (all.length === 0) return '';
      return `${short(middle(all))} (${short(Math.min(...all))} to ${short(Math.max(...all))})`;
    },
  ],
  fairness: (n) => [
    `fairness, ${n} threads`,
    ({ runs }) =>
      short(
        middle(
          runs
            .filter(({ threads }) => threads === n)
            .map(({ iterations }) => Math.min(...iterations) / Math.max(...iterations)),
        ),
      ),
  ],
  wait: (n) => [`longest wait at ${n}, ms`, ({ probe }) => short(probe(n)?.longestWaitMs ?? Number.NaN)],
  bypass: (n) => ['largest bypass', ({ probe }) => String(probe(n)?.largestBypass ?? '')],
  release: () => [
    'release of 64, ns',
    ({ releases }) => {
      const of = (wanted) =>
        short(middle(releases.filter(({ shape }) => shape === wanted).map(({ nanoseconds }) => nanoseconds)));
      return releases.length === 0 ? '' : `${of('one step')} / ${of('loop')}`;
    },
  ],
};

function tableOf({ rows, runs, probes, pairs, releases = [] }, columns) {
  const cells = columns.map((column) => {
    const [kind, n] = column.split(' ');
    return COLUMNS[kind](Number(n));
  });
  const line = (texts) => `| ${texts.join(' | ')} |`;
  const lines = rows
    .filter(({ only }) => only === undefined)
    .map(({ name }) => {
      const of = (list) => list.filter(({ row }) => row === name);
      const own = of(runs);
      const row = {
        name,
        runs: own,
        pairs: of(pairs),
        releases: of(releases),
        rates: (n) =>
          own.filter(({ threads }) => threads === n).map(({ iterations, seconds }) => sum(iterations) / seconds),
        probe: (n) => of(probes).find(({ threads }) => threads === n),
      };
      return line(cells.map(([, text]) => text(row)));
    });
  return [line(cells.map(([head]) => head)), line(['---', ...Array(cells.length - 1).fill('---:')]), ...lines].join(
    '\n',
  );
}

function measure(name) {
  const { page, modules, command, columns } = FIGURES[name];
  const json = `build/${name}.json`;
  const args = ['bench/dist/cli.js', 'bench', ...command.split(' '), '--json', json];
  execFileSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  const hashes = modules.map((module) => `${module}.wasm ${hashOf(module)}`).join(', ');
  const machine = `${cpus()[0].model.trim()}, ${cpus().length} processors, Node ${process.version}`;
  const day = new Date().toISOString().slice(0, 10);
  const line = `<!-- measured: ${name}, ${hashes}, ${machine}, ${day} -->`;
  const table = columns ? `\n\n${tableOf(JSON.parse(readFileSync(new URL(json, ROOT), 'utf8')), columns)}` : '';
  const at = new URL(page, ROOT);
  // The table, if there is one, comes after an empty line.
  const old = new RegExp(`${lineOf(name).source}${columns ? '\\n\\n(?:\\|.*\\n)*(?:\\|.*)' : ''}`, 'm');
  const text = readFileSync(at, 'utf8');
  if (!old.test(text)) throw new Error(`${page} has no line of ${name}`);
  writeFileSync(
    at,
    text.replace(old, () => line + table),
  );
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [, , verb, name] = process.argv;
  if (verb === 'measure' && Object.hasOwn(FIGURES, name)) measure(name);
  else if (verb === undefined) {
    for (const [name, { page }] of Object.entries(FIGURES)) {
      const changed = changedSince(name, readFileSync(new URL(page, ROOT), 'utf8'));
      const says =
        changed === undefined
          ? `${page} does not say what was measured`
          : changed.length > 0
            ? `stale: ${changed.join(' and ')} changed since`
            : "shows today's modules";
      console.log(`${name}: ${says}`);
      if (changed === undefined || changed.length > 0) process.exitCode = 1;
    }
  } else {
    console.error(`usage: figures.mjs [measure ${Object.keys(FIGURES).join(' | ')}]`);
    process.exitCode = 2;
  }
}
