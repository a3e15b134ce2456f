/**
 * The figures and tables of docs/papers that come from a measurement with real threads. Each is drawn from a record in
 * bench/records/, which has every measurement and the origin: the machine, the configuration and the digest of the
 * whole build. Each page has a line beside the figure, in a comment of HTML, with the same origin.
 *
 *     npm run figures                         says of each figure whether it shows today's build; exits with 1 if not
 *     npm run figures -- measure NAME         measures a figure anew: its record, its table, its drawings and its line
 *     npm run figures -- estimate NAME        says how long that takes, or how long the rest takes
 *     npm run figures -- measure all          measures every figure that is stale, and that this machine can measure
 *     npm run figures -- draw NAME            makes the table, the drawings and the line of a kept record again
 *
 * `measure` writes each measurement to a record in bench/results/figures/ as soon as it has ended. If it is interrupted,
 * the same command goes on from there, also after a crash, and also days later with the same build and machine. The
 * record comes to bench/records/, and the figure to its page, when all is measured.
 *
 * Other arguments of the benchmark, such as `--seconds 0.05 --runs 1`, make a trial, which prints the tables and changes
 * no page. Measure a figure on an idle machine: `measure` refuses a busy one, except with `--anyway`, and then the line
 * says so. `npm run build` must come before.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { median, sum } from 'simple-statistics';
import { build } from '../dist/build.js';
import { bypassOf } from '../dist/report/tables.js';

const ROOT = new URL('../../', import.meta.url);

/**
 * page: the page with the table. drawings: where the drawings go, by the endings of their names. command: the arguments
 * of the benchmark; rows: the rows that it measures, if not all. processors: how many the machine must have. columns: the
 * columns of the table; a figure without columns has no table. only: the rows of the table, if not all. of: the figure
 * whose record this figure shows as well.
 */
export const FIGURES = {
  locks: {
    page: 'docs/papers/locks.md',
    drawings: { '': 'docs/papers/locks.svg', '-bypass': 'docs/papers/locks-bypass.svg' },
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
    command: 'locks --threads 16 --bypass 10 --runs 1 --seconds 0.3 --no-pairs --no-native',
    rows: 'TtsLock,TtsLock+capacitor',
  },
  'semaphores-16': {
    page: 'docs/papers/paper-runs.md',
    drawings: { '': 'docs/papers/semaphores-16-processors.svg' },
    processors: 16,
    command: 'semaphores --paper --no-pairs --threads 1,2,4,8,16 --seconds 0.5 --runs 3',
    columns: ['semaphore', ...[1, 2, 4, 8, 16].map((n) => `both ${n}`)],
  },
  'semaphores-2': {
    page: 'docs/papers/paper-runs.md',
    drawings: { '': 'docs/papers/semaphores-2-processors.svg' },
    processors: 2,
    command: 'semaphores --paper --no-pairs --threads 1,2,4,16 --seconds 2',
    columns: ['semaphore', ...[1, 2, 4, 16].map((n) => `both ${n}`)],
  },
  'locks-16': {
    page: 'docs/papers/paper-runs.md',
    drawings: { '': 'docs/papers/locks-16-processors.svg' },
    processors: 16,
    command: 'locks --paper --no-pairs --threads 1,2,4,8,16 --seconds 0.4 --runs 3',
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
    processors: 2,
    command: 'locks --paper --no-pairs --no-native --threads 1,2,4,16 --seconds 1 --warm-up 10',
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
    columns: ['lock', ...[1, 2, 4, 16].map((n) => `both ${n}`), 'bypass 4'],
  },
  'capacitors-2': {
    page: 'docs/papers/paper-runs.md',
    drawings: {},
    processors: 2,
    command: 'locks --paper --no-pairs --threads 1,2,4,8,16 --seconds 1 --runs 3',
    rows:
      'tts-spin,tts-spin+capacitor,tts-spin+fractional,ticket-spin,ticket-spin+capacitor,ticket-spin+fractional,' +
      'mcs-spin,mcs-spin+capacitor,mcs-spin+fractional',
    columns: ['lock', ...[1, 2, 4, 8, 16].map((n) => `both ${n}`)],
  },
  'listings-spin': {
    page: 'docs/papers/algorithms.md',
    drawings: {},
    command: 'semaphores --no-pairs --threads 1,2 --runs 5 --seconds 0.3',
    rows:
      'ticket-spin,twa-spin,twa-near-loop-spin,chain-spin,chain-lazy-spin,channel-spin,channel-lazy-spin,' +
      'channel-sequence-spin,location-spin,lanes of ticket-spin,lanes of twa-spin,chain-spin+printedOrders,' +
      'channel-spin+printedOrders,location-spin+printedOrders',
    columns: ['semaphore', 'rate 1', 'rate 2'],
  },
  'listings-park': {
    page: 'docs/papers/algorithms.md',
    drawings: {},
    command: 'semaphores --no-pairs --threads 2,16 --runs 5 --seconds 0.3',
    rows:
      'ticket-futex,twa-futex,twa-near-loop-futex,chain-futex,chain-lazy-futex,channel-futex,channel-lazy-futex,' +
      'channel-sequence-futex,location-futex,lanes of ticket-futex,lanes of twa-futex',
    columns: ['semaphore', 'rate 2', 'rate 16'],
  },
  'memory-orders': {
    page: 'docs/papers/algorithms.md',
    drawings: {},
    command: 'locks --no-pairs --threads 1,2 --runs 5 --seconds 0.3',
    rows: 'tts-exchange,tts-exchange+printedOrders,tts-exchange+capacitor,tts-exchange+printedOrders+capacitor',
    columns: ['lock', 'rate 1', 'rate 2'],
  },
  pauses: {
    page: 'docs/papers/algorithms.md',
    drawings: {},
    command: 'semaphores --no-pairs --threads 2,4 --runs 5 --seconds 0.5',
    rows: 'ticket-spin,ticket-spin lfence,ticket-spin yield',
    columns: ['semaphore', 'rate 2', 'rate 4'],
  },
};

