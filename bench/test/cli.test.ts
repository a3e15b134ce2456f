// Runs the built command, end to end.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { allInCi, WHOLE } from '../../test/support/rounds.js';
import type { Results } from '../src/results.js';
import { CALLS_FLOOR, FLOOR } from '../src/rows/row.js';
import { total } from '../src/statistics.js';
import { PARTS } from '../src/workers/board.js';

const PROGRAM = fileURLToPath(new URL('../bin/taketurns.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'taketurns-'));
afterAll(() => rmSync(folder, { recursive: true }));

function taketurns(...args: string[]) {
  return spawnSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8' });
}

describe('taketurns bench semaphores', () => {
  it('measures, prints, writes and draws', { timeout: 60_000 }, () => {
    const json = join(folder, 'out.json');
    const svg = join(folder, 'out.svg');
    const rows = ['Semaphore', 'js-ticket-notify-all', 'js-barging', 'multithreading'];
    const options = ['--threads', '1,3', '--seconds', '0.05', '--runs', '1', '--warm-up', '5', '--rows', rows.join()];
    const done = taketurns('bench', 'semaphores', ...options, '--json', json, '--svg', svg);
    expect(done.stderr).not.toMatch(/\n\s+at /);
    expect(done.status).toBe(0);
    for (const row of rows) expect(done.stdout).toContain(row);
    expect(done.stdout).toContain('out.svg');

    const results = JSON.parse(readFileSync(json, 'utf8')) as Results;
    expect(results.skipped).toEqual([]);
    expect(results.runs).toHaveLength(rows.length * 2);
    for (const { threads, iterations, seconds, parts } of results.runs) {
      expect(iterations).toHaveLength(threads);
      expect(parts?.seconds).toHaveLength(PARTS);
      expect(total(parts?.seconds ?? [])).toBeCloseTo(seconds);
      expect(total(parts?.iterations ?? [])).toBe(total(iterations));
      expect(seconds).toBeGreaterThanOrEqual(0.05);
    }
    // Both runs count together: on a busy machine so short a run may count nothing.
    for (const row of rows) {
      const counts = results.runs.filter((run) => run.row === row).flatMap((run) => run.iterations);
      expect(Math.max(...counts)).toBeGreaterThan(0);
    }
    for (const { row, outOfOrder } of results.probes) {
      expect(outOfOrder).toBe(row === 'Semaphore' || row === 'js-ticket-notify-all' ? 0 : undefined);
    }
    expect(readFileSync(svg, 'utf8')).toContain('multithreading');
  });

  it('measures the tables on one thread', { timeout: 60_000 }, () => {
    const json = join(folder, 'pairs.json');
    const options = ['--pairs-only', '--seconds', '0.05', '--runs', '2', '--rows', 'BinarySemaphore', '--json', json];
    const done = taketurns('bench', 'semaphores', ...options);
    expect(done.status, done.stderr).toBe(0);
    expect(done.stdout).toContain('max / min');
    const results = JSON.parse(readFileSync(json, 'utf8')) as Results;
    expect(results.runs).toEqual([]);
    expect(results.skipped).toEqual([]);
    for (const name of ['BinarySemaphore', FLOOR, CALLS_FLOOR]) {
      expect(results.pairs.filter(({ row }) => row === name)).toHaveLength(2);
    }
  });

  it.runIf(WHOLE)('measures with other work, and says so', { timeout: 60_000 }, () => {
    const json = join(folder, 'work.json');
    const svg = join(folder, 'work.svg');
    const args = '--threads 2 --seconds 0.05 --runs 1 --warm-up 5 --no-pairs --inside 3 --outside 400'.split(' ');
    const done = taketurns('bench', 'semaphores', ...args, '--rows', 'Semaphore,sem_t', '--json', json, '--svg', svg);
    expect(done.status, done.stderr).toBe(0);
    expect(done.stdout).toContain('semabench, 3 steps inside and 400 outside, 2 threads');
    const results = JSON.parse(readFileSync(json, 'utf8')) as Results;
    expect(results.work).toEqual({ inside: 3, outside: 400 });
    // Lost steps would have been an error: each benchmark counts the steps of its generator.
    expect(results.skipped.filter(({ row }) => row === 'Semaphore')).toEqual([]);
    // No machine takes a step of the generator in less than a nanosecond.
    for (const { iterations, seconds } of results.runs)
      for (const count of iterations) expect(count * 400 * 1e-9).toBeLessThanOrEqual(seconds);
    expect(readFileSync(svg, 'utf8')).toContain('3 steps inside and 400 outside');
  });

  it.each(
    allInCi<[string[], RegExp]>([
      [['--inside', '0'], /--inside.*'0'.*from 1 to 100000/],
      [['--threads', '0'], /--threads.*'0'.*from 1 to 512/],
      [['--rows', 'nobody'], /--rows.*'nobody'.*Allowed: Semaphore/],
      [['--seconds', 'x'], /--seconds.*'x'.*from 0.05/],
      [['--json', '/no/such/folder/x'], /--json.*folder that exists/],
      [['--rows', 'sem_t', '--no-native'], /--no-native.*no row/],
      [['--quick', '--paper'], /--quick.*--paper.*exclude each other/],
      [['--pairs-only', '--no-pairs'], /--pairs-only.*nothing to measure/],
      [['--frobnicate'], /--frobnicate/],
    ]),
  )('refuses %j', (args, message) => {
    const refused = taketurns('bench', 'semaphores', ...args);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(message);
    expect(refused.stderr).not.toMatch(/\n\s+at /);
  });
});
