/** The locks of the papers, in crowds of real threads. */
import { Arena, type DisposedError } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { LOCKS, ON_CHAINS } from '../support/locks.js';
import { at, Memory } from '../support/memory.js';
import { roundsOf } from '../support/rounds.js';
import { type Settling, watch } from '../support/settled.js';
import { team, together } from '../support/team.js';
import { until } from '../support/until.js';

const CROWD = 16;
const crowd = team(CROWD);
const disposer = team(1);
const sizes = { objects: 64, threads: 40, waiters: 512 };

/** Each thread counts to a part of `whole` (rounds.ts) in words that only the lock guards. */
async function contest(
  lock: InstanceType<(typeof LOCKS)[number]['Class']>,
  threads: number,
  whole: number,
  more: { trying?: boolean; think?: number } = {},
): Promise<void> {
  const rounds = roundsOf(whole);
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const members = crowd.slice(0, threads);
  const inside = await together<number>(members, 'lock', { handle: lock.handle, shared, rounds, ...more });
  expect(inside, 'another inside').toEqual(members.map(() => 0));
  expect([...shared], 'rounds').toEqual([threads * rounds, threads * rounds]);
  expect(lock.tryLock(), 'free at the end').toBe(true);
  lock.unlock();
}

/** Lets one thread after the other come to a lock that is held. */
async function lineUp(
  memory: Memory,
  handle: { readonly kind: string; readonly address: number },
  args: (entry: number) => object,
): Promise<Settling<number>[]> {
  const waits: Settling<number>[] = [];
  for (const [entry, member] of crowd.entries()) {
    const word = memory.long(handle.address + at('TICKET'));
    waits.push(watch(member.run('pass-lock', args(entry)), entry));
    // The first thread that parks on a TtsLock sets the bit for all.
    if (entry > 0 && handle.kind === 'TtsLock') continue;
    await until(() => memory.long(handle.address + at('TICKET')) !== word, `${entry} has come`);
  }
  return waits;
}

describe.each([...LOCKS, ON_CHAINS])('$kind, by each policy', ({ Class }) => {
  it.each(['spin', 'yield', 'park'] as const)('%s', async (policy) => {
    // A polling thread keeps others from running where there are few processors.
    await contest(new Class({ arena: new Arena(sizes), policy }), 2, policy === 'spin' ? 100 : 400);
  });
});

describe.each([...LOCKS, ON_CHAINS])('$kind', ({ Class, order }) => {
  describe.each([0, 100])('polling %i times', (spin) => {
    it.each([2, 3, CROWD])('is held by one of %i threads at a time', async (threads) => {
      const lock = new Class({ arena: new Arena(sizes), spin });
      await contest(lock, threads, Math.ceil(6000 / threads));
      await contest(lock, threads, Math.ceil(6000 / threads), { trying: true, think: 500 });
    });

    it.each(['its owner', 'another'])('rejects all waiters on a dispose by %s', async (who) => {
      const arena = new Arena(sizes);
      const lock = new Class({ arena, spin });
      const memory = new Memory(arena);
      const { handle } = lock;
      lock.lock();
      const waits = await lineUp(memory, handle, (i) => ({ handle, entry: i }));
      const same = Class.from(handle);
      if (who === 'its owner') lock.dispose();
      else {
        await disposer[0]?.run('dispose', { handle });
        lock.unlock();
      }
      await until(() => waits.every((wait) => wait.state !== 'pending'), 'all have been told');
      for (const wait of waits) expect(wait.error as DisposedError).toMatchObject({ name: 'DisposedError' });
      for (const one of [lock, same]) expect(() => one.lock()).toThrow('has been disposed of');
      await until(
        () => memory.long(handle.address + at('O_LIFE')) >> 32n === BigInt(handle.generation + 1),
        'all let go',
      );
    });
  });

  if (order === undefined) return;
  it.each([0, 100])(`admits the thread that came ${order} first (polling %i times)`, async (spin) => {
    const arena = new Arena(sizes);
    const memory = new Memory(arena);
    const lock = new Class({ arena, spin });
    const { handle } = lock;
    const log = new Int32Array(new SharedArrayBuffer(4 * (CROWD + 1)));
    lock.lock();
    await lineUp(memory, handle, (entry) => ({ handle, log, entry }));
    lock.unlock();
    await until(() => Atomics.load(log, 0) === CROWD, 'all were in');
    const come = Array.from({ length: CROWD }, (_, i) => i);
    expect([...log.subarray(1)]).toEqual(order === 'first come' ? come : come.toReversed());
  });
});
