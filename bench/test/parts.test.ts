// The parts of an interval: the marks of a thread, and the figures that come from them.
import { describe, expect, it } from 'vitest';
import { cells, type Results } from '../src/results.js';
import { MEASURE, PARTS, STOP } from '../src/workers/board.js';
import { settle } from '../src/workers/loop.js';

/** Returns the settled marks of a thread that noticed these phases, with its iterations before each. */
function settled(noticed: Record<number, number>): number[] {
  const marks = new Float64Array(STOP + 1).fill(-1);
  for (const [phase, iterations] of Object.entries(noticed)) marks[Number(phase)] = iterations;
  settle(marks);
  return [...marks.slice(MEASURE)];
}

describe('the parts of an interval', () => {
  it('are counted when the thread notices them', () => {
    const noticed = Object.fromEntries(Array.from({ length: PARTS + 1 }, (_, part) => [MEASURE + part, 10 * part]));
    expect(settled(noticed)).toEqual(Object.values(noticed));
  });

  it('are empty for a thread that waited through them', () => {
    const late = MEASURE + 4;
    expect(settled({ [late]: 7, [STOP]: 9 })).toEqual([7, 7, 7, 7, 7, ...Array(PARTS - 4).fill(9)]);
    expect(settled({ [STOP]: 7 })).toEqual(Array(PARTS + 1).fill(7));
    expect(settled({ [MEASURE]: 3, [STOP]: 7 })).toEqual([3, ...Array(PARTS).fill(7)]);
  });

  it('give the slowest of all runs', () => {
    const run = { row: 'Semaphore', threads: 2, round: 1, seconds: 1, cpuSeconds: 1, iterations: [10, 10] };
    const results = {
      rows: [{ name: 'Semaphore', family: 'taketurns' }],
      runs: [
        { ...run, parts: { seconds: [0.5, 0.5], iterations: [12, 8] } },
        { ...run, parts: { seconds: [0.5, 0.4], iterations: [10, 6] } },
      ],
      probes: [],
    } as unknown as Results;
    expect(cells(results)[0]?.slowestPart).toBeCloseTo(15);
    expect(cells({ ...results, runs: [run] })[0]?.slowestPart).toBeNaN();
  });
});
