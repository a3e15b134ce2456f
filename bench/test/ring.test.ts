// The ring of bare hand-overs: all members are in one thread, so none of them may have to wait.
import { describe, expect, it } from 'vitest';
import { Ring } from '../src/rows/ring.js';
import { measuredAt } from '../src/rows/row.js';
import { MOST_THREADS } from '../src/workers/board.js';

/** Makes a ring. A member that waited for a turn that has not come would block the test. */
function ring(members: number): [Ring, ...Ring[]] {
  const words = Ring.share();
  return Array.from({ length: members }, () => new Ring(words)) as [Ring, ...Ring[]];
}

describe('the ring of bare hand-overs', () => {
  it('goes round by itself with one member', () => {
    const [alone] = ring(1);
    for (let turn = 0; turn < 3; turn++) {
      alone.acquire();
      alone.release();
    }
    alone.leave();
  });

  it('goes round in the order in which members joined', () => {
    const members = ring(3);
    for (let turn = 0; turn < 7; turn++) {
      const member = members[turn % 3] as Ring;
      member.acquire();
      member.release();
    }
  });

  it('skips members that have left', () => {
    const [first, second, third] = ring(3) as [Ring, Ring, Ring];
    first.acquire();
    second.leave();
    first.release();
    third.acquire();
    third.release();
    first.acquire();
  });

  it('does not lose the baton of a leaving member, and stops when all have left', () => {
    const [first, second] = ring(2) as [Ring, Ring];
    first.leave();
    second.acquire();
    second.release();
    second.acquire();
    second.release();
    second.leave();
  });

  it('has no more places than a run may have threads', () => {
    const words = Ring.share();
    for (let member = 0; member < MOST_THREADS; member++) new Ring(words);
    expect(() => new Ring(words)).toThrow(RangeError);
  });

  it('is measured with any number of threads above one', () => {
    expect([1, 2, 64].map((threads) => measuredAt('several', threads, 64))).toEqual([false, true, true]);
    expect([1, 2, 64].map((threads) => measuredAt('most', threads, 64))).toEqual([false, false, true]);
    expect([1, 2, 64].map((threads) => measuredAt([2], threads, 64))).toEqual([false, true, false]);
    expect([1, 2, 64].map((threads) => measuredAt(undefined, threads, 64))).toEqual([true, true, true]);
  });
});
