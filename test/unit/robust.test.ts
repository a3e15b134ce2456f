/** Robust semaphores record which threads hold their permits, and get these back when such a thread dies. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Arena, DisposedError, Semaphore, type SemaphoreOptions, TimeoutError } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { hold, park, promise, recruit, upTo } from '../support/dying.js';
import { failure } from '../support/failure.js';
import { at, Memory } from '../support/memory.js';
import { runProgram } from '../support/program.js';
import { watch } from '../support/settled.js';
import { type Member, team } from '../support/team.js';
import { tuned } from '../support/tuned.mjs';
import { reactions, turn, until } from '../support/until.js';

const crowd = team(2, { core: true });
const member = () => crowd[0] as Member;
const other = () => crowd[1] as Member;
const TICKET = at('TICKET');
const GRANT = at('GRANT');

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe('a robust semaphore', () => {
  const robust = (permits: number, options: SemaphoreOptions = {}) =>
    new Semaphore(permits, { arena: new Arena(), robust: true, ...options });
  const held = (semaphore: Semaphore) => semaphore.inspect().holders.map(({ permits }) => permits);

  it('says so, in every thread and by every way to it', () => {
    const arena = new Arena();
    const [one, plain] = [robust(1, { arena }), new Semaphore(1, { arena })];
    expect([one.robust, Semaphore.from(one.handle).robust]).toEqual([true, true]);
    expect([plain.robust, Semaphore.from(plain.handle).robust]).toEqual([false, false]);
    expect(Semaphore.open('one', 1, { arena, robust: true }).robust).toBe(true);
    expect(Semaphore.open('one', undefined, { arena }).robust).toBe(true);
    expect(Semaphore.open('other', 1, { arena }).robust).toBe(false);
    expect(new Semaphore(1, { arena, robust: false }).robust).toBe(false);
  });

  it('is chosen by a boolean, and by nothing else', () => {
    for (const [value, got] of [
      [1, '1'],
      ['yes', '"yes"'],
    ] as const) {
      const error = `robust must be true or false, got ${got}`;
      expect(() => new Semaphore(1, { robust: value as never })).toThrow(new TypeError(`Semaphore: ${error}`));
      expect(() => Semaphore.open('by a boolean', 1, { robust: value as never })).toThrow(
        new TypeError(`Semaphore.open: ${error}`),
      );
    }
    expect(() => Semaphore.open('by a boolean')).toThrow(/nothing of that name/);
  });

  it('cannot be opened as a plain one, nor the other way round', () => {
    const arena = new Arena();
    for (const isRobust of [true, false]) {
      const name = `robust: ${isRobust}`;
      const semaphore = Semaphore.open(name, 2, { arena, robust: isRobust });
      expect(() => Semaphore.open(name, 2, { arena, robust: !isRobust })).toThrow(
        new RangeError(`Semaphore.open: name "${name}": it exists already with robust ${isRobust}, not ${!isRobust}`),
      );
      expect(Semaphore.open(name, 2, { arena, robust: isRobust }).tryAcquire(2)).toBe(true);
      semaphore.dispose();
    }
  });

  it.each([
    ['acquire', (semaphore: Semaphore) => semaphore.acquire(2)],
    ['acquire with a time-out', (semaphore: Semaphore) => semaphore.acquire(2, { timeout: 1000 })],
    ['acquire with a time-out of 0', (semaphore: Semaphore) => semaphore.acquire(2, { timeout: 0 })],
    ['tryAcquire', (semaphore: Semaphore) => semaphore.tryAcquire(2)],
    ['acquireAsync', (semaphore: Semaphore) => semaphore.acquireAsync(2)],
    ['acquireAsync with a time-out', (semaphore: Semaphore) => semaphore.acquireAsync(2, { timeout: 1000 })],
    ['acquireAsync with a time-out of 0', (semaphore: Semaphore) => semaphore.acquireAsync(2, { timeout: 0 })],
    ['hold', (semaphore: Semaphore) => semaphore.hold(2)],
    ['holdAsync', (semaphore: Semaphore) => semaphore.holdAsync(2)],
  ] as [string, (semaphore: Semaphore) => unknown][])('counts what a thread holds: %s', async (_, take) => {
    const semaphore = robust(3);
    await take(semaphore);
    expect(held(semaphore)).toEqual([2]);
    semaphore.release();
    expect(held(semaphore)).toEqual([1]);
    semaphore.release();
    expect(held(semaphore)).toEqual([]);
    expect(semaphore.available).toBe(3);
  });

  it('records the permits of threads and promises that waited', async () => {
    const semaphore = tuned(robust(6), { spin: 0 });
    const { handle } = semaphore;
    semaphore.acquire(6);
    const { entered } = await park(semaphore, member(), 2);
    await promise(semaphore, other(), 1, 1);
    const here = watch(semaphore.acquireAsync(2), 0);
    await turn();
    // The others wait, and hold nothing.
    expect(held(semaphore)).toEqual([6]);
    // The three permits go to the thread, and to the first of the two promises of one run.
    semaphore.release(3);
    await entered;
    await until(() => held(semaphore).length === 3, 'two are in');
    expect(held(semaphore).toSorted()).toEqual([1, 2, 3]);
    expect(semaphore.waiting).toBe(2);
    semaphore.release(3);
    // A promise is granted by a task of its thread's event loop, at a moment that no test can know.
    await until(() => held(semaphore).join() === '2,2,2' && here.state === 'fulfilled', 'each of three has two');
    expect(semaphore.inspect()).toMatchObject({ out: 6, waiting: 0 });
    await member().run('release', { handle, permits: [2] });
    await other().run('release', { handle, times: 2 });
    semaphore.release(2);
    expect(semaphore.available).toBe(6);
    expect(held(semaphore)).toEqual([]);
  });

  it('does not record a cancelled request', async () => {
    const semaphore = robust(3);
    await hold(semaphore, member(), 2);
    expect(() => semaphore.acquire(2, { timeout: 1 })).toThrow(TimeoutError);
    expect(() => semaphore.acquire(2, { timeout: 0 })).toThrow(TimeoutError);
    await expect(semaphore.acquireAsync(2, { timeout: 1 })).rejects.toThrow(TimeoutError);
    await expect(semaphore.acquireAsync(2, { timeout: 0 })).rejects.toThrow(TimeoutError);
    await expect(semaphore.acquireAsync(2, { signal: AbortSignal.abort() })).rejects.toThrow(/aborted/);
    const controller = new AbortController();
    const aborted = failure(() => semaphore.acquireAsync(2, { signal: controller.signal }));
    const behind = watch(semaphore.acquireAsync(), 0);
    await turn();
    controller.abort();
    await aborted;
    await reactions();
    expect(behind.state).toBe('fulfilled');
    expect(semaphore.tryAcquire()).toBe(false);
    expect(held(semaphore).toSorted()).toEqual([1, 2]);
    semaphore.release();
    expect(semaphore.available).toBe(1);
  });

  it.each([
    ['nobody waits', 0],
    ['others wait', 2],
  ])('can be released only by the thread that holds it, and nothing has changed when %s', async (_, waiters) => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const semaphore = robust(3, { arena });
    const { handle } = semaphore;
    await hold(semaphore, member(), 2);
    semaphore.acquire();
    const promises = upTo(waiters).map(() => watch(semaphore.acquireAsync(), 0));
    await turn();
    const words = () => [TICKET, GRANT].map((word) => memory.long(handle.address + word));
    const before = [...words(), semaphore.waiting, semaphore.available];
    const refused = (holds: string, permits: number) => ({
      name: 'RangeError',
      message:
        `Semaphore.release: this thread holds ${holds} of the Semaphore, which is robust, got ${permits}: ` +
        'the thread that takes permits gives them back',
    });
    expect(await failure(() => semaphore.release(2))).toMatchObject(refused('1 permit', 2));
    expect(await failure(() => other().run('release', { handle }))).toMatchObject(refused('0 permits', 1));
    expect(await failure(() => member().run('release', { handle, permits: [3] }))).toMatchObject(
      refused('2 permits', 3),
    );
    expect([...words(), semaphore.waiting, semaphore.available]).toEqual(before);
    expect(held(semaphore).toSorted()).toEqual([1, 2]);
    await member().run('release', { handle, permits: [2] });
    await until(() => promises.every(({ state }) => state === 'fulfilled'), 'they are in');
    expect(held(semaphore)).toEqual([1 + waiters]);
    expect(semaphore.available).toBe(2 - waiters);
  });

  it('refuses to release for a promise of the thread what the thread does not hold', async () => {
    const semaphore = robust(1);
    semaphore.reduce();
    const first = semaphore.acquireAsync();
    const second = semaphore.acquireAsync();
    expect(() => semaphore.release()).toThrow(/this thread holds 0 permits/);
    semaphore.add(1);
    await first;
    expect(semaphore.waiting).toBe(1);
    semaphore.release();
    await second;
    expect([semaphore.waiting, semaphore.available]).toEqual([0, 0]);
  });

  it('has a max, as others do', async () => {
    const semaphore = robust(1, { max: 2 });
    semaphore.acquire();
    semaphore.release();
    expect(() => semaphore.release()).toThrow(/this thread holds 0 permits/);
    expect(() => semaphore.release(2)).toThrow(/this thread holds 0 permits/);
    semaphore.acquire();
    semaphore.add(2);
    expect(() => semaphore.release()).toThrow(/1 more would make more than 2 \(its max\) available/);
    semaphore.reduce(2);
    semaphore.release();
    expect(() => semaphore.acquire(3)).toThrow(/from 1 to 2 \(its max\)/);
    expect(semaphore.available).toBe(1);
    const full = robust(2, { max: 2 });
    await hold(full, member(), 2);
    const dying = recruit(Arena.from(full.handle.arena));
    const { handle } = full;
    dying.run('enter', { handle, permits: [2] });
    await until(() => full.waiting === 1, 'it waits');
    await dying.kill();
    await member().run('release', { handle, permits: [2] });
    expect(full.available).toBe(2);
    expect(held(full)).toEqual([]);
  });

  it('has one record for all library objects of a thread', () => {
    const one = robust(3);
    const two = Semaphore.from(one.handle);
    const calls: string[] = [];
    one.onOwnerDied = () => calls.push('one');
    one.acquire(2);
    expect(held(two)).toEqual([2]);
    two.release();
    one.acquire();
    const guard = two.hold();
    expect(held(one)).toEqual([3]);
    one.release(2);
    guard.release();
    expect(() => one.release()).toThrow(/holds 0 permits/);
    expect(() => two.release()).toThrow(/holds 0 permits/);
    expect(one.available).toBe(3);
    expect(calls).toEqual([]);
  });

  it('takes no permits back after dispose, and its memory is used again', async () => {
    const arena = new Arena({ objects: 1 });
    for (const who of ['here', 'there']) {
      const semaphore = robust(3, { arena });
      const { handle } = semaphore;
      const dying = recruit(arena);
      const guard = semaphore.hold();
      await hold(semaphore, dying);
      if (who === 'here') semaphore.dispose();
      else await dying.run('dispose', { handle });
      if (who === 'there') expect(() => semaphore.tryAcquire()).toThrow(DisposedError);
      semaphore.release();
      guard.release();
      await dying.run('release', { handle });
      await dying.kill();
    }
    const next = robust(2, { arena });
    expect(next.available).toBe(2);
    expect(next.inspect()).toMatchObject({ ownerDeaths: 0, holders: [] });
    expect(next.hold().ownerDied).toBe(false);
  });

  it('stays held by a thread whose library objects are collected, until it releases', async () => {
    const arena = new Arena({ objects: 1 });
    let collected = 0;
    const registry = new FinalizationRegistry(() => collected++);
    const { handle } = (() => {
      const semaphores = [robust(2, { arena })];
      semaphores.push(Semaphore.from((semaphores[0] as Semaphore).handle));
      for (const semaphore of semaphores) registry.register(semaphore, undefined);
      semaphores[1]?.acquire(2);
      return semaphores[0] as Semaphore;
    })();
    for (let i = 0; i < 200 && collected < 2; i++) {
      await turn();
      collect();
    }
    expect(collected).toBe(2);
    for (const _ of upTo(5)) await turn();
    const again = Semaphore.from(handle);
    expect(again.available).toBe(0);
    expect(held(again)).toEqual([2]);
    again.release(2);
    expect(again.available).toBe(2);
    again.dispose();
    const isThereRoom = () => {
      try {
        return new Semaphore(1, { arena }).available === 1;
      } catch {
        return false;
      }
    };
    await until(isThereRoom, 'the memory is used again');
  });

  it('gets its permits back once from a thread that releases and acquires at its very end', async () => {
    expect(await runProgram('robust-on-exit')).toEqual({
      code: 0,
      out: 'exit 0, 2 available, 1 has died\n',
      err: '',
    });
  });
});
