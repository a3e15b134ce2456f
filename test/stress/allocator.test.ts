/** Threads use memory again and again at once, and some of them die. */
import { Arena, Semaphore } from 'taketurns';
import { expect, it } from 'vitest';
import { at, Memory } from '../support/memory.js';
import { roundsOf } from '../support/rounds.js';
import { shared } from '../support/shared.js';
import { Member, team, together } from '../support/team.js';
import { until } from '../support/until.js';

const crowd = team(4, { core: true });

it('threads that make and dispose of semaphores at once never get the same memory', async () => {
  // There is so much room that no thread looks in vain while another one moves objects about.
  const arena = new Arena({ objects: 4 * crowd.length });
  const made = await together<number>(crowd, 'churn-objects', { arena: arena.handle, rounds: roundsOf(10_000) });
  expect(made).toEqual(crowd.map(() => roundsOf(10_000)));
  const all = Array.from({ length: 4 * crowd.length }, () => shared(new Semaphore(1, { arena })));
  expect(() => new Semaphore(1, { arena })).toThrow(/no room for another object/);
  for (const semaphore of all) semaphore.dispose();
});

it('elements are used again, with a new epoch for each wait', async () => {
  const arena = new Arena({ threads: 8, waiters: 8 });
  const memory = new Memory(arena);
  const semaphore = new Semaphore(0, { arena });
  const { handle } = semaphore;
  const member = crowd[0] as Member;
  for (let i = 0; i < 5; i++) {
    const before = memory.elements;
    const entering = member.run('enter', { handle });
    await until(() => semaphore.waiting === 1, 'it waits');
    const during = memory.elements;
    semaphore.release();
    await entering;
    const after = memory.elements;
    const which = during.findIndex(
      (element, e) => element.state !== (before[e]?.state ?? -1) && element.state === at('WAITING'),
    );
    expect(which).toBeGreaterThanOrEqual(0);
    expect(after[which]?.epoch).toBeGreaterThan(during[which]?.epoch as bigint);
  }
});

it('so are the elements of promises, one for each change of the number of permits', async () => {
  const arena = new Arena({ threads: 8, waiters: 16 });
  const memory = new Memory(arena);
  const semaphore = new Semaphore(0, { arena });
  for (let i = 0; i < 5; i++) {
    const promises = [semaphore.acquireAsync(), semaphore.acquireAsync(2), semaphore.acquireAsync()];
    const during = memory.elements;
    expect(during.filter(({ state }) => state === at('AWAKE'))).toHaveLength(3);
    semaphore.release(4);
    await Promise.all(promises);
    for (const [e, { state, epoch }] of during.entries()) {
      if (state === at('AWAKE')) expect(memory.elements[e]?.epoch).toBeGreaterThan(epoch);
    }
  }
});

it('a disposed semaphore is not used again while another thread still has it', async () => {
  const arena = new Arena({ objects: 1 });
  const semaphore = new Semaphore(2, { arena });
  const { handle } = semaphore;
  const [user, other] = crowd as [Member, Member];
  await user.run('attempts', { handle, rounds: 1 });
  semaphore.dispose();
  expect(() => new Semaphore(1, { arena })).toThrow(/no room for another object/);
  await expect(other.run('attempts', { handle, rounds: 1 })).rejects.toMatchObject({ name: 'DisposedError' });
  expect(() => new Semaphore(1, { arena })).toThrow(/no room for another object/);
  // The worker notices the disposal, and lets go.
  await expect(user.run('attempts', { handle, rounds: 1 })).rejects.toMatchObject({ name: 'DisposedError' });
  const next = new Semaphore(1, { arena });
  expect(next.handle.address).toBe(handle.address);
  expect(next.handle.generation).toBe(handle.generation + 1);
  await expect(other.run('attempts', { handle, rounds: 1 })).rejects.toMatchObject({ name: 'DisposedError' });
  expect(next.available).toBe(1);
  next.dispose();
});

it('a thread that ends in an orderly way lets go of everything', async () => {
  const arena = new Arena({ objects: 1, threads: 2, waiters: 8 });
  for (let i = 0; i < 5; i++) {
    const semaphore = new Semaphore(2, { arena });
    const { handle } = semaphore;
    const guest = new Member(undefined, { core: true });
    expect(await guest.run('attempts', { handle, rounds: 3 })).toBe(1);
    expect(arena.threads).toBe(2);
    const late = new Member(undefined, { core: true });
    await expect(late.run('attempts', { handle, rounds: 1 })).rejects.toMatchObject({
      name: 'ArenaFullError',
      message: expect.stringContaining('threads'),
    });
    expect(await late.leave()).toBe(0);
    semaphore.dispose();
    expect(() => new Semaphore(1, { arena })).toThrow(/no room/);
    expect(await guest.leave()).toBe(0);
    expect(arena.threads).toBe(1);
  }
  new Semaphore(1, { arena }).dispose();
});

it('more threads come and go, one after another, than there is room for at once', async () => {
  const arena = new Arena({ threads: 3, waiters: 8 });
  const semaphore = new Semaphore(1, { arena, max: 2 });
  const { handle } = semaphore;
  for (let i = 0; i < 8; i++) {
    const guest = new Member(undefined, { core: true });
    semaphore.acquire();
    const entering = guest.run('enter', { handle });
    const promised = semaphore.acquireAsync();
    await until(() => semaphore.waiting === 2, 'both wait');
    semaphore.release(2);
    await Promise.all([entering, promised]);
    semaphore.release();
    await guest.leave();
    expect(arena.threads).toBe(1);
    semaphore.acquire();
    semaphore.release();
  }
  expect(semaphore.available).toBe(1);
});

it('threads that are killed while they make, dispose, acquire and release do not break the others', async () => {
  const arena = new Arena({ objects: 4096, threads: 64, waiters: 4096, slots: 2 });
  const progress = new Int32Array(new SharedArrayBuffer(4 * 32));
  const survivors = crowd
    .slice(0, 2)
    .map((member, i) => member.run<number>('live', { arena: arena.handle, progress, index: i }));
  const seen = (index: number) => Atomics.load(progress, 1 + index);
  for (let i = 2; i < 14; i++) {
    const doomed = new Member(undefined, { core: true });
    doomed.run('live', { arena: arena.handle, progress, index: i });
    await until(() => seen(i) > 20 * (i % 5), `${i} is at work`);
    await doomed.kill();
    // The others go on after that.
    const before = [seen(0), seen(1)] as [number, number];
    await Promise.race([
      until(() => seen(0) > before[0] + 50 && seen(1) > before[1] + 50, 'the survivors go on'),
      Promise.all(survivors),
    ]);
  }
  Atomics.store(progress, 0, 1);
  for (const laps of await Promise.all(survivors)) expect(laps).toBeGreaterThan(12 * 50);
  const semaphore = new Semaphore(0, { arena });
  const entering = crowd.map((member) => member.run('enter', { handle: semaphore.handle }));
  await until(() => semaphore.waiting === crowd.length, 'all wait');
  semaphore.release(crowd.length);
  await Promise.all(entering);
  semaphore.dispose();
});
