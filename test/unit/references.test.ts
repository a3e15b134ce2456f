/** A shared object lives as long as a library object of any thread can still reach it. */
import { Arena, DisposedError, Semaphore } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { tuned } from '../support/tuned.mjs';

describe('the memory of a disposed semaphore', () => {
  it('is not used again while another object of the thread refers to it, though a promise was rejected', async () => {
    const arena = new Arena({ objects: 2 });
    const a = new Semaphore(0, { arena });
    const b = Semaphore.from(a.handle);
    const promise = b.acquireAsync();
    b.dispose();
    await expect(promise).rejects.toBeInstanceOf(DisposedError);
    const stranger = new Semaphore(1, { arena });
    expect(() => a.tryAcquire()).toThrow(DisposedError);
    a.dispose();
    expect(stranger.available).toBe(1);
    stranger.acquire();
  });

  it('is not used again either when a call found it disposed of with a promise of its own pending', async () => {
    const arena = new Arena({ objects: 2 });
    const a = new Semaphore(0, { arena });
    const b = Semaphore.from(a.handle);
    const c = Semaphore.from(a.handle);
    const promise = b.acquireAsync();
    a.dispose();
    expect(() => b.tryAcquire()).toThrow(DisposedError);
    await expect(promise).rejects.toBeInstanceOf(DisposedError);
    const stranger = new Semaphore(1, { arena });
    expect(() => c.tryAcquire()).toThrow(DisposedError);
    expect(stranger.tryAcquire()).toBe(true);
  });

  it('is used again when all have let go, however many objects a thread had', () => {
    const arena = new Arena({ objects: 1 });
    for (let i = 0; i < 100; i++) {
      const semaphore = new Semaphore(1, { arena });
      const others = Array.from({ length: 5 }, () => Semaphore.from(semaphore.handle));
      semaphore.dispose();
      for (const other of others) expect(() => other.acquire()).toThrow(DisposedError);
    }
  });
});

describe('counters', () => {
  it('may wrap round: they are compared by their difference', () => {
    const widest = 2 ** 31 - 1;
    const semaphore = tuned(new Semaphore(widest, { arena: new Arena() }), { firstTicket: 2n ** 61n });
    const words = new BigInt64Array(semaphore.handle.arena.memory.buffer);
    const at = semaphore.handle.address >> 3;
    for (const edge of [2n ** 62n, 2n ** 63n - 1n, -(2n ** 62n), -1n]) {
      // This is the state after 2^31 requests of the widest sort.
      Atomics.store(words, at, BigInt.asIntN(64, edge - 3n));
      Atomics.store(words, at + 1, BigInt.asIntN(64, edge - 3n + BigInt(widest)));
      for (let i = 0; i < 10; i++) {
        semaphore.acquire(widest);
        expect(semaphore.tryAcquire()).toBe(false);
        semaphore.release(widest);
        expect(semaphore.available).toBe(widest);
      }
    }
    semaphore.dispose();
    expect(() => semaphore.acquire()).toThrow(DisposedError);
  });

  it('of a disposed semaphore stay closed, whatever is released', () => {
    const arena = new Arena();
    const handle = new Semaphore(0, { arena }).handle;
    const closed = new BigInt64Array(handle.arena.memory.buffer, 512, 2);
    const semaphore = new Semaphore(0, { arena });
    semaphore.dispose();
    const before = [...closed];
    for (let i = 0; i < 10; i++) {
      semaphore.release(2 ** 31 - 1);
      expect(() => semaphore.acquire(2 ** 31 - 1)).toThrow(DisposedError);
    }
    expect([...closed]).toEqual(before);
  });
});
