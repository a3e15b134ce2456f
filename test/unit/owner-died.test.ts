/** Which thread learns that an owner of a robust semaphore has died, and how. */
import { Arena, type HeldPermits, Semaphore } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { dieHolding, hold, park, recruit, upTo } from '../support/dying.js';
import { failure } from '../support/failure.js';
import { watch } from '../support/settled.js';
import { Member, team } from '../support/team.js';
import { turn, until } from '../support/until.js';

const crowd = team(2, { core: true });
const member = () => crowd[0] as Member;

describe('the thread that learns that an owner died', () => {
  it.each([
    ['hold', (semaphore: Semaphore) => semaphore.hold()],
    ['hold with a time-out', (semaphore: Semaphore) => semaphore.hold(1, { timeout: 1000 })],
    ['hold with a time-out of 0', (semaphore: Semaphore) => semaphore.hold(1, { timeout: 0 })],
    ['tryHold', (semaphore: Semaphore) => semaphore.tryHold() as HeldPermits],
    ['holdAsync with options alone', (semaphore: Semaphore) => semaphore.holdAsync({ timeout: 1000 })],
    ['holdAsync', (semaphore: Semaphore) => semaphore.holdAsync()],
    ['holdAsync with a time-out', (semaphore: Semaphore) => semaphore.holdAsync(1, { timeout: 1000 })],
    ['holdAsync with a time-out of 0', (semaphore: Semaphore) => semaphore.holdAsync(1, { timeout: 0 })],
  ])('the next one by %s, and not the one after', async (_, take) => {
    const arena = new Arena();
    const semaphore = new Semaphore(1, { arena, robust: true });
    for (const _ of upTo(2)) {
      await dieHolding(arena, semaphore);
      for (const expected of [true, false, false]) {
        const guard = await take(semaphore);
        expect(guard.ownerDied).toBe(expected);
        guard.release();
      }
    }
  });

  it.each(['hold', 'holdAsync'])('in a worker that waited by %s', async (how) => {
    const arena = new Arena();
    const semaphore = new Semaphore(1, { arena, robust: true });
    const { handle } = semaphore;
    const [dying, heir] = [recruit(arena), new Member(undefined, { core: true })];
    await hold(semaphore, dying);
    const told = heir.run('hold-and-tell', { handle, how });
    await until(() => semaphore.waiting === 1, 'it waits');
    const after = semaphore.holdAsync();
    await turn();
    await dying.kill();
    expect(await told).toBe(true);
    expect(semaphore.waiting).toBe(1);
    await heir.leave();
    // That worker has ended with the permit in its turn.
    expect((await after).ownerDied).toBe(true);
  });

  it.each([
    ['acquire', (semaphore: Semaphore) => semaphore.acquire()],
    ['acquire with a time-out', (semaphore: Semaphore) => semaphore.acquire(1, { timeout: 1000 })],
    ['acquire with a time-out of 0', (semaphore: Semaphore) => semaphore.acquire(1, { timeout: 0 })],
    ['tryAcquire', (semaphore: Semaphore) => semaphore.tryAcquire()],
    ['acquireAsync with options alone', (semaphore: Semaphore) => semaphore.acquireAsync({ timeout: 1000 })],
    ['acquireAsync', (semaphore: Semaphore) => semaphore.acquireAsync()],
    ['acquireAsync with a time-out of 0', (semaphore: Semaphore) => semaphore.acquireAsync(1, { timeout: 0 })],
    [
      'acquireAsync with a signal',
      (semaphore: Semaphore) => semaphore.acquireAsync(1, { signal: new AbortController().signal }),
    ],
    ['hold', (semaphore: Semaphore) => semaphore.hold()],
    ['holdAsync', (semaphore: Semaphore) => semaphore.holdAsync()],
  ] as [string, (semaphore: Semaphore) => unknown][])(
    'onOwnerDied is called with the number of deaths: %s',
    async (_, take) => {
      const arena = new Arena();
      const semaphore = new Semaphore(2, { arena, robust: true });
      const calls: [number, number][] = [];
      semaphore.onOwnerDied = (deaths) => calls.push([deaths, semaphore.available]);
      await dieHolding(arena, semaphore, 2);
      expect(calls).toEqual([]);
      await take(semaphore);
      expect(calls).toEqual([[2, 1]]);
      semaphore.release();
      await take(semaphore);
      expect(calls).toHaveLength(1);
    },
  );

  it.each([
    ['acquire', (semaphore: Semaphore) => semaphore.acquire(2)],
    ['acquire with a time-out', (semaphore: Semaphore) => semaphore.acquire(2, { timeout: 1000 })],
    ['acquire with a time-out of 0', (semaphore: Semaphore) => semaphore.acquire(2, { timeout: 0 })],
    ['tryAcquire', (semaphore: Semaphore) => semaphore.tryAcquire(2)],
    ['acquireAsync', (semaphore: Semaphore) => semaphore.acquireAsync(2)],
    ['hold', (semaphore: Semaphore) => semaphore.hold(2)],
    ['holdAsync', (semaphore: Semaphore) => semaphore.holdAsync(2)],
  ] as [string, (semaphore: Semaphore) => unknown][])(
    'an error of onOwnerDied comes out of %s, and the permits go back',
    async (_, take) => {
      const arena = new Arena();
      const semaphore = new Semaphore(3, { arena, robust: true });
      const reason = new Error('half-written');
      semaphore.onOwnerDied = () => {
        throw reason;
      };
      await dieHolding(arena, semaphore);
      expect(await failure(() => take(semaphore))).toBe(reason);
      expect(semaphore.available).toBe(3);
      expect(semaphore.inspect().holders).toEqual([]);
      // No thread has repaired the data, so the next one learns of the death again.
      expect(await failure(() => take(semaphore))).toBe(reason);
      semaphore.onOwnerDied = undefined;
      await take(semaphore);
      expect(semaphore.available).toBe(1);
    },
  );

  it('when onOwnerDied disposes and throws, a new semaphore in its place knows of no death', async () => {
    const arena = new Arena({ objects: 1 });
    const semaphore = new Semaphore(1, { arena, robust: true });
    let next: Semaphore | undefined;
    semaphore.onOwnerDied = () => {
      semaphore.dispose();
      next = new Semaphore(1, { arena, robust: true });
      throw new Error('made anew');
    };
    await dieHolding(arena, semaphore);
    expect((await failure(() => semaphore.acquire())).message).toBe('made anew');
    expect(semaphore.disposed).toBe(true);
    const held = (next as Semaphore).hold();
    expect(held.ownerDied).toBe(false);
    held.release();
  });

  it('when onOwnerDied throws, the next waiter gets the permits', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(1, { arena, robust: true });
    semaphore.onOwnerDied = () => {
      throw new Error('half-written');
    };
    const dying = recruit(arena);
    await hold(semaphore, dying);
    const first = watch(semaphore.acquireAsync(), 0);
    const { entered } = await park(semaphore, member());
    await dying.kill();
    await entered;
    expect(first.error).toMatchObject({ message: 'half-written' });
    expect(semaphore.inspect().holders).toHaveLength(1);
  });

  it.each([
    ['queued', (semaphore: Semaphore) => [semaphore.acquireAsync(2), semaphore.acquireAsync()]],
    [
      'queued with a signal',
      (semaphore: Semaphore) => {
        const { signal } = new AbortController();
        return [semaphore.acquireAsync(2, { signal }), semaphore.acquireAsync(1, { signal })];
      },
    ],
    ['made by onOwnerDied', () => []],
  ])('when onOwnerDied releases and throws, a promise of the same thread keeps what it got: %s', async (_, queue) => {
    const arena = new Arena();
    const semaphore = new Semaphore(3, { arena, robust: true });
    const late: Promise<void>[] = [];
    let calls = 0;
    semaphore.onOwnerDied = () => {
      if (++calls > 1) return;
      semaphore.release(2);
      if (next.length === 0) late.push(semaphore.acquireAsync(2), semaphore.acquireAsync(1));
      throw new Error('beyond repair');
    };
    const dying = recruit(arena);
    await hold(semaphore, dying, 3);
    const told = expect(semaphore.acquireAsync(2)).rejects.toThrow('beyond repair');
    const next = queue(semaphore);
    await turn();
    await dying.kill();
    await told;
    await Promise.all([...next, ...late]);
    expect([calls, semaphore.available]).toEqual([2, 0]);
    expect(semaphore.inspect().holders).toMatchObject([{ permits: 3 }]);
    semaphore.release(3);
  });

  it('when onOwnerDied releases a part and throws, the rest goes back, and what it has taken itself stays', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(9, { arena, robust: true });
    semaphore.onOwnerDied = () => {
      semaphore.onOwnerDied = undefined;
      semaphore.release(1);
      throw new Error('beyond repair');
    };
    await dieHolding(arena, semaphore);
    expect((await failure(() => semaphore.acquire(3))).message).toBe('beyond repair');
    expect(semaphore.available).toBe(9);
    await dieHolding(arena, semaphore);
    semaphore.onOwnerDied = () => {
      semaphore.onOwnerDied = undefined;
      semaphore.acquire(4);
      throw new Error('beyond repair');
    };
    expect((await failure(() => semaphore.acquire(3))).message).toBe('beyond repair');
    expect(semaphore.available).toBe(5);
    semaphore.release(4);
  });

  it('when onOwnerDied ends a guard of this thread and throws, the permits of the caller go back too', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(3, { arena, robust: true });
    const guards = [semaphore.hold(1), await semaphore.holdAsync(1)];
    await dieHolding(arena, semaphore);
    semaphore.onOwnerDied = () => {
      semaphore.onOwnerDied = undefined;
      for (const guard of guards) guard.release();
      throw new Error('beyond repair');
    };
    expect((await failure(() => semaphore.acquire())).message).toBe('beyond repair');
    expect(semaphore.available).toBe(3);
  });

  it('when permits cannot go back, the error of onOwnerDied is thrown nevertheless', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(2, { arena, robust: true, max: 2 });
    await dieHolding(arena, semaphore);
    semaphore.onOwnerDied = () => {
      semaphore.onOwnerDied = undefined;
      semaphore.add(1);
      throw new Error('beyond repair');
    };
    expect((await failure(() => semaphore.acquire())).message).toBe('beyond repair');
    expect(semaphore.available).toBe(2);
    expect(semaphore.inspect().holders).toMatchObject([{ permits: 1 }]);
    semaphore.reduce(1);
    semaphore.release();
  });

  it('is none for a semaphore that is not robust', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(2, { arena });
    semaphore.onOwnerDied = () => {
      throw new Error('never');
    };
    await dieHolding(arena, semaphore);
    expect(semaphore.hold().ownerDied).toBe(false);
    expect(semaphore.available).toBe(0);
    expect(semaphore.inspect()).toMatchObject({ robust: false, ownerDeaths: 0, holders: [] });
  });
});
