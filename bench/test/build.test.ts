/** The digest of a build covers the code that is measured and that measures, and nothing else. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
// The places of the built files count from the module, so the test takes the built one.
import { build, measured } from '../dist/build.js';

it('covers the library, the loops, the rows, the native rows and the versions of the peers', () => {
  const { files, peers } = measured();
  const names = [...files.keys()];
  for (const name of [
    'dist/node/core.cjs',
    'dist/node/algorithms.cjs',
    'dist/node/counters.cjs',
    'dist/node/p0514.cjs',
    'bench/dist/workers/loop.js',
    'bench/dist/rows/locks.js',
    'bench/dist/pairs/timer.js',
    'bench/build/floor.wasm',
    'bench/native/capacitor.hpp',
  ])
    expect(names).toContain(name);
  expect(names.filter((name) => /\/report\/|channel\.cjs|keyed\.cjs|\.map$/.test(name))).toEqual([]);
  expect([...peers]).toEqual(expect.arrayContaining(['async-mutex', 'multithreading']));
});

it('is another if one of the files is another', () => {
  const whole = build();
  expect(whole).toMatch(/^[\da-f]{16}$/);
  for (const changed of [
    'dist/node/core.cjs',
    'dist/node/algorithms.cjs',
    'bench/dist/workers/loop.js',
    'bench/native/work.cpp',
  ])
    expect(build((file, name) => (name === changed ? 'another' : readFileSync(file)))).not.toBe(whole);
  expect(build()).toBe(whole);
});
