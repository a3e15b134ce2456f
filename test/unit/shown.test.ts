/** How objects and guards show themselves, and end with their scope. */
import { inspect } from 'node:util';
import { Arena, Mutex, Semaphore } from 'taketurns';
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
    expect(`${mutex}`).toBe(`Mutex(locked by thread ${arena.thread.thread}, 0 waiting)`);
    expect(tag(mutex)).toBe('[object Mutex]');
    mutex.dispose();
    expect(`${mutex}`).toBe('Mutex(disposed)');
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
    expect(() => other.acquire()).toThrow('the semaphore has been disposed of');
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

  it('is an error of types with acquire, which returns no guard', () => {
    const semaphore = new Semaphore(1);
    expect(() => {
      // @ts-expect-error: a `using` of nothing.
      using _ = semaphore.acquire();
    }).not.toThrow();
    expect(() => {
      // @ts-expect-error: a `using` of a promise.
      using _ = semaphore.holdAsync();
    }).toThrow(TypeError);
  });
});
