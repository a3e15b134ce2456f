/**
 * A RwLock and the order of calls in one iteration of the event loop: who comes after a writer's turn has come goes after
 * it.
 */
import { Arena, TimeoutError } from 'taketurns';
import { type HeldUpdate, RwLock } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { OtherThread } from '../support/other-thread.js';

const arena = new Arena();
const timeout = 10_000;

/** Each prepares, and returns a function that has the turn of a writer come, and returns its promise, with what unlocks. */
const writers: Record<string, (lock: RwLock) => Promise<(lock: RwLock) => Promise<() => void>>> = {
  writeAsync: async () => (lock) => lock.writeAsync().then((held) => () => held.unlock()),
  lockWriteAsync: async () => (lock) => lock.lockWriteAsync().then(() => () => lock.unlockWrite()),
  'writeAsync with a time-out': async () => (lock) => lock.writeAsync({ timeout }).then((held) => () => held.unlock()),
  'writeAsync with a time-out of 0': async () => (lock) =>
    lock.writeAsync({ timeout: 0 }).then((held) => () => held.unlock()),
  'writeAsync with a signal': async () => (lock) =>
    lock.writeAsync({ signal: new AbortController().signal }).then((held) => () => held.unlock()),
  'upgradeAsync of an update': async (lock) => {
    const found = await lock.updateAsync();
    return () => found.upgradeAsync().then((held) => () => held.unlock());
  },
  ...Object.fromEntries(
    [
      ['a writer', undefined],
      ['a writer with a time-out', { timeout }],
      ['a writer with a signal', { signal: new AbortController().signal }],
    ].map(([name, options]) => [
      `${name} in line, by an unlock`,
      async (lock: RwLock) => {
        const first = await lock.writeAsync();
        const second = lock.writeAsync(options as object | undefined);
        return () => {
          first.unlock();
          return second.then((held) => () => held.unlock());
        };
      },
    ]),
  ),
  'a writer in line, by the end of an update': async (lock) => {
    const first = lock.update();
    const second = lock.lockWriteAsync();
    return () => {
      first.unlock();
      return second.then(() => () => lock.unlockWrite());
    };
  },
  'a writer in line, by one that gives up': async (lock) => {
    const first = lock.write();
    const abort = new AbortController();
    const second = lock.writeAsync({ signal: abort.signal });
    const third = lock.writeAsync();
    return () => {
      abort.abort(new Error('enough'));
      second.catch(() => {});
      first.unlock();
      return third.then((held) => () => held.unlock());
    };
  },
};

/** What comes then, and is answered at once. */
const readers: Record<string, (lock: RwLock) => unknown> = {
  lockRead: (lock) => expect(() => lock.lockRead()).toThrow(/^RwLock.lockRead: this thread writes/),
  'lockRead with a time-out': (lock) => expect(() => lock.lockRead({ timeout: 0 })).toThrow(/this thread writes/),
  read: (lock) => expect(() => lock.read()).toThrow(/^RwLock.read: this thread writes/),
  tryLockRead: (lock) => expect(lock.tryLockRead()).toBe(false),
  tryRead: (lock) => expect(lock.tryRead()).toBe(undefined),
  'readAsync with a time-out of 0': (lock) => expect(lock.readAsync({ timeout: 0 })).rejects.toThrow(TimeoutError),
  stamp: (lock) => expect([lock.stamp(), lock.writing]).toEqual([0, true]),
  'a reader of another thread': (lock) => {
    const other = new OtherThread(lock);
    expect(other.may).toEqual({ read: false, write: false });
    other.die();
  },
  tryWrite: (lock) => expect(lock.tryWrite()).toBe(undefined),
  lockWrite: (lock) => expect(() => lock.lockWrite()).toThrow(/wait for itself/),
};
/** What comes then, and has to wait. It returns what unlocks. */
const later: Record<string, (lock: RwLock) => Promise<() => void>> = {
  readAsync: (lock) => lock.readAsync().then((held) => () => held.unlock()),
  lockReadAsync: (lock) => lock.lockReadAsync().then(() => () => lock.unlockRead()),
  'readAsync with a time-out': (lock) => lock.readAsync({ timeout }).then((held) => () => held.unlock()),
  writeAsync: (lock) => lock.writeAsync().then((held) => () => held.unlock()),
  updateAsync: (lock) => lock.updateAsync().then((held) => () => held.unlock()),
};

