/** The thread measures for how many pauses its waiters poll, and reports it to the core. */
import { describe, expect, it } from 'vitest';
import type { Core } from '../../src/border/core.js';
import { PollTime } from '../../src/runtime/poll-time.js';

/** Makes a core on whose clock a pause takes so many nanoseconds, and which records the reports. */
function core(nanoseconds: () => number) {
  let now = 0;
  const told: [number, number][] = [];
  const fake = {
    spend: (pauses: number) => {
      now += (pauses * nanoseconds()) / 1e6;
    },
    setAwake: (pauses: number, near: number) => told.push([pauses, near]),
  };
  const pollTime = (processors: number): PollTime => new PollTime(fake as unknown as Core, processors, () => now);
  /** Returns what is told after the first measurement. */
  const measured = (processors: number): [number, number] | undefined => {
    pollTime(processors).waits();
    return told.at(-1);
  };
  return { pollTime, measured, told };
}

describe('the time that a waiter polls', () => {
  it.each([
    [10, 5000],
    [25, 2000],
  ])('is 50 microseconds, with pauses of %i nanoseconds', (nanoseconds, pauses) => {
    const [told = 0] = core(() => nanoseconds).measured(4) ?? [];
    expect(told).toBeGreaterThanOrEqual(pauses);
    expect(told).toBeLessThanOrEqual(pauses + 1);
  });

  it('is measured when the thread first waits or asks for it, and is a usual time until then', () => {
    let samples = 0;
    const { pollTime, told } = core(() => {
      samples++;
      return 10;
    });
    const one = pollTime(4);
    expect([told, samples]).toEqual([[[Math.ceil(50_000 / 12), 4]], 0]);
    expect(one.pauses).toBeGreaterThanOrEqual(5000);
    expect([told.at(-1), samples]).toEqual([[one.pauses, 4], 3]);
  });

  it('is taken from the quickest sample, since a thread may be interrupted in the others', () => {
    let sample = 0;
    const { measured } = core(() => (sample++ === 1 ? 10 : 10_000));
    expect(measured(4)?.[0]).toBeLessThanOrEqual(5001);
  });

  it.each([
    ['stands still', 0, 50_000 / 12],
    ['is quicker than any processor', 1, 50_000 / 4],
    ['is too coarse', 1e6, 50_000 / 100],
  ])('is bounded if the clock %s', (_, nanoseconds, pauses) => {
    expect(core(() => nanoseconds).measured(4)?.[0]).toBe(Math.ceil(pauses));
  });

  it('is zero with one processor', () => {
    const { measured, told } = core(() => 10);
    measured(1);
    expect(told).toEqual([
      [0, 2],
      [0, 2],
    ]);
  });

  it.each([
    [2, 2],
    [3, 3],
    [16, 16],
    [32, 32],
    [64, 32],
  ])('applies, with %i processors, to the head and %i waiters after it', (processors, near) => {
    const { pollTime, told } = core(() => 10);
    pollTime(processors);
    expect(told[0]?.[1]).toBe(near);
  });

  it('is measured again each time that the number of waits has doubled, and then every 1,024', () => {
    const { pollTime, told } = core(() => 10);
    const one = pollTime(2);
    const at: number[] = [];
    for (let waits = 1; waits <= 4096; waits++) {
      const before = told.length;
      one.waits();
      if (told.length > before) at.push(waits);
    }
    expect(at).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3072, 4096]);
  });
});

describe('the time since a turn began', () => {
  it('is told in microseconds, as far as the core can be told of it', () => {
    let now = 100;
    const pollTime = new PollTime({ spend: () => {}, setAwake: () => {} } as unknown as Core, 4, () => now);
    pollTime.turnBegins();
    now += 2.5;
    expect(pollTime.sinceTurn).toBe(2500);
    now += 1e9;
    expect(pollTime.sinceTurn).toBe(2 ** 30);
  });
});
