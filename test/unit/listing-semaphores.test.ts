/** The semaphores of Listings 3 to 5 in one thread; stress/listings.test.ts has several. */
import { Arena, ArenaFullError, DisposedError, Semaphore } from 'taketurns';
import {
  ChainSemaphore,
  ChannelSemaphore,
  LocationSemaphore,
  lastTicket,
  TicketSemaphore,
  TwaSemaphore,
} from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { at, Memory } from '../support/memory.js';
import { Member } from '../support/team.js';
import { until } from '../support/until.js';

const kinds = [
  ['ChainSemaphore, all', ChainSemaphore, { wake: 'all' }],
  ['ChainSemaphore, pass', ChainSemaphore, { wake: 'pass' }],
  ['ChainSemaphore, due', ChainSemaphore, { wake: 'due' }],
  ['ChannelSemaphore', ChannelSemaphore, {}],
  ['ChannelSemaphore, lazy', ChannelSemaphore, { lazy: true }],
  ['LocationSemaphore', LocationSemaphore, {}],
  ['ChainSemaphore, all, threshold 1', ChainSemaphore, { wake: 'all', threshold: 1 }],
  ['ChainSemaphore, pass, threshold 2', ChainSemaphore, { wake: 'pass', threshold: 2 }],
  ['ChainSemaphore, due, threshold 1', ChainSemaphore, { wake: 'due', threshold: 1 }],
  ['ChannelSemaphore, threshold 2 ** 31 - 1', ChannelSemaphore, { threshold: 2 ** 31 - 1 }],
  ['ChannelSemaphore, lazy, threshold 1', ChannelSemaphore, { lazy: true, threshold: 1 }],
  ['LocationSemaphore, threshold 2', LocationSemaphore, { threshold: 2 }],
  ['ChainSemaphore, looking', ChainSemaphore, { look: 2 }],
  ['LocationSemaphore, alternating', LocationSemaphore, { alternating: true }],
] as const;

