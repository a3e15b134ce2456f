/** TwaSemaphore in one thread; stress/listings.test.ts has several. */
import { Arena, DisposedError } from 'taketurns';
import { lastTicket, TwaSemaphore } from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';

describe.each([0, 1, 2, 2 ** 31 - 1])('TwaSemaphore with threshold %i', (threshold) => {
  it('counts', () => {
    const semaphore = new TwaSemaphore(2, { threshold });
    expect(semaphore.available).toBe(2);
    expect(semaphore.acquire()).toBeUndefined();
    semaphore.acquire();
    expect(semaphore.available).toBe(0);
    expect(semaphore.release()).toBeUndefined();
    expect(semaphore.releaseConservative()).toBeUndefined();
    semaphore.release();
    expect(semaphore.available).toBe(3);
  });

  it.each([0n, 2n ** 32n - 2n, 2n ** 53n - 2n, 2n ** 61n])('hands out tickets one by one from %i on', (firstTicket) => {
    const semaphore = new TwaSemaphore(1, {
      threshold,
      firstTicket,
      spin: 0,
      arena: new Arena({ slots: 2 }),
    });
    const { arena } = semaphore.handle;
    for (let i = 0n; i < 5n; i++) {
      semaphore.acquire();
      expect(lastTicket(Arena.from(arena))).toBe(firstTicket + i);
      if (i % 2n) semaphore.release();
      else semaphore.releaseConservative();
    }
    expect(semaphore.available).toBe(1);
  });

  it('is closed by dispose, for every library object of it', () => {
    const semaphore = new TwaSemaphore(2, { threshold });
    const same = TwaSemaphore.from(semaphore.handle);
    semaphore.dispose();
    semaphore.dispose();
    expect(() => semaphore.acquire()).toThrow(DisposedError);
    expect(() => semaphore.handle).toThrow(DisposedError);
    expect(() => same.acquire()).toThrow(DisposedError);
    expect(same.available).toBe(0);
    semaphore.release();
    same.releaseConservative();
    expect(() => same.acquire()).toThrow(DisposedError);
  });
});
