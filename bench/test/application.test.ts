/** The programs of `bench application`: the cache, the histogram, and that no request is lost in any row. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { isPageOf, newPage, render, SharedCache } from '../src/application/cache.js';
import { Histogram } from '../src/application/histogram.js';
import { CACHE_ROWS, POOL_ROWS } from '../src/application/rows.js';

const PROGRAM = fileURLToPath(new URL('../bin/taketurns.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'taketurns-application-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the cache', () => {
  it('gives the page that was put, and drops the one used least recently', () => {
    const memory = SharedCache.share(10, 3);
    const cache = new SharedCache(memory, 10, 3);
    const page = newPage();
    const put = (key: number): void => {
      render(key, page);
      cache.put(key, page);
      cache.check();
    };
    const has = (key: number): boolean => {
      const found = cache.get(key, page.fill(-1));
      cache.check();
      expect(isPageOf(key, page)).toBe(found);
      return found;
    };
    expect(has(0)).toBe(false);
    for (const key of [0, 1, 2]) put(key);
    expect(has(0)).toBe(true);
    put(3);
    expect([0, 1, 2, 3].map(has)).toEqual([true, false, true, true]);
    put(3);
    put(1);
    expect([0, 1, 2, 3].map(has)).toEqual([false, true, true, true]);
  });

  it('notices a second thread inside, and damage', () => {
    const memory = SharedCache.share(10, 3);
    const cache = new SharedCache(memory, 10, 3);
    const page = newPage();
    render(1, page);
    const busy = new Proxy(page, { get: (of, name) => (name === 'length' ? second() : Reflect.get(of, name)) });
    const second = (): number => {
      new SharedCache(memory, 10, 3).get(2, newPage());
      return page.length;
    };
    expect(() => cache.put(1, busy)).toThrow('two threads are in the cache at once');
    const other = SharedCache.share(10, 3);
    const damaged = new SharedCache(other, 10, 3);
    damaged.put(2, page);
    expect(() => damaged.check()).toThrow('the page of key 2 is another');
  });
});

it('a histogram tells the times within a band', () => {
  const histogram = new Histogram(Histogram.share());
  expect(histogram.quantile(0.5)).toBeNaN();
  for (let i = 1; i <= 1000; i++) histogram.add(i / 10);
  expect(histogram.count).toBe(1000);
  for (const [share, expected] of [
    [0.5, 50],
    [0.999, 99.9],
    [0.001, 0.1],
  ] as const) {
    expect(histogram.quantile(share)).toBeGreaterThanOrEqual(expected);
    expect(histogram.quantile(share)).toBeLessThan(expected * 1.06);
  }
  histogram.clear();
  expect(histogram.count).toBe(0);
});

it('bench application runs every row, loses nothing, and writes what it has measured', { timeout: 300_000 }, () => {
  const json = join(folder, 'out.json');
  const args = ['bench', 'application', '--seconds', '0.05', '--runs', '1', '--threads', '3', '--json', json];
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  const { runs, skipped } = JSON.parse(readFileSync(json, 'utf8')) as {
    runs: { name: string; rate: number; slow: number; hits: number }[];
    skipped: { row: string; why: string }[];
  };
  const all = [...CACHE_ROWS.map(({ name }) => `cache: ${name}`), ...POOL_ROWS.map(({ name }) => `pool: ${name}`)];
  expect(skipped).toEqual([]);
  expect(runs.map(({ name }) => name)).toEqual(all);
  for (const { name, rate, slow, hits } of runs) {
    expect(rate, name).toBeGreaterThan(0);
    expect(slow, name).toBeGreaterThan(0);
    if (name.startsWith('cache')) expect(hits, name).toBeGreaterThan(0);
    expect(stdout).toContain(name.replace(/^\w+: /, ''));
  }
});

it.each([
  [
    'cache',
    'no lock',
    /two threads are in the cache at once|the page of key|the list of the cache|another page|neighbour/,
  ],
  ['pool', 'no limit', /the server had \d+ queries at a time/],
])('bench application notices it if nothing guards the %s', { timeout: 120_000 }, (application, row, error) => {
  const program = fileURLToPath(new URL('../dist/application/program.js', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [program, application, row, '4', '2'], { encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toMatch(error);
});
