// The benchmark of taketurns/sync: its rows, its command, and its report from made-up results.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { Interval, roundTrips, Seat } from '../src/sync/loops.js';
import { syncTables } from '../src/sync/report.js';
import { cellsOf, type SyncResults, timesOf } from '../src/sync/results.js';
import { isThere, MEASURES, SYNC_ROWS, syncScriptRow, WRITERS } from '../src/sync/rows.js';
import { syncTargets } from '../src/sync/targets.js';

const PROGRAM = fileURLToPath(new URL('../bin/taketurns.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'taketurns-'));
afterAll(() => rmSync(folder, { recursive: true }));

function taketurns(args: string[], env = process.env) {
  return spawnSync(process.execPath, [PROGRAM, 'bench', 'sync', ...args], { encoding: 'utf8', env });
}

const place = (name: string): number => SYNC_ROWS.findIndex((row) => row.name === name) + 1;

/** An operation of a row takes as many microseconds as the row's number, from 1, and half more in the third run. */
function madeUp(): SyncResults {
  return {
    benchmark: 'sync',
    environment: { cpu: 'a processor', processors: 2, node: 'v0' },
    options: {},
    rows: SYNC_ROWS.map(({ name, family, measure }) => ({ name, family, measure })),
    runs: [1, 1, 1.5].flatMap((factor, index) =>
      SYNC_ROWS.flatMap(({ name: row, measure }) =>
        (MEASURES[measure].threads ?? [2, 8]).map((threads) => ({
          ...{ measure, threads, row, round: index + 1 },
          perSecond: 1e6 / (place(row) * factor),
          ...(measure === 'fairness' && { evenness: factor - 0.1 }),
        })),
      ),
    ),
    skipped: [],
  };
}

describe('the rows of the benchmark of taketurns/sync', () => {
  it('have names of their own', () => {
    expect(new Set(SYNC_ROWS.map(({ name }) => name)).size).toBe(SYNC_ROWS.length);
  });

  it('are script rows if a thread runs them', () => {
    expect(() => syncScriptRow('pthread_barrier')).toThrow('no script row of sync is called pthread_barrier');
  });

  it('run only if their class is exported', () => {
    expect([isThere({}), isThere({ needs: 'Barrier' }), isThere({ needs: 'Nothing' })]).toEqual([true, true, false]);
  });
});

describe('the loops', () => {
  const seat = (index: number) => new Seat(index, 2, new Int32Array(new SharedArrayBuffer(8)), 0.001);

  it('count from the end of the warm-up on', () => {
    const interval = new Interval(1);
    expect(() => interval.result()).toThrow('the interval is not over');
    let before = 0;
    while (!interval.over(before)) before++;
    const { operations, milliseconds } = interval.result();
    expect(operations).toBeGreaterThan(0);
    expect(operations).toBeLessThan(before);
    expect(milliseconds).toBeGreaterThanOrEqual(1);
  });

  it('let the leader end the round trips, and the other follow', () => {
    let turns = 0;
    expect(roundTrips(seat(0), (isOver) => ++turns > 0 && !isOver())?.operations).toBeLessThan(turns);
    turns = 0;
    expect(roundTrips(seat(1), (isOver) => ++turns < 3 && !isOver())).toBeUndefined();
    expect(turns).toBe(3);
  });
});

describe('taketurns bench sync', () => {
  it('measures every row, prints and writes', { timeout: 60_000 }, () => {
    const json = join(folder, 'out.json');
    const done = taketurns(['--threads', '2,3', '--seconds', '0.05', '--runs', '1', '--json', json]);
    expect(done.stderr).not.toMatch(/\n\s+at /);
    expect(done.status).toBe(0);
    const results = JSON.parse(readFileSync(json, 'utf8')) as SyncResults;
    const why = results.skipped.map(({ why }) => why).filter((reason) => !/exports no|compiler/.test(reason));
    expect(why).toEqual([]);
    expect(results.environment.cpu).toBeTypeOf('string');
    const skipped = results.skipped.map(({ row }) => row);
    for (const row of SYNC_ROWS) {
      if (skipped.includes(row.name) || (row.kind === 'native' && skipped.includes('native rows'))) continue;
      for (const threads of MEASURES[row.measure].threads ?? [2, 3]) {
        const { runs, median } = timesOf(results, row.name, threads);
        expect(runs, row.name).toBe(1);
        expect(median).toBeGreaterThan(0);
      }
    }
    expect(done.stdout).toContain('a round of a barrier, 3 threads, microseconds');
  });

  it('leaves the rows in C++ out where there is no compiler, and says so', { timeout: 60_000 }, () => {
    const json = join(folder, 'no-compiler.json');
    const rows = 'pthread_barrier,Latch.wait when open';
    const env = { ...process.env, PATH: folder, CXX: '' };
    const done = taketurns(['--rows', rows, '--seconds', '0.05', '--runs', '1', '--json', json], env);
    expect(done.status).toBe(0);
    expect(done.stdout).toContain('skipped: native rows (build): no C++ compiler found');
    expect(done.stdout).toContain('Latch.wait when open');
  });

  it('lists the rows', () => {
    const { stdout } = taketurns(['--list']);
    for (const { name } of SYNC_ROWS) expect(stdout).toContain(name);
  });

  it.each([
    [['--threads', '0'], /--threads.*'0'.*from 1 to/],
    [['--seconds', '0'], /--seconds.*'0'.*from 0.05 to 600/],
    [['--runs', '0'], /--runs.*'0'.*from 1 to/],
    [['--rows', 'TtsLock'], /--rows.*'TtsLock'.*Allowed: Barrier/],
    [['--rows', 'pthread*', '--no-native'], /--no-native.*no row/],
  ])('refuses %j', (args, message) => {
    const refused = taketurns(args);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(message);
    expect(refused.stderr).not.toMatch(/\n\s+at /);
  });
});

describe('report of taketurns/sync', () => {
  it('has a table for each measure and number of threads', () => {
    expect(cellsOf(madeUp())).toEqual([
      { measure: 'barrier', threads: 2 },
      { measure: 'barrier', threads: 8 },
      { measure: 'condition', threads: 2 },
      { measure: 'reading', threads: 1 },
      { measure: 'reading', threads: 2 },
      { measure: 'fairness', threads: 8 },
      { measure: 'alone', threads: 1 },
    ]);
  });

  it('prints the processor and every row: median, least, most, runs and ratio', () => {
    const text = syncTables(madeUp());
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
    expect(text).toContain('a processor, 2 processors, Node v0');
    for (const { name } of SYNC_ROWS) expect(text).toContain(name);
    const lineOf = (row: string): string[] =>
      (text.split('\n').find((line) => line.includes(`│ ${row} `)) ?? '').split('│').map((part) => part.trim());
    expect(lineOf('pthread_barrier')).toEqual(['', 'pthread_barrier', '2', '2', '3', '3', '2', '']);
    expect(lineOf('RwLock')[2]).toBe(String(1000 * place('RwLock')));
  });

  it('says which targets are reached, of those that were measured', () => {
    const results = madeUp();
    const found = new Map(syncTargets(results).map(({ what, found }) => [what, found.get('taketurns')]));
    expect(found.get('Barrier, 8 threads / pthread_barrier')).toBeCloseTo(1 / 2);
    expect(found.get('Condition, 2 threads / MessageChannel')).toBeCloseTo(
      place('Condition') / place('MessageChannel'),
    );
    expect(found.get('RwLock, 1 thread / pthread_rwlock')).toBeCloseTo(place('RwLock') / place('pthread_rwlock'));
    expect(found.get('RwLock, 2 threads / pthread_rwlock')).toBeCloseTo(place('RwLock') / place('pthread_rwlock'));
    expect(found.has('RwLock, 3 threads / pthread_rwlock')).toBe(false);
    expect(found.get('RwLock, 2 threads / RwLock, 1 thread')).toBe(1);
    expect(found.get(WRITERS)).toBeCloseTo(0.9);
    expect(found.get('Event.wait when set, ns')).toBeCloseTo(1000 * place('Event.wait when set'));
    const some = { ...results, runs: results.runs.filter(({ row }) => row !== 'Condition') };
    expect(syncTargets(some).some(({ what }) => what.startsWith('Condition,'))).toBe(false);
    expect(syncTargets({ ...results, runs: [] })).toEqual([]);
  });
});
