/** Semaphore in one thread: counting, attempts, releases and properties. */
import { DisposedError, Semaphore } from 'taketurns';
import { lastTicket, TicketSemaphore, TwaSemaphore } from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { tuned } from '../support/tuned.mjs';
import { until } from '../support/until.js';

describe('counting', () => {
  it('takes and gives permits', () => {
    const semaphore = new Semaphore(3);
    expect(semaphore.available).toBe(3);
    semaphore.acquire();
    expect(semaphore.available).toBe(2);
    semaphore.acquire(2);
    expect(semaphore.available).toBe(0);
    expect(semaphore.release(3)).toBeUndefined();
    expect(semaphore.available).toBe(3);
    expect(semaphore.waiting).toBe(0);
  });

  it('may begin with no permits, and get permits that no thread took', () => {
    const semaphore = new Semaphore(0);
    expect(semaphore.available).toBe(0);
    expect(semaphore.tryAcquire()).toBe(false);
    semaphore.release(5);
    expect(semaphore.available).toBe(5);
    semaphore.acquire(5);
    expect(semaphore.available).toBe(0);
  });

  it('counts up to 2^31 - 1', () => {
    const most = 2 ** 31 - 1;
    const semaphore = new Semaphore(0);
    expect(semaphore.max).toBe(most);
    semaphore.release(most);
    expect(semaphore.available).toBe(most);
    semaphore.acquire(most);
    expect(semaphore.available).toBe(0);
    semaphore.release(most);
    expect(semaphore.tryAcquire(most)).toBe(true);
    expect(semaphore.available).toBe(0);
  });

  it.each([2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 61n])(
    'counts correctly when its counters pass %i',
    (boundary) => {
      const semaphore = tuned(new Semaphore(2), { firstTicket: boundary - 3n });
      for (let i = 0n; i < 6n; i++) {
        semaphore.acquire();
        expect(lastTicket()).toBe(boundary - 3n + i);
        expect(semaphore.available).toBe(1);
        semaphore.release();
        expect(semaphore.available).toBe(2);
      }
    },
    1000,
  );
});

describe('tryAcquire', () => {
  it('takes all permits that it asks for, or none', () => {
    const semaphore = new Semaphore(3);
    expect(semaphore.tryAcquire(2)).toBe(true);
    expect(semaphore.tryAcquire(2)).toBe(false);
    expect(semaphore.available).toBe(1);
    expect(semaphore.tryAcquire()).toBe(true);
    expect(semaphore.tryAcquire()).toBe(false);
    expect(semaphore.available).toBe(0);
  });

  it('does not overtake a heavier request that waits', async () => {
    const semaphore = new Semaphore(2);
    semaphore.acquire();
    const heavy = semaphore.acquireAsync(2);
    expect(semaphore.tryAcquire()).toBe(false);
    semaphore.release();
    await heavy;
    expect(semaphore.tryAcquire()).toBe(false);
    semaphore.release(2);
    expect(semaphore.tryAcquire()).toBe(true);
  });

  it('does not leave a trace when it is refused', async () => {
    const semaphore = new Semaphore(1);
    semaphore.acquire();
    const ticket = lastTicket();
    for (let i = 0; i < 100; i++) expect(semaphore.tryAcquire()).toBe(false);
    expect(lastTicket()).toBe(ticket);
    semaphore.release();
    expect(semaphore.available).toBe(1);
  });
});

describe('waiting', () => {
  it('is the number of requests in line, whatever their weight', async () => {
    const semaphore = new Semaphore(0);
    const all = [semaphore.acquireAsync(), semaphore.acquireAsync(5), semaphore.acquireAsync()];
    expect(semaphore.waiting).toBe(3);
    expect(semaphore.available).toBe(0);
    semaphore.release();
    expect(semaphore.waiting).toBe(2);
    semaphore.release(4);
    expect(semaphore.waiting).toBe(2);
    semaphore.release(3);
    expect(semaphore.waiting).toBe(0);
    expect(semaphore.available).toBe(1);
    await Promise.all(all);
  });

  it('does not count waiters of another semaphore', () => {
    const one = new Semaphore(0);
    const other = new Semaphore(0);
    one.acquireAsync();
    expect(one.waiting).toBe(1);
    expect(other.waiting).toBe(0);
    one.release();
  });
});

