/** How objects and guards show themselves, and end with their scope. */

import { inspect } from 'node:util';
import { threadId } from 'node:worker_threads';
import { Arena, Mutex, Semaphore } from 'taketurns';
import { Barrier, Condition, Event, Latch, Once, RwLock, WaitGroup } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';

const tag = (value: object) => Object.prototype.toString.call(value);

describe('a string, and the console', () => {
  it('show a semaphore', async () => {
    const semaphore = new Semaphore(3);
    semaphore.acquire();
    expect(`${semaphore}`).toBe('Semaphore(2 available, 0 waiting)');
    const waits = semaphore.acquireAsync(3);
    expect(inspect({ semaphore })).toBe('{ semaphore: Semaphore(0 available, 1 waiting) }');
    expect(tag(semaphore)).toBe('[object Semaphore]');
    semaphore.release();
    await waits;
    semaphore.dispose();
    expect(inspect(semaphore)).toBe('Semaphore(disposed)');
  });

  it('show a mutex', () => {
    const arena = new Arena();
    const mutex = new Mutex({ arena });
    expect(inspect(mutex)).toBe('Mutex(unlocked, 0 waiting)');
    mutex.lock();
    expect(`${mutex}`).toBe(`Mutex(locked by thread ${arena.thread.thread} (threadId ${threadId}), 0 waiting)`);
    expect(tag(mutex)).toBe('[object Mutex]');
    mutex.dispose();
    expect(`${mutex}`).toBe('Mutex(disposed)');
  });

  it('show an arena', () => {
    const arena = new Arena({ objects: 5, threads: 3 });
    expect(`${arena}`).toBe('Arena(0 of 5 objects)');
    const mutex = new Mutex({ arena });
    expect(inspect({ arena })).toBe('{ arena: Arena(1 of 5 objects) }');
    expect(tag(arena)).toBe('[object Arena]');
    const other = arena.handle;
    mutex.dispose();
    arena.dispose();
    expect([`${arena}`, inspect(arena)]).toEqual(['Arena(disposed)', 'Arena(disposed)']);
    expect(`${Arena.from(other)}`).toBe('Arena(0 of 5 objects)');
  });

  it('show the objects of taketurns/sync', async () => {
    const barrier = new Barrier(3);
    const waits = barrier.arriveAndWaitAsync();
    const [once, group] = [new Once(), new WaitGroup()];
    group.add(3);
    const condition = new Condition(new Mutex());
    const objects = [barrier, new Latch(2), new Event({ set: true }), group, once, condition, new RwLock()];
    const shown = [
      'Barrier(1 of 3 arrived, 1 waiting)',
      'Latch(2 left, 0 waiting)',
      'Event(set, 0 waiting)',
      'WaitGroup(3 pending, 0 waiting)',
      'Once(not done, 0 waiting)',
      'Condition(0 waiting)',
      'RwLock(0 readers, 0 waiting)',
    ];
    expect(objects.map(String)).toEqual(shown);
    expect(objects.map((object) => inspect(object))).toEqual(shown);
    once.run(() => {});
    expect([`${once}`, `${new Event()}`]).toEqual(['Once(done, 0 waiting)', 'Event(not set, 0 waiting)']);
    for (const object of objects) {
      const { kind } = object.handle;
      expect(tag(object)).toBe(`[object ${kind}]`);
      object[Symbol.dispose]();
      expect([object.disposed, inspect(object)]).toEqual([true, `${kind}(disposed)`]);
    }
    await expect(waits).rejects.toThrow('the Barrier has been disposed of');
    const task = new WaitGroup().hold();
    expect([`${task}`, tag(task)]).toEqual(['HeldTask(pending)', '[object HeldTask]']);
    task.done();
    expect(inspect(task)).toBe('HeldTask(done)');
  });

  it('show guards', () => {
    const held = new Semaphore(3).hold(3);
    held.release(1);
    expect([`${held}`, inspect(held), tag(held)]).toEqual(['HeldPermits(2)', 'HeldPermits(2)', '[object HeldPermits]']);
    const lock = new Mutex().hold();
    expect([`${lock}`, inspect(lock), tag(lock)]).toEqual(['HeldLock(held)', 'HeldLock(held)', '[object HeldLock]']);
    lock.unlock();
    expect(inspect(lock)).toBe('HeldLock(unlocked)');
  });
});

describe('using', () => {
  it('disposes of an object in every thread, by the method of its class', () => {
    const outer = new Semaphore(1);
    const other = Semaphore.from(outer.handle);
    {
      using semaphore = outer;
      using mutex = new Mutex();
      expect([semaphore.disposed, mutex.disposed]).toEqual([false, false]);
    }
    expect(outer.disposed).toBe(true);
    expect(() => other.acquire()).toThrow('the Semaphore has been disposed of');
    class Counted extends Semaphore {
      disposals = 0;
      override dispose(): void {
        this.disposals++;
        super.dispose();
      }
    }
    const counted = new Counted(1);
    counted[Symbol.dispose]();
    expect(counted.disposals).toBe(1);
  });

  it('is an error with calls that return no guard, and says which do', async () => {
    const semaphore = new Semaphore(2);
    expect(() => {
      // @ts-expect-error: a `using` of nothing.
      using _ = semaphore.acquire();
    }).toThrow('Semaphore.acquire returns no guard, and what it took stays taken: use hold');
    expect(semaphore.available).toBe(1);
    await expect(async () => {
      // @ts-expect-error: a `using` of nothing.
      await using _ = semaphore.acquire();
    }).rejects.toThrow(TypeError);
    const [mutex, lock] = [new Mutex(), new RwLock()];
    expect(() => {
      // @ts-expect-error: a `using` of nothing.
      using _ = mutex.lock();
    }).toThrow('Mutex.lock returns no guard, and what it took stays taken: use hold');
    expect(mutex.held).toBe(true);
    mutex.unlock();
    expect(() => {
      // @ts-expect-error: a `using` of nothing.
      using _ = lock.lockRead();
    }).toThrow('use read');
    lock.unlockRead();
    expect(() => {
      // @ts-expect-error: a `using` of nothing.
      using _ = lock.lockWrite();
    }).toThrow('use write');
    expect(() => {
      // @ts-expect-error: a `using` of a promise.
      using _ = semaphore.holdAsync();
    }).toThrow(TypeError);
  });
});
