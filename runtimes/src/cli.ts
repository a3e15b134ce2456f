/** `npm start -w runtimes` runs the suite in the named runtimes, and prints a line for each case. */
import { parseArgs } from 'node:util';
import { Missing } from './fetch.js';
import { type Opened, RUNTIMES, type Runtime } from './runtimes.js';
import { makeStage } from './stage.js';
import type { PairRound } from './suite/pair.js';
import type { Result } from './suite/run.js';
import type { WorkerKind } from './suite/team.js';

const NAMES = RUNTIMES.map(({ name }) => name);
const HELP = `npm start -w runtimes -- [pair] RUNTIME... [options]

  RUNTIME          ${NAMES.join(', ')}, all;
                   here: the Node that runs this, Deno and Bun, as far as they are to be had
  pair             measures the uncontended pair instead of running the suite
  --only TEXT      cases with this in their names
  --workers KIND   node or web, where a runtime has both; all kinds by default
  --without waitAsync  takes Atomics.waitAsync away before the library is loaded (browsers)
  --rounds N       of pair, 11 by default
  --verbose        a line for each case, not only for those that fail

Exit code: 0 all passed, 1 something failed, 2 a runtime is missing.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: '' },
    workers: { type: 'string' },
    without: { type: 'string', default: '' },
    rounds: { type: 'string', default: '11' },
    verbose: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const isPair = positionals[0] === 'pair';
const wanted = new Set(isPair ? positionals.slice(1) : positionals);
const here = `node${process.versions.node.split('.')[0]}`;
const isHere = wanted.delete('here');
if (isHere) for (const name of [here, 'deno', 'bun']) wanted.add(name);
if (wanted.delete('all')) for (const name of NAMES) wanted.add(name);
const unknown = [...wanted].filter((name) => !NAMES.includes(name));
if (!/^[1-9]\d*$/.test(values.rounds)) {
  console.error(`--rounds must be an integer from 1 on, got ${values.rounds}`);
  process.exit(2);
}
if (values.help || wanted.size === 0 || unknown.length > 0) {
  if (unknown.length > 0) console.error(`no such runtime: ${unknown.join(', ')}\n`);
  console.log(HELP);
  process.exit(values.help ? 0 : 2);
}

let failures = 0;
let missing = 0;

const KINDS = { node: 'worker_threads', web: 'web workers' } as const;

function print({ name, ok, ms, error, note }: Result): void {
  if (!ok) console.log(`  FAILED  ${name}: ${error}`);
  else if (values.verbose) console.log(`  ok      ${name} (${ms} ms)${note ? `: ${note}` : ''}`);
}

async function suite(runtime: Runtime, opened: Opened, workers: WorkerKind): Promise<void> {
  const begun = Date.now();
  const results: Result[] = [];
  let broken = '';
  try {
    await opened.run({ workers, only: values.only, without: values.without, pair: 0 }, (result) => {
      results.push(result);
      print(result);
    });
  } catch (error) {
    broken = `, and broke off: ${(error as Error).message}`;
  }
  const failed = results.filter(({ ok }) => !ok).length;
  const seconds = ((Date.now() - begun) / 1000).toFixed(1);
  console.log(
    `${runtime.name} ${opened.version}, ${KINDS[workers]}: ${results.length - failed} passed, ${failed} failed${broken} (${seconds} s)`,
  );
  for (const { name, note } of results) if (note) console.log(`  ${name}: ${note}`);
  if (failed > 0 || broken || results.length === 0) failures++;
}

function spread(numbers: readonly number[]): string {
  const sorted = [...numbers].sort((a, b) => a - b);
  const at = (i: number): string => (sorted[i] as number).toFixed((sorted[i] as number) < 10 ? 2 : 1);
  return `${at(sorted.length >> 1)} (${at(0)} to ${at(sorted.length - 1)})`;
}

async function pair(runtime: Runtime, opened: Opened, workers: WorkerKind): Promise<void> {
  const rounds: readonly PairRound[] = await opened.run(
    { workers, only: '', without: '', pair: Number(values.rounds) },
    () => {},
  );
  console.log(
    `${runtime.name} ${opened.version}, ${KINDS[workers]}: acquire + release ${spread(rounds.map((r) => r.taketurns))} ns, ` +
      `plain Atomics ${spread(rounds.map((r) => r.atomics))} ns, ` +
      `ratio ${spread(rounds.map((r) => r.taketurns / r.atomics))}: median (least to most) of ${rounds.length}`,
  );
}

makeStage();
for (const runtime of RUNTIMES) {
  if (!wanted.has(runtime.name)) continue;
  let opened: Opened;
  try {
    opened = await runtime.open();
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    console.log(`${runtime.name}: not run. ${error.message}`);
    if (!isHere) missing++;
    continue;
  }
  try {
    for (const workers of runtime.workers) {
      if (values.workers !== undefined && workers !== values.workers) continue;
      await (isPair ? pair : suite)(runtime, opened, workers);
    }
  } finally {
    await opened.close();
  }
}
const others = NAMES.filter((name) => !wanted.has(name));
if (isHere) console.log(`not asked for: ${others.join(', ')}`);
process.exit(failures > 0 ? 1 : missing > 0 ? 2 : 0);
