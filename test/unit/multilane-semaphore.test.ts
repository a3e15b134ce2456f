/** MultilaneSemaphore in one thread; stress/listings.test.ts has several. */
import { Arena, ArenaFullError, DisposedError } from 'taketurns';
import { lastTicket, MultilaneSemaphore } from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';

describe.each([1, 2, 3, 64])('a MultilaneSemaphore of %i lanes', (lanes) => {
  it('counts', () => {
    const semaphore = new MultilaneSemaphore(2, { lanes });
    expect(semaphore.available).toBe(2);
    expect(semaphore.acquire()).toBeUndefined();
    expect(semaphore.tryAcquire()).toBe(true);
    expect(semaphore.tryAcquire()).toBe(false);
    expect(semaphore.available).toBe(0);
    expect(semaphore.release()).toBeUndefined();
    semaphore.release(70);
    expect(semaphore.available).toBe(71);
    semaphore.release(2 ** 31 - 100);
    expect(semaphore.available).toBe(2 ** 31 - 29);
  });

  it.each([0n, 2n ** 32n - 2n, 2n ** 53n - 2n, 2n ** 61n])('hands out tickets one by one from %i on', (firstTicket) => {
    const semaphore = new MultilaneSemaphore(1, { firstTicket, lanes });
    for (let i = 0n; i < 5n; i++) {
      semaphore.acquire();
      expect(lastTicket()).toBe(firstTicket + i);
      semaphore.release();
    }
  });

  it('is shared by its handle, and closed for all by dispose', () => {
    const arena = new Arena({ objects: 65 });
    const semaphore = new MultilaneSemaphore(2, { lanes, arena });
    const same = MultilaneSemaphore.from(structuredClone(semaphore.handle));
    same.acquire();
    expect(semaphore.available).toBe(1);
    semaphore.dispose();
    semaphore.dispose();
    for (const one of [semaphore, same]) {
      one.release();
      expect(() => one.acquire()).toThrow(new DisposedError('the MultilaneSemaphore has been disposed of'));
      expect(() => one.tryAcquire()).toThrow(DisposedError);
      expect(() => one.handle).toThrow(DisposedError);
      expect(one.release()).toBeUndefined();
      expect(one.available).toBe(0);
    }
    // The memory of all its objects is free for others.
    new MultilaneSemaphore(1, { lanes: 64, arena });
  });
});

describe('MultilaneSemaphore', () => {
  it('refuses bad arguments', () => {
    for (const lanes of [0, 65, 1.5])
      expect(() => new MultilaneSemaphore(1, { lanes })).toThrow(
        new RangeError(`MultilaneSemaphore: lanes must be an integer from 1 to 64, got ${lanes}`),
      );
    expect(() => new MultilaneSemaphore(-1)).toThrow(RangeError);
    expect(() => new MultilaneSemaphore(1).release(0)).toThrow(
      new RangeError('MultilaneSemaphore.release: permits must be an integer from 1 to 2147483647, got 0'),
    );
    const { handle } = new MultilaneSemaphore(1);
    expect(() => MultilaneSemaphore.from({ ...handle, lanes: 7 as never })).toThrow(
      new TypeError('MultilaneSemaphore.from: lanes of the handle must be an array, got 7'),
    );
  });

  it('leaves nothing behind when the arena has no room for its lanes', () => {
    const arena = new Arena({ objects: 4 });
    expect(() => new MultilaneSemaphore(1, { arena, lanes: 4 })).toThrow(ArenaFullError);
    for (let i = 0; i < 4; i++) new MultilaneSemaphore(1, { arena, lanes: 1 }).dispose();
    new MultilaneSemaphore(1, { arena, lanes: 3 });
  });
});
