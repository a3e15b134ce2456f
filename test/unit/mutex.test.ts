/** Mutex in one thread: the effect of each member, and the calls that it refuses. */
import { threadId } from 'node:worker_threads';
import { Arena, HeldLock, Mutex, Semaphore } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { membershipOf } from '../support/membership.js';
import { at, Memory } from '../support/memory.js';

describe('lock and unlock', () => {
  it('make the thread the owner, and end that', () => {
    const mutex = new Mutex();
    expect([mutex.held, mutex.locked]).toEqual([false, false]);
    for (let i = 0; i < 3; i++) {
      mutex.lock();
      expect([mutex.held, mutex.locked]).toEqual([true, true]);
      mutex.unlock();
      expect([mutex.held, mutex.locked]).toEqual([false, false]);
    }
  });

  it('refuse a second lock by the owner, and an unlock by another thread', () => {
    const mutex = new Mutex();
    expect(() => mutex.unlock()).toThrow(/not the owner of the Mutex, nobody is$/);
    mutex.lock();
    expect(() => mutex.lock()).toThrow(/has the Mutex, and would wait for itself/);
    expect(() => mutex.lock({ timeout: 10 })).toThrow(/has the Mutex, and would wait for itself/);
    expect(mutex.tryLock()).toBe(false);
    mutex.unlock();
    expect(() => mutex.unlock()).toThrow(/not the owner/);
    expect(mutex.tryLock()).toBe(true);
    mutex.unlock();
    expect([mutex.locked, mutex.waiting]).toEqual([false, 0]);
  });

  it('of several mutexes at once do not mix them up', () => {
    const [a, b] = [new Mutex(), new Mutex()];
    a.lock();
    b.lock();
    a.unlock();
    expect([a.held, b.held]).toEqual([false, true]);
    expect(() => a.unlock()).toThrow(/not the owner/);
    b.unlock();
    expect([a.locked, b.locked]).toEqual([false, false]);
  });
});

describe('options', () => {
  it('are checked', () => {
    for (const bypass of [-1, 2 ** 27 + 1, 0.5, Number.NaN])
      expect(() => new Mutex({ bypass })).toThrow(/Mutex: bypass must be an integer from 0 to 134217728/);
    expect(() => new Mutex({ bypass: '1' as never })).toThrow(TypeError);
    expect(() => new Mutex(null as never)).toThrow(/options/);
    expect(() => new Mutex().lock({ timeout: -1 })).toThrow(/Mutex.lock: timeout/);
  });

  it('set the bound', () => {
    expect(new Mutex().bypass).toBe(2_097_152);
    expect(new Mutex({ bypass: 0 }).bypass).toBe(0);
  });
});

it('keeps nothing of the object that had its memory before', () => {
  const arena = new Arena({ objects: 1 });
  const former = new Mutex({ arena });
  const { address } = former.handle;
  const words = new Int32Array(former.handle.arena.memory.buffer);
  const hints = ['M_LIMIT', 'M_PACE', 'M_TURN'];
  for (const name of hints) words[(address + at(name)) >> 2] = 7;
  former.dispose();
  expect(new Mutex({ arena }).handle.address).toBe(address);
  for (const name of hints) expect(new Memory(arena).word(address + at(name)), name).toBe(0);
});

describe('handle, from, open', () => {
  it('stand for one mutex', () => {
    const mutex = new Mutex();
    const same = Mutex.from(structuredClone(mutex.handle));
    mutex.lock();
    expect(same.held).toBe(true);
    same.unlock();
    const arena = new Arena();
    const [a, b] = [Mutex.open('m', { arena }), Mutex.open('m', { arena })];
    a.lock();
    expect(b.tryLock()).toBe(false);
    b.unlock();
    expect(() => Mutex.open('m', { arena, bypass: 5 })).toThrow(
      new RangeError('Mutex.open: name "m": it exists already with bypass 2097152, not 5'),
    );
    expect(() => Semaphore.open('m', 1, { arena })).toThrow(TypeError);
    expect(() => Mutex.from(new Semaphore(1).handle as never)).toThrow(/must be of a Mutex/);
  });
});