const at = (path) => new URL(path, ROOT);

/** Where the record of a figure is kept. */
export const recordOf = (name) => `bench/records/${FIGURES[name].of ?? name}.jsonl.gz`;

/** The origin of a kept record, and its sittings; undefined if no record is kept. */
export function originOf(name) {
  if (!existsSync(at(recordOf(name)))) return undefined;
  const [origin, ...lines] = gunzipSync(readFileSync(at(recordOf(name))))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { ...origin, sittings: lines.flatMap(({ sitting }) => sitting ?? []) };
}

const lineOf = (name) => new RegExp(`^<!-- measured: ${name}, (.*) -->$`, 'm');

/** What the line of a figure says, from the origin of its record. Records of older versions have no dates. */
export function lineFor(name, { build, machine, sittings }, note, day) {
  const days = sittings.map(({ date }) => date.slice(0, 10));
  const when = days.length === 0 ? day : [...new Set([days[0], days.at(-1)])].join(' to ');
  const many = days.length > 1 ? ` in ${days.length} sittings` : '';
  const said = [name, `build ${build}`, machine.cpu, `${machine.processors} processors`, `Node ${machine.node}`];
  return `<!-- measured: ${[...said, `${when}${many}`, ...(note ? [note] : [])].join(', ')} -->`;
}

