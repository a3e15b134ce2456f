// Tables, ratios and figure from made-up results.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BENCHMARKS } from '../src/benchmarks.js';
import { figures } from '../src/report/figures.js';
import { BARGING, BESIDE, OURS } from '../src/report/palette.js';
import { rate, tables } from '../src/report/tables.js';
import { met, targets } from '../src/report/targets.js';
import { cells, type Results } from '../src/results.js';
import { CALLS_FLOOR, FLOOR } from '../src/rows/row.js';
import { BANDS } from '../src/workers/bypass-bands.js';

const { rows: ROWS } = BENCHMARKS.semaphores;

/** Row i does 1000 i iterations a second, and takes 10 i nanoseconds. */
function madeUp(): Results {
  const rows = ROWS.map(({ name, family }) => ({ name, family }));
  const runs = rows.flatMap(({ name }, index) =>
    [1, 16, 64].flatMap((threads) =>
      [0.9, 1, 1.3].map((factor, round) => ({
        row: name,
        threads,
        round: round + 1,
        seconds: 2,
        cpuSeconds: 1.5,
        iterations: Array.from({ length: threads }, () => (2000 * (index + 1) * factor) / threads),
      })),
    ),
  );
  const probes = rows.flatMap(({ name, family }) =>
    [1, 16, 64].map((threads) => ({
      row: name,
      threads,
      longestWaitMs: 1.5,
      largestBypass: 7,
      bypasses: Array.from({ length: BANDS }, (_, band) => (band === 0 ? 90 : band === 3 ? 10 : 0)),
      ...(family === 'taketurns' ? { outOfOrder: 0 } : {}),
    })),
  );
  const pairs = [...rows.map(({ name }) => name), FLOOR, CALLS_FLOOR].map((row, index) => ({
    row,
    round: 1,
    nanoseconds: 10 * (index + 1),
  }));
  const asyncs = (['uncontended', 'queued'] as const).flatMap((shape) =>
    ['Semaphore', 'async-mutex', 'async-sema'].map((row, index) => ({
      row,
      shape,
      round: 1,
      nanoseconds: 50 * (index + 1),
    })),
  );
  const environment = {
    cpu: 'Some & Processor',
    processors: 2,
    node: 'v20',
    kernel: 'Linux',
    date: '2025-01-01',
  };
  return {
    benchmark: 'semaphores',
    environment,
    options: { runs: 3, seconds: 2 },
    rows,
    runs,
    probes,
    pairs,
    asyncs,
    skipped: [],
  };
}

const numberOf = (row: string) => ROWS.findIndex(({ name }) => name === row) + 1;

const PAIR = 'uncontended pair / two calls of wasm, each one locked instruction';
/** The row of CALLS_FLOOR comes after all rows and FLOOR. */
const OF_CALLS = ROWS.length + 2;

it('figures have the colours of the lab', () => {
  const tokens = readFileSync(new URL('../../lab/src/style/tokens.css', import.meta.url), 'utf8');
  const light = (token: string) => new RegExp(`--${token}: light-dark\\((#\\w+),`).exec(tokens)?.[1];
  expect([light('ours'), light('barging'), light('c8')]).toEqual([OURS, BARGING, BESIDE]);
});

