/** Many threads open names at once. */
import { Arena, Semaphore } from 'taketurns';
import { expect, it } from 'vitest';
import { recruit } from '../support/dying.js';
import { roundsOf } from '../support/rounds.js';
import { team, together } from '../support/team.js';

const CROWD = 8;
const crowd = team(CROWD, { core: true });

it('threads that open a name at once get one semaphore', async () => {
  const names = Array.from({ length: 300 }, (_, i) => `one of ${i}`);
  const arena = new Arena({ objects: names.length * CROWD });
  const results = await together<{ taken: number; addresses: number[] }>(crowd, 'open-names', {
    arena: arena.handle,
    names,
    permits: CROWD,
  });
  for (const { addresses } of results) expect(addresses).toEqual(results[0]?.addresses);
  expect(new Set(results[0]?.addresses).size).toBe(names.length);
  for (const { taken } of results) expect(taken, 'permits taken, one of each').toBe(names.length);
  for (const name of names) {
    const semaphore = Semaphore.open(name, CROWD, { arena });
    expect(semaphore.available, `${name}: permits left`).toBe(0);
    semaphore.dispose();
  }
});

it.each([2, 300])('%i names that many threads open and dispose of at once', async (count) => {
  const arena = new Arena({ objects: 4 * CROWD });
  const names = Array.from({ length: count }, (_, i) => `one of ${i}`);
  const results = await together<{ used: number; closed: number }>(crowd, 'churn-names', {
    arena: arena.handle,
    names,
    permits: CROWD,
    rounds: roundsOf(2000),
  });
  const used = results.reduce((sum, result) => sum + result.used, 0);
  const closed = results.reduce((sum, result) => sum + result.closed, 0);
  expect(used + closed).toBe(CROWD * roundsOf(2000));
  expect(used).toBeGreaterThan(0);
  // Nothing has leaked: the arena still has room for all of its objects.
  for (const name of names) Semaphore.open(name, CROWD, { arena }).dispose();
  const all = Array.from({ length: 4 * CROWD }, () => new Semaphore(1, { arena }));
  for (const semaphore of all) semaphore.dispose();
});

it.each([1, 2, 300])(
  '%i names that many threads open and close at once: a name has one lock at a time',
  async (count) => {
    const arena = new Arena({ objects: 3 * CROWD });
    const names = Array.from({ length: count }, (_, i) => `one of ${i}`);
    const inside = new SharedArrayBuffer(4 * count);
    const overlaps = await together<number>(crowd, 'open-and-close', {
      arena: arena.handle,
      names,
      inside,
      rounds: roundsOf(4000),
    });
    expect(overlaps).toEqual(overlaps.map(() => 0));
    expect(arena.stats().objects.used).toBe(0);
    expect(() => Semaphore.open('one of 0', undefined, { arena })).toThrow(/nothing of that name/);
  },
);

it('names that threads open and close while others of them are killed: nothing is left of the dead', async () => {
  const arena = new Arena({ objects: 3 * CROWD });
  const names = ['a', 'b', 'c'];
  const given = { arena: arena.handle, names, inside: new SharedArrayBuffer(4 * names.length) };
  const barrier = () => new Int32Array(new SharedArrayBuffer(4));
  for (let round = 0; round < 4; round++) {
    const victims = [recruit(arena), recruit(arena)];
    for (const victim of victims)
      victim.run('open-and-close', { ...given, rounds: 1e9, index: 0, barrier: barrier(), parties: 1 }).catch(() => {});
    const rest = together<number>(crowd, 'open-and-close', { ...given, rounds: roundsOf(2000) });
    await new Promise((resolve) => setTimeout(resolve, 20 * round));
    await Promise.all(victims.map((victim) => victim.kill()));
    await rest;
    expect(arena.stats().objects.used).toBe(0);
  }
});