describe.each(Object.entries(writers))('once its turn has come: %s', (name, prepare) => {
  it.each(Object.entries(readers))('%s is answered that a writer is there', async (_, ask) => {
    const lock = new RwLock({ arena });
    const write = (await prepare(lock))(lock);
    const answer = ask(lock);
    (await write)();
    await answer;
    expect(lock.inspect()).toMatchObject({ readers: [], writer: undefined, writing: false, waiters: [] });
    lock.dispose();
  });

  it.each(Object.entries(later))('%s comes after the writer', async (_, ask) => {
    const lock = new RwLock({ arena });
    const order: string[] = [];
    const write = (await prepare(lock))(lock);
    const next = ask(lock).then((unlock) => {
      order.push('next');
      unlock();
    });
    const unlock = await write;
    order.push('writer');
    await undefined;
    unlock();
    await next;
    expect(order).toEqual(['writer', 'next']);
    expect(lock.inspect()).toMatchObject({ readers: [], writer: undefined, writing: false, waiters: [] });
    lock.dispose();
  });

  it('a reader that was before it goes first', async () => {
    const lock = new RwLock({ arena });
    const begin = await prepare(lock);
    const reader = new OtherThread(lock);
    // Where a writer is still in, the reader comes after its end; then it waits with others.
    const isIn = reader.tryRead();
    const write = begin(lock);
    if (!isIn) {
      (await write)();
      return;
    }
    if (name === 'writeAsync with a time-out of 0') {
      lock.read().unlock();
      await expect(write).rejects.toThrow(TimeoutError);
      reader.unlockRead();
    } else {
      expect(lock.tryRead()).toBe(undefined);
      reader.unlockRead();
      (await write)();
    }
    reader.die();
    lock.dispose();
  });
});

describe('a writer that has its turn, and waits for readers', () => {
  const begin: Record<string, (lock: RwLock, signal: AbortSignal) => Promise<[Promise<unknown>, HeldUpdate?]>> = {
    writeAsync: async (lock, signal) => [lock.writeAsync({ signal })],
    upgradeAsync: async (lock, signal) => {
      const found = await lock.updateAsync();
      return [found.upgradeAsync({ signal }), found];
    },
  };

  it.each(Object.entries(begin))('lets readers in at once when it is aborted: %s', async (_, start) => {
    const lock = new RwLock({ arena });
    const reader = new OtherThread(lock);
    reader.tryRead();
    const abort = new AbortController();
    const [promise, found] = await start(lock, abort.signal);
    const refused = expect(promise).rejects.toThrow('enough');
    await undefined;
    expect(lock.tryRead()).toBe(undefined);
    abort.abort(new Error('enough'));
    lock.read().unlock();
    expect([lock.writing, lock.stamp() > 0]).toEqual([false, true]);
    await refused;
    found?.unlock();
    reader.unlockRead();
    expect(reader.may).toEqual({ read: true, write: true });
    reader.die();
    lock.dispose();
  });

  it('shuts nobody out if its time-out is 0', async () => {
    const lock = new RwLock({ arena });
    const reader = new OtherThread(lock);
    reader.tryRead();
    const refused = expect(lock.writeAsync({ timeout: 0 })).rejects.toThrow(TimeoutError);
    lock.read().unlock();
    await refused;
    reader.unlockRead();
    expect(reader.may).toEqual({ read: true, write: true });
    reader.die();
    lock.dispose();
  });

  it('writes only once its promise goes on', async () => {
    const lock = new RwLock({ arena });
    const first = await lock.writeAsync();
    const second = lock.writeAsync();
    first.unlock();
    expect(() => lock.unlockWrite()).toThrow('RwLock.unlockWrite: this thread does not write');
    (await second).unlock();
    lock.dispose();
  });

  it('has a free lock at once, and needs no promise for that', async () => {
    const lock = new RwLock({ arena });
    const promise = lock.lockWriteAsync();
    lock.unlockWrite();
    await promise;
    lock.dispose();
  });

  it('is told of a dispose in the turn in which its turn has come', async () => {
    for (const by of [undefined, OtherThread]) {
      const lock = new RwLock({ arena });
      const other = by && new by(lock);
      await lock.lockReadAsync();
      const promise = lock.writeAsync();
      if (other) other.dispose();
      else lock.dispose();
      await expect(promise).rejects.toThrow('the RwLock has been disposed of');
      expect(lock.disposed).toBe(true);
      other?.die();
    }
  });
});