describe.each(kinds)('%s', (_, Kind, options) => {
  it('counts', () => {
    const semaphore = new Kind(2, options);
    expect(semaphore.available).toBe(2);
    expect(semaphore.acquire()).toBeUndefined();
    semaphore.acquire();
    expect(semaphore.available).toBe(0);
    expect(semaphore.release()).toBeUndefined();
    expect(semaphore.releaseConservative()).toBeUndefined();
    semaphore.release();
    expect(semaphore.available).toBe(3);
    semaphore.release(5);
    expect(semaphore.available).toBe(8);
  });

  it.each([0n, 2n ** 32n - 2n, 2n ** 53n - 2n, 2n ** 61n])('hands out tickets one by one from %i on', (firstTicket) => {
    const semaphore = new Kind(1, { ...options, firstTicket, spin: 0, arena: new Arena({ slots: 2, chains: 2 }) });
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
    const semaphore = new Kind(2, options);
    const same = Kind.from(semaphore.handle as never);
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

  it('needs an element for its thread, and throws when it is made without one', async () => {
    const arena = new Arena({ waiters: 8, threads: 1, objects: 2 });
    const hog = new Semaphore(0, { arena });
    // Two neighbours that ask for the same number would share an element.
    const asked = Array.from({ length: 20 }, (_, i) => hog.acquireAsync(1 + (i % 2)).catch(() => {}));
    const refusals: string[] = [];
    const make = () => {
      try {
        return new Kind(1, { ...options, arena });
      } catch (error) {
        expect(error).toBeInstanceOf(ArenaFullError);
        refusals.push((error as Error).message);
        return undefined;
      }
    };
    let semaphore = make();
    for (let i = 0; !semaphore && i < 20; i++, semaphore = make()) {
      hog.release();
      await new Promise(setImmediate);
    }
    expect(refusals[0]).toMatch(/no room for another waiter.*{ waiters: /);
    expect(refusals.at(-1)).toMatch(/no room for another attachment.*{ waiters: /);
    semaphore?.acquire();
    semaphore?.release();
    expect(semaphore?.available).toBe(1);
    hog.dispose();
    await Promise.all(asked);
  });

  it('gives the element back at the end of the thread', async () => {
    const arena = new Arena();
    const semaphore = new Kind(0, { ...options, arena, spin: 0 });
    const memory = new Memory(arena);
    const lent = () => memory.elements.filter(({ state }) => state === at('BORROWED')).length;
    expect(lent()).toBe(1);
    const member = new Member();
    const entered = member.run('enter', { handle: semaphore.handle });
    await until(() => semaphore.available < 0 || memory.long(semaphore.handle.address) === 1n, 'it waits');
    expect(lent()).toBe(2);
    semaphore.release();
    await entered;
    await member.leave();
    expect(lent()).toBe(1);
  });
});

describe.each([
  ['TicketSemaphore', TicketSemaphore],
  ['TwaSemaphore', TwaSemaphore],
  ['ChainSemaphore', ChainSemaphore],
  ['ChannelSemaphore', ChannelSemaphore],
  ['LocationSemaphore', LocationSemaphore],
] as const)('%s.release', (name, Kind) => {
  it('gives back many in one step', () => {
    const semaphore = new Kind(0);
    semaphore.release(2 ** 31 - 1);
    expect(semaphore.available).toBe(2 ** 31 - 1);
  });

  it.each([
    [0, '0', RangeError],
    [-1, '-1', RangeError],
    [1.5, '1.5', RangeError],
    [2 ** 31, '2147483648', RangeError],
    ['2', '"2"', TypeError],
    [null, 'null', TypeError],
  ])('refuses %s', (value, shown, Failure) => {
    const semaphore = new Kind(1);
    expect(() => semaphore.release(value as never)).toThrow(Failure);
    expect(() => semaphore.release(value as never)).toThrow(
      `${name}.release: permits must be an integer from 1 to ${2 ** 31 - 1}, got ${shown}`,
    );
    expect(semaphore.available).toBe(1);
  });
});

describe('ChainSemaphore: wake', () => {
  it.each([
    ['some', RangeError, '"some"'],
    ['', RangeError, '""'],
    [1, TypeError, '1'],
    [true, TypeError, 'true'],
  ])('is not %s', (wake, Failure, shown) => {
    expect(() => new ChainSemaphore(1, { wake: wake as never })).toThrow(Failure);
    expect(() => new ChainSemaphore(1, { wake: wake as never })).toThrow(
      `ChainSemaphore: wake must be "all" or "pass" or "due", got ${shown}`,
    );
  });
});

it.each([-1, 1_000_001, 0.5, '1', null])('ChainSemaphore: look is not %s', (look) => {
  expect(() => new ChainSemaphore(1, { look: look as never })).toThrow(
    'ChainSemaphore: look must be an integer from 0 to 1000000, got ',
  );
});

it('the options of the semaphores come to the words of the object', () => {
  const word = (kind: { handle: { address: number } }, name: string): number =>
    new Memory(Arena.default).word(kind.handle.address + at(name));
  for (const [i, wake] of (['all', 'pass', 'due'] as const).entries()) {
    const semaphore = new ChainSemaphore(1, { wake, look: 1_000_000 - i });
    expect([word(semaphore, 'O_WAKE'), word(semaphore, 'O_LOOK')]).toEqual([i, 1_000_000 - i]);
  }
  for (const alternating of [true, false]) {
    expect(word(new LocationSemaphore(1, { alternating }), 'O_ALTERNATES')).toBe(Number(alternating));
  }
});

it.each([0, 'true', null])('LocationSemaphore: alternating is not %s', (alternating) => {
  expect(() => new LocationSemaphore(1, { alternating: alternating as never })).toThrow(
    'LocationSemaphore: alternating must be true or false, got ',
  );
});

it.each([0, 'true', null])('ChannelSemaphore: lazy is not %s', (lazy) => {
  expect(() => new ChannelSemaphore(1, { lazy: lazy as never })).toThrow(
    'ChannelSemaphore: lazy must be true or false, got ',
  );
});
