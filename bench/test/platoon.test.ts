// The log of the platoon, and the counts that come from it.
import { describe, expect, it } from 'vitest';
import { letIn, PlatoonLog, TracedLock } from '../src/rows/platoon.js';
import { BANDS, bypassBand } from '../src/workers/board.js';

describe('platoon log', () => {
  it('counts the threads let in: a platoon at a time, and only threads that have arrived', () => {
    // The limit is 3: the fourth thread waits until the third has gone.
    const counts = [
      [1, 0],
      [3, 0],
      [5, 0],
      [5, 1],
      [5, 2],
      [5, 3],
      [5, 5],
      [9, 5],
      [9, 6],
    ] as const;
    expect(counts.map(([arrivals, departures]) => letIn(arrivals, departures, 3))).toEqual([1, 3, 3, 2, 1, 2, 0, 1, 3]);
  });

  it('keeps the latest events up to a time, in their order', () => {
    const log = new PlatoonLog();
    const other = new PlatoonLog(log.memory);
    for (let now = 1; now <= 20_000; now++) (now % 2 === 1 ? log : other).arrival(now);
    const { milliseconds, inside } = log.before(19_990, 5, 30_000);
    expect(milliseconds).toEqual([0, 1, 2, 3, 4]);
    expect(inside).toEqual([19_986, 19_987, 19_988, 19_989, 19_990]);
  });

  it('returns times that never decrease', () => {
    const log = new PlatoonLog();
    for (const now of [10, 12, 11, 13]) log.arrival(now);
    expect(log.before(100, 10, 2).milliseconds).toEqual([0, 2, 2, 3]);
    expect(new PlatoonLog().before(100, 10, 2)).toEqual({ milliseconds: [], inside: [] });
  });

  it('logs before it arrives and before it departs', () => {
    const calls: string[] = [];
    const log = new PlatoonLog();
    const lock = new TracedLock(
      { arrive: () => calls.push('arrive'), depart: () => calls.push('depart') },
      { lock: () => calls.push('lock'), unlock: () => calls.push('unlock') },
      log,
      () => calls.push('clock'),
    );
    lock.lock();
    lock.unlock();
    expect(calls).toEqual(['clock', 'arrive', 'lock', 'unlock', 'clock', 'depart']);
    expect(log.before(100, 10, 5).inside).toEqual([1, 0]);
  });
});

describe('bands of bypass', () => {
  it('are decades, the last without end', () => {
    expect([0, 1, 9, 10, 99, 100, 999, 1000, 99_999, 100_000, 1e9].map(bypassBand)).toEqual([
      0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 6,
    ]);
    expect(bypassBand(1e9)).toBe(BANDS - 1);
  });
});
