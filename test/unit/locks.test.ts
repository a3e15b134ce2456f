/** The locks of the papers in one thread and with one other; stress/locks.test.ts has crowds of threads. */
import { Arena, ArenaFullError, DisposedError, SelfDeadlockError, Semaphore } from 'taketurns';
import { TicketSemaphore, TwaLock } from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { LOCKS } from '../support/locks.js';
import { at, Memory } from '../support/memory.js';
import { Member, team } from '../support/team.js';
import { turn, until } from '../support/until.js';

const crowd = team(1);
const member = () => crowd[0] as Member;

describe.each(LOCKS)('$kind', ({ kind, Class }) => {
  it('is held by one, and free again', () => {
    const lock = new Class();
    for (let i = 0; i < 1000; i++) {
      expect(lock.lock()).toBeUndefined();
      expect(lock.tryLock()).toBe(false);
      expect(lock.unlock()).toBeUndefined();
      expect(lock.tryLock()).toBe(true);
      lock.unlock();
    }
  });

  it('refuses to be locked twice by one thread, and unlocked by a thread that does not hold it', () => {
    const lock = new Class();
    const same = Class.from(lock.handle);
    const twice = `${kind}.lock: this thread holds the lock already, and would wait for itself for ever: unlock first, or do not lock again`;
    const notHeld = `${kind}.unlock: this thread does not hold the lock`;
    expect(() => lock.unlock()).toThrow(new Error(notHeld));
    lock.lock();
    expect(() => lock.lock()).toThrow(new SelfDeadlockError(twice));
    expect(() => same.lock()).toThrow(new SelfDeadlockError(twice));
    expect(same.tryLock()).toBe(false);
    same.unlock();
    expect(() => lock.unlock()).toThrow(new Error(notHeld));
    expect(() => same.unlock()).toThrow(new Error(notHeld));
    same.lock();
    lock.unlock();
    expect(lock.tryLock()).toBe(true);
  });

  it('runs no async function, whose error then ends no process', async () => {
    const lock = new Class();
    const run = () =>
      lock.run(async () => {
        throw new Error('late');
      });
    // A rejection that nobody handles makes this run of the tests fail.
    expect(run).toThrow(/section must not be async/);
    await turn();
    expect(lock.tryLock()).toBe(true);
    lock.unlock();
  });

  it('cannot be taken while another thread holds it', async () => {
    const lock = new Class();
    lock.lock();
    await expect(member().run('misuse-lock', { handle: lock.handle })).rejects.toThrow('does not hold the lock');
    expect(() => lock.lock()).toThrow('holds the lock already');
    lock.unlock();
    await expect(member().run('misuse-lock', { handle: lock.handle })).rejects.toThrow('the lock was free');
    expect(lock.tryLock()).toBe(false);
    expect(() => lock.unlock()).toThrow('does not hold the lock');
  });

  it('stays apart from others, held in any order', () => {
    const locks = Array.from({ length: 20 }, () => new Class());
    for (let round = 0; round < 3; round++) {
      for (const lock of locks) lock.lock();
      for (const lock of round % 2 ? locks : locks.toReversed()) {
        expect(lock.tryLock()).toBe(false);
        lock.unlock();
        expect(lock.tryLock()).toBe(true);
        lock.unlock();
      }
    }
  });

  it('is one lock by handle and by name', () => {
    const arena = new Arena();
    const lock = Class.open('the lock', { arena });
    const same = Class.open('the lock', { arena });
    const too = Class.from(structuredClone(lock.handle));
    expect(lock.handle).toMatchObject({ kind, address: same.handle.address });
    lock.lock();
    expect([same.tryLock(), too.tryLock()]).toEqual([false, false]);
    too.unlock();
    expect(same.tryLock()).toBe(true);
    expect(Class.open('another', { arena }).tryLock()).toBe(true);
  });

  it('cannot be opened as another kind', () => {
    const { handle } = new TicketSemaphore(1);
    expect(() => Class.from(handle as never)).toThrow(
      new TypeError(`${kind}.from: handle must be of a ${kind}, but it is of a TicketSemaphore`),
    );
    expect(() => Class.from({ ...handle, kind } as never)).toThrow(/the object there is no /);
    expect(() => Class.from(5 as never)).toThrow(
      `${kind}.from: handle must be the handle of a ${kind} (its .handle, not the object), got 5`,
    );
  });

  it('refuses bad options', () => {
    for (const spin of [-1, 0.5, 1_000_001])
      expect(() => new Class({ spin })).toThrow(
        new RangeError(`${kind}: spin must be an integer from 0 to 1000000, got ${spin}`),
      );
    expect(() => new Class({ spin: '1' as never })).toThrow(TypeError);
    expect(() => new Class(null as never)).toThrow(
      new RegExp(`^${kind}: options must be of {.* policy, spin, arena }, got null$`),
    );
  });

  it('is closed by dispose, for every library object of it', () => {
    const arena = new Arena({ objects: 1 });
    const lock = new Class({ arena });
    const same = Class.from(lock.handle);
    expect(() => new Class({ arena })).toThrow(ArenaFullError);
    lock.dispose();
    lock.dispose();
    for (const one of [lock, same]) {
      expect(() => one.lock()).toThrow(new DisposedError(`the ${kind} has been disposed of`));
      expect(() => one.tryLock()).toThrow(DisposedError);
      expect(() => one.handle).toThrow(DisposedError);
      expect(one.unlock()).toBeUndefined();
    }
    // Nothing of it is left for the next lock in this memory.
    const next = new Class({ arena });
    next.lock();
    next.unlock();
    expect(next.tryLock()).toBe(true);
  });

  it('can be disposed of by the thread that holds it', () => {
    const arena = new Arena({ objects: 1 });
    const lock = new Class({ arena });
    const same = Class.from(lock.handle);
    const memory = new Memory(arena);
    const { address } = lock.handle;
    lock.lock();
    same.dispose();
    expect(memory.long(address + at('O_OWNER'))).toBe(0n);
    lock.unlock();
    expect(() => lock.lock()).toThrow(DisposedError);
    const next = new Class({ arena });
    expect(next.tryLock()).toBe(true);
    next.unlock();
  });
});

