/** Permits that are drained, added and taken away, while others wait and hold. */
import { Arena, DisposedError, Semaphore } from 'taketurns';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { dieHolding, park } from '../support/dying.js';
import { failure } from '../support/failure.js';
import { Memory } from '../support/memory.js';
import { Member, team } from '../support/team.js';
import { tuned } from '../support/tuned.mjs';
import { turn, until } from '../support/until.js';

const crowd = team(2, { core: true });
const [member, other] = [() => crowd[0] as Member, () => crowd[1] as Member];

afterEach(() => {
  vi.restoreAllMocks();
});

describe('drain', () => {
  it('takes all that is free, and answers how many', () => {
    const semaphore = new Semaphore(5);
    semaphore.acquire(2);
    expect(semaphore.drain()).toBe(3);
    expect(semaphore.available).toBe(0);
    expect(semaphore.drain()).toBe(0);
    semaphore.release(5);
    expect(semaphore.drain()).toBe(5);
  });

  it('takes nothing while a request waits, even for more than is free', async () => {
    const semaphore = new Semaphore(2, { max: 3 });
    const waits = semaphore.acquireAsync(3);
    expect(semaphore.drain()).toBe(0);
    semaphore.release();
    await waits;
  });

  it('takes 2,147,483,647 permits', () => {
    const most = 2 ** 31 - 1;
    const semaphore = new Semaphore(most);
    expect(semaphore.drain()).toBe(most);
    expect(semaphore.available).toBe(0);
  });

  it('takes no more than 2,147,483,647 while a release has made more, and is about to take them back', () => {
    const arena = new Arena();
    const semaphore = new Semaphore(2 ** 31 - 1, { arena });
    new Memory(arena).beginRelease(semaphore, 2);
    expect(semaphore.drain()).toBe(2 ** 31 - 1);
    expect(semaphore.available).toBe(2);
  });

  it('is recorded by a robust semaphore, and learns of a death', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(3, { arena, robust: true });
    await dieHolding(arena, semaphore);
    const deaths: number[] = [];
    semaphore.onOwnerDied = (died) => deaths.push(died);
    expect(semaphore.drain()).toBe(3);
    expect(deaths).toEqual([1]);
    expect(semaphore.inspect()).toMatchObject({ out: 3, holders: [{ thread: arena.thread.thread, permits: 3 }] });
    semaphore.release(3);
    expect(semaphore.drain()).toBe(3);
    expect(deaths).toEqual([1]);
  });

  it('throws after dispose', () => {
    const semaphore = new Semaphore(1);
    Semaphore.from(semaphore.handle).dispose();
    expect(() => semaphore.drain()).toThrow(DisposedError);
    expect(() => semaphore.drain()).toThrow(DisposedError);
  });
});

