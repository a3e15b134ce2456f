/** How long waits have lasted for the reporter, while somebody sets the clock (src/report/ages.ts). */
import { Arena, Semaphore } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { lookAt } from '../../src/look/look.js';
import { Ages } from '../../src/report/ages.js';
import { reportOf } from '../../src/report/report.js';

const HOUR = 3_600_000;

/** Two clocks: the second one nobody sets. */
function clocks() {
  const clock = { time: 1_700_000_000_000, own: 5000 };
  const ages = new Ages(
    () => clock.time,
    () => clock.own,
  );
  /** Goes on by so many milliseconds, and begins a round. */
  const pass = (milliseconds: number, set = 0) => {
    clock.time += milliseconds + set;
    clock.own += milliseconds;
    ages.begin();
  };
  /** What a thread writes that begins to wait now. */
  const begin = () => clock.time | 0;
  return { ages, pass, begin };
}

describe.each([
  ['back', -HOUR],
  ['forward', HOUR],
])('after the clock was set %s', (_, set) => {
  it('a wait that was seen before has lasted as long as it has', () => {
    const { ages, pass, begin } = clocks();
    const since = begin();
    pass(300);
    expect(ages.of(since)).toBe(300);
    pass(1000, set);
    expect(ages.of(since)).toBe(1300);
    for (let i = 1; i < 10; i++) {
      pass(1000);
      expect(ages.of(since)).toBe(1300 + i * 1000);
    }
  });

  it('a wait that was not seen before has not lasted longer than a round', () => {
    const { ages, pass, begin } = clocks();
    pass(1000);
    const since = begin();
    pass(1000, set);
    expect(ages.of(since)).toBeLessThanOrEqual(1000);
    pass(1000);
    expect(ages.of(since)).toBeLessThanOrEqual(2000);
    const next = begin();
    pass(1000);
    expect(ages.of(next)).toBe(1000);
  });
});

describe('while nobody sets the clock', () => {
  it('a wait is as old as the clock says, also in the first round, and if a round has missed it', () => {
    const { ages, pass, begin } = clocks();
    const since = begin();
    pass(40_000);
    expect([ages.of(since), ages.of(since), ages.of(0)]).toEqual([40_000, 40_000, 0]);
    pass(1000);
    pass(1000);
    expect(ages.of(since)).toBe(42_000);
  });

  it('no wait is younger than nothing', () => {
    const { ages, pass, begin } = clocks();
    const since = begin();
    pass(-1);
    expect(ages.of(since)).toBe(0);
  });

  it('the report asks for the age of each wait', () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    semaphore.acquireAsync().catch(() => {});
    const { objects } = reportOf(() => [lookAt(arena.handle.memory as WebAssembly.Memory, () => HOUR, 10)], 1000, 10);
    expect(objects[0]?.waiters).toMatchObject([{ waited: HOUR }]);
    semaphore.dispose();
  });
});