describe('lastTicket', () => {
  it('returns the ticket taken last, by whatever call', async () => {
    const semaphore = tuned(new Semaphore(6), { firstTicket: 100n });
    semaphore.acquire();
    expect(lastTicket()).toBe(100n);
    semaphore.tryAcquire(2);
    expect(lastTicket()).toBe(101n);
    await semaphore.acquireAsync(3);
    expect(lastTicket()).toBe(103n);
    const waits = semaphore.acquireAsync(2);
    expect(lastTicket()).toBe(106n);
    semaphore.release(2);
    await waits;
  });

  it('does so on semaphores of every kind', () => {
    const one = tuned(new Semaphore(2), { firstTicket: 10n });
    const others = [new TicketSemaphore(2, { firstTicket: 20n }), new TwaSemaphore(2, { firstTicket: 30n })];
    for (const i of [0n, 1n]) {
      one.acquire();
      expect(lastTicket()).toBe(10n + i);
      for (const [j, other] of others.entries()) {
        other.acquire();
        expect(lastTicket()).toBe(20n + 10n * BigInt(j) + i);
      }
    }
  });
});

describe('dispose', () => {
  it('makes every later request an error', async () => {
    const semaphore = new Semaphore(3);
    expect(semaphore.disposed).toBe(false);
    semaphore.acquire();
    semaphore.dispose();
    expect(semaphore.disposed).toBe(true);
    expect(() => semaphore.acquire()).toThrow(DisposedError);
    expect(() => semaphore.acquire(2)).toThrow(DisposedError);
    expect(() => semaphore.tryAcquire()).toThrow(DisposedError);
    expect(() => semaphore.hold()).toThrow(DisposedError);
    expect(() => semaphore.handle).toThrow(DisposedError);
    await expect(semaphore.acquireAsync()).rejects.toBeInstanceOf(DisposedError);
    await expect(semaphore.holdAsync()).rejects.toBeInstanceOf(DisposedError);
    expect(semaphore.available).toBe(0);
    expect(semaphore.waiting).toBe(0);
    expect(semaphore.max).toBe(3);
  });

  it('twice, and releasing after it, is harmless', () => {
    const semaphore = new Semaphore(1);
    const next = new Semaphore(1);
    semaphore.acquire();
    semaphore.dispose();
    semaphore.dispose();
    for (let i = 0; i < 1000; i++) semaphore.release();
    expect(() => semaphore.acquire()).toThrow(DisposedError);
    // Neither does it affect the next object in that memory.
    const heir = new Semaphore(1);
    semaphore.release();
    semaphore.dispose();
    for (const other of [next, heir]) {
      expect(other.available).toBe(1);
      expect(other.tryAcquire()).toBe(true);
    }
  });

  it('reaches every library object of the semaphore in this thread', async () => {
    const semaphore = new Semaphore(0);
    const same = Semaphore.from(semaphore.handle);
    const promises = [semaphore.acquireAsync(), same.acquireAsync(), semaphore.acquireAsync()];
    same.dispose();
    for (const promise of promises) await expect(promise).rejects.toBeInstanceOf(DisposedError);
    expect(() => semaphore.tryAcquire()).toThrow(DisposedError);
    semaphore.dispose();
  });

  it('rejects waiting requests in order, and none that was admitted before', async () => {
    const semaphore = new Semaphore(0);
    const log: string[] = [];
    for (let i = 0; i < 5; i++) {
      semaphore.acquireAsync().then(
        () => log.push(`in ${i}`),
        (error) => log.push(`${error.name} ${i}`),
      );
    }
    semaphore.release(2);
    semaphore.dispose();
    await until(() => log.length === 5, 'all are settled');
    expect(log).toEqual(['in 0', 'in 1', 'DisposedError 2', 'DisposedError 3', 'DisposedError 4']);
  });
});
