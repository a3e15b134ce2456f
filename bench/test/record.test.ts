// The record of a long run: what it keeps, what it refuses, and that a run that was stopped goes on.
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { type Origin, RecordError, Store } from '../src/record.js';
import { medians } from '../src/report/frame.js';
import { tables } from '../src/report/tables.js';
import { cells, type Results, type Run } from '../src/results.js';
import { period, TimeLeft } from '../src/time-left.js';

const PROGRAM = fileURLToPath(new URL('../bin/taketurns.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'taketurns-record-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ORIGIN: Origin = {
  benchmark: 'semaphores',
  configuration: { seconds: 10, warmUp: 60 },
  machine: { node: 'v20', cpu: 'Some Processor' },
  build: 'abc',
};

function empty(...rows: string[]): Results {
  return {
    benchmark: 'semaphores',
    environment: {},
    options: { seconds: 10 },
    rows: rows.map((name) => ({ name, family: 'taketurns' })),
    runs: [],
    probes: [],
    pairs: [],
    asyncs: [],
    skipped: [],
  };
}

const all = (): boolean => true;
const run = (row: string, threads: number, round: number, count = 100): Run => ({
  row,
  threads,
  round,
  seconds: 10,
  cpuSeconds: 1,
  iterations: Array(threads).fill(count),
});
let files = 0;
const newFile = (): string => join(folder, `${++files}.jsonl`);
const open = (
  file: string,
  results = empty('A', 'B'),
  origin = ORIGIN,
  wanted: (key: { row: string }) => boolean = all,
) => new Store(results, { file, origin, wanted });

describe('a record', () => {
  it('has after a restart what was added before, and nothing else', () => {
    const file = newFile();
    const before = open(file);
    before.add('runs', run('A', 2, 1));
    before.add('probes', { row: 'A', threads: 2, longestWaitMs: 1, largestBypass: 0, bypasses: [] });
    before.add('pairs', { row: 'floor', round: 1, nanoseconds: 12 });
    before.add('releases', { row: 'A', shape: 'loop', round: 1, nanoseconds: 5 });
    const after = open(file);
    expect(after.results).toEqual(before.results);
    expect(after.results.releases).toHaveLength(1);
    expect(after.has('runs', { row: 'A', threads: 2, round: 1 })).toBe(true);
    expect(after.has('releases', { row: 'A', shape: 'loop', round: 1 })).toBe(true);
    for (const other of [
      { row: 'B', threads: 2, round: 1 },
      { row: 'A', threads: 4, round: 1 },
      { row: 'A', threads: 2, round: 2 },
    ])
      expect(after.has('runs', other), JSON.stringify(other)).toBe(false);
    expect(after.has('probes', { row: 'B', threads: 2 })).toBe(false);
    expect(after.has('releases', { row: 'A', shape: 'one step', round: 1 })).toBe(false);
  });

  it('keeps rows that this run does not have in the file, and out of the results', () => {
    const file = newFile();
    const first = open(file);
    first.add('runs', run('A', 2, 1));
    first.add('runs', run('B', 2, 1));
    const second = open(file, empty('B'), ORIGIN, ({ row }) => row === 'B');
    expect(second.results.runs.map(({ row }) => row)).toEqual(['B']);
    second.add('runs', run('B', 2, 2));
    expect(open(file).results.runs).toHaveLength(3);
  });

  it('says of each sitting when it was, and of which build, if it has measured something', () => {
    const file = newFile();
    open(file);
    expect(existsSync(file)).toBe(false);
    for (const round of [1, 2]) {
      const sitting = open(file);
      sitting.add('runs', run('A', 2, round));
      sitting.add('runs', run('B', 2, round));
      open(file);
    }
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    const kinds = lines.map((line) => Object.keys(JSON.parse(line) as object)[0]);
    expect(kinds).toEqual(['record', 'sitting', 'runs', 'runs', 'sitting', 'runs', 'runs']);
    const { sittings, results } = Store.read(file, () => empty('A', 'B').rows);
    expect(results.runs).toHaveLength(4);
    expect(sittings).toHaveLength(2);
    for (const { build, date, load } of sittings) {
      expect(build).toBe(ORIGIN.build);
      expect(new Date(date).toISOString()).toBe(date);
      expect(load).toBeGreaterThanOrEqual(0);
    }
  });

  it('cuts off a line that a killed program has not finished', () => {
    const file = newFile();
    open(file).add('runs', run('A', 2, 1));
    const whole = readFileSync(file, 'utf8');
    appendFileSync(file, '{"runs":{"row":"A","thr');
    const after = open(file);
    expect(after.has('runs', { row: 'A', threads: 2, round: 1 })).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe(whole);
    after.add('runs', run('A', 2, 2));
    expect(open(file).results.runs).toHaveLength(2);
  });

  it.each([
    [{ benchmark: 'locks' }, 'benchmark: name is "semaphores" there, and "locks" here'],
    [{ configuration: { seconds: 1, warmUp: 60 } }, 'configuration: seconds is 10 there, and 1 here'],
    [
      { configuration: { ...ORIGIN.configuration, work: { inside: 2 } } },
      'configuration: work is nothing there, and {"inside":2} here',
    ],
    [{ machine: { node: 'v26', cpu: 'Some Processor' } }, 'machine: node is "v20" there, and "v26" here'],
    [{ machine: { node: 'v20' } }, 'machine: cpu is "Some Processor" there, and nothing here'],
    [{ build: 'abd' }, 'build: digest is "abc" there, and "abd" here'],
  ])('refuses the file of another run: %j', (other, message) => {
    const file = newFile();
    open(file).add('runs', run('A', 2, 1));
    const text = readFileSync(file, 'utf8');
    expect(() => open(file, empty('A'), { ...ORIGIN, ...other } as Origin)).toThrow(message);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it.each([
    ['notes of mine', 'line 1'],
    ['notes of mine\n', 'line 1'],
    ['{"results":[]}\n', 'line 1'],
    ['origin\n{"runs":{}\n', 'line 4'],
    ['origin\n{"walks":{}}\n', 'line 4'],
  ])('refuses a file that is no record: %j', (text, line) => {
    const file = newFile();
    open(file).add('runs', run('A', 2, 1));
    writeFileSync(file, text.replace('origin\n', readFileSync(file, 'utf8')));
    const before = readFileSync(file, 'utf8');
    const error = (() => {
      try {
        open(file);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(RecordError);
    expect((error as Error).message).toMatch(new RegExp(`${line}: .* no record .*Allowed: `));
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('refuses a measurement that is there twice', () => {
    const file = newFile();
    open(file).add('runs', run('A', 2, 1));
    appendFileSync(file, `${readFileSync(file, 'utf8').split('\n')[2]}\n`);
    expect(() => open(file)).toThrow(/line 4: .*twice/);
  });
});

describe('the report of a run that was stopped', () => {
  const results = empty('A', 'B');
  for (const [round, count] of [100, 300, 200].entries()) results.runs.push(run('A', 2, round + 1, count));
  results.runs.push(run('B', 2, 1, 100), run('B', 2, 2, 200));

  it('takes the median of the runs that a row has', () => {
    const [a, b] = cells(results);
    expect(a?.throughput).toEqual({ median: 40, min: 20, max: 60 });
    expect(b?.throughput.median).toBe(30);
  });

  it('says of how many runs each cell is', () => {
    const lines = tables(results).split('\n');
    const column = (row: string) =>
      lines
        .find((line) => line.includes(`│ ${row} `))
        ?.split('│')[2]
        ?.trim();
    expect([column('A'), column('B')]).toEqual(['3', '2']);
    expect(medians(results)).toBe('median of 2 to 3 × 10 s');
    expect(medians({ ...results, runs: results.runs.slice(0, 3) })).toBe('median of 3 × 10 s');
  });
});

describe('the time left', () => {
  const kind = { script: true, threads: 4, seconds: 10 };

  it('is that of the intervals of the same kind before', () => {
    const left = new TimeLeft(60);
    left.took(kind, 12);
    left.took(kind, 14);
    expect(left.of([kind, kind])).toBe(26);
  });

  it('is a guess for others: longer with more workers to start, and not less than the interval', () => {
    const left = new TimeLeft(60);
    left.took(kind, 1000);
    const few = left.of([{ ...kind, threads: 2 }]);
    const many = left.of([{ ...kind, threads: 128 }]);
    const native = left.of([{ ...kind, script: false }]);
    expect(few).toBeGreaterThan(10);
    expect(many - few).toBeGreaterThan(126 * 0.06);
    expect(native).toBeGreaterThan(10);
    expect(native).toBeLessThan(few);
  });

  it('is written in two units', () => {
    expect([0, 59.4, 59.6, 3599, 3600, 18_720].map(period)).toEqual([
      '0 s',
      '59 s',
      '1 min 0 s',
      '59 min 59 s',
      '1 h 0 min',
      '5 h 12 min',
    ]);
  });
});

describe('taketurns bench --record', () => {
  const file = join(folder, 'stopped.jsonl');
  const json = join(folder, 'stopped.json');
  const common = [
    'bench',
    'semaphores',
    '--paper',
    '--rows',
    'js-ticket-notify-all,js-barging',
    '--threads',
    '1,2',
    '--warm-up',
    '5',
  ];
  const output = ['--no-pairs', '--record', file, '--json', json, '--svg', join(folder, 'stopped.svg')];
  const args = [...common, ...output, '--runs', '3', '--seconds'];
  const linesOf = (): string[] => {
    try {
      return readFileSync(file, 'utf8').split('\n').slice(0, -1);
    } catch {
      return [];
    }
  };
  const rows = ['js-ticket-notify-all', 'js-barging'];

  it('goes on where it was stopped, and measures each interval once', { timeout: 120_000 }, async () => {
    const stopped = spawn(process.execPath, [PROGRAM, ...args, '0.05'], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    stopped.stdout.on('data', (text) => {
      said += text;
    });
    const ended = new Promise<number | null>((resolve) => stopped.on('close', resolve));
    while (linesOf().length < 4 && stopped.exitCode === null) await pause(10);
    stopped.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(said).toContain('interrupted');
    const kept = linesOf();
    const first = JSON.parse(readFileSync(json, 'utf8')) as Results;
    // The record begins with its origin and its first sitting.
    expect(first.runs.length + first.probes.length).toBe(kept.length - 2);
    expect(first.skipped).toEqual([]);
    expect(first.runs.length).toBeLessThan(12);

    const gone = spawnSync(process.execPath, [PROGRAM, ...args, '0.05'], { encoding: 'utf8' });
    expect(gone.status, gone.stderr).toBe(0);
    expect(linesOf().slice(0, kept.length)).toEqual(kept);
    const { runs, probes, skipped } = JSON.parse(readFileSync(json, 'utf8')) as Results;
    expect(skipped).toEqual([]);
    const wanted = [1, 2, 3].flatMap((round) => [1, 2].flatMap((at) => rows.map((row) => `${row} ${at} ${round}`)));
    expect(runs.map(({ row, threads, round }) => `${row} ${threads} ${round}`)).toEqual(wanted);
    expect(probes).toHaveLength(4);
    expect(linesOf()).toHaveLength(1 + 2 + 12 + 4);
    const rest = spawnSync(process.execPath, [PROGRAM, ...args, '0.05', '--estimate'], { encoding: 'utf8' });
    expect(rest.stdout).toMatch(/^to measure: 0 intervals, about 0 s$/m);

    const again = spawnSync(process.execPath, [PROGRAM, ...args, '0.05', '--threads', '2'], { encoding: 'utf8' });
    expect(again.status, again.stderr).toBe(0);
    expect(linesOf()).toHaveLength(1 + 2 + 12 + 4);
    expect((JSON.parse(readFileSync(json, 'utf8')) as Results).runs).toHaveLength(6);
  });

  it('refuses a record of another configuration', () => {
    const refused = spawnSync(process.execPath, [PROGRAM, ...args, '0.06'], { encoding: 'utf8' });
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(/--record.*stopped.jsonl.*seconds is 0.05 there, and 0.06 here/);
    expect(refused.stderr).not.toMatch(/\n\s+at /);
  });
});

describe('taketurns bench draw', () => {
  const records = fileURLToPath(new URL('../records/', import.meta.url));
  const json = join(folder, 'drawn.json');
  const svg = join(folder, 'drawn.svg');
  const draw = (record: string): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(process.execPath, [PROGRAM, 'bench', 'draw', record, '--json', json, '--svg', svg], { encoding: 'utf8' });

  const kept = readdirSync(records).filter((name) => name.endsWith('.jsonl.gz'));
  it.each(kept)('makes the tables and the figure of %s', (name) => {
    const { status, stdout, stderr } = draw(records + name);
    expect(status, stderr).toBe(0);
    const lines = gunzipSync(readFileSync(records + name))
      .toString()
      .trim()
      .split('\n');
    const entries = lines.slice(1).map((line) => JSON.parse(line) as { runs?: Run });
    const { rows, runs } = JSON.parse(readFileSync(json, 'utf8')) as Results;
    expect(runs).toEqual(entries.flatMap((entry) => entry.runs ?? []));
    expect(new Set(runs.map(({ row }) => row))).toEqual(new Set(rows.map((row) => row.name)));
    for (const row of rows) expect(stdout).toContain(row.name);
    expect(readFileSync(svg, 'utf8')).toMatch(/^<svg/);
  });

  it('refuses what is no record, and what is not there', () => {
    const file = join(folder, 'no-record');
    for (const text of ['', 'something\n', '{"record":"another"}\n']) {
      writeFileSync(file, text);
      const { status, stderr } = draw(file);
      expect(status, text).toBe(1);
      expect(stderr).toMatch(/^error: argument 'record': .*no-record, line 1: it is no record of a benchmark/);
      expect(stderr).not.toMatch(/\n\s+at /);
    }
    expect(draw(join(folder, 'nowhere')).stderr).toMatch(/^error: argument 'record': .*nowhere cannot be read/);
  });
});
