// The command `taketurns bench exponents`.

import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { environment } from '../environment.js';
import { readFile, readRows } from '../options.js';
import { note, RESULTS } from '../output.js';
import { firstLine } from '../program.js';
import { CASES, type Case } from './cases.js';
import { exponentTable } from './report.js';
import type { ExponentResults, Point } from './results.js';

const PROGRAM = fileURLToPath(new URL('./program.js', import.meta.url));
const PATIENCE_MS = 60_000;
const FULL = 100_000;
const QUICK = 10_000;

interface Given {
  rows?: Case[];
  list?: boolean;
  json?: string;
  quick?: boolean;
}

export function addExponents(bench: Command): void {
  bench
    .command('exponents')
    .description('how the cost of each operation grows with what it meets: by which power of n')
    .option(
      '--rows <names>',
      'only these operations; * stands for any text (default: all; see --list)',
      (text: string) => readRows(CASES, text),
    )
    .option('--list', 'print the names of the operations and do nothing else')
    .option('--json <file>', 'write everything measured here (default: bench/results/exponents.json)', readFile)
    .option('--quick', `a short form: n is ${QUICK} at most, in place of ${FULL}`)
    .action(act);
}

async function act(given: Given): Promise<void> {
  const { rows = [...CASES], list, json = `${RESULTS}exponents.json`, quick } = given;
  const most = quick ? QUICK : FULL;
  if (list) {
    for (const { name, sizes } of rows) console.log(`${name}  (n: ${sizes.join(', ')})`);
    return;
  }
  mkdirSync(RESULTS, { recursive: true });
  const results: ExponentResults = {
    benchmark: 'exponents',
    environment: environment('none'),
    options: { most, rows: rows.map(({ name }) => name) },
    rows: [],
  };
  for (const { name } of rows) {
    note(`exponents: ${name}, ${results.rows.length + 1} of ${rows.length}`);
    results.rows.push({ name, ...(await measure(name, most)) });
  }
  note('');
  console.log(exponentTable(results));
  writeFileSync(json, `${JSON.stringify(results)}\n`);
  console.log(`\neverything measured: ${relative('.', json)}`);
}

/**
 * Measures one operation in a process of its own. If the process fails, the sizes that it has measured before count.
 */
function measure(name: string, most: number): Promise<{ points: Point[]; why?: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--expose-gc', PROGRAM, name, String(most)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    let [out, err] = ['', ''];
    child.stdout.on('data', (data) => {
      out += data;
    });
    child.stderr.on('data', (data) => {
      err += data;
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const points = out
        .split('\n')
        .slice(0, -1)
        .map((line): Point => JSON.parse(line));
      const late = `did not end within ${PATIENCE_MS / 1000} s`;
      const why = signal === 'SIGKILL' ? late : firstLine(err) || `ended with ${code}`;
      resolve(code === 0 ? { points } : { points, why });
    });
  });
}
