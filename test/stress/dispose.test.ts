/** Dispose while others wait, come and go: every waiter is rejected, and no thread is left behind. */
import { Arena, DisposedError, Semaphore } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { Memory } from '../support/memory.js';
import { roundsOf } from '../support/rounds.js';
import { watch } from '../support/settled.js';
import { team, together } from '../support/team.js';
import { tuned } from '../support/tuned.mjs';
import { until } from '../support/until.js';

const CROWD = 16;
const crowd = team(CROWD, { core: true });
const told = { name: 'DisposedError' };

describe.each([1, 1024])('a waiting array of %i', (slots) => {
  const arena = new Arena({ objects: 8, threads: 40, waiters: 512, slots });

  it.each(['here', 'in a worker'])(
    'disposed of %s, it rejects parked threads and promises, here and in workers',
    async (where) => {
      const semaphore = new Semaphore(0, { arena });
      const other = new Semaphore(0, { arena });
      const { handle } = semaphore;
      const parked = crowd
        .slice(0, 6)
        .map((member, i) => watch(member.run('enter', { handle, permits: [1 + (i % 3)] }), i));
      const there = crowd.slice(6, 12).map((member, i) => watch(member.run('enter', { handle, async: true }), i));
      const here = Array.from({ length: 50 }, (_, i) => watch(semaphore.acquireAsync(1 + (i % 3)), i));
      const stranger = crowd[12]?.run('enter', { handle: other.handle });
      const promise = watch(other.acquireAsync(), 0);
      await until(() => semaphore.waiting === 62 && other.waiting === 2, 'all wait');

      if (where === 'here') semaphore.dispose();
      else await crowd[13]?.run('dispose', { handle });

      const all = [...parked, ...there, ...here];
      await until(() => all.every((one) => one.state === 'rejected'), 'all have been told');
      for (const { error } of all) expect(error).toMatchObject(told);
      for (const { error } of here) expect(error).toBeInstanceOf(DisposedError);
      expect(() => semaphore.acquire()).toThrow(DisposedError);
      expect(() => semaphore.tryAcquire()).toThrow(DisposedError);
      await expect(semaphore.acquireAsync()).rejects.toBeInstanceOf(DisposedError);
      semaphore.release();

      // The waiters of another semaphore have noticed nothing.
      expect(other.waiting).toBe(2);
      other.release(2);
      await stranger;
      await until(() => promise.state === 'fulfilled', 'the other promise is fulfilled');
      other.dispose();
    },
  );

  it('leaves nothing behind', async () => {
    const memory = new Memory(arena);
    await until(() => memory.cells === 0, 'no cell is taken');
    expect(memory.standing).toEqual([]);
  });

  it('reaches threads that are just coming and going', async () => {
    for (let round = 0; round < roundsOf(40); round++) {
      const semaphore = tuned(new Semaphore(1 + (round % 3), { arena }), { spin: (round % 2) * 200 });
      const { handle } = semaphore;
      const count = new Int32Array(new SharedArrayBuffer(4));
      const laps = together<string>(crowd, 'until-closed', { handle, count });
      await until(() => Atomics.load(count, 0) > 100 * (round % 4), 'they are at it');
      semaphore.dispose();
      expect(await laps).toEqual(crowd.map(() => 'DisposedError'));
    }
    // Every thread has let go each time, or the eight objects would not have sufficed.
    expect(new Memory(arena).cells).toBe(0);
  });
});

it.each(['acquire', 'acquireAsync'])('dispose and %s at the very same moment: the request is rejected', async (how) => {
  const arena = new Arena({ objects: 8, threads: 8, waiters: 16 });
  const rounds = roundsOf(20_000);
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const told = await Promise.all([
    crowd[0]?.run('meet-and-dispose', { arena: arena.handle, rounds, shared }),
    crowd[1]?.run<number>('meet-and-wait', { arena: arena.handle, rounds, shared, how }),
  ]);
  expect(told[1]).toBe(rounds);
});

it('a dispose by all threads at once happens once', async () => {
  const arena = new Arena({ objects: 1 });
  for (let round = 0; round < roundsOf(50); round++) {
    const semaphore = new Semaphore(1, { arena });
    const { handle } = semaphore;
    await together(crowd.slice(0, 4), 'attach-then', { handle, method: 'dispose' });
    semaphore.dispose();
    semaphore.dispose();
  }
  new Semaphore(1, { arena }).dispose();
});
