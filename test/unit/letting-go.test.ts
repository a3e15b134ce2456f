/**
 * A thread lets go of a disposed object without a garbage collection. Each arena here has room for 8 objects, so a loop
 * that leaves one behind now and then fails soon.
 */
import { Arena, ArenaFullError, DisposedError, Mutex, Semaphore } from 'taketurns';
import { Capacitor, McsLock, MultilaneSemaphore, TwaLock, TwaSemaphore } from 'taketurns/algorithms';
import { AtomicSemaphore, CountingSemaphore } from 'taketurns/p0514';
import { describe, expect, it } from 'vitest';
import { at, Memory } from '../support/memory.js';
import { report } from '../support/program.js';
import { watch } from '../support/settled.js';
import { shared } from '../support/shared.js';
import { team } from '../support/team.js';
import { turn, until } from '../support/until.js';

const ROUNDS = 20_000;
const SMALL = { objects: 8, threads: 8, waiters: 16 };
const members = team(2);

describe('dispose', () => {
  it('lets go for every library object of the thread, whichever it is called on', () => {
    const arena = new Arena(SMALL);
    for (let i = 0; i < ROUNDS; i++) {
      const objects = [Semaphore.open('x', 1, { arena }), Semaphore.open('x', 1, { arena })];
      objects[i & 1]?.dispose();
      for (const { disposed } of objects) if (!disposed) throw new Error(`one is not disposed of after ${i}`);
    }
    expect(arena.stats().objects.used).toBe(0);
    expect(arena.stats().elements.used).toBe(1);
  });

  it.each([
    ['Mutex', () => new Mutex({ arena: new Arena({ objects: 1 }) }), Mutex.from],
    ['TwaSemaphore', () => new TwaSemaphore(1, { arena: new Arena({ objects: 1 }) }), TwaSemaphore.from],
    ['TwaLock', () => new TwaLock({ arena: new Arena({ objects: 1 }) }), TwaLock.from],
    ['CountingSemaphore', () => new CountingSemaphore(1, { arena: new Arena({ objects: 1 }) }), CountingSemaphore.from],
    ['AtomicSemaphore', () => new AtomicSemaphore({ arena: new Arena({ objects: 1 }) }), AtomicSemaphore.from],
    [
      'MultilaneSemaphore',
      () => new MultilaneSemaphore(1, { lanes: 2, arena: new Arena({ objects: 3 }) }),
      MultilaneSemaphore.from,
    ],
    ['Capacitor', () => new Capacitor(1, { lanes: 2, arena: new Arena({ objects: 3 }) }), Capacitor.from],
  ])('does so for a %s', (_, make, from) => {
    const one = make();
    const arena = Arena.from(one.handle.arena);
    const others = [1, 2, 3].map(() => from(one.handle as never));
    others[1]?.dispose();
    for (const object of [one, ...others]) expect(() => object.handle).toThrow(DisposedError);
    expect(new Semaphore(7, { arena }).available).toBe(7);
  });

  it('gives back a lock that the thread holds by another library object', async () => {
    const one = new TwaLock();
    const same = TwaLock.from(one.handle);
    one.lock();
    same.dispose();
    one.unlock();
    expect(() => one.lock()).toThrow(DisposedError);
  });
});

