/**
 * The figures and tables of docs/papers that come from a measurement with real threads. Each page has a line beside the
 * figure, in a comment of HTML, which names the code that was measured: a hash of each built module.
 *
 *     node bench/programs/figures.mjs                says of each figure whether it shows today's modules; exits with 1 if not
 *     node bench/programs/figures.mjs measure NAME   measures a figure anew: its table, its drawings and its line
 *     node bench/programs/figures.mjs draw NAME      makes the table and the drawings of a kept record again
 *
 * Measure on an idle machine. `npm run build` must come before both.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { median, sum } from 'simple-statistics';
import { bypassOf } from '../dist/report/tables.js';

const ROOT = new URL('../../', import.meta.url);

/**
 * page: the page with the table. drawings: where the drawings go, by the endings of their names. modules: the modules
 * whose code is measured. command: the arguments of the benchmark; rows: the rows that it measures, if not all. record:
 * the kept record of a measurement that another machine has made, in place of the command. columns: the columns of the
 * table; a figure without columns has no table. only: the rows of the table, if not all. of: the figure whose measurement
 * this figure shows as well.
 */
export const FIGURES = {
  locks: {
    page: 'docs/papers/locks.md',
    drawings: { '': 'docs/papers/locks.svg', '-bypass': 'docs/papers/locks-bypass.svg' },
    modules: ['core', 'algorithms'],
    command: 'locks --threads 4,16,64 --runs 1 --seconds 0.3 --warm-up 25 --no-pairs',
    only: [
      'Mutex',
      'Semaphore',
      'TtsLock',
      'TtsLock+capacitor',
      'TtsLock+fractional',
      'TicketLock',
      'TicketLock+capacitor',
      'TwaLock',
      'TwaLock+capacitor',
      'McsLock',
      'McsLock+capacitor',
      'ClhLock',
      'ClhLock+capacitor',
      'LifoLock',
      'LifoLock+capacitor',
      'ReciprocatingLock',
      'ReciprocatingLock+capacitor',
      'pthread_mutex',
      'sem_t',
    ],
    columns: ['lock', 'rate 4', 'rate 16', 'rate 64', 'fairness 64', 'wait 64', 'bypass 64'],
  },
  semaphores: {
    page: 'docs/papers/algorithms.md',
    drawings: {},
    modules: ['core', 'algorithms'],
    command: 'semaphores --threads 1,2,4,16,64 --runs 3 --seconds 0.7 --warm-up 50',
    only: [
      'Semaphore',
      'TwaSemaphore',
      'TicketSemaphore',
      'ChainSemaphore',
      'ChainSemaphore all',
      'ChainSemaphore due',
      'ChannelSemaphore',
      'ChannelSemaphore lazy',
      'LocationSemaphore',
      'twa-futex',
      'ticket-futex',
      'sem_t',
    ],
    columns: ['semaphore', 'pair', 'rate 4', 'rate 16', 'rate 64', 'wait 64'],
  },
  order: {
    page: 'docs/papers/p0514.md',
    drawings: {},
    modules: ['core', 'algorithms'],
    of: 'semaphores',
    only: [
      'BinarySemaphore',
      'CountingSemaphore',
      'Semaphore',
      'sem_t',
      'std::counting_semaphore',
      'atomicWait lock',
      'AtomicSemaphore lock',
    ],
    columns: ['semaphore', 'pair', 'rate 16', 'fairness 16', 'rate 64', 'fairness 64'],
  },
  energy: {
    page: 'docs/papers/algorithms.md',
    drawings: {},
    modules: ['core', 'algorithms'],
    command: 'semaphores --threads 2,4,16 --runs 3 --seconds 1 --no-pairs',
    rows:
      'TicketSemaphore spin,TwaSemaphore spin,ChainSemaphore spin,TwaSemaphore spin near,ChainSemaphore spin near,' +
      'TwaSemaphore yield,TicketSemaphore,TwaSemaphore,ChainSemaphore,Semaphore,ticket-spin,twa-spin,ticket-futex,' +
      'twa-futex,sem_t',
    columns: ['semaphore', 'used 2', 'used 4', 'work 2', 'work 4'],
  },
  platoons: {
    page: 'docs/papers/capacitors.md',
    drawings: { '-platoon': 'docs/papers/capacitor-platoon.svg' },
    modules: ['core', 'algorithms'],
    command: 'locks --threads 16 --bypass 10 --runs 1 --seconds 0.3 --no-pairs --no-native',
    rows: 'TtsLock,TtsLock+capacitor',
  },
  'semaphores-16': {
    page: 'docs/papers/paper-runs.md',
    drawings: { '': 'docs/papers/semaphores-16-processors.svg' },
    modules: ['algorithms'],
    record: 'bench/records/semaphores-paper-16-processors.jsonl.gz',
    columns: ['semaphore', ...[1, 2, 4, 8, 16].map((n) => `both ${n}`)],
  },
  'semaphores-2': {
    page: 'docs/papers/paper-runs.md',
    drawings: { '': 'docs/papers/semaphores-2-processors.svg' },
    modules: ['algorithms'],
    record: 'bench/records/semaphores-paper-2-processors.jsonl.gz',
    columns: ['semaphore', ...[1, 2, 4, 16, 64].map((n) => `both ${n}`)],
  },
  'locks-16': {
    page: 'docs/papers/paper-runs.md',
    drawings: { '': 'docs/papers/locks-16-processors.svg' },
    modules: ['algorithms'],
    record: 'bench/records/locks-paper-16-processors.jsonl.gz',
    only: [
      'TtsLock spin',
      'TtsLock spin+capacitor',
      'TtsLock spin+fractional',
      'TicketLock spin',
      'TicketLock spin+capacitor',
      'TicketLock spin+fractional',
      'McsLock spin',
      'McsLock spin+capacitor',
      'LifoLock spin',
      'LifoLock spin+capacitor',
      'ReciprocatingLock spin',
      'ReciprocatingLock spin+capacitor',
    ],
    columns: ['lock', ...[1, 2, 4, 8, 16].map((n) => `both ${n}`)],
  },
  'locks-2': {
    page: 'docs/papers/paper-runs.md',
    drawings: { '': 'docs/papers/locks-2-processors.svg' },
    modules: ['algorithms'],
    record: 'bench/records/locks-paper-2-processors.jsonl.gz',
    only: [
      'TtsLock spin',
      'TtsLock spin+capacitor',
      'TicketLock spin',
      'TicketLock spin+capacitor',
      'McsLock spin',
      'McsLock spin+capacitor',
      'LifoLock spin',
      'LifoLock spin+capacitor',
      'ReciprocatingLock spin',
      'ReciprocatingLock spin+capacitor',
    ],
    columns: ['lock', ...[4, 64].map((n) => `both ${n}`)],
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

/** The iterations of all threads in a second of an interval. */
const rateOf = ({ iterations, seconds }) => sum(iterations) / seconds;

/** The fewest iterations of a thread divided by the most; 0 if no thread has had a turn. */
const fairnessOf = ({ iterations }) => Math.min(...iterations) / Math.max(...iterations, 1);

const counted = (threads) => `${threads} thread${threads === 1 ? '' : 's'}`;

/** The kinds of columns: the head of a column, and the text of a row in it. */
const COLUMNS = {
  lock: () => ['lock', ({ name }) => `\`${name}\``],
  semaphore: () => ['semaphore', ({ name }) => `\`${name}\``],
  pair: () => ['pair, ns', ({ pairs }) => short(middle(pairs.map(({ nanoseconds }) => nanoseconds)))],
  rate: (n) => [`${n} threads, a second`, ({ at }) => short(middle(at(n).map(rateOf)))],
  both: (n) => [
    counted(n),
    ({ at }) => {
      const all = at(n);
      return all.length === 0 ? '' : `${short(middle(all.map(rateOf)))}, ${middle(all.map(fairnessOf)).toFixed(3)}`;
    },
  ],
  used: (n) => [
    `processors in use, ${n} threads`,
    ({ at }) => short(middle(at(n).map(({ cpuSeconds, seconds }) => cpuSeconds / seconds))),
  ],
  work: (n) => [
    `acquisitions in a processor second, ${n} threads`,
    ({ at }) => short(middle(at(n).map(({ iterations, cpuSeconds }) => sum(iterations) / cpuSeconds))),
  ],
  fairness: (n) => [`fairness, ${n} threads`, ({ at }) => short(middle(at(n).map(fairnessOf)))],
  wait: (n) => [`longest wait at ${n}, ms`, ({ probe }) => short(probe(n)?.longestWaitMs ?? Number.NaN)],
  bypass: (n) => ['largest bypass', ({ probe }) => (probe(n) ? bypassOf(probe(n)) : '')],
};

function tableOf({ rows, runs, probes, pairs }, columns, names) {
  const cells = columns.map((column) => {
    const [kind, n] = column.split(' ');
    return COLUMNS[kind](Number(n));
  });
  const line = (texts) => `| ${texts.join(' | ')} |`;
  const lines = rows
    .filter(({ name, only }) => (names ? names.includes(name) : only === undefined))
    .map(({ name }) => {
      const of = (list) => list.filter(({ row }) => row === name);
      const row = {
        name,
        pairs: of(pairs),
        at: (n) => of(runs).filter(({ threads }) => threads === n),
        probe: (n) => of(probes).find(({ threads }) => threads === n),
      };
      return line(cells.map(([, text]) => text(row)));
    });
  return [line(cells.map(([head]) => head)), line(['---', ...Array(cells.length - 1).fill('---:')]), ...lines].join(
    '\n',
  );
}

/** Runs a command of the benchmark. */
function bench(...args) {
  execFileSync(process.execPath, ['bench/dist/cli.js', 'bench', ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** The processor time of all programs, of which `idle` is what nobody has used. */
function times() {
  const all = cpus().map((cpu) => cpu.times);
  return { all: sum(all.flatMap((one) => Object.values(one))), idle: sum(all.map(({ idle }) => idle)) };
}

/** Throws if other programs are running. */
async function checkIdle() {
  const before = times();
  await setTimeout(2000);
  const after = times();
  const busy = 1 - (after.idle - before.idle) / (after.all - before.all);
  if (busy > 0.05)
    throw new Error(`other programs use ${Math.round(100 * busy)} % of the processors: measure when idle`);
}

/** Throws if threads that only spin have not had a processor each, as long as there is one. */
function checkAlone({ runs }) {
  for (const { row, threads, seconds, cpuSeconds } of runs) {
    const had = cpuSeconds / seconds / Math.min(threads, cpus().length);
    if (/[ -]spin$/.test(row) && had < 0.9)
      throw new Error(`${row} has had ${had.toFixed(2)} of its processors at ${threads} threads: measure when idle`);
  }
}

/** Measures a figure and puts it in its page. */
async function measure(name) {
  await checkIdle();
  const { modules, command, rows } = FIGURES[name];
  const json = `build/${name}.json`;
  bench(...command.split(' '), ...(rows ? ['--rows', rows] : []), '--json', json, '--svg', `build/${name}.svg`);
  checkAlone(JSON.parse(readFileSync(new URL(json, ROOT), 'utf8')));
  const hashes = modules.map((module) => `${module}.wasm ${hashOf(module)}`).join(', ');
  const machine = `${cpus()[0].model.trim()}, ${cpus().length} processors, Node ${process.version}`;
  const day = new Date().toISOString().slice(0, 10);
  for (const [figure, { of = figure }] of Object.entries(FIGURES))
    if (of === name) put(figure, json, `<!-- measured: ${figure}, ${hashes}, ${machine}, ${day} -->`);
}

/** Puts the table and the drawings of a kept record in its page again. Its line stays. */
function draw(name) {
  const json = `build/${name}.json`;
  bench('draw', FIGURES[name].record, '--json', json, '--svg', `build/${name}.svg`);
  put(name, json);
}

/** Puts the drawings of a figure in their places, and its table and its line in its page. */
function put(name, json, line) {
  const { page, drawings, columns, only } = FIGURES[name];
  for (const [ending, drawing] of Object.entries(drawings))
    copyFileSync(new URL(`build/${name}${ending}.svg`, ROOT), new URL(drawing, ROOT));
  const table = columns ? `\n\n${tableOf(JSON.parse(readFileSync(new URL(json, ROOT), 'utf8')), columns, only)}` : '';
  const at = new URL(page, ROOT);
  // The table, if there is one, comes after an empty line.
  const old = new RegExp(`${lineOf(name).source}${columns ? '(?:\\n\\n\\|(?:.*\\n\\|)*.*)?' : ''}`, 'm');
  const text = readFileSync(at, 'utf8');
  const [found] = old.exec(text) ?? [];
  if (found === undefined) throw new Error(`${page} has no line of ${name}`);
  writeFileSync(
    at,
    text.replace(old, () => (line ?? found.slice(0, found.indexOf('-->') + 3)) + table),
  );
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [, , verb, name] = process.argv;
  const { record, of = name } = FIGURES[name] ?? {};
  if (verb === 'measure' && FIGURES[of]?.command) await measure(of);
  else if (verb === 'draw' && record) draw(name);
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
    const names = (has) => Object.keys(FIGURES).filter((figure) => FIGURES[figure][has]);
    console.error(`usage: figures.mjs [measure ${names('command').join(' | ')}]`);
    console.error(`       figures.mjs draw ${names('record').join(' | ')}`);
    process.exitCode = 2;
  }
}
