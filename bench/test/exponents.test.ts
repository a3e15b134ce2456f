// The benchmark of exponents: its operations, its command, and its report from made-up results.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { CASES, caseOf } from '../src/exponents/cases.js';
import { exponentTable } from '../src/exponents/report.js';
import { type ExponentResults, exponentOf } from '../src/exponents/results.js';

const PROGRAM = fileURLToPath(new URL('../bin/taketurns.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'taketurns-'));
afterAll(() => rmSync(folder, { recursive: true }));

const points = (...times: number[]) =>
  times.map((milliseconds, i) => ({ n: [10, 1000, 100_000][i] ?? 0, milliseconds }));

describe('the operations of the benchmark of exponents', () => {
  it('have names of their own, which --rows can list', () => {
    expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
    for (const { name } of CASES) expect(name).not.toMatch(/[,*]/);
  });

  it('are known by their names', () => {
    expect(() => caseOf('nothing')).toThrow('no operation is called nothing');
  });

  it.each(CASES.map(({ name, prepare, sizes }) => [name, prepare, sizes[0] as number] as const))(
    '%s: runs',
    async (name, prepare, n) => {
      if (name.includes('threads')) return;
      const { run, end } = await prepare(n);
      await run();
      await end?.();
    },
  );
});

describe('an exponent', () => {
  it('is the power of n by which the time grows between the last two sizes', () => {
    expect(exponentOf(points(0.1, 1, 100))).toBeCloseTo(1);
    expect(exponentOf(points(0.1, 1, 10_000))).toBeCloseTo(2);
  });

  it('is unknown if a size is missing, or the time is that of a few calls', () => {
    expect(exponentOf(points(0.1, 1))).toBeUndefined();
    expect(exponentOf(points(0.01, 0.01, 0.02))).toBeUndefined();
  });
});

describe('the table', () => {
  it('marks what grows faster than n log n, and what has not ended', () => {
    const results: ExponentResults = {
      benchmark: 'exponents',
      environment: { cpu: 'a processor', processors: 2, node: 'v0' },
      options: {},
      rows: [
        { name: 'linear', points: points(0.1, 1, 100) },
        { name: 'quadratic', points: points(0.1, 1, 10_000) },
        { name: 'endless', points: points(0.1, 1), why: 'did not end' },
      ],
    };
    const table = exponentTable(results);
    const lineOf = (name: string) => table.split('\n').find((line) => line.includes(name));
    expect(lineOf('linear')).not.toContain('MORE');
    expect(lineOf('quadratic')).toMatch(/2\.00.*MORE/);
    expect(lineOf('endless')).toContain('did not end');
    expect(table).toContain('2 of 3 operations grow faster');
  });
});

describe('taketurns bench exponents', () => {
  it('measures, prints and writes', { timeout: 60_000 }, () => {
    const json = join(folder, 'out.json');
    const rows = 'Event.set and reset*,Semaphore.release(n)*';
    const args = ['bench', 'exponents', '--quick', '--rows', rows, '--json', json];
    const done = spawnSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8' });
    expect(done.status).toBe(0);
    expect(done.stdout).toContain('Event.set and reset');
    const results = JSON.parse(readFileSync(json, 'utf8')) as ExponentResults;
    expect(results.rows.map(({ points }) => points.map(({ n }) => n))).toEqual([
      [10, 1000, 10_000],
      [10, 1000, 10_000],
    ]);
  });
});
