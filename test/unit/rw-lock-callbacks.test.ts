/** A RwLock whose methods are called by code of the user that the lock itself calls: callbacks, options, signals. */
import { Arena, DisposedError, Semaphore } from 'taketurns';
import { type HeldUpdate, RwLock, type RwLockState } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { membershipOf } from '../support/membership.js';
import { OtherThread } from '../support/other-thread.js';

const arena = new Arena();
const { thread } = membershipOf(arena);
const timeout = 10_000;

type Unlock = () => void;
interface Way {
  readonly has: 'read' | 'write' | 'update';
  readonly lock: (lock: RwLock, options?: object) => Unlock | Promise<Unlock>;
}

const must = <T extends { unlock(): void }>(held: T | undefined): Unlock => {
  if (held === undefined) throw new Error('refused');
  return () => held.unlock();
};
const check = (isLocked: boolean, unlock: Unlock): Unlock => {
  if (!isLocked) throw new Error('refused');
  return unlock;
};
const after = (_: unknown, unlock: Unlock): Unlock => unlock;
/** Each way to lock, with what unlocks. */
const ways: Record<string, Way> = {
  lockRead: { has: 'read', lock: (lock, options) => after(lock.lockRead(options), () => lock.unlockRead()) },
  tryLockRead: { has: 'read', lock: (lock) => check(lock.tryLockRead(), () => lock.unlockRead()) },
  lockReadAsync: {
    has: 'read',
    lock: (lock, options) => lock.lockReadAsync(options).then(() => () => lock.unlockRead()),
  },
  read: { has: 'read', lock: (lock, options) => must(lock.read(options)) },
  tryRead: { has: 'read', lock: (lock) => must(lock.tryRead()) },
  readAsync: { has: 'read', lock: (lock, options) => lock.readAsync(options).then(must) },
  lockWrite: { has: 'write', lock: (lock, options) => after(lock.lockWrite(options), () => lock.unlockWrite()) },
  tryLockWrite: { has: 'write', lock: (lock) => check(lock.tryLockWrite(), () => lock.unlockWrite()) },
  lockWriteAsync: {
    has: 'write',
    lock: (lock, options) => lock.lockWriteAsync(options).then(() => () => lock.unlockWrite()),
  },
  write: { has: 'write', lock: (lock, options) => must(lock.write(options)) },
  tryWrite: { has: 'write', lock: (lock) => must(lock.tryWrite()) },
  writeAsync: { has: 'write', lock: (lock, options) => lock.writeAsync(options).then(must) },
  update: { has: 'update', lock: (lock, options) => must(lock.update(options)) },
  updateAsync: { has: 'update', lock: (lock, options) => lock.updateAsync(options).then(must) },
};

/** Each method, with what it takes given back; what it returns is over when all is. */
const acts: Record<string, (lock: RwLock) => unknown> = {
  ...Object.fromEntries(
    Object.entries(ways).map(([name, { lock }]) => [
      name,
      (at: RwLock) => {
        const unlock = lock(at, name.endsWith('Async') ? undefined : { timeout: 0 });
        return unlock instanceof Promise ? unlock.then((unlock) => unlock()) : unlock();
      },
    ]),
  ),
  upgrade: (lock) => lock.update({ timeout: 0 }).upgrade({ timeout: 0 }).unlock(),
  downgrade: (lock) => lock.write({ timeout: 0 }).downgrade().unlock(),
  'downgrade of an update': (lock) => lock.update({ timeout: 0 }).downgrade().unlock(),
  upgradeAsync: async (lock) => (await (await lock.updateAsync()).upgradeAsync()).unlock(),
  'a writeAsync that is aborted': (lock) => {
    const abort = new AbortController();
    const promise = lock.writeAsync({ signal: abort.signal }).then((held) => held.unlock());
    abort.abort(new Error('aborted'));
    return promise;
  },
  stamp: (lock) => lock.valid(lock.stamp()),
  inspect: (lock) => [lock.inspect(), String(lock), lock.readers, lock.writing, lock.waiting],
  from: (lock) => RwLock.from(lock.handle).tryRead()?.unlock(),
};

/** Makes a lock of which a writer has died, and another thread that looks at it. */
function halfWritten(): { lock: RwLock; other: OtherThread } {
  const lock = new RwLock({ arena });
  const dead = new OtherThread(lock);
  expect(dead.tryWrite()).toBe(true);
  dead.die();
  expect(lock.inspect()).toMatchObject({ deaths: 1, writing: false, writer: undefined });
  return { lock, other: new OtherThread(lock) };
}

function expectHeld(lock: RwLock, other: OtherThread, has: Way['has']): void {
  const { readers, writer, writing }: RwLockState = lock.inspect();
  // A promise of the callback may wait until this thread has left.
  if (has === 'read') expect(readers).toEqual([thread]);
  else expect(writer).toBe(thread);
  if (has === 'write') expect([readers, writing]).toEqual([[], true]);
  expect(other.may).toEqual({ read: !writing, write: false });
}

