/**
 * Objects that no other thread may know take no room while they are idle, however many there are, with no collection and
 * no iteration of the event loop.
 */
import { Arena, ArenaFullError, DisposedError, Mutex, Semaphore, TimeoutError } from 'taketurns';
import { Condition, Latch, Once, RwLock } from 'taketurns/sync';
import { beforeEach, describe, expect, it } from 'vitest';
import { report, runProgram } from '../support/program.js';
import { watch } from '../support/settled.js';
import { shared } from '../support/shared.js';
import { team } from '../support/team.js';
import { turn } from '../support/until.js';

const SMALL = { objects: 16, threads: 4, waiters: 16 };
const members = team(1);

/** Makes so many others that each object made before has to leave, if it is idle. */
function crowd(arena: Arena): void {
  for (let i = 0; i < 64; i++) new Mutex({ arena });
  for (let i = 0; i < 64; i++) new Mutex({ arena });
}

/** Makes an object of each kind, uses it, and returns a check of what it says then. */
const kinds: Record<string, (arena: Arena) => () => void> = {
  Mutex(arena) {
    const mutex = new Mutex({ arena, bypass: 7 });
    mutex.lock();
    mutex.unlock();
    return () => {
      expect([mutex.locked, mutex.held, mutex.waiting, mutex.disposed]).toEqual([false, false, 0, false]);
      expect(String(mutex)).toBe('Mutex(unlocked, 0 waiting)');
      expect(mutex.inspect()).toMatchObject({ bypass: 7, owner: undefined });
      mutex.lock();
      expect([mutex.locked, mutex.held]).toEqual([true, true]);
      expect(mutex.tryLock()).toBe(false);
      mutex.unlock();
    };
  },
  Semaphore(arena) {
    const semaphore = new Semaphore(2, { arena, max: 8 });
    semaphore.acquire();
    semaphore.release(3);
    semaphore.add(4);
    return () => {
      expect([semaphore.available, semaphore.waiting, semaphore.disposed]).toEqual([8, 0, false]);
      expect(semaphore.inspect()).toMatchObject({ added: 4, available: 8 });
      semaphore.acquire(8);
      expect(semaphore.tryAcquire()).toBe(false);
      semaphore.release(8);
      expect(semaphore.drain()).toBe(8);
      semaphore.release(8);
    };
  },
  'Semaphore, without permits'(arena) {
    const signal = new Semaphore(0, { arena });
    signal.release();
    return () => {
      signal.acquire();
      expect(signal.tryAcquire()).toBe(false);
      signal.release();
    };
  },
  'Semaphore with a max'(arena) {
    const semaphore = new Semaphore(2, { arena, max: 2 });
    semaphore.acquire();
    semaphore.release();
    return () => {
      expect(() => semaphore.release()).toThrow(/max/);
      semaphore.acquire(2);
      expect(semaphore.inspect()).toMatchObject({ available: 0 });
      semaphore.release(2);
      expect(() => semaphore.add(2)).toThrow(/max/);
    };
  },
};

describe.each(Object.entries(kinds))('%s', (_, make) => {
  it('takes no room after it was used, in one job', () => {
    const arena = new Arena(SMALL);
    for (let i = 0; i < 2000; i++) make(arena);
    expect(arena.stats().objects.used).toBeLessThanOrEqual(SMALL.objects);
  });

  it('stays what it is, however many there are', () => {
    const arena = new Arena(SMALL);
    const checks = Array.from({ length: 300 }, () => make(arena));
    for (let round = 0; round < 3; round++) for (const check of checks) check();
  });

  it('has a handle for other threads, wherever it was', () => {
    const arena = new Arena({ ...SMALL, objects: 400 });
    const mutexes = Array.from({ length: 300 }, () => new Mutex({ arena }));
    const checks = Array.from({ length: 300 }, () => make(arena));
    const same = mutexes.map(({ handle }) => Mutex.from(handle));
    for (const [i, mutex] of mutexes.entries()) {
      mutex.lock();
      expect([mutex.held, same[i]?.held, same[i]?.tryLock()]).toEqual([true, true, false]);
    }
    for (const check of checks) check();
    for (const mutex of mutexes) mutex.dispose();
    for (const mutex of same) expect(() => mutex.lock()).toThrow(DisposedError);
  });
});

