/**
 * The two exchanges on which rate limiters rely. Each test lets another thread come between the look and the exchange, by
 * a function of Atomics that does first what the other thread would have done.
 */
import { Arena, Semaphore } from 'taketurns';
import { afterEach, expect, it, vi } from 'vitest';
import { PAGE_SIZE } from '../../src/border/numbers.js';
import { NameDraft } from '../../src/objects/name-draft.js';
import { RateLocks } from '../../src/rates/lock.js';
import { Pages } from '../../src/rates/pages.js';
import { membershipOf } from '../support/membership.js';

/** The number of a thread whose record another life has. */
const NOBODY = (1 << 25) + 7;
const OTHER = NOBODY + 1;

afterEach(() => vi.restoreAllMocks());

it('one thread alone takes the lock of a dead one over', () => {
  const arena = new Arena();
  const takenOver: number[] = [];
  const words = new Int32Array(new SharedArrayBuffer(8));
  const locks = new RateLocks(membershipOf(arena) as never, words, (lock) => takenOver.push(lock));
  words[0] = NOBODY;
  const { compareExchange } = Atomics;
  vi.spyOn(Atomics, 'compareExchange').mockImplementation(((all: Int32Array, at: number, from: number, to: number) => {
    if (from === NOBODY) all[at] = OTHER; // another thread has taken the lock over just now
    return compareExchange(all, at, from, to);
  }) as never);
  expect(locks.enter(0, 1)).toBe(false);
  expect([words[0], takenOver]).toEqual([OTHER, []]);
});

it('a page that two threads claim at once belongs to one', () => {
  const arena = new Arena();
  const object = new Semaphore(1, { arena }).handle.address;
  const other = new Semaphore(1, { arena }).handle.address;
  const pages = new Pages(new NameDraft(membershipOf(arena) as never));
  const { compareExchange } = Atomics;
  const asked: number[] = [];
  vi.spyOn(Atomics, 'compareExchange').mockImplementation(((
    all: BigInt64Array,
    at: number,
    from: bigint,
    to: bigint,
  ) => {
    // Another thread has claimed the page just now that the second claim asks for first.
    if (asked.push(at) === 2) all[at] = all[asked[0] as number] as bigint;
    return compareExchange(all, at, from, to);
  }) as never);
  const first = pages.claim(other);
  const got = pages.claim(object);
  const [ofFirst = 0, lost = 0] = asked;
  expect(got).not.toBe(0);
  expect(got).not.toBe(first + (lost - ofFirst) * PAGE_SIZE);
});
