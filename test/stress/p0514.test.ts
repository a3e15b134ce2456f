/**
 * In crowds of real threads, takers of a counting semaphore want random numbers, and many give up. No more is taken than
 * there is, each that waits for ever gets what it wants, and at the end the value is what it was at first.
 */
import { Arena } from 'taketurns';
import { CountingSemaphore } from 'taketurns/p0514';
import { describe, expect, it } from 'vitest';
import { at, Memory } from '../support/memory.js';
import { roundsOf } from '../support/rounds.js';
import { team, together } from '../support/team.js';

const crowd = team(6);
const PERMITS = 5;
const ROUNDS = roundsOf(300);

interface Score {
  readonly taken: number;
  readonly failed: number;
  readonly tooMany: number;
}

describe.each([
  ['blocking for ever', ['wait']],
  ['promises for ever', ['waitAsync']],
  ['blocking for a time', ['wait', 'tryWaitFor', 'tryWaitUntil', 'tryWait']],
  ['promises for a time', ['waitAsync', 'tryWaitForAsync', 'tryWaitUntilAsync', 'tryWait']],
  ['every way', ['wait', 'tryWaitFor', 'tryWaitUntil', 'tryWait', 'waitAsync', 'tryWaitForAsync']],
])('several at a time, %s', (_, ways) => {
  it.each([0, 200])('polling %i times: nothing is lost, and nothing is taken twice', async (spin) => {
    const semaphore = new CountingSemaphore(PERMITS, { spin });
    const { handle } = semaphore;
    const memory = new Memory(Arena.from(handle.arena));
    const shared = new Int32Array(new SharedArrayBuffer(4));
    const scores = await together<Score>(crowd, 'take-several', {
      handle,
      shared,
      ways,
      rounds: ROUNDS,
      permits: PERMITS,
    });
    const sum = (key: keyof Score) => scores.reduce((total, score) => total + score[key], 0);
    expect(sum('tooMany')).toBe(0);
    expect(sum('taken') + sum('failed')).toBe(crowd.length * ROUNDS);
    if (!ways.some((way) => way.startsWith('try'))) expect(sum('failed')).toBe(0);
    expect(Atomics.load(shared, 0)).toBe(0);
    expect(memory.long(handle.address + at('O_COUNTER')), 'waiting, and the value').toBe(BigInt(PERMITS));
    expect(memory.long(handle.address + at('TICKET')), 'permits in the queue').toBe(
      memory.long(handle.address + at('GRANT')),
    );
    expect(memory.standing, 'waiters and tombstones').toEqual([]);
    expect(semaphore.tryWait(PERMITS)).toBe(true);
    semaphore.dispose();
  });
});
