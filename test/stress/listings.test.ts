/** The semaphores of the papers' listings, in crowds of real threads. */
import { Arena } from 'taketurns';
import {
  ChainSemaphore,
  ChannelSemaphore,
  LocationSemaphore,
  MultilaneSemaphore,
  TicketSemaphore,
  TwaSemaphore,
} from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { contest } from '../support/contest.js';
import { at, Memory } from '../support/memory.js';
import { casesOf } from '../support/rounds.js';
import { watch } from '../support/settled.js';
import { team } from '../support/team.js';
import { until } from '../support/until.js';

const CROWD = 16;
const crowd = team(CROWD);
const sizes = { objects: 64, threads: 40, waiters: 512 };
const ways = ['acquire'] as const;

type Listing =
  | TicketSemaphore
  | TwaSemaphore
  | ChainSemaphore
  | ChannelSemaphore
  | LocationSemaphore
  | MultilaneSemaphore;
type Options = ConstructorParameters<typeof TwaSemaphore>[1];
type Make = (permits: number, options: Options) => Listing;

/** What each is, how it is made, and how often it polls in the longest tests, unless both 0 and 100 times. */
type Kind = [name: string, make: Make, polls?: readonly number[]];

const kinds: Kind[] = [
  ['TicketSemaphore', (permits, options) => new TicketSemaphore(permits, options)],
  ['TicketSemaphore, delay 10', (permits, options) => new TicketSemaphore(permits, { ...options, delay: 10 }), [100]],
  [
    'TwaSemaphore, sequestered',
    (permits, options) => new TwaSemaphore(permits, { ...options, sequestered: true }),
    [0],
  ],
  ...[0, 1, 2].map(
    (threshold) =>
      [
        `TwaSemaphore with threshold ${threshold}`,
        (permits, options) => new TwaSemaphore(permits, { ...options, threshold }),
      ] as [string, Make],
  ),
  ...(['all', 'pass', 'due'] as const).map(
    (wake) =>
      [`ChainSemaphore, waking ${wake}`, (permits, options) => new ChainSemaphore(permits, { ...options, wake })] as [
        string,
        Make,
      ],
  ),
  ...[false, true].map(
    (lazy) =>
      [
        `ChannelSemaphore${lazy ? ', lazy' : ''}`,
        (permits, options) => new ChannelSemaphore(permits, { ...options, lazy }),
      ] as [string, Make],
  ),
  ['LocationSemaphore', (permits, options) => new LocationSemaphore(permits, options)],
  [
    'LocationSemaphore, alternating',
    (permits, options) => new LocationSemaphore(permits, { ...options, alternating: true }),
    [0],
  ],
  ['ChainSemaphore, looking', (permits, options) => new ChainSemaphore(permits, { ...options, look: 20 }), [0]],
  ['MultilaneSemaphore', (permits, options) => new MultilaneSemaphore(permits, { ...options, lanes: 3 }), [0]],
];

/** The semaphores of Listings 3 to 5 with a threshold of 1 or 2, and the heads of their chains. */
const near: [string, Make, number, string][] = [1, 2].flatMap((threshold) =>
  (
    [
      ['ChainSemaphore', ChainSemaphore, { wake: 'all' }, 'C_HEAD'],
      ['ChainSemaphore', ChainSemaphore, { wake: 'pass' }, 'C_HEAD'],
      ['ChainSemaphore', ChainSemaphore, { wake: 'due' }, 'C_DUE_HEAD'],
      ['ChannelSemaphore', ChannelSemaphore, {}, 'C_CHANNEL_HEAD'],
      ['ChannelSemaphore', ChannelSemaphore, { lazy: true }, 'C_CHANNEL_HEAD'],
      ['LocationSemaphore', LocationSemaphore, {}, 'C_LOCATION_HEAD'],
    ] as const
  ).map(([name, Kind, variant, head]): [string, Make, number, string] => [
    `${name} ${Object.keys(variant)} ${Object.values(variant)} with threshold ${threshold}`,
    (permits, options) => new Kind(permits, { ...options, ...variant, threshold }),
    threshold,
    head,
  ]),
);

/** The next ticket. A sequestered semaphore counts its tickets in O_TAKEN, which is 0 in the others. */
function taken(memory: Memory, { address }: { readonly address: number }): bigint {
  return memory.long(address + at('TICKET')) + memory.long(address + at('O_TAKEN'));
}

