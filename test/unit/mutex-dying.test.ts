/**
 * Threads die as the owner of a mutex, or while they wait for it. The search in check/ covers every moment;
 * test/stress/mutex.test.ts kills threads at random.
 */
import { Arena, CancelledError, Mutex } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { end, recruit, type Way } from '../support/dying.js';
import { Member, team } from '../support/team.js';
import { turn, until } from '../support/until.js';

const crowd = team(1, { core: true });
const member = () => crowd[0] as Member;

const ways: readonly Way[] = ['terminate', 'process.exit', 'an uncaught error', 'leaving'];

/** Makes a mutex that a worker owns. */
async function owned(arena: Arena): Promise<{ mutex: Mutex; owner: Member }> {
  const mutex = new Mutex({ arena });
  const owner = recruit(arena);
  await owner.run('mutex-hold', { handle: mutex.handle });
  return { mutex, owner };
}

/** Has a worker block in lock. The promise is fulfilled when the worker waits. */
async function park(mutex: Mutex, member: Member): Promise<Promise<boolean>[]> {
  const before = mutex.waiting;
  const locked = member.run<boolean>('mutex-lock-once', { handle: mutex.handle });
  await until(() => mutex.waiting === before + 1, 'it waits');
  return [locked];
}

function expectFree(mutex: Mutex, ownerDeaths: number): void {
  expect(mutex.inspect()).toMatchObject({ locked: false, waiting: 0, ownerDeaths });
}

describe.each(ways)('a worker that ends by %s', (way) => {
  it('as the owner: the next owner learns of it, and only that one', async () => {
    const { mutex, owner } = await owned(new Arena());
    await end(owner, way);
    expectFree(mutex, 1);
    const deaths: number[] = [];
    mutex.onOwnerDied = (died) => deaths.push(died);
    {
      using held = mutex.hold();
      expect([held.ownerDied, deaths]).toEqual([true, [1]]);
    }
    {
      using held = mutex.hold();
      expect([held.ownerDied, deaths]).toEqual([false, [1]]);
    }
    expectFree(mutex, 1);
  });

  it('as the owner, with a thread and promises waiting: they get the lock in turn, and the first learns of it', async () => {
    const { mutex, owner } = await owned(new Arena());
    const guards = [mutex.holdAsync(), mutex.holdAsync({ timeout: 60_000 })];
    await turn();
    const [locked] = await park(mutex, member());
    await end(owner, way);
    const first = await guards[0];
    expect([first?.ownerDied, mutex.held]).toEqual([true, true]);
    first?.unlock();
    const second = await guards[1];
    expect(second?.ownerDied).toBe(false);
    second?.unlock();
    expect(await locked).toBe(true);
    expectFree(mutex, 1);
  });

  it('and unlocks in an exit handler, has not died as the owner', async () => {
    const arena = new Arena();
    const mutex = new Mutex({ arena });
    const owner = recruit(arena);
    await owner.run('mutex-hold', { handle: mutex.handle, exit: true });
    await end(owner, way);
    // A terminated thread runs no exit handler.
    expectFree(mutex, way === 'terminate' ? 1 : 0);
    expect(mutex.hold().ownerDied).toBe(way === 'terminate');
    mutex.unlock();
  });
});

// A worker stays alive while promises of it wait, so it cannot end by itself.
describe.each(ways.filter((way) => way !== 'leaving'))('a worker that ends by %s', (way) => {
  it('while promises of it wait, as the head and in line: those behind them move up', async () => {
    const arena = new Arena();
    const mutex = new Mutex({ arena });
    mutex.lock();
    const dying = recruit(arena);
    await dying.run('mutex-hold', { handle: mutex.handle, promises: 3 });
    const guard = mutex.holdAsync();
    expect(mutex.waiting).toBe(4);
    await end(dying, way);
    await until(() => mutex.waiting === 1, 'they wait no more');
    mutex.unlock();
    const held = await guard;
    expect(held.ownerDied).toBe(false);
    held.unlock();
    expectFree(mutex, 0);
  });
});

describe('a worker that aborts in an exit handler', () => {
  it('the promise that was the head: it is cancelled once', async () => {
    const mutex = new Mutex({ arena: new Arena() });
    mutex.lock();
    const ending = new Member(undefined, { core: true });
    ending.run('mutex-hold', { handle: mutex.handle, abortsAtExit: true });
    await ending.exited;
    expect(mutex.waiting).toBe(0);
    mutex.unlock();
    expectFree(mutex, 0);
    mutex.lock();
    expect(mutex.tryLock()).toBe(false);
  });
});

