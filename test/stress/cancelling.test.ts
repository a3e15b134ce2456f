/**
 * In crowds of real threads many cancel while others are admitted. Permits are conserved, the order of admission holds,
 * no waiter is left behind, and every tombstone is accounted for.
 */
import { Arena, Semaphore } from 'taketurns';
import { afterEach, describe, expect, it } from 'vitest';
import { at, Memory } from '../support/memory.js';
import { roundsOf } from '../support/rounds.js';
import { team, together } from '../support/team.js';
import { tuned } from '../support/tuned.mjs';
import { until } from '../support/until.js';

const CROWD = 8;
const ROUNDS = roundsOf(250);
const crowd = team(CROWD, { core: true });
const small = { objects: 256, threads: 40, waiters: 512 };

interface Score {
  readonly admissions: number;
  readonly timeOuts: number;
  readonly aborts: number;
  readonly outOfOrder: number;
  readonly tooMany: number;
  readonly closed: number;
}

interface Crush {
  readonly semaphore: Semaphore;
  readonly permits: number;
  readonly from: number;
  readonly to: number;
  readonly rounds: number;
  readonly seed: number;
}

/** All members ask and cancel. Returns the sums of their scores. */
async function crush(c: Crush, meanwhile?: () => Promise<void>): Promise<Score> {
  const { semaphore, ...rest } = c;
  const { handle } = semaphore;
  const shared = new BigInt64Array(new SharedArrayBuffer(16));
  shared[1] = new Memory(Arena.from(handle.arena)).long(handle.address + at('TICKET'));
  const exclusive = c.from * 2 > c.permits;
  const running = together<Score>(crowd, 'contend-and-cancel', { ...rest, handle, shared, exclusive });
  await meanwhile?.();
  const scores = await running;
  const sum = (key: keyof Score) => scores.reduce((total, score) => total + score[key], 0);
  expect(sum('tooMany'), 'more permits held than were made').toBe(0);
  expect(sum('outOfOrder'), 'admissions out of ticket order').toBe(0);
  expect(shared[0], 'permits still held').toBe(0n);
  return {
    admissions: sum('admissions'),
    timeOuts: sum('timeOuts'),
    aborts: sum('aborts'),
    outOfOrder: 0,
    tooMany: 0,
    closed: sum('closed'),
  };
}

/** All threads are done: every permit is free again, and no element or cell is taken. */
function expectAllBack(semaphore: Semaphore, permits: number, memory: Memory): void {
  expect(semaphore.waiting).toBe(0);
  expect(semaphore.available, 'permits at the end').toBe(permits);
  expect(memory.standing, 'waiters and tombstones').toEqual([]);
  expect(memory.cells, 'cells taken').toBe(0);
}

const boundaries: [string, bigint][] = [
  ['0', 0n],
  ['just below 2^32', 2n ** 32n - 300n],
  ['just below 2^53', 2n ** 53n - 300n],
];

describe.each([
  [1, 0],
  [2, 0],
  [1024, 0],
  [2, 200],
])('a waiting array of %i, polling %i times', (slots, spin) => {
  describe.each(boundaries)('counters that begin at %s', (_, firstTicket) => {
    const arena = new Arena({ ...small, slots });
    const memory = new Memory(arena);

    it.each([
      ['light requests for one permit', 1, 1, 1],
      ['heavy requests, of which any two exclude each other', 7, 4, 7],
      ['heavy and light requests', 5, 1, 5],
    ])('%s', async (_, permits, from, to) => {
      const semaphore = tuned(new Semaphore(permits, { arena }), { spin, firstTicket });
      const score = await crush({ semaphore, permits, from, to, rounds: ROUNDS, seed: slots + spin + to });
      expect(score.admissions + score.timeOuts + score.aborts).toBe(CROWD * ROUNDS);
      expect(score.timeOuts, 'time-outs').toBeGreaterThan(0);
      expect(score.aborts, 'aborts').toBeGreaterThan(0);
      expect(score.closed).toBe(0);
      expectAllBack(semaphore, permits, memory);
      semaphore.dispose();
    });
  });

  it('a dispose meanwhile leaves nothing behind', async () => {
    const arena = new Arena({ ...small, slots });
    const memory = new Memory(arena);
    for (let round = 1; round <= roundsOf(15); round++) {
      const semaphore = tuned(new Semaphore(3, { arena }), { spin });
      const { address } = semaphore.handle;
      const score = await crush({ semaphore, permits: 3, from: 1, to: 3, rounds: 1e9, seed: round }, async () => {
        const far = () => memory.long(address + at('GRANT')) > 300n;
        await until(far, 'they are at it');
        semaphore.dispose();
      });
      expect(score.closed, 'threads that were told').toBe(CROWD);
      expect(memory.standing, 'waiters and tombstones').toEqual([]);
      expect(memory.cells, 'cells taken').toBe(0);
    }
  });
});

describe.each([1, 2])('permits that no thread has (slots %i)', (slots) => {
  const arena = new Arena({ ...small, slots });
  const memory = new Memory(arena);
  const semaphores: Semaphore[] = [];

  afterEach(() => {
    for (const semaphore of semaphores.splice(0)) semaphore.dispose();
  });

  it('and a crowd that only cancels leave one tombstone at most, and cost no permit', async () => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0, firstTicket: 2n ** 32n - 500n });
    semaphores.push(semaphore);
    await Promise.all(
      crowd.map((member) => member.run('time-out', { handle: semaphore.handle, times: roundsOf(1000), timeout: 0.01 })),
    );
    expect(semaphore.waiting).toBe(0);
    expect(semaphore.available).toBe(0);
    expect(memory.standing.length).toBeLessThanOrEqual(1);
    semaphore.release(3);
    expectAllBack(semaphore, 3, memory);
  });

  it('and a crowd that cancels: one waiter without a time-out is admitted in the end', async () => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
    semaphores.push(semaphore);
    const [patient, ...impatient] = crowd;
    const { handle } = semaphore;
    const admitted = patient?.run('enter', { handle, permits: [5] });
    await until(() => semaphore.waiting >= 1, 'it stands in line');
    const giving = impatient.map((member) => member.run('time-out', { handle, times: roundsOf(500), timeout: 0.01 }));
    for (let i = 0; i < 5; i++) {
      const before = memory.long(handle.address + at('TICKET'));
      const others = () => memory.long(handle.address + at('TICKET')) !== before;
      await Promise.race([until(others, 'others come and go'), Promise.all(giving)]);
      semaphore.release();
    }
    await admitted;
    await Promise.all(giving);
    expect(semaphore.available).toBe(0);
    expect(memory.standing.length).toBeLessThanOrEqual(1);
    semaphore.release();
    expectAllBack(semaphore, 1, memory);
  });
});