function expectFree(lock: RwLock, other: OtherThread): void {
  expect(other.may).toEqual({ read: true, write: true });
  expect(lock.inspect()).toMatchObject({ readers: [], writer: undefined, writing: false, waiters: [] });
  lock.write({ timeout: 0 }).unlock();
  lock.read({ timeout: 0 }).unlock();
  other.die();
  lock.dispose();
}

/** Calls one of the acts. The promise that it may begin is over when `ends` is. */
function perform(act: (lock: RwLock) => unknown, lock: RwLock, ends: Promise<unknown>[]): void {
  try {
    ends.push(Promise.resolve(act(lock)).catch(() => {}));
  } catch {}
}

describe.each(Object.entries(ways))('onOwnerDied in %s', (_, { has, lock: by }) => {
  it.each(Object.entries(acts))('may call %s', async (_, act) => {
    const { lock, other } = halfWritten();
    const ends: Promise<unknown>[] = [];
    let told = 0;
    lock.onOwnerDied = () => {
      if (told++ === 0) perform(act, lock, ends);
    };
    const unlock = await by(lock, { timeout });
    expect(told).toBeGreaterThan(0);
    expectHeld(lock, other, has);
    unlock();
    await Promise.all(ends);
    expectFree(lock, other);
  });

  it.each(Object.entries(acts))('may call %s, and throw', async (_, act) => {
    const { lock, other } = halfWritten();
    const ends: Promise<unknown>[] = [];
    lock.onOwnerDied = () => {
      lock.onOwnerDied = undefined;
      perform(act, lock, ends);
      throw new Error('not mended');
    };
    await expect((async () => by(lock, { timeout }))()).rejects.toThrow('not mended');
    await Promise.all(ends);
    if (ends.length === 0) expect(lock.tryRead()?.ownerDied).toBe(true);
    if (ends.length === 0) lock.unlockRead();
    expectFree(lock, other);
  });

  it.each([false, true])('that unlocks has unlocked (and throws: %s)', async (throws) => {
    if (has === 'update') return;
    const { lock, other } = halfWritten();
    lock.onOwnerDied = () => {
      lock.onOwnerDied = undefined;
      if (has === 'read') lock.unlockRead();
      else lock.unlockWrite();
      if (throws) throw new Error('not mended');
    };
    await expect((async () => by(lock, { timeout }))()).rejects.toThrow(
      throws ? 'not mended' : 'RwLock: onOwnerDied has unlocked it',
    );
    expectFree(lock, other);
  });

  it.each([false, true])(
    'that unlocks does not unlock what a promise has got by that (and throws: %s)',
    async (throws) => {
      if (has !== 'write') return;
      const { lock, other } = halfWritten();
      let next: ReturnType<RwLock['writeAsync']> | undefined;
      lock.onOwnerDied = () => {
        lock.onOwnerDied = undefined;
        next = lock.writeAsync();
        lock.unlockWrite();
        if (throws) throw new Error('not mended');
      };
      await expect((async () => by(lock, { timeout }))()).rejects.toThrow(
        throws ? 'not mended' : 'onOwnerDied has unlocked it',
      );
      const held = await next;
      expectHeld(lock, other, 'write');
      held?.unlock();
      expectFree(lock, other);
    },
  );

  it.each([false, true])('may dispose of the lock (and throw: %s)', async (throws) => {
    const { lock, other } = halfWritten();
    lock.onOwnerDied = () => {
      lock.dispose();
      if (throws) throw new Error('not mended');
    };
    const locked = (async () => by(lock, { timeout }))();
    if (throws) await expect(locked).rejects.toThrow('not mended');
    else (await locked)();
    expect(lock.disposed).toBe(true);
    expect(() => lock.lockRead()).toThrow(DisposedError);
    other.die();
  });

  it('is not called without end if it reads each time', async () => {
    const { lock, other } = halfWritten();
    const ends: Promise<unknown>[] = [];
    let told = 0;
    lock.onOwnerDied = () => {
      told++;
      if (told < 100) ends.push(lock.readAsync().then((held) => held.unlock()));
    };
    const unlock = await by(lock, { timeout });
    expect(told).toBeLessThan(3);
    unlock();
    await Promise.all(ends);
    lock.onOwnerDied = undefined;
    expectFree(lock, other);
  });
});

const guarded: Record<string, (held: HeldUpdate) => unknown> = {
  unlock: (held) => held.unlock(),
  'unlock twice': (held) => [held.unlock(), held.unlock()],
  dispose: (held) => held[Symbol.dispose](),
  downgrade: (held) => held.downgrade().unlock(),
  upgrade: (held) => held.upgrade({ timeout: 0 }).unlock(),
  upgradeAsync: async (held) => (await held.upgradeAsync()).unlock(),
};

