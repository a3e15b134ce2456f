// How the binary of the native rows is built, and that its semaphores count their permits.
import { describe, expect, it } from 'vitest';
import { allInCi } from '../../test/support/rounds.js';
import { buildNative, flagsFor, nativeContention, nativePermits, unitsOf } from '../src/native.js';
import { runJson } from '../src/program.js';
import { native } from '../src/rows/row.js';
import { PAPER_SEMAPHORES, SEMAPHORES_BY_NAME } from '../src/rows/semaphores.js';

it('uses the atomic instructions of the processor on ARM, as the paper on capacitors does', () => {
  expect(flagsFor('arm64')).toEqual([...flagsFor('x64'), '-mcpu=native']);
});

it('compiles the reference implementation of P0514 too, if a variable names it, and only then', () => {
  const sources = ['a.cpp', 'a.hpp', 'b.cpp'];
  expect(unitsOf(sources, undefined)).toEqual([
    ['a.cpp', []],
    ['b.cpp', []],
  ]);
  const header = '-DTAKETURNS_P0514_REFERENCE="/r/include/semaphore"';
  expect(unitsOf(sources, '/r')).toEqual([
    ['a.cpp', [header]],
    ['b.cpp', [header]],
    ['/r/lib/semaphore.cpp', ['-std=c++14', '-I/r/include']],
  ]);
});

describe('the semaphores in C++', () => {
  /** The others have one permit, or are of the standard library. */
  const COUNTING = /-futex$|^p0514|^sem_t|^benaphore/;
  const rows = [...PAPER_SEMAPHORES, ...SEMAPHORES_BY_NAME].flatMap((row) => (row.kind === 'native' ? [row] : []));

  it.each(rows.filter(({ name }) => COUNTING.test(name) && !name.startsWith('lanes')).map((row) => [row.name, row]))(
    'let in no more than they have permits, and lose none: %s',
    { timeout: 60_000 },
    async (_, row) => {
      const built = await buildNative();
      if (!('binary' in built)) return expect(built.missing).toMatch('compiler');
      for (const permits of [1, 4]) {
        const most = await nativePermits(built.binary, row, permits, 5, 100);
        expect(most).toBeGreaterThan(0);
        expect(most).toBeLessThanOrEqual(permits);
      }
    },
  );

  it.each(allInCi(rows).map((row) => [row.name, row]))(
    'exclude each other: %s',
    { timeout: 60_000 },
    async (_, row) => {
      const built = await buildNative();
      if (!('binary' in built)) return expect(built.missing).toMatch('compiler');
      // The binary exits with an error if a step of the common generator is lost.
      const { iterations } = await nativeContention(built.binary, 'semabench', row, 3, 0.1, false);
      expect(iterations).toHaveLength(3);
    },
  );

  it('count the context switches of waiters that park at once', async () => {
    const built = await buildNative();
    if (!('binary' in built)) return expect(built.missing).toMatch('compiler');
    const row = native('twa-futex', 'twa-futex', ['--spin', '0']);
    const { contextSwitches } = await nativeContention(built.binary, 'semabench', row, 4, 0.1, false);
    expect(contextSwitches).toBeGreaterThan(0);
  });

  it.each(['futex-one-word', 'futex-word-each'])(
    'let the kernel look at a word that no thread waits for: %s',
    async (name) => {
      const built = await buildNative();
      if (!('binary' in built)) return expect(built.missing).toMatch('compiler');
      const args = ['sync', name, '--threads', '2', '--seconds', '0.05'];
      expect((await runJson<{ perSecond: number }>(built.binary, args, 60_000)).perSecond).toBeGreaterThan(0);
    },
  );

  it('refuse what they do not have', async () => {
    const built = await buildNative();
    if (!('binary' in built)) return expect(built.missing).toMatch('compiler');
    const run = (row: ReturnType<typeof native>) => nativePermits(built.binary, row, 2, 2, 2);
    await expect(run(native('tts-futex'))).rejects.toThrow('tts-futex always has one permit');
    await expect(run(native('sem_t', 'sem_t', ['--pause', 'yield']))).rejects.toThrow('sem_t has no --pause');
    await expect(run(native('twa-futex', 'twa-futex', ['--pause', 'nap']))).rejects.toThrow(
      "--pause takes usual, yield, or on x86 lfence, not 'nap'",
    );
  });
});