describe('an idle object that has left the arena', () => {
  let arena = new Arena(SMALL);
  beforeEach(() => {
    arena = new Arena(SMALL);
  });
  /** Fills the arena, so that all idle objects leave it, and makes room again. */
  const fill = (): void => {
    const { used } = arena.stats().objects;
    const fillers: Mutex[] = [];
    while (fillers.length < SMALL.objects - used + 1) {
      const mutex = new Mutex({ arena });
      mutex.lock();
      fillers.push(mutex);
    }
    for (const mutex of fillers) mutex.dispose();
  };
  const absent = <T>(make: () => T): T => {
    const object = make();
    fill();
    return object;
  };

  it('is disposed of like any other', async () => {
    const mutex = absent(() => new Mutex({ arena }));
    const semaphore = absent(() => new Semaphore(1, { arena }));
    for (const object of [mutex, semaphore]) {
      object.dispose();
      expect(object.disposed).toBe(true);
      expect(() => object.handle).toThrow(DisposedError);
    }
    expect(() => mutex.lock()).toThrow(DisposedError);
    expect(() => semaphore.acquire()).toThrow(DisposedError);
    await expect(semaphore.acquireAsync()).rejects.toThrow(DisposedError);
    mutex.unlock();
    semaphore.release();
    mutex.cancelAll();
    semaphore.cancelAll();
  });

  it.each([
    ['lock', (mutex: Mutex) => mutex.lock()],
    ['lock with a time-out', (mutex: Mutex) => mutex.lock({ timeout: 1000 })],
    ['tryLock', (mutex: Mutex) => mutex.tryLock()],
    ['hold', (mutex: Mutex) => mutex.hold()],
    ['tryHold', (mutex: Mutex) => mutex.tryHold()],
    ['lockAsync', (mutex: Mutex) => mutex.lockAsync()],
    ['lockAsync with a time-out', (mutex: Mutex) => mutex.lockAsync({ timeout: 0 })],
    ['holdAsync', (mutex: Mutex) => mutex.holdAsync()],
  ])('is a mutex for %s', async (_, lock) => {
    const mutex = absent(() => new Mutex({ arena }));
    expect(() => mutex.unlock()).toThrow(/not the owner of the Mutex, nobody is/);
    mutex.cancelAll();
    mutex.waitForUnlock();
    await mutex.waitForUnlockAsync();
    await lock(mutex);
    expect(mutex.held).toBe(true);
    const waits = watch(mutex.lockAsync(), 0);
    mutex.unlock();
    await turn();
    expect(waits.state).toBe('fulfilled');
    mutex.unlock();
  });

  it.each([
    ['acquire', (semaphore: Semaphore) => semaphore.acquire()],
    ['acquire with a time-out', (semaphore: Semaphore) => semaphore.acquire({ timeout: 1000 })],
    ['tryAcquire', (semaphore: Semaphore) => semaphore.tryAcquire()],
    ['tryHold', (semaphore: Semaphore) => semaphore.tryHold()],
    ['acquireAsync', (semaphore: Semaphore) => semaphore.acquireAsync()],
    ['acquireAsync with a time-out', (semaphore: Semaphore) => semaphore.acquireAsync({ timeout: 1000 })],
    ['drain', (semaphore: Semaphore) => semaphore.drain()],
    ['reduce', (semaphore: Semaphore) => semaphore.reduce()],
  ])('is a semaphore for %s', async (_, acquire) => {
    const semaphore = absent(() => new Semaphore(1, { arena }));
    semaphore.cancelAll();
    await acquire(semaphore);
    expect([semaphore.available, semaphore.waiting]).toEqual([0, 0]);
    expect(() => semaphore.acquire({ timeout: 1 })).toThrow(TimeoutError);
  });

  it('does not show the name of the object that has its place', () => {
    const semaphore = absent(() => new Semaphore(1, { arena }));
    const mutex = absent(() => new Mutex({ arena }));
    const named = Array.from({ length: SMALL.objects / 2 }, (_, i) => Semaphore.open(`name ${i}`, 1, { arena }));
    expect([String(semaphore), String(mutex)]).toEqual([
      'Semaphore(1 available, 0 waiting)',
      'Mutex(unlocked, 0 waiting)',
    ]);
    for (const other of named) other.dispose();
  });

  it('ends with its arena', async () => {
    const mutex = absent(() => new Mutex({ arena }));
    const semaphore = absent(() => new Semaphore(1, { arena }));
    arena.dispose();
    for (const object of [mutex, semaphore]) {
      expect(object.disposed).toBe(true);
      expect(() => object.handle).toThrow(DisposedError);
      expect(() => object.inspect()).toThrow(DisposedError);
      object.cancelAll();
    }
    expect([semaphore.available, String(semaphore), mutex.held, String(mutex)]).toEqual([
      0,
      'Semaphore(disposed)',
      false,
      'Mutex(disposed)',
    ]);
    expect(() => mutex.lock()).toThrow(DisposedError);
    expect(() => mutex.tryLock()).toThrow(DisposedError);
    await expect(mutex.lockAsync({ timeout: 1000 })).rejects.toThrow(DisposedError);
    expect(() => semaphore.acquire()).toThrow(DisposedError);
    expect(() => semaphore.tryAcquire()).toThrow(DisposedError);
    await expect(semaphore.acquireAsync()).rejects.toThrow(DisposedError);
    mutex.unlock();
    semaphore.release();
    for (const object of [mutex, semaphore]) object.dispose();
  });

  it('ends with its thread', async () => {
    expect(await report('evicted-at-exit')).toEqual(['DisposedError', 'DisposedError', 'true', 'released']);
  });

  it('comes back when the code of a signal has made it leave', async () => {
    const mutex = new Mutex({ arena });
    mutex.lock();
    const signal = {
      aborted: false,
      reason: undefined,
      addEventListener() {
        mutex.unlock();
        fill();
      },
      removeEventListener() {},
    };
    await mutex.lockAsync({ signal });
    expect(mutex.held).toBe(true);
  });

  it('counts the permits that were added or taken away', () => {
    const grown = new Semaphore(1, { arena, max: 2 });
    grown.acquire();
    grown.add();
    const shrunk = Array.from({ length: 100 }, () => new Semaphore(4, { arena }));
    for (const semaphore of shrunk) semaphore.reduce(2);
    for (const semaphore of shrunk) expect(semaphore.available).toBe(2);
    const others = Array.from({ length: SMALL.objects - 1 }, () => new Mutex({ arena }));
    for (const mutex of others) mutex.lock();
    expect(() => new Mutex({ arena }).lock()).toThrow(ArenaFullError);
    grown.release();
    expect(grown.available).toBe(2);
  });

  it('keeps its promises after cancelAll', async () => {
    const semaphore = new Semaphore(1, { arena });
    semaphore.acquire();
    const first = watch(semaphore.acquireAsync(), 0);
    semaphore.cancelAll();
    semaphore.release();
    for (let i = 0; i < 64; i++) new Mutex({ arena });
    await semaphore.acquireAsync();
    const second = watch(semaphore.acquireAsync(), 0);
    semaphore.release();
    await turn();
    expect([first.state, second.state]).toEqual(['rejected', 'fulfilled']);
  });
});