describe.each(Object.entries(ways).filter(([, { has }]) => has === 'read'))('onOwnerDied in %s', (_, { lock: by }) => {
  it.each(Object.entries(guarded))('may call %s of an update of its thread', async (_, act) => {
    const { lock, other } = halfWritten();
    const ends: Promise<unknown>[] = [];
    const held = lock.update();
    lock.onOwnerDied = () => {
      lock.onOwnerDied = undefined;
      perform(() => act(held), lock, ends);
    };
    const unlock = await by(lock);
    expectHeld(lock, other, 'read');
    unlock();
    await Promise.all(ends);
    held.unlock();
    expectFree(lock, other);
  });
});

describe('a writer dies while a promise of the thread waits to read', () => {
  const readers = Object.entries(ways).filter(([, { has }]) => has === 'read');

  it.each(readers)('and %s, before the promise goes on, is told of the death first', async (_, { lock: by }) => {
    const lock = new RwLock({ arena });
    const writer = new OtherThread(lock);
    expect(writer.tryWrite()).toBe(true);
    const log: string[] = [];
    const promise = lock.lockReadAsync().then(() => log.push('promise'));
    writer.die();
    lock.onOwnerDied = () => log.push('told');
    const unlock = by(lock);
    expect(log).toEqual(['told']);
    (await unlock)();
    await promise;
    expect(log).toEqual(['told', 'told', 'promise']);
    lock.unlockRead();
    expect(lock.inspect()).toMatchObject({ readers: [], waiters: [] });
    lock.dispose();
  });

  // The promise is due before the dispose, so it reads.
  describe.each(['lockReadAsync', 'readAsync'] as const)('by %s, and the thread disposes of the lock', (name) => {
    it.each(['the same object', 'another object'])('by %s: the promise is told', async (by) => {
      const lock = new RwLock({ arena });
      const writer = new OtherThread(lock);
      expect(writer.tryWrite()).toBe(true);
      let told = 0;
      lock.onOwnerDied = (deaths) => {
        told += deaths;
      };
      const promise = lock[name]();
      writer.die();
      (by === 'the same object' ? lock : RwLock.from(lock.handle)).dispose();
      const held = await promise;
      expect(told).toBe(1);
      held?.unlock();
      expect(lock.disposed).toBe(true);
    });

    it('rejects if its callback throws', async () => {
      const lock = new RwLock({ arena });
      const writer = new OtherThread(lock);
      expect(writer.tryWrite()).toBe(true);
      lock.onOwnerDied = () => {
        throw new Error('not mended');
      };
      const promise = lock[name]();
      writer.die();
      lock.dispose();
      await expect(promise).rejects.toThrow('not mended');
    });

    it('rejects if the writer is in', async () => {
      const lock = new RwLock({ arena });
      const writer = new OtherThread(lock);
      expect(writer.tryWrite()).toBe(true);
      const promise = lock[name]();
      lock.dispose();
      await expect(promise).rejects.toThrow(DisposedError);
      writer.die();
    });
  });

  it('and again later, each time the first call is told', async () => {
    const lock = new RwLock({ arena });
    for (const round of [1, 2, 3]) {
      const writer = new OtherThread(lock);
      expect(writer.tryWrite()).toBe(true);
      const promise = lock.lockReadAsync();
      writer.die();
      let told = 0;
      lock.onOwnerDied = () => {
        told++;
      };
      lock.lockRead();
      expect([round, told]).toEqual([round, 1]);
      await promise;
      lock.unlockRead();
      lock.unlockRead();
      lock.write().unlock();
    }
    lock.dispose();
  });

  it.each(readers)('and %s is told again if the callback of another has thrown', async (_, { lock: by }) => {
    const lock = new RwLock({ arena });
    const writer = new OtherThread(lock);
    expect(writer.tryWrite()).toBe(true);
    const promise = lock.lockReadAsync();
    writer.die();
    lock.onOwnerDied = () => {
      throw new Error('not mended');
    };
    expect(() => lock.lockRead()).toThrow('not mended');
    let told = 0;
    lock.onOwnerDied = () => {
      told++;
    };
    const unlock = by(lock);
    expect(told).toBe(1);
    (await unlock)();
    await promise;
    expect(told).toBe(2);
    lock.unlockRead();
    lock.dispose();
  });
});

