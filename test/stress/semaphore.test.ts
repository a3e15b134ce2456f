/** Crowds of real threads on one Semaphore: order, conservation, and no waiter left behind. */
import { Arena, Semaphore } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { contest } from '../support/contest.js';
import { Memory } from '../support/memory.js';
import { team } from '../support/team.js';
import { tuned } from '../support/tuned.mjs';

const CROWD = 16;
const slots = [1, 2, 1024];
const crowd = team(CROWD, { core: true });

// A disposed object is used again only after the workers have noticed, when they use or collect it.
const small = { objects: 256, threads: 40, waiters: 512 };

describe.each([
  [1, 0],
  [2, 0],
  [1024, 0],
  [1, 200],
  [1024, 200],
])('a waiting array of %i, polling %i times', (slots, spin) => {
  const arena = new Arena({ ...small, slots });

  it.each([2, 3, CROWD])('admits %i threads in the order of their tickets', async (threads) => {
    const semaphore = tuned(new Semaphore(1, { arena }), { spin });
    const rounds = Math.ceil(6000 / threads);
    await contest(crowd.slice(0, threads), { semaphore, permits: 1, ways: ['acquire'], rounds });
    semaphore.dispose();
  });

  it.each([2, 3, 5])(
    'admits %i threads in order that come and go, so that the queue is empty at times',
    async (threads) => {
      for (const think of [200, 1000, 3000]) {
        const semaphore = tuned(new Semaphore(1, { arena }), { spin });
        await contest(crowd.slice(0, threads), {
          semaphore,
          permits: 1,
          ways: ['acquire'],
          rounds: 800,
          think,
        });
        semaphore.dispose();
      }
    },
  );

  it('admits threads, promises and attempts in one order', async () => {
    const semaphore = tuned(new Semaphore(1, { arena }), { spin });
    const score = await contest(crowd, {
      semaphore,
      permits: 1,
      ways: ['acquire', 'acquireAsync', 'tryAcquire'],
      rounds: 400,
    });
    expect(score.refusals, 'attempts refused').toBeGreaterThan(0);
    semaphore.dispose();
  });

  it.each([2, 3, CROWD])(
    'admits the promises of %i threads in order while their other promises wait elsewhere',
    async (threads) => {
      // The thread listens already when a promise begins to wait, and does not look again by itself.
      const besides = tuned(new Semaphore(0, { arena }), { spin });
      for (const think of [0, 300, 2000]) {
        const semaphore = tuned(new Semaphore(1, { arena }), { spin });
        const rounds = Math.ceil(1500 / threads);
        await contest(crowd.slice(0, threads), {
          semaphore,
          permits: 1,
          ways: ['acquireAsync'],
          rounds,
          think,
          besides,
        });
        semaphore.dispose();
      }
      besides.dispose();
    },
  );

  it('admits heavy requests in turn: any two of them exclude each other', async () => {
    const semaphore = tuned(new Semaphore(7, { arena }), { spin });
    await contest(crowd, {
      semaphore,
      permits: 7,
      from: 4,
      to: 7,
      ways: ['acquire', 'acquireAsync'],
      rounds: 400,
    });
    await contest(crowd.slice(0, 3), {
      semaphore,
      permits: 7,
      from: 4,
      to: 7,
      ways: ['acquire'],
      giving: 'pieces',
      rounds: 800,
    });
    semaphore.dispose();
  });

  it.each(['whole', 'pieces'] as const)('never has more holders than permits, given back as %s', async (giving) => {
    const semaphore = tuned(new Semaphore(5, { arena }), { spin });
    const score = await contest(crowd, {
      semaphore,
      permits: 5,
      from: 1,
      to: 5,
      ways: ['acquire', 'acquireAsync', 'tryAcquire'],
      giving,
      rounds: 400,
    });
    expect(score.mostHeld).toBe(5);
    semaphore.dispose();
  });

  it('leaves no cell of the array taken', () => {
    expect(new Memory(arena).cells).toBe(0);
  });
});

describe.each([
  ['2^31', 2n ** 31n],
  ['2^32', 2n ** 32n],
  ['2^53', 2n ** 53n],
  ['2^61', 2n ** 61n + 1000n],
])('counters that begin just below %s', (_, boundary) => {
  it.each(slots)('admit in order, slots %i', async (slots) => {
    const arena = new Arena({ ...small, slots });
    const firstTicket = boundary - 1000n;
    const semaphore = tuned(new Semaphore(1, { arena }), { firstTicket, spin: 0 });
    await contest(crowd.slice(0, 4), {
      semaphore,
      permits: 1,
      ways: ['acquire', 'acquireAsync', 'tryAcquire'],
      rounds: 2000,
    });
    expect(new Memory(arena).long(semaphore.handle.address)).toBeGreaterThan(boundary);
    semaphore.dispose();
  });

  it('admit heavy requests in order', async () => {
    const arena = new Arena({ ...small, slots: 2 });
    const firstTicket = boundary - 1000n;
    const semaphore = tuned(new Semaphore(7, { arena }), { firstTicket });
    await contest(crowd.slice(0, 4), {
      semaphore,
      permits: 7,
      from: 4,
      to: 7,
      ways: ['acquire', 'acquireAsync'],
      giving: 'pieces',
      rounds: 1000,
    });
    semaphore.dispose();
  });
});

it('keeps semaphores apart whose waiters share one bucket', async () => {
  const arena = new Arena({ ...small, slots: 1 });
  const semaphores = Array.from({ length: 4 }, (_, i) => tuned(new Semaphore(1 + (i % 2), { arena }), { spin: 0 }));
  const memory = new Memory(arena);
  let longest = 0;
  const looks = setInterval(() => {
    longest = Math.max(longest, memory.longestLook);
  }, 1);
  await Promise.all(
    semaphores.map((semaphore, i) =>
      contest(crowd.slice(i * 4, i * 4 + 4), {
        semaphore,
        permits: 1 + (i % 2),
        ways: ['acquire', 'acquireAsync'],
        rounds: 2000,
      }),
    ),
  );
  clearInterval(looks);
  expect(longest, 'more waiters than one line has room for').toBeGreaterThan(0);
  for (const semaphore of semaphores) semaphore.dispose();
});

it.each([
  [3, 100_000],
  [CROWD, 20_000],
])('never refuses an attempt of %i threads while there are as many permits', async (threads, rounds) => {
  const semaphore = new Semaphore(threads, { arena: new Arena(small) });
  const score = await contest(crowd.slice(0, threads), {
    semaphore,
    permits: threads,
    ways: ['tryAcquire'],
    rounds,
  });
  expect(score.refusals).toBe(0);
});
