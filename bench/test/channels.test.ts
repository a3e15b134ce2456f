// The benchmark of taketurns/channel: its rows, its command, and its report from made-up results.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { LOADS } from '../src/channels/loads.js';
import { channelsTables } from '../src/channels/report.js';
import { type ChannelsResults, cellsOf, figureOf } from '../src/channels/results.js';
import { CHANNELS_ROWS, type ChannelsRow, SHAPES, shapesOf } from '../src/channels/rows.js';
import { channelsTargets } from '../src/channels/targets.js';
import { met } from '../src/report/targets.js';

const PROGRAM = fileURLToPath(new URL('../bin/taketurns.js', import.meta.url));
const RUN = fileURLToPath(new URL('../dist/channels/program.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'taketurns-'));
afterAll(() => rmSync(folder, { recursive: true }));

function taketurns(args: string[]) {
  return spawnSync(process.execPath, [PROGRAM, 'bench', 'channels', ...args], { encoding: 'utf8' });
}

const place = (name: string): number => CHANNELS_ROWS.findIndex((row) => row.name === name) + 1;

/** Row k makes k million messages a second, in a round trip of k microseconds; half as many in the third run. */
function madeUp(busy = 0): ChannelsResults {
  const shapes = ['1:1', '4:4', '1:8'];
  const of = (row: ChannelsRow): readonly string[] => (row.measure === 'rate' ? (row.shapes ?? shapes) : shapesOf(row));
  return {
    benchmark: 'channels',
    environment: { cpu: 'a processor', processors: 2, node: 'v0' },
    options: { seconds: 1, runs: 3, busy, native: true, shapes, rows: CHANNELS_ROWS.map(({ name }) => name) },
    rows: CHANNELS_ROWS.map(({ name, family, measure, load }) => ({ name, family, measure, load })),
    runs: [1, 1, 0.5].flatMap((factor, index) =>
      CHANNELS_ROWS.flatMap((row, i) =>
        of(row).map((shape) => ({
          ...{ row: row.name, shape, round: index + 1 },
          ...(row.measure === 'trip'
            ? { microseconds: (i + 1) * factor, late: 10 * (i + 1) }
            : { perSecond: (i + 1) * factor * 1e6, fairness: 0.95, cpuMicroseconds: 0.25, megabytes: 50 }),
        })),
      ),
    ),
    skipped: [],
  };
}

it('each row has a name of its own, and stands beside postMessage', () => {
  expect(new Set(CHANNELS_ROWS.map(({ name }) => name)).size).toBe(CHANNELS_ROWS.length);
  for (const { measure, load } of CHANNELS_ROWS.filter(({ measure }) => measure !== 'alone')) {
    const beside = CHANNELS_ROWS.filter((row) => row.measure === measure && row.load === load);
    expect(beside.some(({ name }) => name.startsWith('postMessage: '))).toBe(true);
  }
});

describe('a message', () => {
  it.each(Object.entries(LOADS))('%s is checked', (name, load) => {
    load.check(load.make(1));
    const wrong = name === 'number' ? 'text' : new Uint8Array(3);
    if (name !== 'touched') expect(() => load.check(wrong)).toThrow(/^a receiver got /);
  });
});

describe('a run', () => {
  const rows = CHANNELS_ROWS.filter(({ kind }) => kind === 'script');
  const shapes = (row: ChannelsRow): string[] => [
    ...new Set([shapesOf(row)[0] as string, shapesOf(row).at(-1) as string]),
  ];
  const runs = rows.flatMap((row) => shapes(row).map((shape) => [row.name, shape] as const));

  it.each(runs)('%s, shape "%s"', { timeout: 90_000 }, (name, shape) => {
    const { stdout, stderr } = spawnSync(process.execPath, [RUN, name, shape, '0.05', '0'], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const { perSecond, microseconds, late } = JSON.parse(stdout);
    if (microseconds === undefined) expect(perSecond).toBeGreaterThan(0);
    else expect(late).toBeGreaterThanOrEqual(microseconds);
  });

  it('ends with the error of a thread', () => {
    const { status, stderr } = spawnSync(process.execPath, [RUN, 'ringbuf.js: 16 bytes', '2:1', '0.05', '0'], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([1, 'ringbuf.js connects two threads\n']);
  });
});

describe('taketurns bench channels', () => {
  it('measures, prints and writes; a queue that is not installed is left out', { timeout: 120_000 }, () => {
    const json = join(folder, 'out.json');
    const rows = 'postMessage: a number,Channel: a number,boost.lockfree: a number,Channel: round trip';
    const options = ['--seconds', '0.05', '--runs', '1', '--shapes', '1:1,1:2', '--rows', rows, '--json', json];
    const done = taketurns(options);
    expect(done.stderr).not.toMatch(/\n\s+at /);
    expect(done.status).toBe(0);
    const results = JSON.parse(readFileSync(json, 'utf8')) as ChannelsResults;
    for (const shape of ['1:1', '1:2'])
      expect(figureOf(results, 'Channel: a number', shape, 'perSecond').median).toBeGreaterThan(0);
    expect(figureOf(results, 'Channel: round trip', 'idle', 'microseconds').median).toBeGreaterThan(0);
    const [skipped] = results.skipped;
    if (skipped === undefined) expect(figureOf(results, 'boost.lockfree: a number', '1:1', 'perSecond').runs).toBe(1);
    else expect(done.stdout).toContain(`skipped: ${skipped.row}`);
  });

  it('lists the rows', () => {
    const { stdout } = taketurns(['--list']);
    for (const { name } of CHANNELS_ROWS) expect(stdout).toContain(name);
  });

  it.each([
    [['--shapes', '0:1'], /--shapes.*'0:1'.*1 to 64/],
    [['--shapes', '1:65'], /--shapes.*'1:65'.*1 to 64/],
    [['--seconds', '0'], /--seconds.*'0'.*from 0.05 to 600/],
    [['--runs', '0'], /--runs.*'0'.*from 1 to/],
    [['--busy', '-1'], /--busy.*'-1'.*from 0 to 64/],
    [['--rows', 'TtsLock'], /--rows.*'TtsLock'.*Allowed: postMessage/],
    [['--rows', 'boost*', '--no-native'], /--no-native.*no row/],
  ])('refuses %j', (args, message) => {
    const refused = taketurns(args);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(message);
    expect(refused.stderr).not.toMatch(/\n\s+at /);
  });
});

describe('the report', () => {
  it('has a table for each measure, load and shape', () => {
    const cells = cellsOf(madeUp()).map(({ measure, load, shape }) => `${measure} ${load} ${shape}`);
    expect(cells).toContain('rate number 1:1');
    expect(cells).toContain('rate touched 4:4');
    expect(cells).toContain('trip number 4 busy threads');
    expect(new Set(cells).size).toBe(cells.length);
  });

  it('prints the processor and every row: its figures, and how they compare with postMessage', () => {
    const text = channelsTables(madeUp());
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
    expect(text).toContain('a processor, 2 processors, Node v0');
    for (const { name } of CHANNELS_ROWS) expect(text).toContain(`│ ${name} `);
    expect(text).toMatch(/│ Channel: a number +│ +2 M │ +1 M │ +2 M │ +3 │ +2 │ +0.95 │ +0.25 │ +50 │/);
  });

  it('says which targets are reached, of those that were measured', () => {
    const found = channelsTargets(madeUp());
    const value = (what: string): number => found.find((one) => one.what === what)?.found.get('taketurns') as number;
    const ratio = (row: string, peer: string): number => place(row) / place(peer);
    expect(value('1:1 Channel: a number / postMessage: a number')).toBeCloseTo(2);
    expect(value('1:1 Channel: 16 bytes / postMessage: 16 bytes')).toBeCloseTo(
      ratio('Channel: 16 bytes', 'postMessage: 16 bytes'),
    );
    expect(value('Channel: burst / postMessage: burst')).toBeGreaterThan(1);
    expect(value('idle: Channel: round trip / postMessage: round trip')).toBeGreaterThan(1);
    expect(value('fairness, 1:8 Channel')).toBe(0.95);
    const reached = (what: string): boolean => {
      const target = found.find((one) => one.what === what);
      return target !== undefined && met(target, value(what));
    };
    expect(reached('1:1 Channel: a number / postMessage: a number')).toBe(false);
    expect(reached('fairness, 1:8 Channel')).toBe(true);
    expect(channelsTargets({ ...madeUp(), runs: [] })).toEqual([]);
  });

  it('with busy threads has other targets: no row is below postMessage', () => {
    const found = channelsTargets(madeUp(4));
    expect(found.find(({ what }) => what === '4:4 Channel: 1 KB / postMessage: 1 KB')?.wanted).toBe(1);
    expect(found.some(({ what }) => what.startsWith('fairness'))).toBe(false);
    expect(SHAPES).toContain('4:4');
    expect(channelsTables(madeUp(4))).toContain('4 busy threads beside');
  });
});
