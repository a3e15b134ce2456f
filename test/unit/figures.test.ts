/** The measured figures of docs/papers show kept records, and a check tells when the code of a record has changed. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { BENCHMARKS, rowsOf } from '../../bench/dist/benchmarks.js';
import { Store } from '../../bench/dist/record.js';
import {
  FIGURES,
  faultOf,
  lineFor,
  originOf,
  recordOf,
  toMeasure,
  undisturbed,
  withFigure,
} from '../../bench/programs/figures.mjs';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
type Name = keyof typeof FIGURES;
/** A figure of `only` shows these rows of a measurement. */
type Figure = (typeof FIGURES)[Name] & { readonly only?: readonly string[] };
const names = Object.keys(FIGURES) as Name[];
const recorded = names.filter((name) => originOf(name) !== undefined);

const ORIGIN = {
  build: 'abc',
  machine: { cpu: 'Some Processor', processors: 2, node: 'v20' },
  sittings: [{ date: '2026-01-02T03:04:05.678Z' }, { date: '2026-01-03T03:04:05.678Z' }],
};

describe.each(names)('the figure %s', (name) => {
  const { page, drawings, only = [] } = FIGURES[name] as Figure;

  it('has its drawings, and a line in its page', () => {
    for (const drawing of Object.values(drawings)) expect(existsSync(new URL(drawing, root))).toBe(true);
    expect(faultOf(name, read(page), 'abc', originOf(name))).not.toContain('does not say');
    for (const row of only) expect(read(page)).toContain(`| \`${row}\` |`);
  });

  it('is stale as soon as the build is another, and without a record', () => {
    const text = `a page\n\n${lineFor(name, ORIGIN)}\n\nof it`;
    expect(text).toContain('build abc, Some Processor, 2 processors, Node v20, 2026-01-02 to 2026-01-03 in 2 sittings');
    expect(faultOf(name, text, 'abc', ORIGIN)).toBeUndefined();
    expect(faultOf(name, text, 'abd', ORIGIN)).toBe('stale: it shows build abc, and this is abd');
    expect(faultOf(name, text, 'abc', undefined)).toBe('stale: no record of it is kept');
    expect(faultOf(name, text, 'abd', { ...ORIGIN, build: 'abd' })).toContain('draw it again');
    expect(faultOf(name, 'a page without a line', 'abc', ORIGIN)).toContain('does not say');
  });
});

it.each(recorded)('the page of %s has the table and the origin of its record', (name) => {
  const { results } = Store.read(fileURLToPath(new URL(recordOf(name), root)), (benchmark) =>
    rowsOf(BENCHMARKS[benchmark as keyof typeof BENCHMARKS]),
  );
  const page = read(FIGURES[name].page);
  expect(withFigure(name, page, JSON.parse(JSON.stringify(results)), originOf(name))).toBe(page);
});

it('measures all that are stale, and fit the number of processors', () => {
  const all = toMeasure(2, () => 'stale');
  expect(all).toEqual(expect.arrayContaining(['locks', 'semaphores-2', 'locks-2', 'capacitors-2']));
  expect(all.filter((name) => name.endsWith('-16') || name === 'order')).toEqual([]);
  expect(toMeasure(16, () => 'stale')).toContain('semaphores-16');
  expect(toMeasure(2, (name: string) => (name === 'locks-2' ? 'stale' : undefined))).toEqual(['locks-2']);
});

it('measures again what other programs have disturbed, and nothing else', () => {
  const run = (row: string, threads: number, cpuSeconds: number): string =>
    JSON.stringify({ runs: { row, threads, round: 1, seconds: 10, cpuSeconds, iterations: [] } });
  const good = [
    '{"record":"taketurns-bench-1"}',
    '{"sitting":{}}',
    run('TtsLock spin', 1, 9.5),
    run('tts-spin', 64, 19),
    run('TtsLock', 64, 2),
    '{"probes":{}}',
  ];
  const disturbed = [run('TtsLock spin', 1, 8), run('tts-spin', 64, 16)];
  expect(undisturbed([...good, ...disturbed], 2)).toEqual(good);
});

it('keeps records of figures and of claims, and no others', () => {
  const wanted = new Set(names.map((name) => recordOf(name).replace('bench/records/', '')));
  wanted.add('claims'); // what count-claims.mjs prints; claims.test.ts looks at it
  expect(readdirSync(new URL('bench/records/', root)).filter((name) => !wanted.has(name))).toEqual([]);
});

it('goes on with a trial where it has stopped, and changes no page', { timeout: 300_000 }, () => {
  const results = new URL('bench/results/figures/', root);
  const trial = ['--rows', 'js-barging', '--threads', '1,2', '--seconds', '0.05', '--runs', '2', '--warm-up', '1'];
  const mine = () => (existsSync(results) ? readdirSync(results) : []).filter((name) => name.includes('js-barging'));
  const measure = () => {
    const program = fileURLToPath(new URL('bench/programs/figures.mjs', root));
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'measure', 'semaphores-2', ...trial], {
      encoding: 'utf8',
    });
    expect(status, stderr).toBe(0);
    expect(stdout).toContain('js-barging');
    return /to measure: (\d+) intervals/.exec(stderr)?.[1];
  };
  const page = read(FIGURES['semaphores-2'].page);
  for (const name of mine()) rmSync(new URL(name, results));
  try {
    expect(measure()).toBe('6');
    expect(measure()).toBe('0');
  } finally {
    for (const name of mine()) rmSync(new URL(name, results));
  }
  expect(read(FIGURES['semaphores-2'].page)).toBe(page);
});