describe('report', () => {
  it('sums up the runs of a row at a thread count', () => {
    const cell = cells(madeUp()).find(({ row, threads }) => row === 'TwaSemaphore' && threads === 16);
    expect(cell?.throughput.median).toBeCloseTo(1000 * numberOf('TwaSemaphore'));
    expect(cell?.throughput.min).toBeCloseTo(900 * numberOf('TwaSemaphore'));
    expect(cell?.throughput.max).toBeCloseTo(1300 * numberOf('TwaSemaphore'));
    expect(cell?.fairness.median).toBe(1);
    expect(cell?.probe?.largestBypass).toBe(7);
  });

  it('computes the target ratios', () => {
    const found = new Map(targets(madeUp()).map((target) => [target.what, target]));
    const value = (what: string) => found.get(what)?.found.get('Semaphore');
    expect(value(PAIR)).toBeCloseTo(1 / OF_CALLS);
    expect(value('throughput at 64 threads / js-ticket-notify-all')).toBeCloseTo(1 / numberOf('js-ticket-notify-all'));
    expect(value('admissions out of ticket order, any thread count')).toBe(0);
    expect(value('await acquire + release, queued / the better of async-mutex, async-sema')).toBeCloseTo(0.5);
    expect(value('throughput at 16 threads / twa-futex')).toBeCloseTo(1 / numberOf('twa-futex'));
    expect(found.get('throughput at 16 threads / twa-futex')?.wanted).toBe(0.8);
    expect(value('throughput at 64 threads / bare hand-overs')).toBeCloseTo(1 / numberOf('bare hand-overs'));
    expect(value('throughput at 1 thread / TwaSemaphore')).toBeCloseTo(1 / numberOf('TwaSemaphore'));
    expect(found.get('throughput at 1 thread / TwaSemaphore')?.found.get('TicketSemaphore')).toBeNaN();
    const fifteen = found.get('throughput at 64 threads / js-ticket-notify-all');
    expect(fifteen && met(fifteen, 14.9)).toBe(false);
    expect(fifteen && met(fifteen, 15)).toBe(true);
  });

  it('compares the slowest run at 4 threads with the median of twa-futex, and the slowest tenth with its own', () => {
    const run = { threads: 4, round: 1, seconds: 2, cpuSeconds: 1, iterations: [1000, 500, 250, 250] };
    const parts = { seconds: [1, 1], iterations: [1700, 300] };
    const results = madeUp();
    results.runs = [
      { ...run, row: 'Semaphore', parts },
      { ...run, row: 'Semaphore', parts, seconds: 4 },
      { ...run, row: 'Semaphore', parts },
      { ...run, row: 'twa-futex', parts },
    ];
    const found = new Map(targets(results).map((target) => [target.what, target.found]));
    const value = (what: string) => found.get(what)?.get('Semaphore');
    expect(value('least throughput at 4 threads / median of twa-futex')).toBeCloseTo(0.5);
    expect(value('throughput at 4 threads / twa-futex')).toBeCloseTo(1);
    expect(value('slowest tenth at 4 threads / median')).toBeCloseTo(0.3);
    expect(value('fairness at 4 threads')).toBeCloseTo(0.25);
    expect(found.get('slowest tenth at 4 threads / median')?.get('TwaSemaphore')).toBeNaN();
  });

  it('has a target for the pair of each class', () => {
    const pairs = targets(madeUp()).filter(({ what }) => what === PAIR || what.startsWith('the same pair'));
    expect(pairs.map(({ wanted }) => wanted)).toEqual([1.15, 1.25]);
    for (const [row, asked] of [
      ['Semaphore', 0],
      ['TwaSemaphore', 1],
      ['TicketSemaphore', 1],
    ] as const) {
      expect(pairs[asked]?.found.get(row)).toBeCloseTo(numberOf(row) / OF_CALLS);
      expect(pairs[1 - asked]?.found.get(row)).toBeNaN();
    }
  });

  it('prints how far the processes of a pair are apart', () => {
    const results = madeUp();
    results.pairs.push({ row: 'Semaphore', round: 2, nanoseconds: 25 });
    const text = tables(results);
    const line = text
      .slice(text.indexOf('uncontended, nanoseconds'))
      .split('\n')
      .find((each) => each.includes('│ Semaphore '));
    expect(line?.split('│').map((part) => part.trim())).toContain('2.50');
  });

  it('leaves out ratios that were not measured', () => {
    const results = { ...madeUp(), pairs: [], asyncs: [] };
    expect(tables(results)).not.toContain('uncontended pair');
  });

  it('prints every row and every reason for leaving one out, once', () => {
    const results = madeUp();
    results.skipped.push({ row: 'a', at: 'x', why: 'broken' }, { row: 'b', at: 'x', why: 'broken' });
    const text = tables(results);
    for (const { name } of ROWS) expect(text).toContain(name);
    expect(text.match(/broken/g)).toHaveLength(1);
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
  });

  it('writes rates with three digits', () => {
    expect([999_900, 1_234_567, 45_600, 12, 0].map(rate)).toEqual(['1.00 M', '1.23 M', '45.6 k', '12', '0']);
  });

  it('draws every row', async () => {
    const svg = (await figures(madeUp())).get('') ?? '';
    expect(svg.startsWith('<svg')).toBe(true);
    for (const { name } of ROWS) expect(svg).toContain(`>${name}</text>`);
    expect(svg).toContain('Some &amp; Processor');
    expect(svg).not.toContain('NaN');
  });

  it('also draws a single run', async () => {
    const results = madeUp();
    results.runs = results.runs.slice(0, 1);
    expect((await figures(results)).get('')).toContain('Semaphore');
  });
});
