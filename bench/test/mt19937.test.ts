// Compares the generator with C++ `std::mt19937`; the C++ standard has the output for the default seed.
import { describe, expect, it } from 'vitest';
import { MT_BYTES, mtSeed, mtStep, mtStepped } from '../src/mt19937.js';

function seeded(seed?: number): Uint32Array {
  const state = new Uint32Array(new SharedArrayBuffer(MT_BYTES));
  mtSeed(state, seed);
  return state;
}

describe('mt19937', () => {
  it('starts as the reference does', () => {
    const state = seeded();
    const first = Array.from({ length: 5 }, () => mtStep(state));
    expect(first).toEqual([3499211612, 581869302, 3890346734, 3586334585, 545404204]);
  });

  it('gives 4123659995 as its 10,000th output', () => {
    const state = seeded();
    for (let i = 1; i < 10_000; i++) mtStep(state);
    expect(mtStep(state)).toBe(4123659995);
  });

  it('takes other seeds', () => {
    expect(mtStep(seeded(1))).toBe(1791095845);
    expect(mtStep(seeded(42))).toBe(1608637542);
  });

  it('detects a lost step', () => {
    const state = seeded();
    for (let steps = 0; steps < 2000; steps++) {
      expect(mtStepped(state, steps)).toBe(true);
      expect(mtStepped(state, steps + 1)).toBe(false);
      mtStep(state);
    }
  });
});