describe.each(LOCKS)('a $kind that another thread has disposed of', ({ Class }) => {
  it('is unlocked by its owner, whose calls were refused, and then its waiter learns that it is closed', async () => {
    const arena = new Arena();
    const lock = new Class({ arena, spin: 0 });
    const { handle } = lock;
    const memory = new Memory(arena);
    const word = () => memory.long(handle.address + at('TICKET'));
    lock.lock();
    const before = word();
    const waits = member().run('pass-lock', { handle });
    const refused = expect(waits).rejects.toMatchObject({ name: 'DisposedError' });
    await until(() => word() !== before, 'it waits');
    await new Member().run('dispose', { handle });
    for (const call of [() => lock.tryLock() && lock.unlock(), () => lock.lock()])
      try {
        call();
      } catch (error) {
        expect(String(error)).toMatch(/has been disposed of|holds the lock already/);
      }
    lock.unlock();
    await refused;
  });
});

describe.each(LOCKS.filter(({ kind }) => ['McsLock', 'ClhLock', 'ReciprocatingLock'].includes(kind)))(
  'the queue nodes of a $kind',
  ({ kind, Class }) => {
    it('run out with an error, come back, and return to the arena when the thread ends', async () => {
      const arena = new Arena({ objects: 8, threads: 4, waiters: 8 });
      const memory = new Memory(arena);
      const locks = Array.from({ length: 7 }, () => new Class({ arena }));
      // Each of these promises has an element of its own.
      const empty = new Semaphore(0, { arena });
      const abort = new AbortController();
      const waits: Promise<unknown>[] = [];
      let full = false;
      while (!full) {
        const wait = empty.acquireAsync(1, { signal: abort.signal });
        wait.catch((error) => {
          full ||= error instanceof ArenaFullError;
        });
        waits.push(wait);
        await turn();
      }
      for (const lock of locks) {
        expect(() => lock.lock()).toThrow(ArenaFullError);
        expect(() => lock.tryLock()).toThrow(`${kind}.tryLock: the arena has no room for another waiter`);
      }
      abort.abort();
      await Promise.allSettled(waits);
      for (const lock of locks) lock.lock();
      expect(memory.elementsIn(at('BORROWED')).length).toBe(locks.length);
      for (const lock of locks) lock.unlock();
      const kept = memory.elementsIn(at('BORROWED')).length;
      expect(kept).toBe(5);
      const leaver = new Member();
      const { handle } = locks[0] as (typeof locks)[number];
      await leaver.run('pass-lock', { handle });
      expect(memory.elementsIn(at('BORROWED')).length).toBe(kept + 1);
      await leaver.leave();
      await until(() => memory.elementsIn(at('BORROWED')).length === kept, 'the node is given back');
    });
  },
);