const hashes: [string, Make][] = (['paired', 'orbit', 'gray', 'mixed'] as const).flatMap((hash) =>
  [TwaSemaphore, ChainSemaphore, ChannelSemaphore, LocationSemaphore].map((Kind): [string, Make] => [
    `${Kind.name}, hash ${hash}`,
    (permits, options) => new Kind(permits, { ...options, hash }),
  ]),
);

describe.each(kinds.map(([name, make, polls = [0, 100]], i) => [name, make, casesOf(polls, i)] as const))(
  '%s',
  (_, make, polls) => {
    describe.each(polls)('polling %i times', (spin) => {
      it.each(casesOf([2, 3, CROWD]))('admits %i threads in the order of their tickets', async (threads) => {
        const semaphore = make(1, { arena: new Arena(sizes), spin });
        await contest(crowd.slice(0, threads), {
          semaphore,
          permits: 1,
          ways,
          rounds: Math.ceil(1000 / threads),
        });
        await contest(crowd.slice(0, threads), {
          semaphore,
          permits: 1,
          ways,
          rounds: Math.ceil(1000 / threads),
          think: 500,
        });
      });

      it.each([1, 2])('does so with a waiting array of %i that other semaphores share', async (slots) => {
        const arena = new Arena({ ...sizes, slots, chains: slots });
        await Promise.all(
          [0, 1].map((i) =>
            contest(crowd.slice(i * 4, i * 4 + 4), {
              semaphore: make(1, { arena, spin }),
              permits: 1,
              ways,
              rounds: 200,
            }),
          ),
        );
      });

      it('never admits more than there are permits', async () => {
        const semaphore = make(3, { arena: new Arena(sizes), spin });
        await contest(crowd, { semaphore, permits: 3, ways, rounds: 100, think: 200 });
      });

      it.each(casesOf([2n ** 32n, 2n ** 53n, 2n ** 61n + 500n]))('counts over %i', async (boundary) => {
        const semaphore = make(1, { arena: new Arena(sizes), spin, firstTicket: boundary - 500n });
        await contest(crowd.slice(0, 4), { semaphore, permits: 1, ways, rounds: 200 });
      });

      it('dispose wakes all waiters, near and far', async () => {
        const arena = new Arena(sizes);
        const semaphore = make(0, { arena, spin });
        const { handle } = semaphore;
        const memory = new Memory(arena);
        const waits = crowd.map((member, i) => watch(member.run('enter', { handle }), i));
        await until(() => taken(memory, handle) === BigInt(CROWD), 'all have a ticket');
        semaphore.dispose();
        await until(() => waits.every((wait) => wait.state !== 'pending'), 'all have been told');
        for (const wait of waits) expect(wait.error).toMatchObject({ name: 'DisposedError' });
        // Every thread has let go: the memory is free for the next object, and no waiter is left in the array.
        await until(
          () => memory.long(handle.address + at('O_LIFE')) >> 32n === BigInt(handle.generation + 1),
          'all let go',
        );
      });
    });
  },
);

describe.each([0, 1, 2])('TwaSemaphore, conservative post, threshold %i', (threshold) => {
  it.each([0, 100])('polling %i times', async (spin) => {
    const semaphore = new TwaSemaphore(1, { arena: new Arena(sizes), spin, threshold });
    await contest(crowd, { semaphore, permits: 1, ways, giving: 'conservative', rounds: 200 });
    await contest(crowd.slice(0, 3), {
      semaphore,
      permits: 1,
      ways,
      giving: 'conservative',
      rounds: 800,
      think: 500,
    });
  });
});

describe.each(kinds.filter(([name]) => !/^[MT]/.test(name)))('%s, post as in the listing', (_, make) => {
  it.each([0, 100])('polling %i times', async (spin) => {
    const semaphore = make(1, { arena: new Arena({ ...sizes, slots: 2, chains: 2 }), spin });
    const rest = { semaphore, permits: 1, ways, giving: 'conservative' } as const;
    await contest(crowd, { ...rest, rounds: 200 });
    await contest(crowd.slice(0, 3), { ...rest, rounds: 800, think: 500 });
  });
});

describe.each(kinds)('%s, by each policy', (_, make) => {
  it.each(['spin', 'yield', 'park'] as const)('%s', async (policy) => {
    const semaphore = make(1, { arena: new Arena(sizes), policy });
    // A polling thread keeps others from running where there are few processors.
    await contest(crowd.slice(0, 2), { semaphore, permits: 1, ways, rounds: policy === 'spin' ? 100 : 400 });
  });
});

