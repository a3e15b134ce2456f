/** TicketSemaphore in one thread; stress/listings.test.ts has several. */
import { Arena, DisposedError } from 'taketurns';
import { lastTicket, TicketSemaphore } from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { at, Memory } from '../support/memory.js';

describe('TicketSemaphore', () => {
  it('counts', () => {
    const semaphore = new TicketSemaphore(2);
    expect(semaphore.available).toBe(2);
    expect(semaphore.acquire()).toBeUndefined();
    semaphore.acquire();
    expect(semaphore.available).toBe(0);
    expect(semaphore.release()).toBeUndefined();
    semaphore.release();
    semaphore.release();
    expect(semaphore.available).toBe(3);
  });

  it.each([0n, 2n ** 32n - 2n, 2n ** 53n - 2n, 2n ** 61n])('hands out tickets one by one from %i on', (firstTicket) => {
    const semaphore = new TicketSemaphore(1, { firstTicket, spin: 0 });
    for (let i = 0n; i < 5n; i++) {
      semaphore.acquire();
      expect(lastTicket()).toBe(firstTicket + i);
      semaphore.release();
    }
    expect(semaphore.available).toBe(1);
  });

  it('is closed by dispose, for every library object of it', () => {
    const semaphore = new TicketSemaphore(2, { arena: new Arena() });
    const same = TicketSemaphore.from(semaphore.handle);
    semaphore.dispose();
    semaphore.dispose();
    expect(() => semaphore.acquire()).toThrow(DisposedError);
    expect(() => semaphore.handle).toThrow(DisposedError);
    expect(() => same.acquire()).toThrow(DisposedError);
    expect(same.available).toBe(0);
    semaphore.release();
    same.release();
    expect(() => same.acquire()).toThrow(DisposedError);
  });
});

describe('TicketSemaphore: delay', () => {
  const delayOf = ({ handle }: TicketSemaphore): number =>
    new Memory(Arena.default).word(handle.address + at('O_DELAY'));

  it('comes to the words of the object', () => {
    expect(delayOf(new TicketSemaphore(1))).toBe(0);
    expect(delayOf(new TicketSemaphore(1, { delay: 0 }))).toBe(0);
    expect(delayOf(new TicketSemaphore(1, { delay: 10_000 }))).toBe(10_000);
  });

  it.each([
    [-1, RangeError, '-1'],
    [10_001, RangeError, '10001'],
    [0.5, RangeError, '0.5'],
    [Number.NaN, RangeError, 'NaN'],
    ['1', TypeError, '"1"'],
    [1n, TypeError, '1n'],
    [null, TypeError, 'null'],
  ])('is not %s', (delay, Failure, shown) => {
    const { used } = Arena.default.stats().objects;
    expect(() => new TicketSemaphore(1, { delay: delay as never })).toThrow(Failure);
    expect(() => new TicketSemaphore(1, { delay: delay as never })).toThrow(
      `TicketSemaphore: delay must be an integer from 0 to 10000, got ${shown}`,
    );
    expect(Arena.default.stats().objects.used).toBe(used);
  });
});
