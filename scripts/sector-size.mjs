/**
 * Measures whether elements, chains and buckets of 128 bytes are faster than those of 64, which the library has.
 *
 * Dice and Kogan give each wait element a sector of 128 bytes. A cache line has 64 bytes, but Intel's processors fetch
 * lines in pairs. So a processor that fetches one line may take the neighbour line from another processor. In the
 * library each bucket, chain or element has one line, and consecutive tickets are spread over lines that are 17 apart.
 * The script shows whether 128 bytes would be faster on the machine at hand. The result is meaningful only if each
 * waiter polls on a processor of its own. With more threads than processors the waiters park, and a hand-over costs a
 * thousand times as much as the fetch of a line.
 *
 * The script copies the library and the benchmark twice to a temporary folder. It compiles the core of one copy as it
 * is, and the core of the other copy with the sizes patched. It runs the same rows of the benchmark on both, in the
 * order 64, 128, 128, 64 and so on. It prints the median, the least and the most of each, and the ratio of the medians.
 * Run the script after a build.
 *
 *     node scripts/sector-size.mjs [--benchmark semaphores] [--rows A,B] [--threads 2,8] [--runs 11] [--seconds 1]
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { max, median, min, sum } from 'simple-statistics';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SIZES = [64, 128];
const ROWS = {
  semaphores: ['Semaphore', 'TwaSemaphore', 'ChainSemaphore', 'ChannelSemaphore', 'LocationSemaphore'],
  locks: ['TwaLock', 'McsLock', 'ClhLock', 'ReciprocatingLock'],
};
const WARM_UP_MS = 60;
const COPIED = ['core', 'src', 'dist', 'scripts', 'bench/dist', 'package.json', 'tsconfig.base.json'];

/**
 * The patches that make the stride of a line and the size of an element 128. A bucket has as many cells as before, and
 * its other 64 bytes are empty.
 */
const PATCHES = [
  ['core/arena/words.ts', /^export const LINE: usize = 64;$/m, 'export const LINE: usize = 128;'],
  ['core/arena/words.ts', /^export const ELEMENT_SIZE: usize = 64;$/m, 'export const ELEMENT_SIZE: usize = 128;'],
  ['core/queue/waiting-array.ts', /cell < (\w+) \+ LINE/g, 'cell < $1 + 64'],
  ['core/queue/waking.ts', /cell < (\w+) \+ LINE/g, 'cell < $1 + 64'],
  ['core/queue/tombstones.ts', /cell < (\w+) \+ LINE/g, 'cell < $1 + 64'],
];

const { values: given } = parseArgs({
  options: {
    benchmark: { type: 'string', default: 'semaphores' },
    rows: { type: 'string' },
    threads: { type: 'string', default: [...new Set([2, availableParallelism()])].join() },
    runs: { type: 'string', default: '11' },
    seconds: { type: 'string', default: '1' },
  },
});
const { benchmark } = given;
if (!Object.hasOwn(ROWS, benchmark)) fail('benchmark', benchmark, Object.keys(ROWS).join(' or '));
const rows = given.rows?.split(',') ?? ROWS[benchmark];
const threads = given.threads.split(',').map((text) => number('threads', text, 1, 512, true));
const runs = number('runs', given.runs, 1, 1000, true);
const seconds = number('seconds', given.seconds, 0.05, 600, false);

function fail(name, text, allowed) {
  console.error(`--${name}: got '${text}'. Allowed: ${allowed}.`);
  process.exit(1);
}

function number(name, text, least, most, whole) {
  const value = Number(text);
  if (text.trim() !== '' && value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
  return fail(name, text, `${whole ? 'whole numbers' : 'a number'} from ${least} to ${most}`);
}

const folder = mkdtempSync(join(tmpdir(), 'taketurns-sector-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
process.on('SIGINT', () => process.exit(130));

/** Makes a copy of the library with this size, and a copy of the benchmark that uses this library. */
function built(size) {
  const to = join(folder, String(size));
  for (const part of COPIED) cpSync(join(ROOT, part), join(to, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(to, 'node_modules'));
  const edit = (file, from, text) => {
    const old = readFileSync(join(to, file), 'utf8');
    const edited = old.replace(from, text);
    if (edited === old) throw new Error(`${file} has no ${from}: scripts/sector-size.mjs must be brought up to date`);
    writeFileSync(join(to, file), edited);
  };
  // The limits are those of the published modules. With larger strides a module may be some bytes larger.
  edit('scripts/build-core.mjs', /limit: \d+/g, 'limit: 65536');
  if (size === 128) for (const patch of PATCHES) edit(...patch);
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build-core.mjs'], { cwd: to, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the core with elements of ${size} bytes was not built: ${stderr}`);
  // These two modules hold nothing but the text of the binary, which is JavaScript and TypeScript alike.
  cpSync(join(to, 'src/runtime/core-bytes.ts'), join(to, 'dist/runtime/core-bytes.js'));
  cpSync(join(to, 'src/papers/algorithms/algorithms-bytes.ts'), join(to, 'dist/papers/algorithms/algorithms-bytes.js'));
  return pathToFileURL(join(to, 'bench/dist/'));
}

const hosts = new Map();
for (const size of SIZES) {
  process.stderr.write(`building with elements of ${size} bytes\n`);
  const at = built(size);
  const library = createRequire(new URL('cli.js', at)).resolve('taketurns');
  if (!library.startsWith(realpathSync(join(folder, String(size))))) throw new Error(`it would measure ${library}`);
  const { scriptRow } = await import(new URL('benchmarks.js', at));
  for (const row of rows) {
    try {
      scriptRow(benchmark, row);
    } catch (error) {
      fail('rows', row, `rows of the benchmark in JavaScript (${error.message})`);
    }
  }
  hosts.set(size, (await import(new URL('workers/client.js', at))).Host);
}

/** Returns the iterations a second of one interval, in a process of its own. */
async function measured(size, row, count) {
  const host = new (hosts.get(size))();
  try {
    const order = { benchmark, row, loop: 'measure', threads: count, seconds, warmUp: WARM_UP_MS };
    const run = await host.run(order);
    return sum(run.iterations) / run.seconds;
  } finally {
    host.close();
  }
}

const found = new Map();
const all = runs * threads.length * rows.length * SIZES.length;
let done = 0;
for (let round = 0; round < runs; round++) {
  for (const count of threads) {
    for (const row of rows) {
      for (const size of round % 2 === 0 ? SIZES : [...SIZES].reverse()) {
        process.stderr.write(`${row}, ${count} threads, ${size} bytes: interval ${++done} of ${all}\n`);
        const key = JSON.stringify([row, count, size]);
        found.set(key, [...(found.get(key) ?? []), await measured(size, row, count)]);
      }
    }
  }
}

const short = (value) => (value >= 1e6 ? `${(value / 1e6).toPrecision(3)} M` : `${(value / 1e3).toPrecision(3)} k`);
console.log(`Iterations a second, median of ${runs} x ${seconds} s, least and most in brackets:\n`);
console.log('| | threads | 64 bytes | 128 bytes | 128 / 64 |');
console.log('| --- | ---: | --- | --- | ---: |');
for (const row of rows) {
  for (const count of threads) {
    const [of64, of128] = SIZES.map((size) => found.get(JSON.stringify([row, count, size])));
    const cell = (list) => `${short(median(list))} (${short(min(list))}–${short(max(list))})`;
    const ratio = (median(of128) / median(of64)).toFixed(2);
    console.log(`| \`${row}\` | ${count} | ${cell(of64)} | ${cell(of128)} | ${ratio} |`);
  }
}
