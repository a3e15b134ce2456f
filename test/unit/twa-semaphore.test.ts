/** TwaSemaphore in one thread; stress/listings.test.ts has several. */
import { Arena, DisposedError } from 'taketurns';
import { ChainSemaphore, ChannelSemaphore, LocationSemaphore, lastTicket, TwaSemaphore } from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { at, Memory } from '../support/memory.js';

const kinds = [0, 1, 2, 2 ** 31 - 1].flatMap((threshold) =>
  [false, true].map((sequestered) => ({ threshold, sequestered })),
);

describe.each(kinds)('TwaSemaphore with threshold $threshold, sequestered: $sequestered', (options) => {
  it('counts', () => {
    const semaphore = new TwaSemaphore(2, options);
    expect(semaphore.available).toBe(2);
    expect(semaphore.acquire()).toBeUndefined();
    semaphore.acquire();
    expect(semaphore.available).toBe(0);
    expect(semaphore.release()).toBeUndefined();
    expect(semaphore.releaseConservative()).toBeUndefined();
    semaphore.release();
    expect(semaphore.available).toBe(3);
    semaphore.release(2 ** 31 - 1);
    expect(semaphore.available).toBe(2 ** 31 - 1);
  });

  it.each([0n, 2n ** 32n - 2n, 2n ** 53n - 2n, 2n ** 61n])('hands out tickets one by one from %i on', (firstTicket) => {
    const semaphore = new TwaSemaphore(1, {
      ...options,
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
    const semaphore = new TwaSemaphore(2, options);
    const same = TwaSemaphore.from(semaphore.handle);
    semaphore.dispose();
    semaphore.dispose();
    expect(() => semaphore.acquire()).toThrow(DisposedError);
    expect(() => semaphore.handle).toThrow(DisposedError);
    expect(() => same.acquire()).toThrow(DisposedError);
    expect(same.available).toBe(0);
    semaphore.release(2 ** 31 - 1);
    same.releaseConservative();
    expect(same.available).toBe(0);
    expect(() => same.acquire()).toThrow(DisposedError);
  });
});

describe('TwaSemaphore: sequestered', () => {
  it('counts its tickets on the second line, and its grant on the first', () => {
    const arena = new Arena();
    const semaphore = new TwaSemaphore(3, { arena, sequestered: true, firstTicket: 7n });
    const same = TwaSemaphore.from(semaphore.handle);
    const memory = new Memory(arena);
    const word = (name: string): bigint => memory.long(semaphore.handle.address + at(name));
    semaphore.acquire();
    same.acquire();
    semaphore.release();
    expect([word('TICKET'), word('GRANT'), word('O_TAKEN')]).toEqual([7n, 11n, 2n]);
    expect(Math.floor(at('O_TAKEN') / at('LINE'))).not.toBe(Math.floor(at('GRANT') / at('LINE')));
    expect([semaphore.available, same.available]).toEqual([2, 2]);
  });

  it('begins anew in the memory of another', () => {
    const arena = new Arena({ objects: 1 });
    for (const sequestered of [true, false, true]) {
      const semaphore = new TwaSemaphore(1, { arena, sequestered });
      semaphore.acquire();
      expect(lastTicket(arena)).toBe(0n);
      semaphore.dispose();
    }
  });

  it.each([0, 1, 'true', null])('is not %s', (sequestered) => {
    expect(() => new TwaSemaphore(1, { sequestered: sequestered as never })).toThrow(TypeError);
    expect(() => new TwaSemaphore(1, { sequestered: sequestered as never })).toThrow(
      'TwaSemaphore: sequestered must be true or false, got ',
    );
  });

  it.each([0, -1, 0.5, 2 ** 31, null])('refuses a release of %s', (permits) => {
    const semaphore = new TwaSemaphore(1, { sequestered: true });
    expect(() => semaphore.release(permits as never)).toThrow(
      'TwaSemaphore.release: permits must be an integer from 1',
    );
    expect(semaphore.available).toBe(1);
  });
});

describe.each([
  ['TwaSemaphore', TwaSemaphore],
  ['ChainSemaphore', ChainSemaphore],
  ['ChannelSemaphore', ChannelSemaphore],
  ['LocationSemaphore', LocationSemaphore],
])('%s: farParks', (kind, Class) => {
  it.each([0, 1, 'true', null])('is not %s', (farParks) => {
    expect(() => new Class(1, { farParks: farParks as never })).toThrow(TypeError);
    expect(() => new Class(1, { farParks: farParks as never })).toThrow(
      `${kind}: farParks must be true or false, got `,
    );
  });

  it('goes with each policy, and with a hash', () => {
    for (const options of [{ policy: 'spin' }, { policy: 'yield' }, { spin: 7 }, { hash: 'gray' }] as const) {
      const semaphore = new Class(1, { farParks: true, threshold: 1, ...options });
      semaphore.acquire();
      semaphore.release(2);
      expect(semaphore.available).toBe(2);
      semaphore.dispose();
    }
  });
});