describe.each(hashes)('%s', (_, make) => {
  it.each(casesOf([64, 2]))('admits in the order of tickets, with %i slots for two semaphores', async (slots) => {
    const arena = new Arena({ ...sizes, slots, chains: slots });
    await Promise.all(
      [0, 1].map((i) =>
        contest(crowd.slice(i * 4, i * 4 + 4), {
          semaphore: make(1, { arena, spin: 0 }),
          permits: 1,
          ways,
          rounds: 150,
        }),
      ),
    );
  });
});

describe.each([...kinds, ...hashes])('%s, releasing many at once', (_, make) => {
  it.each(casesOf([1, 2, 64]))('wakes all waiters whose turn has come (%i slots)', async (slots) => {
    const arena = new Arena({ ...sizes, slots, chains: slots });
    const memory = new Memory(arena);
    const semaphore = make(0, { arena, spin: 0 });
    const { handle } = semaphore;
    for (let round = 0; round < 8; round++) {
      const waits = crowd.map((member) => watch(member.run('enter', { handle }), round));
      const queue = BigInt((round + 1) * CROWD);
      await until(() => taken(memory, handle) === queue, 'all have a ticket');
      semaphore.release(5);
      await until(() => waits.filter((wait) => wait.state !== 'pending').length === 5, '5 are in');
      semaphore.release(CROWD - 5);
      await until(() => waits.every((wait) => wait.state !== 'pending'), 'all are in');
    }
    expect(semaphore.available).toBe(0);
  });
});

describe.each(kinds)('%s, with its queue observed', (_, make) => {
  it.each([0, 100])('admits parked threads in order (polling %i times)', async (spin) => {
    const arena = new Arena(sizes);
    const memory = new Memory(arena);
    const semaphore = make(0, { arena, spin });
    const { handle } = semaphore;
    const log = new Int32Array(new SharedArrayBuffer(4 * (CROWD + 1)));
    for (const [entry, member] of crowd.entries()) {
      member.run('enter', { handle, log, entry });
      await until(() => taken(memory, handle) === BigInt(entry + 1), `${entry} stands in line`);
    }
    for (let i = 1; i <= CROWD; i++) {
      semaphore.release();
      await until(() => Atomics.load(log, 0) === i, `${i} are in`);
    }
    expect([...log.subarray(1)]).toEqual(Array.from({ length: CROWD }, (_, i) => i));
  });
});

describe.each(near)('%s', (_, make, threshold, head) => {
  it('admits in the order of tickets, parked and polling', async () => {
    const arena = new Arena({ ...sizes, slots: 2, chains: 2 });
    for (const spin of [0, 100]) {
      const semaphore = make(1, { arena, spin });
      await contest(crowd.slice(0, 5), { semaphore, permits: 1, ways, rounds: 60 });
      await contest(crowd.slice(0, 5), { semaphore, permits: 1, ways, rounds: 60, giving: 'conservative' });
    }
  });

  it.each(['release', 'releaseConservative'] as const)(
    'a waiter that %s brings near leaves its chain',
    async (post) => {
      const arena = new Arena({ ...sizes, slots: 64, chains: 64 });
      const memory = new Memory(arena);
      const semaphore = make(0, { arena, policy: 'yield' });
      const { handle } = semaphore;
      const waits = crowd.slice(0, 5).map((member, i) => watch(member.run('enter', { handle }), i));
      for (let left = 5; left >= 0; left--) {
        const far = Math.max(left - threshold, 0);
        await until(() => memory.chainWords(head).filter((e) => e !== 0).length === far, `${far} stand on chains`);
        await until(() => waits.filter(({ state }) => state === 'pending').length === left, `${left} wait`);
        if (left > 0) (semaphore as ChainSemaphore)[post]();
      }
      // Each was woken once, when it came near, and then was on no chain to be woken from.
      expect(arena.stats().futileWakes).toBe(0);
    },
  );

  it('a release of many admits those that were near and those that were far', async () => {
    const semaphore = make(0, { arena: new Arena(sizes), spin: 0 });
    const { handle } = semaphore;
    const memory = new Memory(Arena.from(handle.arena));
    const waits = crowd.map((member, i) => watch(member.run('enter', { handle }), i));
    await until(() => taken(memory, handle) === BigInt(CROWD), 'all have a ticket');
    semaphore.release(CROWD);
    await until(() => waits.every(({ state }) => state !== 'pending'), 'all are in');
  });
});