/** The code of the user that options call: each is given what to do then. */
const options: Record<string, (act: () => void) => object> = {
  'get timeout': (act) => ({
    get timeout() {
      act();
      return timeout;
    },
  }),
  'get signal': (act) => ({
    get signal() {
      act();
      return new AbortController().signal;
    },
  }),
  ...Object.fromEntries(
    ['aborted', 'reason', 'addEventListener', 'removeEventListener'].map((name) => [
      `its signal's ${name}`,
      (act: () => void) => {
        const { signal } = new AbortController();
        return {
          signal: {
            get aborted() {
              if (name === 'aborted') act();
              return false;
            },
            get reason() {
              if (name === 'reason') act();
              return undefined;
            },
            addEventListener(event: 'abort', listener: () => void) {
              if (name === 'addEventListener') act();
              signal.addEventListener(event, listener);
            },
            removeEventListener(event: 'abort', listener: () => void) {
              if (name === 'removeEventListener') act();
              signal.removeEventListener(event, listener);
            },
          },
        };
      },
    ]),
  ),
};
const optional = Object.entries({
  ...ways,
  upgrade: {
    has: 'write',
    lock: (lock, options) => {
      using held = lock.update();
      return must(held.upgrade(options));
    },
  },
  upgradeAsync: {
    has: 'write',
    lock: async (lock, options) => {
      using held = await lock.updateAsync();
      return must(await held.upgradeAsync(options));
    },
  },
} satisfies Record<string, Way>).filter(([name]) => !name.startsWith('try'));

describe.each(Object.entries(options))('%s', (_, optionsFor) => {
  it.each(optional)('of %s may call each method', async (name, { has, lock: by }) => {
    for (const act of Object.values(acts)) {
      for (const isFree of [true, false]) {
        const lock = new RwLock({ arena });
        const other = new OtherThread(lock);
        const ends: Promise<unknown>[] = [];
        // A promise that waits; or one that is let in at once.
        const first = isFree || !name.endsWith('Async') ? undefined : lock.tryWrite();
        if (name === 'upgradeAsync') first?.unlock();
        let called = 0;
        const given = optionsFor(() => {
          if (called++ === 0) perform(act, lock, ends);
        });
        const locked = (async () => by(lock, given))().then(
          (unlock) => {
            expectHeld(lock, other, has);
            unlock();
          },
          // A promise of the act may have the lock, or wait for it.
          (error) => expect(error.message).toMatch(/wait for itself|refused/),
        );
        first?.unlock();
        await locked;
        await Promise.all(ends);
        expectFree(lock, other);
      }
    }
  });
});

describe('a listener of the signal that aborts a promise', () => {
  it.each(Object.entries(acts))('may call %s', async (_, act) => {
    for (const waitsFor of ['its turn', 'readers', 'a writer'] as const) {
      const lock = new RwLock({ arena });
      const other = new OtherThread(lock);
      const abort = new AbortController();
      const ends: Promise<unknown>[] = [];
      expect(waitsFor === 'readers' ? other.tryRead() : other.tryWrite()).toBe(true);
      abort.signal.addEventListener('abort', () => perform(act, lock, ends));
      const method = waitsFor === 'a writer' ? 'readAsync' : 'writeAsync';
      const promise = lock[method]({ signal: abort.signal });
      abort.signal.addEventListener('abort', () => perform(act, lock, ends));
      abort.abort(new Error('enough'));
      await expect(promise).rejects.toThrow('enough');
      if (waitsFor === 'readers') other.unlockRead();
      else other.unlockWrite();
      await Promise.all(ends);
      expectFree(lock, other);
    }
  });
});

describe('the code of a signal that runs when a promise is over', () => {
  it('runs outside of the call that has unlocked', async () => {
    const lock = new RwLock({ arena });
    let isUnlocking = false;
    const seen: boolean[] = [];
    const signal = {
      aborted: false,
      reason: undefined,
      addEventListener: () => {},
      removeEventListener: () => void seen.push(isUnlocking),
    };
    const semaphore = new Semaphore(0);
    lock.lockWrite();
    const promise = lock.writeAsync({ signal });
    isUnlocking = true;
    lock.unlockWrite();
    isUnlocking = false;
    (await promise).unlock();
    const permit = semaphore.acquireAsync(1, { signal });
    isUnlocking = true;
    semaphore.release();
    isUnlocking = false;
    await permit;
    expect(seen).toEqual([false, false]);
    lock.dispose();
  });
});

describe('a signal that takes no listener', () => {
  it.each([
    ['writeAsync', (lock: RwLock, options: object) => lock.writeAsync(options)],
    ['upgradeAsync', (lock: RwLock, options: object) => lock.updateAsync().then((held) => held.upgradeAsync(options))],
  ] as const)('cancels %s, which waits for a reader to leave, with its error', async (_, wait) => {
    const lock = new RwLock();
    const held = lock.read();
    const reason = new Error('no listeners here');
    const signal = {
      aborted: false,
      addEventListener() {
        throw reason;
      },
      removeEventListener() {},
    };
    expect(await wait(lock, { signal }).catch((error: unknown) => error)).toBe(reason);
    expect(lock.writing).toBe(false);
    held.unlock();
    lock.dispose();
  });
});
