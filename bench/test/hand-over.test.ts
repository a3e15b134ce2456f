// The benchmark of hand-overs: its rows, its command, and its report from made-up results.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { threadCpuClock } from '../src/hand-over/cpu-time.js';
import { trialsFor } from '../src/hand-over/plan.js';
import { handOverTables } from '../src/hand-over/report.js';
import { type HandOverResults, lengthOf, sectionsOf, trialsOf } from '../src/hand-over/results.js';
import { BARE, HAND_OVERS, handOverRow, NATIVE_BARE } from '../src/hand-over/rows.js';
import { handOverTargets } from '../src/hand-over/targets.js';
import type { Section } from '../src/hand-over/trials.js';

const PROGRAM = fileURLToPath(new URL('../bin/taketurns.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'taketurns-'));
afterAll(() => rmSync(folder, { recursive: true }));

function taketurns(...args: string[]) {
  return spawnSync(process.execPath, [PROGRAM, 'bench', 'hand-over', ...args], { encoding: 'utf8' });
}

const COMPUTING: Section = { by: 'computing', microseconds: 20 };
const SLEEPING: Section = { by: 'sleeping', microseconds: 10_000 };

/** Each row takes 10 µs times its number, from 1, and half of that as processor time; there are two runs. */
function madeUp(): HandOverResults {
  return {
    benchmark: 'hand-over',
    environment: {},
    options: {},
    rows: HAND_OVERS.map(({ name, family }) => ({ name, family })),
    runs: [1, 2].flatMap((round) =>
      HAND_OVERS.flatMap(({ name: row }, index) => {
        const latencies = [0.5, 1, 1.5].map((factor) => factor * 10 * (index + 1));
        return [
          { row, round, ...COMPUTING, latencies, late: 1 },
          { row, round, ...SLEEPING, latencies, cpu: latencies.map((latency) => latency / 2), late: 0 },
        ];
      }),
    ),
    skipped: [],
  };
}

describe('the rows of the hand-over benchmark', () => {
  it.each(HAND_OVERS.filter(({ kind }) => kind === 'script').map(({ name }) => name))('%s locks', async (name) => {
    const row = handOverRow(name);
    const { shared, dispose } = await row.share();
    const { subject } = await row.join(shared);
    for (let i = 0; i < 50; i++) {
      subject.lock();
      subject.unlock();
    }
    dispose?.();
  });

  it('are script rows if a thread runs them', () => {
    expect(() => handOverRow('sem_t')).toThrow('no script row of hand-over is called sem_t');
  });
});

describe('processor time of a thread', () => {
  it('grows with work, if the system reports it', () => {
    const clock = threadCpuClock();
    if (clock === undefined) return;
    const before = clock();
    const end = performance.now() + 20;
    while (performance.now() < end);
    expect(clock()).toBeGreaterThan(before);
  });
});

describe('taketurns bench hand-over', () => {
  it('measures, prints and writes', { timeout: 60_000 }, () => {
    const json = join(folder, 'out.json');
    const rows = ['Mutex', 'Semaphore', BARE];
    const options = ['--computing', '50', '--sleeping', '1', '--trials', '20', '--runs', '2'];
    const done = taketurns(...options, '--rows', rows.join(), '--json', json);
    expect(done.stderr).not.toMatch(/\n\s+at /);
    expect(done.status).toBe(0);
    expect(done.stdout).toContain('from unlock to lock after 50 µs of computing');
    const results = JSON.parse(readFileSync(json, 'utf8')) as HandOverResults;
    expect(results.skipped).toEqual([]);
    expect(sectionsOf(results).map(lengthOf)).toEqual(['50 µs', '1 ms']);
    for (const row of rows) {
      for (const [section, trials] of [
        [{ by: 'computing', microseconds: 50 }, 20],
        [{ by: 'sleeping', microseconds: 1000 }, 10],
      ] as const) {
        const { latencies, cpu = [], late } = trialsOf(results, row, section);
        expect(latencies.length + late).toBe(2 * trials);
        for (const latency of latencies) expect(latency).toBeGreaterThanOrEqual(0);
        expect([0, latencies.length]).toContain(cpu.length);
      }
    }
  });

  it.each([
    [['--computing', '0'], /--computing.*'0'.*from 1 to 10000000/],
    [['--sleeping', '10001'], /--sleeping.*'10001'.*from 1 to 10000/],
    [['--trials', '0'], /--trials.*'0'.*from 1 to 1000000/],
    [['--rows', 'TtsLock'], /--rows.*'TtsLock'.*Allowed: Mutex/],
    [['--rows', 'sem_t', '--no-native'], /--no-native.*no row/],
  ])('refuses %j', (args, message) => {
    const refused = taketurns(...args);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(message);
    expect(refused.stderr).not.toMatch(/\n\s+at /);
  });
});

describe('report of hand-overs', () => {
  const place = (name: string): number => HAND_OVERS.findIndex((row) => row.name === name) + 1;

  it('has fewer trials of long sections', () => {
    const trials = [20, 500, 1000, 10_000, 100_000].map((microseconds) =>
      trialsFor({ by: 'sleeping', microseconds }, 300),
    );
    expect(trials).toEqual([300, 300, 150, 15, 5]);
  });

  it('prints every row, and ratios to the bare hand-over of its language', () => {
    const text = handOverTables(madeUp());
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
    for (const { name } of HAND_OVERS) expect(text).toContain(name);
    const lineOf = (row: string): string[] =>
      (text.split('\n').find((line) => line.includes(`│ ${row} `)) ?? '').split('│').map((part) => part.trim());
    expect(lineOf('Semaphore')).toEqual([
      ...['', 'Semaphore', '20.0', '10.0', '30.0', '10.0', '30.0'],
      (place('Semaphore') / place(BARE)).toFixed(2),
      ...['6', '2', ''],
    ]);
    expect(lineOf('sem_t')[7]).toBe((place('sem_t') / place(NATIVE_BARE)).toFixed(2));
  });

  it('says which targets are reached', () => {
    const found = new Map(handOverTargets(madeUp()).map(({ what, found }) => [what, found]));
    expect(found.get(`from unlock to lock after 20 µs / ${BARE}`)?.get('Mutex')).toBeCloseTo(1 / place(BARE));
    expect(found.get('processor time of a wait of 10 ms, µs')?.get('Semaphore')).toBeCloseTo(10);
    expect(found.get(`processor time of a wait of 10 ms, µs, beyond ${BARE}`)?.get('Semaphore')).toBeCloseTo(
      10 - 5 * place(BARE),
    );
    expect(handOverTargets({ ...madeUp(), rows: [] })).toEqual([]);
  });
});