describe('guards', () => {
  it('unlock once', async () => {
    const mutex = new Mutex();
    {
      using held = mutex.hold();
      expect(held).toBeInstanceOf(HeldLock);
      expect([held.held, held.ownerDied, mutex.held]).toEqual([true, false, true]);
      held.unlock();
      expect([held.held, mutex.held]).toEqual([false, false]);
    }
    {
      await using held = await mutex.holdAsync();
      expect(held.held).toBe(true);
    }
    expect(mutex.locked).toBe(false);
  });

  it('runExclusive unlocks however its function ends', async () => {
    const mutex = new Mutex();
    expect(await mutex.runExclusive(async () => mutex.held)).toBe(true);
    await expect(
      mutex.runExclusive(() => {
        throw new Error('left');
      }),
    ).rejects.toThrow('left');
    await expect(mutex.runExclusive(1 as never)).rejects.toThrow(TypeError);
    expect(mutex.locked).toBe(false);
  });
});

describe('lockAsync', () => {
  it('serves promises in order', async () => {
    const mutex = new Mutex();
    mutex.lock();
    const order: number[] = [];
    const all = [1, 2, 3, 4].map(async (i) => {
      await mutex.lockAsync(i % 2 ? undefined : { timeout: 60_000 });
      order.push(i);
      await null;
      mutex.unlock();
    });
    expect(mutex.waiting).toBe(4);
    mutex.unlock();
    await Promise.all(all);
    expect(order).toEqual([1, 2, 3, 4]);
    expect([mutex.locked, mutex.waiting]).toEqual([false, 0]);
  });

  it('times out, as the head and behind it, and leaves nothing behind', async () => {
    const mutex = new Mutex();
    mutex.lock();
    const abort = new AbortController();
    const late = [
      mutex.lockAsync({ timeout: 5 }),
      mutex.lockAsync({ timeout: 5 }),
      mutex.lockAsync({ signal: abort.signal }),
      mutex.lockAsync({ timeout: 0 }),
    ];
    const patient = mutex.lockAsync();
    const outcomes = Promise.allSettled(late);
    setTimeout(() => abort.abort(new Error('enough')), 10);
    const it = `thread ${Arena.default.thread.thread} (threadId ${threadId}) has it`;
    expect((await outcomes).map((o) => o.status === 'rejected' && o.reason.message)).toEqual([
      `timed out after 5 ms waiting for the Mutex (${it}, 3 waiting)`,
      `timed out after 5 ms waiting for the Mutex (${it}, 2 waiting)`,
      'enough',
      `timed out after 0 ms waiting for the Mutex (${it}, 3 waiting)`,
    ]);
    expect(mutex.waiting).toBe(1);
    mutex.unlock();
    await patient;
    mutex.unlock();
    mutex.lock();
    mutex.unlock();
    expect([mutex.locked, mutex.waiting]).toEqual([false, 0]);
  });

  it('has the lock as soon as this thread unlocks, and the next one is in line', async () => {
    const mutex = new Mutex();
    mutex.lock();
    const promises = [mutex.lockAsync(), mutex.lockAsync({ timeout: 60_000 }), mutex.lockAsync()];
    for (const [i, promise] of promises.entries()) {
      mutex.unlock();
      expect([mutex.held, mutex.waiting]).toEqual([true, 2 - i]);
      await promise;
    }
    mutex.unlock();
    expect([mutex.held, mutex.waiting]).toEqual([false, 0]);
  });

  it('keeps its thread from blocking for the same lock while it waits', async () => {
    const mutex = new Mutex();
    mutex.lock();
    const promises = [mutex.lockAsync(), mutex.lockAsync()];
    expect(() => mutex.lock()).toThrow(/has the Mutex, and would wait for itself/);
    mutex.unlock();
    await promises[0];
    expect(() => mutex.lock({ timeout: 1 })).toThrow(/has the Mutex, and would wait for itself/);
    mutex.unlock();
    await promises[1];
    mutex.unlock();
    expect([mutex.held, mutex.waiting]).toEqual([false, 0]);
  });

  it('may be aborted with a DisposedError of another object; the mutex stays open', async () => {
    const [mutex, disposed] = [new Mutex(), new Mutex()];
    disposed.dispose();
    mutex.lock();
    const controller = new AbortController();
    const promises = [1, 2].map(() => mutex.lockAsync({ signal: controller.signal }));
    const reason = await disposed.lockAsync().catch((error) => error);
    controller.abort(reason);
    for (const promise of promises) await expect(promise).rejects.toBe(reason);
    expect([mutex.disposed, mutex.held, mutex.waiting]).toEqual([false, true, 0]);
    mutex.unlock();
    expect(mutex.locked).toBe(false);
  });

  it('is fulfilled with nothing, whether it had to wait or not', async () => {
    const mutex = new Mutex();
    expect(await mutex.lockAsync()).toBe(undefined);
    const promise = mutex.lockAsync();
    mutex.unlock();
    expect(await promise).toBe(undefined);
    mutex.unlock();
  });

  it('is not overtaken by a later request', async () => {
    const mutex = new Mutex();
    mutex.lock();
    const promise = mutex.lockAsync();
    await new Promise((resolve) => setTimeout(resolve, 5));
    mutex.unlock();
    expect(mutex.tryLock()).toBe(false);
    await promise;
    mutex.unlock();
  });
});