describe('add and reduce', () => {
  it('change how many permits exist, and inspect says so', () => {
    const semaphore = new Semaphore(3, { max: 5 });
    semaphore.add(2);
    expect(semaphore.inspect()).toMatchObject({ permits: 3, added: 2, available: 5, out: 0 });
    semaphore.acquire(2);
    semaphore.reduce(4);
    expect(semaphore.inspect()).toMatchObject({ permits: 3, added: -2, available: 0, out: 2, waiting: 0 });
    semaphore.release();
    expect(semaphore.inspect()).toMatchObject({ available: 0, out: 1 });
    semaphore.release();
    expect(semaphore.inspect()).toMatchObject({ available: 1, out: 0 });
    semaphore.reduce();
    semaphore.add();
    expect(semaphore.available).toBe(1);
  });

  it('reduce takes what is not there from those who release, after those who wait already', async () => {
    const semaphore = new Semaphore(1, { max: 2 });
    semaphore.acquire();
    const before = await park(semaphore, member());
    semaphore.reduce();
    const after = await park(semaphore, other());
    const promise = semaphore.acquireAsync();
    expect(semaphore.waiting).toBe(3);
    semaphore.release();
    await before.entered;
    semaphore.release();
    await turn();
    expect([semaphore.waiting, semaphore.tryAcquire()]).toEqual([2, false]);
    semaphore.add(2);
    await Promise.all([after.entered, promise]);
    expect(semaphore.inspect()).toMatchObject({ permits: 1, added: 1, available: 0, out: 2 });
  });

  it('a request behind permits that are taken away may time out, and those behind it move up', async () => {
    const semaphore = new Semaphore(0);
    semaphore.reduce(2);
    expect((await failure(() => semaphore.acquire(1, { timeout: 1 }))).name).toBe('TimeoutError');
    const late = semaphore.acquireAsync(1, { timeout: 1 });
    const behind = semaphore.acquireAsync();
    await failure(() => late);
    semaphore.add(2);
    await turn();
    expect(semaphore.waiting).toBe(1);
    semaphore.release();
    await behind;
    expect(semaphore.inspect()).toMatchObject({ waiting: 0, cancelled: 0, available: 0, added: 0 });
  });

  it('add wakes a thread that sleeps, and no other call of this thread is needed', async () => {
    const semaphore = tuned(new Semaphore(0), { spin: 0 });
    const log = new Int32Array(new SharedArrayBuffer(8));
    const entered = member().run('enter', { handle: semaphore.handle, permits: [2], log, entry: 1 });
    await until(() => semaphore.inspect().longestWait > 0, 'it has come so far');
    semaphore.add(2);
    for (let i = 0; i < 2000 && Atomics.load(log, 0) === 0; i++) Atomics.wait(log, 0, 0, 10);
    expect(Atomics.load(log, 0)).toBe(1);
    semaphore.add();
    await entered;
  });

  it('add settles promises of its own thread before it returns, in their order', async () => {
    const semaphore = new Semaphore(0);
    const order: number[] = [];
    const waits = [1, 2, 3].map((n) => semaphore.acquireAsync(n).then(() => order.push(n)));
    semaphore.add(3);
    expect(semaphore.waiting).toBe(1);
    semaphore.add(3);
    expect(semaphore.waiting).toBe(0);
    await Promise.all(waits);
    expect(order).toEqual([1, 2, 3]);
  });

  it('may be done to a robust semaphore by a thread that holds nothing', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(1, { arena, robust: true, max: 5 });
    semaphore.add(2);
    expect(semaphore.inspect()).toMatchObject({ available: 3, holders: [] });
    const promise = Promise.all([semaphore.acquireAsync(3), semaphore.acquireAsync(2)]);
    semaphore.add(2);
    await promise;
    expect(semaphore.inspect()).toMatchObject({ added: 4, out: 5, holders: [{ permits: 5 }] });
    semaphore.reduce(5);
    semaphore.release(5);
    expect(semaphore.inspect()).toMatchObject({ added: -1, out: 0, available: 0, holders: [] });
    await dieHolding(arena, new Semaphore(1, { arena, robust: true }));
    expect(semaphore.available).toBe(0);
  });

  it('what a dead thread has taken away does not come back', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(3, { arena, robust: true });
    const thread = new Member(undefined, { core: true });
    arena.watch(thread.worker);
    await thread.run('call', { handle: semaphore.handle, method: 'reduce', args: [2] });
    await thread.kill();
    await until(() => arena.stats().threads.length === 1, 'it has come so far');
    expect(semaphore.inspect()).toMatchObject({ added: -2, available: 1, out: 0, ownerDeaths: 0 });
  });

  it('refuse bad numbers, and add more than max, with nothing changed', () => {
    const semaphore = new Semaphore(2, { max: 3 });
    for (const method of ['add', 'reduce'] as const) {
      for (const bad of [0, 4, 1.5, '1', null]) {
        expect(() => semaphore[method](bad as never)).toThrow(
          `Semaphore.${method}: permits must be an integer from 1 to 3 (its max${method === 'add' ? ': make it with a greater max' : ''}), got `,
        );
      }
    }
    expect(() => semaphore.add(2)).toThrow(
      new RangeError(
        'Semaphore.add: 2 more would make more than 3 (its max) available of the Semaphore; 2 are: ' +
          'make it with a greater max',
      ),
    );
    expect(semaphore.inspect()).toMatchObject({ available: 2, added: 0, out: 0 });
  });

  it('after dispose: reduce throws, add does nothing', () => {
    const semaphore = new Semaphore(1);
    Semaphore.from(semaphore.handle).dispose();
    semaphore.add();
    expect(() => semaphore.reduce()).toThrow(DisposedError);
    semaphore.add();
    expect(() => semaphore.reduce()).toThrow(DisposedError);
  });

  it('the memory of a disposed semaphore is used again without them', () => {
    const arena = new Arena({ objects: 1 });
    const first = new Semaphore(1, { arena, max: 5 });
    first.add(4);
    first.dispose();
    expect(new Semaphore(1, { arena }).inspect()).toMatchObject({ added: 0, out: 0, available: 1 });
  });
});
