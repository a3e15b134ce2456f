// The floors of contention: rows without a lock, in which no thread waits.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { casesOf } from '../../test/support/rounds.js';
import { BENCHMARKS, scriptRow, usualRows } from '../src/benchmarks.js';
import type { Results } from '../src/results.js';
import { NO_LOCK } from '../src/rows/no-lock.js';

const PROGRAM = fileURLToPath(new URL('../bin/taketurns.js', import.meta.url));
const NAMES = NO_LOCK.map(({ name }) => name);
const SCRIPT = 'no lock (JavaScript)';
const folder = mkdtempSync(join(tmpdir(), 'taketurns-'));
afterAll(() => rmSync(folder, { recursive: true }));

function taketurns(benchmark: string, rows: readonly string[], ...args: string[]) {
  const json = join(folder, `${benchmark}.json`);
  const svg = join(folder, `${benchmark}.svg`);
  const told = ['--seconds', '0.05', '--runs', '1', '--warm-up', '5', '--json', json, '--svg', svg, ...args];
  const done = spawnSync(process.execPath, [PROGRAM, 'bench', benchmark, ...told, '--rows', rows.join()], {
    encoding: 'utf8',
  });
  const results = existsSync(json) ? (JSON.parse(readFileSync(json, 'utf8')) as Results) : undefined;
  return { ...done, results, svg };
}

describe('rows without a lock', () => {
  it('are rows of both benchmarks, and stand after the others', () => {
    for (const benchmark of ['semaphores', 'locks'] as const) {
      expect(scriptRow(benchmark, SCRIPT).apart).toBe(true);
      expect(usualRows(BENCHMARKS[benchmark]).slice(-NAMES.length)).toEqual(NO_LOCK);
    }
    expect(() => scriptRow('hashes', SCRIPT)).toThrow('no script row of hashes is called');
  });

  it.each(
    casesOf([
      ['semaphores', 'Semaphore'],
      ['locks', 'Mutex'],
    ]),
  )('are measured among %s, but not probed, timed or drawn', { timeout: 120_000 }, (benchmark, other) => {
    const { status, stdout, stderr, results, svg } = taketurns(
      benchmark,
      [other, ...NAMES],
      ...['--threads', '1,3', '--inside', '3', '--outside', '5'],
    );
    expect(status, stderr).toBe(0);
    expect(stdout).toContain(SCRIPT);
    // Each thread steps generators of its own, so no step is lost though all are inside at once.
    const skipped = results?.skipped.map(({ row }) => row) ?? [];
    expect(skipped.filter((row) => row !== 'native rows')).toEqual([]);
    for (const name of skipped.length > 0 ? [SCRIPT] : NAMES) {
      const runs = results?.runs.filter(({ row }) => row === name) ?? [];
      expect(runs.map(({ threads }) => threads)).toEqual([1, 3]);
      expect(runs.some(({ iterations }) => iterations.some((count) => count > 0))).toBe(true);
    }
    for (const found of [results?.probes, results?.pairs]) {
      expect(found?.some(({ row }) => row === other)).toBe(true);
      expect(found?.some(({ row }) => NAMES.includes(row))).toBe(false);
    }
    const drawn = readFileSync(svg, 'utf8');
    expect(drawn).toContain(`>${other}</text>`);
    expect(drawn).not.toContain('no lock');
  });

  it('are also measured alone, without a figure', { timeout: 60_000 }, () => {
    rmSync(join(folder, 'locks.svg'), { force: true });
    const { status, stdout, stderr, svg } = taketurns('locks', [SCRIPT], '--threads', '2', '--no-pairs');
    expect(status, stderr).toBe(0);
    expect(stdout).toContain(SCRIPT);
    expect(stdout).not.toContain('figure:');
    expect(existsSync(svg)).toBe(false);
  });
});