describe('dispose', () => {
  it('leaves the bypass bound as it was, whatever comes to the place of the mutex', () => {
    const arena = new Arena({ objects: 1 });
    const mutex = new Mutex({ arena, bypass: 7 });
    const other = Mutex.from(mutex.handle);
    mutex.dispose();
    other.dispose();
    expect([mutex.bypass, other.bypass]).toEqual([7, 7]);
    const next = new Mutex({ arena, bypass: 9 });
    expect([mutex.bypass, other.bypass, next.bypass]).toEqual([7, 7, 9]);
  });

  it('leaves nothing of promises behind', async () => {
    const arena = new Arena();
    const keep = new Mutex({ arena });
    const { elements, objects } = arena.stats();
    const mutex = new Mutex({ arena });
    mutex.lock();
    const waiting = [mutex.lockAsync(), mutex.lockAsync(), mutex.lockAsync({ timeout: 60_000 })];
    mutex.dispose();
    for (const promise of waiting) await expect(promise).rejects.toThrow('Mutex has been disposed of');
    // One of its elements stays with the thread for its next promise.
    expect(arena.stats().elements.used).toBeLessThanOrEqual(elements.used + 1);
    expect(arena.stats().objects.used).toBe(objects.used);
    keep.lock();
    expect(keep.held).toBe(true);
    keep.unlock();
  });

  it('reaches the owner, too, which locks again by another object', () => {
    const mutex = new Mutex();
    const other = Mutex.from(mutex.handle);
    mutex.lock();
    expect(() => other.lock()).toThrow(/has the Mutex, and would wait for itself/);
    mutex.dispose();
    expect(() => other.lock()).toThrow('Mutex has been disposed of');
  });

  it('leaves no waiter counted, of this mutex or another that is disposed of', async () => {
    const arena = new Arena();
    const [mutex, another] = [new Mutex({ arena }), new Mutex({ arena })];
    const other = Mutex.from(mutex.handle);
    mutex.lock();
    const promises = [mutex.lockAsync(), mutex.lockAsync()];
    expect(other.waiting).toBe(2);
    mutex.dispose();
    another.dispose();
    expect(other.waiting).toBe(0);
    for (const promise of promises) await expect(promise).rejects.toThrow('Mutex has been disposed of');
    for (let i = 0; i < 3; i++) expect(() => mutex.lock()).toThrow('Mutex has been disposed of');
    expect(() => other.lock()).toThrow('Mutex has been disposed of');
    expect([mutex.waiting, another.waiting, other.waiting]).toEqual([0, 0, 0]);
    // All disposed objects of the arena share one word.
    expect(membershipOf(arena).core.waitersOf(at('CLOSED_OBJECT'))).toBe(0);
  });

  it('rejects all waiters and all later requests', async () => {
    const mutex = new Mutex();
    const other = Mutex.from(mutex.handle);
    mutex.lock();
    const waiting = [other.lockAsync(), other.lockAsync()];
    await null;
    mutex.dispose();
    for (const promise of waiting) await expect(promise).rejects.toThrow('Mutex has been disposed of');
    expect(() => other.lock()).toThrow('Mutex has been disposed of');
    expect(() => mutex.tryLock()).toThrow('Mutex has been disposed of');
    await expect(mutex.lockAsync()).rejects.toThrow('disposed');
    mutex.unlock();
    expect(mutex.disposed).toBe(true);
    expect(() => mutex.handle).toThrow('Mutex has been disposed of');
  });
});
