/** The benchmark of what people use today: rows that block, and rows that await. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import type { Results } from '../src/results.js';
import { total } from '../src/statistics.js';

const PROGRAM = fileURLToPath(new URL('../bin/taketurns.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'taketurns-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('measures locks that block and locks that are awaited, in one run, and draws them', { timeout: 60_000 }, () => {
  const [json, svg] = [join(folder, 'out.json'), join(folder, 'out.svg')];
  const rows = [
    'Mutex',
    'Mutex, promises',
    'worker_threads.locks',
    'async-mutex by messages',
    'bare hand-overs, promises',
  ];
  const pattern = 'Mutex*,worker_threads.locks,async-mutex*,bare*';
  const options = ['--threads', '8', '--seconds', '0.2', '--runs', '1', '--warm-up', '0', '--rows', pattern];
  const done = spawnSync(process.execPath, [PROGRAM, 'bench', 'today', ...options, '--json', json, '--svg', svg], {
    encoding: 'utf8',
  });
  expect(done.status, done.stderr).toBe(0);
  expect(done.stdout).toContain('30000 steps inside and 300 outside, 8 threads');
  const results = JSON.parse(readFileSync(json, 'utf8')) as Results;
  // A row that let two threads in at once would be here: each run compares the steps of the common generator.
  const missing = results.skipped.map(({ row }) => row);
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  expect(missing).toEqual(major > 24 || (major === 24 && minor >= 5) ? [] : ['worker_threads.locks']);
  for (const row of rows.filter((row) => !missing.includes(row))) {
    expect(total(results.runs.find((run) => run.row === row)?.iterations ?? [])).toBeGreaterThan(0);
    expect(results.probes.find((probe) => probe.row === row)?.longestWaitMs).toBeGreaterThan(0);
  }
  expect(results.pairs).toEqual([]);
  expect(readFileSync(svg, 'utf8')).toContain('async-mutex, by messages, awaited');
});