describe('a worker that is killed', () => {
  it.each(['first', 'second', 'last'])('while it waits, %s in line: the others get the lock', async (place) => {
    const arena = new Arena();
    const mutex = new Mutex({ arena });
    mutex.lock();
    const dying = recruit(arena);
    const [behind, ahead] = [new Member(undefined, { core: true }), new Member(undefined, { core: true })];
    const others: Promise<boolean>[] = [];
    if (place !== 'first') others.push(...(await park(mutex, ahead)));
    if (place === 'last') others.push(...(await park(mutex, behind)));
    await park(mutex, dying);
    if (place !== 'last') others.push(...(await park(mutex, behind)));
    const left = mutex.waiting - 1;
    await dying.kill();
    await until(() => mutex.waiting === left, 'it waits no more');
    mutex.unlock();
    expect(await Promise.all(others)).toEqual(others.map(() => true));
    expectFree(mutex, 0);
    await Promise.all([ahead.kill(), behind.kill()]);
  });

  it('as the owner: tryLock and a thread that waits learn of it, too', async () => {
    const arena = new Arena();
    const first = await owned(arena);
    let deaths = 0;
    first.mutex.onOwnerDied = (died) => {
      deaths += died;
    };
    await first.owner.kill();
    expect([first.mutex.tryLock(), deaths]).toEqual([true, 1]);
    first.mutex.unlock();
    expect([first.mutex.tryLock(), deaths]).toEqual([true, 1]);
    first.mutex.unlock();
    const tried = await owned(arena);
    expect(tried.mutex.tryHold()).toBe(undefined);
    await tried.owner.kill();
    for (const expected of [true, false]) {
      const held = tried.mutex.tryHold();
      expect(held?.ownerDied).toBe(expected);
      held?.unlock();
    }
    const second = await owned(arena);
    const told = member().run<boolean>('mutex-owner-died', { handle: second.mutex.handle });
    await until(() => second.mutex.waiting === 1, 'it waits');
    await second.owner.kill();
    expect(await told).toBe(true);
    expectFree(second.mutex, 1);
  });

  it('and then the next owner: the owner after that learns of the second death alone', async () => {
    const arena = new Arena();
    const { mutex, owner } = await owned(arena);
    const next = recruit(arena);
    await owner.kill();
    // This owner has learned of the first death, and then dies itself.
    await next.run('mutex-hold', { handle: mutex.handle });
    await next.kill();
    expect(mutex.inspect().ownerDeaths).toBe(2);
    const deaths: number[] = [];
    mutex.onOwnerDied = (died) => deaths.push(died);
    mutex.lock();
    mutex.unlock();
    expect(deaths).toEqual([1]);
  });
});

