/** Capacitors around locks, in crowds of real threads. */
import { Arena } from 'taketurns';
import {
  CapacitorLock,
  type CapacitorLockOptions,
  LifoLock,
  TicketSemaphore,
  TtsLock,
  TwaSemaphore,
} from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { LOCKS } from '../support/locks.js';
import { at, Memory } from '../support/memory.js';
import { roundsOf } from '../support/rounds.js';
import { watch } from '../support/settled.js';
import { team, together } from '../support/team.js';
import { until } from '../support/until.js';

const CROWD = 12;
const crowd = team(CROWD);
const sizes = { objects: 64, threads: 40, waiters: 512 };

interface More {
  readonly trying?: boolean;
  readonly think?: number;
  readonly tickets?: BigInt64Array;
  readonly own?: Int32Array;
}

/** Each thread counts to `rounds` in words that only the lock guards. */
async function contest(lock: CapacitorLock, threads: number, rounds: number, more: More): Promise<void> {
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const members = crowd.slice(0, threads);
  const inside = await together<number>(members, 'lock', { handle: lock.handle, shared, rounds, ...more });
  expect(inside, 'another inside').toEqual(members.map(() => 0));
  expect([...shared], 'rounds').toEqual([threads * rounds, threads * rounds]);
}

/** Returns how many threads with a higher ticket were admitted before one thread, at most. */
function mostPassed(tickets: BigInt64Array): number {
  let most = 0;
  for (const [i, ticket] of tickets.entries()) {
    let passed = 0;
    // A thread that is further ahead than this in the order of admission departed long ago.
    for (let k = Math.max(0, i - 4096); k < i; k++) if ((tickets[k] as bigint) > ticket) passed++;
    if (passed > most) most = passed;
  }
  return most;
}

const forms: CapacitorLockOptions[] = [
  {},
  { threshold: 0, spin: 0 },
  { semaphore: 'ticket' },
  { semaphore: 'ticket', spin: 0 },
  { semaphore: 'chain' },
  { semaphore: 'chain', threshold: 1, spin: 0 },
  { lanes: 4 },
  { lanes: 3, spin: 0 },
];

describe.each(forms)('a capacitor of %o', (options) => {
  it.each([
    [1, CROWD],
    [2, CROWD],
    [5, 3],
    [5, CROWD],
    [20, CROWD],
  ])('of %i bounds how often each of %i threads is overtaken', async (bypass, threads) => {
    const arena = new Arena(sizes);
    const rounds = Math.ceil(roundsOf(3000) / threads);
    const tickets = new BigInt64Array(new SharedArrayBuffer(8 * threads * rounds));
    const lock = new CapacitorLock(new TtsLock({ arena, spin: options.spin ?? 100 }), {
      ...options,
      arena,
      bypass,
    });
    await contest(lock, threads, rounds, { tickets });
    expect(mostPassed(tickets)).toBeLessThan(bypass);
    expect([...tickets].sort((a, b) => Number(a - b))).toEqual(Array.from(tickets, (_, i) => BigInt(i)));
  });

  it('rejects all waiters on dispose', async () => {
    const arena = new Arena(sizes);
    const memory = new Memory(arena);
    const lock = new CapacitorLock(new TtsLock({ arena }), { ...options, arena, bypass: 1 });
    const { handle } = lock;
    lock.lock();
    const waits = crowd.map((member, i) => watch(member.run('pass-lock', { handle }), i));
    const { address, generation } = handle.capacitor;
    await until(() => memory.long(address + at('TICKET')) === BigInt(CROWD + 1), 'all have come');
    lock.dispose();
    await until(() => waits.every((wait) => wait.state !== 'pending'), 'all have been told');
    for (const wait of waits) expect(wait.error).toMatchObject({ name: 'DisposedError' });
    await until(() => memory.long(address + at('O_LIFE')) >> 32n === BigInt(generation + 1), 'all let go');
  });
});

describe.each(LOCKS)('around a $kind', ({ Class: Inner }) => {
  it.each([
    { fraction: 0.5 },
    { fraction: 0.9, lanes: 2 },
    { lanes: 3, random: true },
    { whenContended: true },
    { whenContended: true, fraction: 0.5, bypass: 2 },
  ])('with %o it is held by one at a time', async (options) => {
    const arena = new Arena(sizes);
    const lock = new CapacitorLock(new Inner({ arena }), { ...options, arena });
    await contest(lock, CROWD, roundsOf(250), {});
    await contest(lock, 3, roundsOf(500), { trying: true, think: 500 });
    expect(lock.tryLock()).toBe(true);
  });
});

describe('around a LifoLock', () => {
  it.each([1, 3, 10])('bypass %i: no thread is overtaken more often', async (bypass) => {
    const arena = new Arena(sizes);
    const lock = new CapacitorLock(new LifoLock({ arena }), { arena, bypass });
    const tickets = new BigInt64Array(new SharedArrayBuffer(8 * CROWD * roundsOf(250)));
    await contest(lock, CROWD, roundsOf(250), { tickets });
    expect(mostPassed(tickets)).toBeLessThan(bypass);
  });
});

describe.each([{ Inside: TicketSemaphore }, { Inside: TwaSemaphore }])('with a $Inside.name inside', ({ Inside }) => {
  it.each([1, 2, 5])('bypass %i: every thread draws a ticket, and none is overtaken more often', async (bypass) => {
    const arena = new Arena(sizes);
    const semaphore = new Inside(bypass, { arena });
    const lock = new CapacitorLock(new TtsLock({ arena }), { arena, bypass, semaphore });
    const tickets = new BigInt64Array(new SharedArrayBuffer(8 * CROWD * 250));
    await contest(lock, CROWD, 250, { tickets });
    expect(mostPassed(tickets)).toBeLessThan(bypass);
    expect(semaphore.available).toBe(bypass);
  });
});

describe("around a lock of the user's own", () => {
  it.each([1, 3])('bypass %i: one thread at a time holds it, and bounded', async (bypass) => {
    const arena = new Arena(sizes);
    const own = new Int32Array(new SharedArrayBuffer(4));
    const never = (): never => {
      throw new Error('this thread does not lock');
    };
    const lock = new CapacitorLock({ lock: never, unlock: never }, { arena, bypass });
    const tickets = new BigInt64Array(new SharedArrayBuffer(8 * CROWD * roundsOf(100)));
    await contest(lock, CROWD, roundsOf(100), { own, tickets });
    expect(mostPassed(tickets)).toBeLessThan(bypass);
  });
});
