/** Mutex in real threads. A conservation law closes each test: the counts of the threads add up. */
import { Arena, Mutex } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { at, Memory } from '../support/memory.js';
import { Member, team } from '../support/team.js';
import { tuned } from '../support/tuned.mjs';

const crowd = team(4, { core: true });
const words = (): Int32Array => new Int32Array(new SharedArrayBuffer(8));

describe.each([
  { bypass: 0, spin: 0, slots: 1 },
  { bypass: 1, spin: 0, slots: 2 },
  { bypass: 100, spin: 200, slots: 2 },
  { bypass: 2 ** 19, spin: 200, slots: 64 },
])('bypass $bypass, spin $spin, $slots slots', ({ bypass, spin, slots }) => {
  it('one thread at a time has the lock, with time-outs, attempts and promises among them', async () => {
    const mutex = tuned(new Mutex({ arena: new Arena({ slots }), bypass }), { spin });
    const shared = words();
    const args = { handle: mutex.handle, shared, rounds: 4000 };
    const jobs = Promise.all(crowd.map((member) => member.run<number>('mutex-contend', args)));
    let had = 0;
    const tasks = [1, 2, 3].map(async () => {
      for (let i = 0; i < 100; i++) {
        await mutex.runExclusive(() => {
          (shared[0] as number)++;
          if (shared[0] !== ++(shared[1] as number)) throw new Error('two have the lock');
          had++;
        });
      }
    });
    await Promise.all(tasks);
    const counts = await jobs;
    expect(had).toBe(300);
    expect(shared[0]).toBe(counts.reduce((sum, count) => sum + count, had));
    expect([mutex.locked, mutex.waiting]).toEqual([false, 0]);
    mutex.lock();
    mutex.unlock();
  });
});

it('threads that have had a turn report to the mutex how often it was taken meanwhile', async () => {
  const mutex = new Mutex({ arena: new Arena(), bypass: 0 });
  const args = { handle: mutex.handle, shared: words(), rounds: 20, naps: true };
  await Promise.all(crowd.map((member) => member.run<number>('mutex-contend', args)));
  const { arena, address } = mutex.handle;
  expect(new Memory(Arena.from(arena)).word(address + at('M_PACE'))).toBeGreaterThan(0);
});

describe.each([0, 1, 5, 1000])('bypass %i', (bypass) => {
  it.each([1, 3])('none of %i waiters is overtaken more often', async (waiters) => {
    const mutex = new Mutex({ arena: new Arena(), bypass });
    mutex.lock();
    const served = crowd
      .slice(0, waiters)
      .map((member) => member.run<boolean>('mutex-lock-once', { handle: mutex.handle }));
    await expect.poll(() => mutex.waiting).toBe(waiters);
    // By now all stand in line, and only this thread comes back again and again and overtakes them.
    let overtakings = -1;
    let left = waiters;
    do {
      if (mutex.waiting === left) overtakings++;
      else left = mutex.waiting;
      mutex.unlock();
    } while (mutex.tryLock() && left > 0);
    if (mutex.held) mutex.unlock();
    expect(overtakings).toBeLessThanOrEqual(bypass);
    expect(await Promise.all(served)).toEqual(served.map(() => true));
    expect([mutex.locked, mutex.waiting]).toEqual([false, 0]);
  });
});

describe('a thread that is killed', () => {
  it('as the owner: the next owner learns of it', async () => {
    const arena = new Arena();
    const [mutex, gate] = [new Mutex({ arena }), new Mutex({ arena })];
    gate.lock();
    const victim = new Member(undefined, { core: true });
    arena.watch(victim.worker);
    await victim.run('mutex-die', { handle: mutex.handle });
    expect(mutex.locked).toBe(true);
    await victim.kill();
    const held = await mutex.holdAsync();
    expect(held.ownerDied).toBe(true);
    held.unlock();
    expect(mutex.hold().ownerDied).toBe(false);
    expect(gate.waiting).toBe(0);
  });

  it('as the head and in line: those behind it move up', async () => {
    const arena = new Arena();
    const [free, mutex] = [new Mutex({ arena }), new Mutex({ arena })];
    mutex.lock();
    const victims = [new Member(undefined, { core: true }), new Member(undefined, { core: true })];
    for (const [i, victim] of victims.entries()) {
      arena.watch(victim.worker);
      const own = new Mutex({ arena });
      victim.run('mutex-die', { handle: own.handle, other: mutex.handle }).catch(() => {});
      await expect.poll(() => mutex.waiting).toBe(i + 1);
    }
    const behind = mutex.lockAsync();
    for (const victim of victims) await victim.kill();
    await expect.poll(() => mutex.waiting).toBe(1);
    mutex.unlock();
    await behind;
    mutex.unlock();
    expect([mutex.locked, mutex.waiting, free.locked]).toEqual([false, 0, false]);
  });
});