describe('an object in use', () => {
  it('stays in the arena, and its waiters get what they wait for', async () => {
    const arena = new Arena({ ...SMALL, objects: 400 });
    const mutex = new Mutex({ arena });
    const pool = new Semaphore(1, { arena });
    const latch = new Latch(1, { arena });
    mutex.lock();
    pool.acquire();
    const waits = [mutex.lockAsync(), pool.acquireAsync(), latch.waitAsync()].map((promise, i) => watch(promise, i));
    crowd(arena);
    await turn();
    crowd(arena);
    expect([mutex.held, mutex.waiting, pool.waiting, latch.waiting]).toEqual([true, 1, 1, 1]);
    mutex.unlock();
    pool.release();
    latch.countDown();
    await latch.waitAsync();
    await turn();
    expect(waits.map(({ state }) => state)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
  });

  it('may make others meanwhile', async () => {
    const arena = new Arena({ ...SMALL, objects: 400 });
    const mutex = new Mutex({ arena });
    const once = new Once({ arena });
    await mutex.runExclusive(async () => {
      crowd(arena);
      await turn();
      once.run(() => crowd(arena));
    });
    expect([mutex.locked, once.done]).toEqual([false, true]);
  });

  it('is a robust semaphore, whose permits are counted', () => {
    const arena = new Arena({ ...SMALL, objects: 400 });
    const semaphore = new Semaphore(2, { arena, robust: true });
    crowd(arena);
    semaphore.acquire();
    crowd(arena);
    expect(semaphore.inspect().holders).toMatchObject([{ permits: 1 }]);
    semaphore.release();
  });

  it('stays for a condition, which another thread may open', () => {
    const arena = new Arena({ ...SMALL, objects: 400 });
    const mutex = new Mutex({ arena });
    crowd(arena);
    const condition = new Condition(mutex);
    crowd(arena);
    expect(Condition.from(condition.handle).mutex.locked).toBe(false);
    const lock = new RwLock({ arena });
    crowd(arena);
    using held = lock.write();
    expect([held.held, lock.inspect().writing]).toEqual([true, true]);
  });

  it('has room for others only as far as it has none itself', () => {
    const arena = new Arena(SMALL);
    const held = Array.from({ length: SMALL.objects }, () => new Mutex({ arena }));
    for (const mutex of held) mutex.lock();
    expect(() => new Mutex({ arena })).toThrow(ArenaFullError);
    held[0]?.unlock();
    const last = new Mutex({ arena });
    last.lock();
    expect([held[0]?.locked, held[1]?.locked]).toEqual([false, true]);
    expect(() => held[0]?.lock()).toThrow(ArenaFullError);
    last.unlock();
    held[0]?.lock();
    expect([held[0]?.held, last.held]).toEqual([true, false]);
  });

  it('keeps the place of what another thread may know', async () => {
    const arena = new Arena(SMALL);
    const semaphore = shared(new Semaphore(1, { arena }));
    const { handle } = semaphore;
    for (let i = 0; i < 1000; i++) new Mutex({ arena });
    await members[0]?.run('call', { handle, method: 'acquire' });
    expect([semaphore.available, semaphore.handle]).toEqual([0, handle]);
  });
});

describe('short-lived objects', () => {
  it('of several threads share one arena, in jobs of all kinds', async () => {
    expect(await runProgram('short-lived')).toEqual({ code: 0, out: 'done done done\n', err: '' });
  });

  it('that only the collector frees are collected in time', async () => {
    expect(await report('asks-collector')).toEqual({ made: 25_000 });
  });
});
