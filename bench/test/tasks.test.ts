// The benchmark of taketurns/tasks: its rows, its command, and its report from made-up results.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { type TasksResults, tasksTables, tasksTargets, timesOf } from '../src/tasks/results.js';
import { TASKS_ROWS } from '../src/tasks/rows.js';

const PROGRAM = fileURLToPath(new URL('../bin/taketurns.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'taketurns-'));
afterAll(() => rmSync(folder, { recursive: true }));

function taketurns(args: string[]) {
  return spawnSync(process.execPath, [PROGRAM, 'bench', 'tasks', ...args], { encoding: 'utf8' });
}

/** An operation of a row takes as many nanoseconds as the row's number, from 1, and half more in the third run. */
function madeUp(): TasksResults {
  return {
    benchmark: 'tasks',
    environment: { cpu: 'a processor', processors: 2, node: 'v0' },
    options: {},
    rows: TASKS_ROWS.map(({ name, family, measure }) => ({ name, family, measure })),
    runs: [1, 1, 1.5].flatMap((factor, index) =>
      TASKS_ROWS.map(({ name }, i) => ({ row: name, round: index + 1, nanoseconds: (i + 1) * factor })),
    ),
    skipped: [],
  };
}

const place = (name: string): number => TASKS_ROWS.findIndex((row) => row.name === name) + 1;

it('each row has a name of its own, and does its operations', async () => {
  expect(new Set(TASKS_ROWS.map(({ name }) => name)).size).toBe(TASKS_ROWS.length);
  for (const { make } of TASKS_ROWS) await make()(1000);
});

describe('taketurns bench tasks', () => {
  it('measures every row, prints and writes', { timeout: 60_000 }, () => {
    const json = join(folder, 'out.json');
    const done = taketurns(['--seconds', '0.05', '--runs', '1', '--json', json]);
    expect(done.stderr).not.toMatch(/\n\s+at /);
    expect(done.status).toBe(0);
    const results = JSON.parse(readFileSync(json, 'utf8')) as TasksResults;
    expect(results.skipped).toEqual([]);
    for (const { name } of TASKS_ROWS) expect(timesOf(results, name).median, name).toBeGreaterThan(0);
    expect(done.stdout).toContain('an acquire and a release, alone, nanoseconds');
  });

  it('lists the rows', () => {
    const { stdout } = taketurns(['--list']);
    for (const { name } of TASKS_ROWS) expect(stdout).toContain(name);
  });

  it.each([
    [['--seconds', '0'], /--seconds.*'0'.*from 0.05 to 600/],
    [['--runs', '0'], /--runs.*'0'.*from 1 to/],
    [['--rows', 'TtsLock'], /--rows.*'TtsLock'.*Allowed: Semaphore alone/],
  ])('refuses %j', (args, message) => {
    const refused = taketurns(args);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(message);
  });
});

describe('the report', () => {
  it('prints the processor and every row: median, least, most, runs and ratio', () => {
    const text = tasksTables(madeUp());
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
    expect(text).toContain('a processor, 2 processors, Node v0');
    for (const { name } of TASKS_ROWS) expect(text).toContain(name);
  });

  it('compares each class with the fastest of its peers', () => {
    const found = new Map(tasksTargets(madeUp()).map(({ what, found }) => [what, found.get('taketurns')]));
    expect(found.get('Semaphore alone / async-sema alone')).toBeCloseTo(
      place('Semaphore alone') / place('async-sema alone'),
    );
    expect(found.get('Mutex.runExclusive queued / p-limit queued')).toBeCloseTo(
      place('Mutex.runExclusive queued') / place('p-limit queued'),
    );
    expect(tasksTargets({ ...madeUp(), runs: [] })).toEqual([]);
  });
});