describe('random calls of one thread and another', () => {
  it.each(Array.from({ length: 40 }, (_, i) => i + 1))('keep to the order of a plain model (seed %i)', async (seed) => {
    // A generator of Park and Miller.
    let state = seed * 16807;
    const random = (below: number): number => {
      state = (state * 48271) % 2147483647;
      return state % below;
    };
    const lock = new RwLock({ arena });
    const other = new OtherThread(lock);
    const ends: Promise<void>[] = [];
    const mine = { reads: 0, writes: 0, updates: 0 };
    const its = { reads: false, writes: false };
    const check = (): void => {
      const readers = mine.reads + Number(its.reads);
      const writers = mine.writes + Number(its.writes);
      expect([writers < 2, writers === 0 || readers === 0, writers + mine.updates < 2]).toEqual([true, true, true]);
    };
    const task = async (what: keyof typeof mine, held: Promise<{ unlock(): void }>, before?: () => void) => {
      try {
        const guard = await held;
        before?.();
        mine[what]++;
        check();
        for (let i = random(4); i > 0; i--) await undefined;
        mine[what]--;
        guard.unlock();
      } catch (error) {
        expect((error as Error).message).toMatch(/^(aborted|timed out after)/);
      }
    };
    for (let i = 0; i < 400; i++) {
      const abort = new AbortController();
      const options = [undefined, { timeout: 0 }, { timeout }, { signal: abort.signal }][random(4)];
      const aborts = random(4);
      if (aborts === 0) setTimeout(() => abort.abort(new Error('aborted')), random(3));
      if (aborts === 1) queueMicrotask(() => abort.abort(new Error('aborted')));
      switch (random(8)) {
        case 0:
          ends.push(task('writes', lock.writeAsync(options)));
          break;
        case 1:
          ends.push(task('updates', lock.updateAsync(options)));
          break;
        case 2:
          if (its.reads) other.unlockRead();
          its.reads = !its.reads && !its.writes && other.tryRead();
          check();
          break;
        case 3:
          if (its.writes) other.unlockWrite();
          its.writes = !its.writes && !its.reads && other.tryWrite();
          check();
          break;
        case 4: {
          const held = lock.tryRead();
          if (held) mine.reads++;
          check();
          if (held) mine.reads--;
          held?.unlock();
          break;
        }
        case 5: {
          const held = lock.tryWrite();
          if (held) mine.writes++;
          check();
          if (held) mine.writes--;
          held?.unlock();
          break;
        }
        default:
          ends.push(task('reads', lock.readAsync(options)));
      }
      if (random(4) === 0) await undefined;
    }
    if (its.reads) other.unlockRead();
    if (its.writes) other.unlockWrite();
    await Promise.all(ends);
    expect(other.may).toEqual({ read: true, write: true });
    expect(lock.inspect()).toMatchObject({ readers: [], writer: undefined, writing: false, waiters: [] });
    other.die();
    lock.dispose();
  });
});
