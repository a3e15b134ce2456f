// The benchmark of hashes: its rows, its command, and its tables from made-up results.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { figures } from '../src/report/figures.js';
import { tables } from '../src/report/tables.js';
import { cells, type Results } from '../src/results.js';
import { HASHES } from '../src/rows/hashes.js';

const PROGRAM = fileURLToPath(new URL('../bin/taketurns.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'taketurns-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Each row does 1000 iterations in 2 seconds; row i has i collisions and 10 i futile wake-ups in 100 of them. */
function madeUp(): Results {
  return {
    benchmark: 'hashes',
    environment: {},
    options: { runs: 3, seconds: 2 },
    rows: HASHES.map(({ name, family, only, hash }) => ({
      name,
      family,
      ...(only && { only }),
      ...(hash && { hash }),
    })),
    runs: HASHES.flatMap(({ name, hash }, i) =>
      (hash ? [64] : [8, 64]).map((threads) => ({
        row: name,
        threads,
        round: 1,
        seconds: 2,
        cpuSeconds: 0.5,
        iterations: Array.from({ length: threads }, () => 1000 / threads),
        wakes: { collisions: 10 * (i + 1), futile: 100 * (i + 1) },
      })),
    ),
    probes: [],
    pairs: [],
    asyncs: [],
    skipped: [],
  };
}

describe('the rows', () => {
  it('are each hash of each class at each number of semaphores', () => {
    const places = HASHES.flatMap(({ hash }) => hash ?? []);
    for (const semaphores of [1, 8, 64]) {
      for (const [of, slots] of [
        ['TwaSemaphore', 2048],
        ['TwaSemaphore', 64],
        ['ChainSemaphore', 2048],
      ]) {
        const hashes = places.filter(
          (place) => place.of === of && place.slots === slots && place.semaphores === semaphores,
        );
        expect(hashes.map(({ hash }) => hash)).toEqual(['multiplier', 'paired', 'orbit', 'gray', 'mixed']);
      }
    }
    expect(new Set(HASHES.map(({ name }) => name)).size).toBe(HASHES.length);
  });

  it('also are those of semabench that count', () => {
    const names = HASHES.filter(({ hash }) => !hash).map(({ name }) => name);
    expect(names).toContain('TicketSemaphore');
    expect(names).toContain('ChannelSemaphore lazy');
    expect(names).not.toContain('js-barging');
  });
});

describe('the report', () => {
  it('prints counts for each acquisition', () => {
    const cell = cells(madeUp()).find(({ row }) => row === HASHES[2]?.name);
    expect(cell?.collisions.median).toBeCloseTo(0.03);
    expect(cell?.futile.median).toBeCloseTo(0.3);
    expect(cell?.perCpuSecond.median).toBeCloseTo(2000);
  });

  it('has a table for each number of semaphores, and one of futile wake-ups', () => {
    const text = tables(madeUp());
    for (const heading of [
      '64 threads, each in turn on 1 semaphore\n',
      '64 threads, each in turn on 8 semaphores',
      '64 threads, each in turn on 64 semaphores',
      'futile wake-ups per acquisition\n┌',
    ]) {
      expect(text.split(heading)).toHaveLength(2);
    }
    const [, last = ''] = text.split('futile wake-ups per acquisition\n┌');
    expect(last).toContain('ChannelSemaphore lazy');
    expect(last).toContain('8 threads');
    expect(last).not.toContain('multiplier');
    expect(text).not.toMatch(/NaN|undefined|Infinity|fairness/);
  });

  it('leaves futile wake-ups out if none were counted', () => {
    const results = madeUp();
    for (const run of results.runs) delete run.wakes;
    const text = tables(results);
    expect(text).not.toContain('futile wake-ups per acquisition\n┌');
    expect(text).not.toContain('NaN');
  });

  it('draws nothing', async () => {
    expect((await figures(madeUp())).size).toBe(0);
  });
});

describe('taketurns bench hashes', () => {
  it('measures and prints', { timeout: 120_000 }, () => {
    const json = join(folder, 'out.json');
    const rows = ['TwaSemaphore paired x8', 'TwaSemaphore mixed x1 of 64 slots', 'TicketSemaphore'];
    const done = spawnSync(
      process.execPath,
      [
        ...[PROGRAM, 'bench', 'hashes', '--threads', '2,5', '--seconds', '0.05', '--runs', '2', '--quick'],
        ...['--rows', rows.join(), '--json', json],
      ],
      { encoding: 'utf8' },
    );
    expect(done.stderr).not.toMatch(/\n\s+at /);
    expect(done.status).toBe(0);
    expect(done.stdout).toContain('5 threads, each in turn on 8 semaphores');
    const results = JSON.parse(readFileSync(json, 'utf8')) as Results;
    expect(results.skipped).toEqual([]);
    expect(results.probes).toEqual([]);
    expect(results.pairs).toEqual([]);
    const of = (name: string) => results.runs.filter(({ row }) => row === name);
    expect(of('TwaSemaphore paired x8').map(({ threads }) => threads)).toEqual([5, 5]);
    expect(of('TicketSemaphore').map(({ threads }) => threads)).toEqual([2, 5, 2, 5]);
    for (const { wakes } of results.runs) {
      expect(wakes?.collisions).toBeGreaterThanOrEqual(0);
      expect(wakes?.futile).toBeGreaterThanOrEqual(0);
    }
    // All wait on one word, so every waiter that is not next is woken in vain.
    expect(of('TicketSemaphore').reduce((sum, { wakes }) => sum + (wakes?.futile ?? 0), 0)).toBeGreaterThan(0);
  });
});