describe('onOwnerDied', () => {
  it('that throws: the mutex is unlocked, and the next to lock learns of the death', async () => {
    const { mutex, owner } = await owned(new Arena());
    await owner.kill();
    mutex.onOwnerDied = () => {
      throw new Error('beyond repair');
    };
    for (const lock of [() => mutex.lock(), () => mutex.tryLock(), () => mutex.hold({ timeout: 0 })]) {
      expect(lock).toThrow('beyond repair');
      expect([mutex.held, mutex.locked]).toEqual([false, false]);
    }
    await expect(mutex.lockAsync()).rejects.toThrow('beyond repair');
    mutex.onOwnerDied = undefined;
    const held = await mutex.holdAsync();
    expect(held.ownerDied).toBe(true);
    held.unlock();
    mutex.lock();
    mutex.unlock();
    expect(mutex.hold().ownerDied).toBe(false);
    mutex.unlock();
  });

  it('that unlocks and throws, and the next owner dies too: both deaths are reported', async () => {
    const arena = new Arena();
    const { mutex, owner } = await owned(arena);
    const next = recruit(arena);
    await owner.kill();
    mutex.onOwnerDied = () => {
      const told = new Int32Array(new SharedArrayBuffer(4));
      void next.run('mutex-hold', { handle: mutex.handle, told });
      while (mutex.waiting === 0);
      mutex.unlock();
      // By then the next owner has asked for deaths, and has learned of none.
      while (Atomics.load(told, 0) === 0);
      throw new Error('beyond repair');
    };
    expect(() => mutex.lock()).toThrow('beyond repair');
    await next.kill();
    expectFree(mutex, 2);
    const deaths: number[] = [];
    mutex.onOwnerDied = (died) => deaths.push(died);
    mutex.lock();
    mutex.unlock();
    expect(deaths).toEqual([2]);
  });

  it('that unlocks and throws, and a promise of the same thread is next: the promise keeps the lock', async () => {
    const arena = new Arena();
    const { mutex, owner } = await owned(arena);
    let calls = 0;
    mutex.onOwnerDied = () => {
      if (++calls > 1) return;
      mutex.unlock();
      throw new Error('beyond repair');
    };
    const first = expect(mutex.lockAsync()).rejects.toThrow('beyond repair');
    const second = mutex.lockAsync();
    const third = mutex.lockAsync();
    let isThird = false;
    void third.then(() => {
      isThird = true;
    });
    await owner.kill();
    await first;
    await second;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([mutex.held, isThird]).toEqual([true, false]);
    mutex.unlock();
    await third;
    mutex.unlock();
    expect(mutex.locked).toBe(false);
  });

  it.each([
    ['unlocks, and has a promise lock: the promise keeps the lock', (mutex: Mutex) => mutex.lockAsync(), true],
    [
      'unlocks, has a promise pass, and locks: the mutex is free',
      (mutex: Mutex) => {
        const passed = mutex.waitForUnlockAsync();
        mutex.lock();
        return passed;
      },
      false,
    ],
  ] as [string, (mutex: Mutex) => Promise<void>, boolean][])('that throws, but first %s', async (_, act, isHeld) => {
    const arena = new Arena();
    const { mutex, owner } = await owned(arena);
    let promise: Promise<void> | undefined;
    mutex.onOwnerDied = () => {
      mutex.onOwnerDied = undefined;
      mutex.unlock();
      promise = act(mutex);
      throw new Error('beyond repair');
    };
    const first = expect(mutex.lockAsync()).rejects.toThrow('beyond repair');
    await owner.kill();
    await first;
    await promise;
    expect([mutex.locked, mutex.held]).toEqual([isHeld, isHeld]);
    if (isHeld) mutex.unlock();
  });

  it('that cancels all who wait and throws: the mutex is free', async () => {
    const arena = new Arena();
    const { mutex, owner } = await owned(arena);
    mutex.onOwnerDied = () => {
      mutex.cancelAll();
      throw new Error('beyond repair');
    };
    const first = expect(mutex.lockAsync()).rejects.toThrow('beyond repair');
    const second = expect(mutex.lockAsync()).rejects.toThrow(CancelledError);
    await owner.kill();
    await first;
    await second;
    expect(mutex.locked).toBe(false);
  });

  it('that disposes of the mutex and throws: a new mutex in its place knows of no death', async () => {
    const arena = new Arena({ objects: 1 });
    const { mutex, owner } = await owned(arena);
    await owner.kill();
    let next: Mutex | undefined;
    mutex.onOwnerDied = () => {
      mutex.dispose();
      next = new Mutex({ arena });
      throw new Error('beyond repair');
    };
    expect(() => mutex.lock()).toThrow('beyond repair');
    expect(next?.hold().ownerDied).toBe(false);
  });

  it('is called for a promise that waited, which then holds the lock', async () => {
    const { mutex, owner } = await owned(new Arena());
    const promise = mutex.lockAsync();
    let calls = 0;
    mutex.onOwnerDied = () => {
      calls++;
      expect(mutex.held).toBe(true);
    };
    await owner.kill();
    await promise;
    expect(calls).toBe(1);
    mutex.unlock();
  });
});

it('a thread with a waiting promise may not block for the same lock, since it would wait for itself', async () => {
  const { mutex, owner } = await owned(new Arena());
  const promises = [mutex.lockAsync(), mutex.lockAsync()];
  for (const patience of [undefined, { timeout: 60_000 }])
    expect(() => mutex.lock(patience)).toThrow(
      /a promise of this thread waits for the Mutex, so this thread would wait for itself: await lockAsync\(\)$/,
    );
  expect(mutex.waiting).toBe(2);
  await owner.kill();
  for (const promise of promises) {
    await promise;
    mutex.unlock();
  }
  expectFree(mutex, 1);
});