describe('TwaLock', () => {
  it('refuses a bad threshold', () => {
    expect(() => new TwaLock({ threshold: -1 })).toThrow(
      new RangeError('TwaLock: threshold must be an integer from 0 to 2147483647, got -1'),
    );
  });

  it.each([
    ['stacks', RangeError, '"stacks"'],
    ['', RangeError, '""'],
    [1, TypeError, '1'],
  ])('has no waiters in %j', (waiting, Failure, shown) => {
    for (const [call, make] of [
      ['TwaLock', () => new TwaLock({ waiting: waiting as never })],
      ['TwaLock.open', () => TwaLock.open('stacked', { waiting: waiting as never })],
    ] as const) {
      expect(make).toThrow(Failure);
      expect(make).toThrow(`${call}: waiting must be "buckets" or "chains", got ${shown}`);
    }
  });

  it('refuses a bad hash', () => {
    expect(() => new TwaLock({ hash: 'grey' as never })).toThrow('TwaLock: hash must be "multiplier" or ');
  });

  it('refuses a farParks that is no boolean', () => {
    expect(() => new TwaLock({ farParks: 1 as never })).toThrow('TwaLock: farParks must be true or false, got 1');
  });

  describe.each(['multiplier', 'paired', 'orbit', 'gray', 'mixed'] as const)('hash %s', (hash) => {
    it.each(['buckets', 'chains'] as const)('its waiters stand in %s', async (waiting) => {
      const arena = new Arena();
      const memory = new Memory(arena);
      const lock = new TwaLock({ arena, waiting, hash, spin: 0, threshold: 0 });
      lock.lock();
      const parked = member().run('pass-lock', { handle: lock.handle });
      const standing = () =>
        [memory.bucketWords('B_PARKED'), memory.chainWords('C_HEAD')].map((all) => all.filter((n) => n !== 0).length);
      await until(() => standing().some((count) => count > 0), 'it waits');
      expect(standing()).toEqual(waiting === 'buckets' ? [1, 0] : [0, 1]);
      lock.unlock();
      await parked;
      expect(standing()).toEqual([0, 0]);
      lock.dispose();
    });
  });

  it.each(['buckets', 'chains'] as const)('a far waiter in %s parks, although the policy is spin', async (waiting) => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const lock = new TwaLock({ arena, waiting, policy: 'spin', farParks: true, threshold: 0 });
    lock.lock();
    const parked = member().run('pass-lock', { handle: lock.handle });
    const isParked = () => memory.bucketWords('B_PARKED').some((count) => count > 0);
    const isOnChain = () =>
      memory.chainWords('C_HEAD').some((head) => head !== 0 && memory.word(head + at('E_GATE')) === at('PARKED'));
    await until(() => isParked() || isOnChain(), 'it is parked');
    lock.unlock();
    await parked;
    expect(lock.tryLock()).toBe(true);
    lock.unlock();
  });

  it('borrows an element for chains, and none for buckets', () => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const lent = () => memory.elementsIn(at('BORROWED')).length;
    const lock = new TwaLock({ arena, waiting: 'buckets' });
    expect(lent()).toBe(0);
    TwaLock.from(lock.handle);
    expect(lent()).toBe(0);
    TwaLock.from(new TwaLock({ arena, waiting: 'chains' }).handle);
    expect(lent()).toBe(1);
  });

  it('open finds the lock of a name with the same waiting and hash only', () => {
    const arena = new Arena();
    const options = { arena, waiting: 'chains', hash: 'orbit' } as const;
    const lock = TwaLock.open('by name', options);
    expect(TwaLock.open('by name', options).handle).toEqual(lock.handle);
    for (const other of [{ arena }, { ...options, hash: 'gray' }, { ...options, waiting: 'buckets' }] as const) {
      expect(() => TwaLock.open('by name', other)).toThrow(
        new RangeError('TwaLock.open: name "by name": it exists already with another hash or way to wait'),
      );
    }
  });
});
