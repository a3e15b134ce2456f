// MutexBench: its rows, its command, and its report from made-up results.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Arena } from 'taketurns';
import { afterAll, describe, expect, it } from 'vitest';
import { at, Memory } from '../../test/support/memory.js';
import { WHOLE } from '../../test/support/rounds.js';
import { BENCHMARKS, rowsOf, scriptRow, usualRows } from '../src/benchmarks.js';
import { figures } from '../src/report/figures.js';
import { FORMS } from '../src/report/panels.js';
import { tables } from '../src/report/tables.js';
import { targets } from '../src/report/targets.js';
import type { Results } from '../src/results.js';
import { BYPASS, LOCKS, LOCKS_BY_NAME, PAPER_LOCKS, withLimit } from '../src/rows/locks.js';
import type { Row } from '../src/rows/row.js';
import type { LockLike } from '../src/rows/subjects.js';
import { BANDS } from '../src/workers/bypass-bands.js';

const PROGRAM = fileURLToPath(new URL('../bin/taketurns.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'taketurns-'));
afterAll(() => rmSync(folder, { recursive: true }));

function taketurns(...args: string[]) {
  return spawnSync(process.execPath, [PROGRAM, 'bench', 'locks', ...args], { encoding: 'utf8' });
}

/** Row i does 1000 i iterations a second, and its threads do 1, 2, 3 ... shares of them. */
function madeUp(of: readonly Row[] = LOCKS): Results {
  const rows = [...of, withLimit('TtsLock', 100, [16])];
  const at = [1, 16, 64];
  const measured = rows.flatMap((row, index) =>
    at.flatMap((threads) =>
      (row.only as readonly number[] | undefined)?.includes(threads) === false ? [] : { row: row.name, index, threads },
    ),
  );
  return {
    benchmark: 'locks',
    environment: { cpu: 'Some Processor', processors: 2, node: 'v20', kernel: 'Linux', date: '2025-01-01' },
    options: { runs: 1, seconds: 2 },
    rows: rows.map(({ name, family, lock, only }) => ({
      name,
      family,
      ...(lock && { lock }),
      ...(only && { only }),
    })),
    runs: measured.map(({ row, index, threads }) => ({
      row,
      threads,
      round: 1,
      seconds: 2,
      cpuSeconds: 1,
      iterations: Array.from(
        { length: threads },
        (_, i) => (2000 * (index + 1) * (i + 1)) / ((threads * (threads + 1)) / 2),
      ),
    })),
    probes: measured.map(({ row, threads }) => ({
      row,
      threads,
      longestWaitMs: 1.5,
      largestBypass: 4321,
      bypasses: Array.from({ length: BANDS }, (_, band) => (band === 0 ? 5 : band === 9 ? 3 : band === 18 ? 1 : 0)),
    })),
    pairs: rows
      .filter(({ only }) => !only)
      .map(({ name }, index) => ({ row: name, round: 1, nanoseconds: 10 + index })),
    asyncs: [],
    trace: { lock: 'TtsLock', bypass: 3, threads: 4, milliseconds: [0, 1, 2, 2, 3], inside: [3, 2, 1, 3, 2] },
    skipped: [],
  };
}

describe('the rows of MutexBench', () => {
  it.each(
    rowsOf(BENCHMARKS.locks)
      .filter(({ kind }) => kind === 'script')
      .map(({ name }) => name),
  )('%s locks', async (name) => {
    const row = scriptRow('locks', name);
    const { shared, dispose } = await row.share();
    const { subject } = await row.join(shared);
    const lock = subject as LockLike;
    for (let i = 0; i < 50; i++) {
      lock.lock();
      lock.unlock();
    }
    dispose?.();
  });

  it('are found with another limit too; other names are not', () => {
    expect(scriptRow('locks', 'TtsLock+capacitor:1000').lock).toEqual({
      of: 'TtsLock',
      form: 'wrapped',
      bypass: 1000,
    });
    expect(() => scriptRow('locks', 'pthread_mutex')).toThrow('no script row of locks is called');
    expect(() => scriptRow('locks', 'TtsLock+capacitor:')).toThrow('no script row of locks is called');
    expect(() => scriptRow('semaphores', 'TtsLock')).toThrow('no script row of semaphores is called');
  });

  it('are a baseline, a wrapped and a fractional form of every lock of the papers', () => {
    const locks = LOCKS.filter(({ lock }) => lock?.form === 'wrapped').map(({ lock }) => lock?.of);
    expect(locks.length).toBeGreaterThanOrEqual(3);
    for (const of of locks) {
      const forms = LOCKS.filter(({ kind, lock }) => kind === 'script' && lock?.of === of).map(
        ({ lock }) => lock?.form,
      );
      expect(forms).toEqual(['bare', 'wrapped', 'fractional']);
    }
  });
});

describe('the rows of --paper', () => {
  const names = (rows: readonly { name: string }[]) => rows.map(({ name }) => name);

  it('are the curves of the figure, whose waiters spin, and the locks in C++', () => {
    const all = names(PAPER_LOCKS);
    for (const lock of ['TtsLock', 'TicketLock', 'McsLock', 'LifoLock', 'ReciprocatingLock']) {
      for (const form of ['', '+capacitor', '+fractional']) expect(all).toContain(`${lock} spin${form}`);
    }
    expect(all).toEqual(expect.arrayContaining(['tts-spin', 'ticket-spin', 'mcs-spin', 'lifo-spin']));
    expect(all).toHaveLength(20);
  });

  it.each(['TtsLock spin', 'ReciprocatingLock spin'])('%s spins', async (name) => {
    const { shared } = await scriptRow('locks', name).share();
    const { address } = shared as { address: number };
    expect(new Memory(Arena.default).word(address + at('O_SPIN'))).toBe(2 ** 31 - 1);
  });

  it('spin in a capacitor too', async () => {
    const { shared } = await scriptRow('locks', 'TtsLock spin+capacitor').share();
    const { inner, capacitor } = shared as Record<'inner' | 'capacitor', { address: number; semaphore?: never }>;
    const memory = new Memory(Arena.default);
    for (const { address } of [inner, capacitor]) expect(memory.word(address + at('O_SPIN'))).toBe(2 ** 31 - 1);
  });

  it.each(
    LOCKS_BY_NAME.filter(({ kind, name }) => kind === 'script' && name.includes(' spin')).map(({ name }) => name),
  )('%s spins in all its parts', async (name) => {
    const { shared, dispose } = await scriptRow('locks', name).share();
    const parts = shared as Record<string, { address: number; lanes?: readonly { address: number }[] }>;
    const { inner, capacitor, semaphore } = parts;
    const whole = inner === undefined ? [shared as { address: number }] : [inner, capacitor ?? semaphore];
    const memory = new Memory(Arena.default);
    for (const part of [...whole, ...(capacitor?.lanes ?? [])])
      expect(memory.word((part?.address ?? 0) + at('O_SPIN'))).toBe(2 ** 31 - 1);
    dispose?.();
  });

  it('are in no run that does not ask for them, nor are those by name', () => {
    const listed = spawnSync(process.execPath, [PROGRAM, 'bench', 'locks', '--list'], { encoding: 'utf8' });
    for (const [rows, says] of [
      [PAPER_LOCKS, ', with --paper'],
      [LOCKS_BY_NAME, ', by its name'],
      [LOCKS, ''],
    ] as const) {
      for (const name of names(rows)) {
        const line = listed.stdout.split('\n').find((text) => text.startsWith(`${name} `)) ?? '';
        expect(/, with --paper|, by its name|$/.exec(line)?.[0], name).toBe(says);
      }
    }
    expect(names(LOCKS_BY_NAME)).toEqual(
      expect.arrayContaining(['TtsLock+whenContended', 'TtsLock+lanes', 'TtsLock+randomLanes', 'TtsLock+semaphore']),
    );
    expect(names(LOCKS_BY_NAME)).toEqual(
      expect.arrayContaining([
        'McsLock spin+whenContended',
        'TtsLock spin+lanes',
        'TtsLock spin+randomLanes',
        'TtsLock spin+fractional 0.9',
        'TtsLock spin+ticketCapacitor',
        'TtsLock spin+semaphore',
        'TwaLock spin+capacitor',
        'ClhLock spin+fractional',
      ]),
    );
    const usual = names(usualRows(BENCHMARKS.locks));
    expect(names([...PAPER_LOCKS, ...LOCKS_BY_NAME]).filter((name) => usual.includes(name))).toEqual([]);
  });

  it('are drawn: throughput and fairness of each form in the panel of its lock', async () => {
    const svg = (await figures(madeUp([...PAPER_LOCKS, ...LOCKS_BY_NAME]))).get('') ?? '';
    for (const form of Object.values(FORMS)) expect(svg).toContain(`>${form[0]}</text>`);
    expect(svg).toContain('>Fairness</text>');
  });

  it('let as many threads past the plain semaphore as the capacitor has in a platoon', async () => {
    const { shared } = await scriptRow('locks', 'TtsLock+semaphore').share();
    const { Semaphore } = await import('taketurns');
    expect(Semaphore.from((shared as { semaphore: never }).semaphore).available).toBe(BYPASS);
  });
});

describe('taketurns bench locks', () => {
  it('measures, prints, writes and draws', { timeout: 120_000 }, () => {
    const json = join(folder, 'out.json');
    const svg = join(folder, 'out.svg');
    const rows = ['Mutex', 'TtsLock', 'TtsLock+capacitor', 'multithreading'];
    const options = ['--threads', '1,3', '--seconds', '0.05', '--runs', '1', '--warm-up', '5', '--bypass', '1,10'];
    const done = taketurns(...options, '--rows', rows.join(), '--json', json, '--svg', svg);
    expect(done.stderr).not.toMatch(/\n\s+at /);
    expect(done.status).toBe(0);
    for (const name of ['out.svg', 'out-bypass.svg', 'out-platoon.svg']) {
      expect(done.stdout).toContain(name);
      expect(readFileSync(join(folder, name), 'utf8')).toContain('<svg');
    }

    const results = JSON.parse(readFileSync(json, 'utf8')) as Results;
    expect(results.skipped).toEqual([]);
    const measured = results.runs.map(({ row, threads }) => `${row} ${threads}`);
    expect(measured).toEqual([
      ...rows.map((row) => `${row} 1`),
      ...rows.map((row) => `${row} 3`),
      'TtsLock+capacitor:1 3',
    ]);
    for (const { bypasses } of results.probes) expect(bypasses).toHaveLength(BANDS);
    const { trace } = results;
    expect(trace?.inside.length).toBeGreaterThan(0);
    expect(Math.max(...(trace?.inside ?? []))).toBeLessThanOrEqual(3);
    for (const { row } of results.pairs) expect(row).not.toContain(':1');
  });

  it.runIf(WHOLE)('measures with other work, and says so', { timeout: 60_000 }, () => {
    const json = join(folder, 'work.json');
    const svg = join(folder, 'work.svg');
    const args = '--threads 2 --seconds 0.05 --runs 1 --warm-up 5 --no-pairs --inside 3 --outside 20000'.split(' ');
    const done = taketurns(...args, '--rows', 'Mutex,pthread_mutex', '--json', json, '--svg', svg);
    expect(done.status, done.stderr).toBe(0);
    expect(done.stdout).toContain('mutexbench, 3 steps inside and 20000 outside, 2 threads');
    expect(done.stdout).not.toContain('to reach');
    const results = JSON.parse(readFileSync(json, 'utf8')) as Results;
    expect(results.work).toEqual({ inside: 3, outside: 20_000 });
    // Lost steps would have been an error: each benchmark counts the steps of its generator.
    expect(results.skipped.filter(({ row }) => row === 'Mutex')).toEqual([]);
    // No machine takes a step of the generator in less than a nanosecond.
    for (const { iterations, seconds } of results.runs)
      for (const count of iterations) expect(count * 20_000 * 1e-9).toBeLessThanOrEqual(seconds);
    expect(results.runs[0]?.iterations.every((count) => count > 0)).toBe(true);
  });

  it.each([
    [['--inside', '0'], /--inside.*'0'.*from 1 to 100000/],
    [['--outside', '-1'], /--outside.*'-1'.*from 0 to 100000/],
    [['--bypass', '0'], /--bypass.*'0'.*from 1 to 1000000/],
    [['--rows', 'sem'], /--rows.*'sem'.*Allowed: .*TtsLock/],
  ])('refuses %j', (args, message) => {
    const refused = taketurns(...args);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(message);
    expect(refused.stderr).not.toMatch(/\n\s+at /);
  });

  it('has no sweep of semaphores', () => {
    const refused = spawnSync(process.execPath, [PROGRAM, 'bench', 'semaphores', '--bypass', '1'], {
      encoding: 'utf8',
    });
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("unknown option '--bypass'");
  });
});

describe('report of MutexBench', () => {
  it('prints rows, bypass by bands and reasons', () => {
    const results = madeUp();
    results.skipped.push({ row: 'a', at: 'x', why: 'broken' });
    const text = tables(results);
    for (const { name } of LOCKS) expect(text).toContain(name);
    expect(text).toContain('mutexbench, 16 threads');
    expect(text).toContain('lock + unlock, uncontended');
    const bands = text.slice(text.indexOf('admissions by how often they were overtaken'));
    const line = bands.split('\n').find((each) => each.includes('TtsLock+capacitor:100'));
    expect(line?.split('│').map((part) => part.trim())).toEqual([
      '',
      'TtsLock+capacitor:100',
      '16',
      '5',
      '',
      '',
      '',
      '',
      '3',
      '',
      '',
      '1',
      '',
      '',
      '≤ 4321',
      '',
    ]);
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
  });

  it('computes the target ratios of Mutex', () => {
    const results = madeUp();
    const place = (name: string) => results.rows.findIndex((row) => row.name === name) + 1;
    const value = (what: string) =>
      targets(results)
        .find((target) => target.what === what)
        ?.found.get('Mutex');
    expect(value('throughput at 16 threads / sem_t')).toBeCloseTo(place('Mutex') / place('sem_t'));
    expect(value('throughput at 64 threads / pthread_mutex')).toBeCloseTo(place('Mutex') / place('pthread_mutex'));
    expect(value('fairness at 16 threads')).toBeCloseTo(1 / 16);
    expect(value('uncontended pair / pthread_mutex')).toBeCloseTo((9 + place('Mutex')) / (9 + place('pthread_mutex')));
    expect(value('longest wait at 64 threads / pthread_mutex')).toBe(1);
    expect(value('fairness at 1 threads')).toBeUndefined();
  });

  it('draws a panel for each lock, the sweep and the platoon', async () => {
    const drawn = await figures(madeUp());
    expect([...drawn.keys()]).toEqual(['', '-bypass', '-platoon']);
    const panels = drawn.get('') ?? '';
    for (const { lock } of LOCKS) expect(panels).toContain(`>${lock?.of}</text>`);
    for (const form of ['baseline', 'wrapped in a capacitor', 'native counterpart']) {
      expect(panels).toContain(`>${form}</text>`);
    }
    const sweep = drawn.get('-bypass') ?? '';
    for (const limit of ['10', '100', '∞']) expect(sweep).toContain(`>${limit}</text>`);
    expect(sweep).toContain('>16 threads</text>');
    expect(sweep).not.toContain('>64 threads</text>');
    expect(sweep).not.toContain('>TicketLock</text>');
    for (const svg of drawn.values()) expect(svg).not.toContain('NaN');
  });

  it('draws no sweep and no platoon without results of them', async () => {
    const { trace: _, ...results } = madeUp();
    const rows = results.rows.filter(({ only }) => !only);
    const runs = results.runs.filter(({ row }) => !row.includes(':'));
    expect([...(await figures({ ...results, rows, runs })).keys()]).toEqual(['']);
  });
});