/** What is wrong with a figure, by the line of its page and its record: undefined if it shows the build. */
export function faultOf(name, page, digest, origin) {
  const line = lineOf(name).exec(page)?.[1];
  if (line === undefined) return 'its page does not say what was measured';
  if (origin === undefined) return 'stale: no record of it is kept';
  if (!line.includes(`build ${origin.build},`)) return 'its page has another build than its record: draw it again';
  return origin.build === digest ? undefined : `stale: it shows build ${origin.build}, and this is ${digest}`;
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
  rate: (n) => [`${counted(n)}, a second`, ({ at }) => short(middle(at(n).map(rateOf)))],
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
  bypass: (n) => [`largest bypass at ${n}`, ({ probe }) => (probe(n) ? bypassOf(probe(n)) : '')],
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

/**
 * Runs a command of the benchmark. Returns what it printed.
 * @throws {Error} if it fails. After Ctrl-C the program ends with the status of the benchmark.
 */
function bench(...args) {
  const { status, stdout } = spawnSync(process.execPath, ['bench/dist/cli.js', 'bench', ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status === INTERRUPTED) {
    console.error('\ninterrupted: the same command goes on from here');
    process.exit(INTERRUPTED);
  }
  if (status !== 0) throw new Error(`the benchmark has failed: bench ${args.join(' ')}`);
  return stdout;
}

const INTERRUPTED = 130;

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
    throw new Error(
      `other programs use ${Math.round(100 * busy)} % of the processors: measure when idle, or with --anyway`,
    );
}

/** Whether threads that only spin have had a processor each, as long as there is one. */
const wasAlone = ({ row, threads, seconds, cpuSeconds }, processors) =>
  !/[ -]spin$/.test(row) || cpuSeconds / seconds / Math.min(threads, processors) >= 0.9;

/** Returns the lines of a record without the intervals that other programs have disturbed. */
export const undisturbed = (lines, processors = availableParallelism()) =>
  lines.filter((line) => {
    const { runs } = JSON.parse(line);
    return runs === undefined || wasAlone(runs, processors);
  });

/** Throws if other programs have disturbed intervals. Takes these out of the record before. */
function checkAlone(record) {
  const lines = readFileSync(at(record), 'utf8').trim().split('\n');
  const kept = undisturbed(lines);
  if (kept.length === lines.length) return;
  writeFileSync(at(record), `${kept.join('\n')}\n`);
  throw new Error(
    `other programs have disturbed ${lines.length - kept.length} intervals: the same command measures these again, on ` +
      'an idle machine',
  );
}

/** The arguments of a measurement, and the files that it writes: of the figure itself or of a trial. */
function planOf(name, more) {
  const { command, rows } = FIGURES[name];
  const file = `bench/results/figures/${[name, ...more].join('-').replace(/[^\w.]+/g, '-')}`;
  const record = `${file}.jsonl`;
  const args = [...command.split(' '), ...(rows ? ['--rows', rows] : []), ...more, '--record', record];
  mkdirSync(at('bench/results/figures/'), { recursive: true });
  return { args, file, record, isTrial: more.length > 0 };
}

/** Measures a figure and puts it in its page, or makes a trial and prints the tables. */
async function measure(name, isAnyway, more) {
  const { args, file, record, isTrial } = planOf(name, more);
  const { processors = availableParallelism() } = FIGURES[name];
  if (!isTrial) {
    if (processors !== availableParallelism())
      throw new Error(`${name} needs a machine with ${processors} processors, and this has ${availableParallelism()}`);
    if (!isAnyway) await checkIdle();
  }
  process.stderr.write(`${name}: ${bench(...args, '--estimate')}`);
  const said = bench(...args, '--json', `${file}.json`, '--svg', `${file}.svg`);
  if (isTrial) return console.log(said);
  const results = JSON.parse(readFileSync(at(`${file}.json`), 'utf8'));
  if (results.skipped.length > 0)
    throw new Error(`rows have failed: ${JSON.stringify(results.skipped)}. The same command measures them again.`);
  if (!isAnyway) checkAlone(record);
  writeFileSync(at(recordOf(name)), gzipSync(readFileSync(at(record)), { level: 9 }));
  for (const kind of ['.jsonl', '.json', '.svg']) rmSync(at(file + kind), { force: true });
  draw(name, isAnyway ? 'other programs ran' : '');
}

/** Puts the tables, the drawings and the lines of a kept record in their pages. Without a note, that of the line stays. */
function draw(name, note) {
  const json = `build/${name}.json`;
  bench('draw', recordOf(name), '--json', json, '--svg', `build/${name}.svg`);
  const results = JSON.parse(readFileSync(at(json), 'utf8'));
  for (const [figure, { of = figure }] of Object.entries(FIGURES))
    if (of === name) put(figure, results, originOf(name), note);
}

/** Puts the drawings of a figure in their places, and its table and its line in its page. */
function put(name, results, origin, note) {
  const { page, drawings } = FIGURES[name];
  for (const [ending, drawing] of Object.entries(drawings)) copyFileSync(at(`build/${name}${ending}.svg`), at(drawing));
  const text = readFileSync(at(page), 'utf8');
  const shown = withFigure(name, text, results, origin, note);
  if (shown === undefined) throw new Error(`${page} has no line of ${name}`);
  writeFileSync(at(page), shown);
}

/** Returns the text of a page with the line and the table of a figure; undefined if the page has no line of it. */
export function withFigure(name, text, results, origin, note) {
  const { columns, only } = FIGURES[name];
  const table = columns ? `\n\n${tableOf(results, columns, only)}` : '';
  // The table, if there is one, comes after an empty line.
  const old = new RegExp(`${lineOf(name).source}${columns ? '(?:\\n\\n\\|(?:.*\\n\\|)*.*)?' : ''}`, 'm');
  const [found, line] = old.exec(text) ?? [];
  if (found === undefined) return undefined;
  const day = line.match(/\d{4}-\d\d-\d\d/)?.[0];
  const kept = /, (other programs ran)/.exec(line)?.[1];
  return text.replace(old, () => lineFor(name, origin, note ?? kept, day) + table);
}

/** The figures with a measurement of their own. */
const own = Object.keys(FIGURES).filter((name) => FIGURES[name].of === undefined);

/** What is wrong with a figure: undefined if it shows this build. */
const faultNow = (name) => faultOf(name, readFileSync(at(FIGURES[name].page), 'utf8'), build(), originOf(name));

/** The figures with a measurement of their own that are stale, and that a machine with so many processors can measure. */
export const toMeasure = (processors, faultIn = faultNow) =>
  own.filter((name) => (FIGURES[name].processors ?? processors) === processors && faultIn(name) !== undefined);

/** Says of each figure whether it shows this build. */
function check() {
  for (const name of Object.keys(FIGURES)) {
    const fault = faultNow(name);
    console.log(`${name}: ${fault ?? "shows today's build"}`);
    if (fault !== undefined) process.exitCode = 1;
  }
}

const USAGE = `usage: figures.mjs
       figures.mjs measure all [--anyway]
       figures.mjs measure NAME [--anyway] [arguments of the benchmark, for a trial]
       figures.mjs estimate all | NAME
       figures.mjs draw NAME
NAME is one of ${own.join(', ')}.`;

if (process.argv[1] === new URL(import.meta.url).pathname) {
  // Ctrl-C reaches the benchmark as well, which ends with what it has.
  process.on('SIGINT', () => {});
  const [, , verb, given, ...rest] = process.argv;
  const name = FIGURES[given]?.of ?? given;
  const isAnyway = rest.includes('--anyway');
  const more = rest.filter((argument) => argument !== '--anyway');
  try {
    const each = given === 'all' && more.length === 0 ? toMeasure(availableParallelism()) : undefined;
    if (verb === undefined) check();
    else if (verb === 'measure' && each) for (const one of each) await measure(one, isAnyway, []);
    else if (verb === 'estimate' && each)
      for (const one of each) process.stdout.write(`${one}: ${bench(...planOf(one, []).args, '--estimate')}`);
    else if (!Object.hasOwn(FIGURES, name ?? '')) throw new Error(USAGE);
    else if (verb === 'measure') await measure(name, isAnyway, more);
    else if (verb === 'estimate') process.stdout.write(bench(...planOf(name, more).args, '--estimate'));
    else if (verb === 'draw' && originOf(name) === undefined)
      throw new Error(`no record of ${name} is kept: figures.mjs measure ${name} makes one`);
    else if (verb === 'draw') draw(name);
    else throw new Error(USAGE);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 2;
  }
}