describe('an object that another thread has disposed of', () => {
  it('is released while the thread attaches to others: a worker forgets what it gets with each job', async () => {
    const arena = new Arena(SMALL);
    const handle = new Semaphore(0, { arena }).handle;
    const shared = new Int32Array(new SharedArrayBuffer(12));
    const done = members[0]?.run('release-and-drop', { handle, shared, rounds: ROUNDS });
    await until(() => shared[0] === 1, 'the worker is there');
    for (let i = 0; i < ROUNDS; i++) {
      const semaphore = new Semaphore(0, { arena });
      shared.set([semaphore.handle.address, semaphore.handle.generation], 1);
      Atomics.store(shared, 0, i + 2);
      Atomics.notify(shared, 0);
      semaphore.acquire();
      semaphore.dispose();
    }
    await done;
  });

  it('is released before the arena is said to be full, whichever of its objects it is', async () => {
    const arena = new Arena(SMALL);
    const mine = Array.from({ length: SMALL.objects }, () => shared(new Semaphore(0, { arena })));
    for (const semaphore of mine) {
      expect(() => new Semaphore(0, { arena })).toThrow(ArenaFullError);
      await members[1]?.run('dispose', { handle: semaphore.handle });
      expect(shared(new Semaphore(3, { arena })).available).toBe(3);
      expect(semaphore.disposed).toBe(true);
    }
  });

  it('is kept by an idle thread, and released when that attaches to one other', async () => {
    const idle = members[1];
    const arena = new Arena({ objects: 1010 });
    const kept = Array.from({ length: 1000 }, () => new Semaphore(0, { arena }));
    await idle?.run('keep', { handles: kept.map(({ handle }) => handle) });
    const { used: elements } = arena.stats().elements;
    for (const semaphore of kept) semaphore.dispose();
    // The rest of the arena works on.
    for (let i = 0; i < 10_000; i++) new Semaphore(1, { arena }).dispose();
    const others = Array.from({ length: 10 }, () => shared(new Semaphore(1, { arena })));
    expect(() => new Semaphore(1, { arena })).toThrow(ArenaFullError);
    await idle?.run('keep', { handles: [others[0]?.handle] });
    expect(arena.stats().elements.used).toBeLessThan(elements - 1900);
    for (let i = 0; i < 1000; i++) others.push(new Semaphore(1, { arena }));
    expect(others.map(({ available }) => available)).toEqual(others.map(() => 1));
  });

  it('keeps a lock of the thread until that gives it back, for those who wait for it', async () => {
    const arena = new Arena(SMALL);
    const lock = new McsLock({ arena });
    lock.lock();
    const memory = new Memory(arena);
    const tail = memory.long(lock.handle.address + at('TICKET'));
    const waits = members[0]?.run('call', { handle: lock.handle, method: 'lock' });
    await until(() => memory.long(lock.handle.address + at('TICKET')) !== tail, 'the worker waits');
    await members[1]?.run('dispose', { handle: lock.handle });
    for (let i = 0; i < 50; i++) new Semaphore(0, { arena }).dispose();
    lock.unlock();
    await expect(waits).rejects.toMatchObject({ name: 'DisposedError' });
  });
});

// Another thread has begun to dispose of the object, and is stopped there. The writes are the first ones of `closeObject`.
describe.each([
  ['before it has closed the semaphore', false],
  ['before it has told anybody', true],
])('while another thread disposes of an object, %s, a thread that lets go of it', (_, isClosed) => {
  const arena = new Arena(SMALL);
  const memory = new Memory(arena);

  function disposeHalf({ handle: { address } }: Mutex | Semaphore): void {
    memory.write(address + at('O_LIFE'), memory.long(address + at('O_LIFE')) + 0x1000000n);
    const closed = memory.long(address + at('TICKET')) + BigInt(at('CLOSED_DISTANCE'));
    if (isClosed) memory.write(address + at('GRANT'), closed);
  }

  /** One of these objects gets the memory of the one that is disposed of, if that is free by then. */
  function attachToOthers(): Semaphore[] {
    return Array.from({ length: SMALL.objects - 1 }, () => new Semaphore(2, { arena }));
  }

  it('tells its promises for a semaphore', async () => {
    const semaphore = new Semaphore(0, { arena });
    const waits = [watch(semaphore.acquireAsync(), 0), watch(semaphore.acquireAsync(1, { timeout: 1e6 }), 0)];
    await turn();
    disposeHalf(semaphore);
    const others = attachToOthers();
    expect(semaphore.disposed).toBe(true);
    await turn();
    for (const wait of waits) expect(wait.error).toBeInstanceOf(DisposedError);
    for (const other of others) expect(other.available).toBe(2);
    expect(memory.standing).toEqual([]);
    for (const other of others) other.dispose();
  });

  it('tells its promises for a mutex, also the one at the head', async () => {
    const mutex = new Mutex({ arena });
    mutex.lock();
    const waits = [watch(mutex.lockAsync(), 0), watch(mutex.lockAsync(), 0)];
    await turn();
    disposeHalf(mutex);
    const others = attachToOthers();
    expect(mutex.disposed).toBe(true);
    await turn();
    for (const wait of waits) expect(wait.error).toBeInstanceOf(DisposedError);
    for (const other of others) expect(other.available).toBe(2);
    expect(memory.standing).toEqual([]);
    for (const other of others) other.dispose();
  });
});

describe('an object that was never shared', () => {
  it('is collected before the arena is full, though it is small to the collector', async () => {
    expect(await report('asks-collector')).toEqual({ made: 25_000 });
  });

  it('is freed when it is collected', async () => {
    expect(await report('never-shared')).toEqual({
      few: true,
      kept: [1, 1],
      told: ['admitted'],
      full: expect.stringMatching(/^ArenaFullError: .*no room for another object.*{ objects: 4000 }/),
    });
  });
});
