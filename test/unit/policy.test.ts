/** The papers' classes take the same options for how to wait: `policy`, and `spin`. */
import { Arena } from 'taketurns';
import {
  addressWaitUntil,
  Capacitor,
  CapacitorLock,
  ChainSemaphore,
  ChannelSemaphore,
  ClhLock,
  EventCount,
  keyMonitor,
  keyWait,
  keyWaitLazy,
  LifoLock,
  LocationSemaphore,
  locationWait,
  McsLock,
  type PolicyOptions,
  ReciprocatingLock,
  TicketLock,
  TicketSemaphore,
  TtsLock,
  TwaLock,
  TwaSemaphore,
} from 'taketurns/algorithms';
import { BinarySemaphore, CountingSemaphore } from 'taketurns/p0514';
import { describe, expect, it } from 'vitest';
import { at, Memory } from '../support/memory.js';

type Options = PolicyOptions & { arena?: Arena };
type Made = { handle: { address: number } };

const algorithms: [string, (options: Options) => Made][] = [
  ...[TicketSemaphore, TwaSemaphore, ChainSemaphore, ChannelSemaphore, LocationSemaphore].map(
    (Kind): [string, (options: Options) => Made] => [Kind.name, (options) => new Kind(1, options)],
  ),
  ...[TtsLock, TicketLock, TwaLock, McsLock, ClhLock, LifoLock, ReciprocatingLock].map(
    (Kind): [string, (options: Options) => Made] => [Kind.name, (options) => new Kind(options)],
  ),
  ['EventCount', (options) => new EventCount(options)],
  ['Capacitor', (options) => new Capacitor(2, options)],
  [
    'Capacitor',
    (options) => {
      const [lane] = new Capacitor(2, { ...options, lanes: 2 }).handle.lanes;
      return { handle: lane as Made['handle'] };
    },
  ],
  [
    'CapacitorLock',
    (options) => {
      const lock = new CapacitorLock({ lock: () => {}, unlock: () => {} }, options);
      return { handle: lock.handle.capacitor };
    },
  ],
];

/** These may wait with a time-out, so none of their policies polls without end. */
const others: [string, (options: Options) => Made][] = [
  ['BinarySemaphore', (options) => new BinarySemaphore(1, options as object)],
  ['CountingSemaphore', (options) => new CountingSemaphore(1, options as object)],
];

describe.each([...algorithms, ...others])('%s', (name, make) => {
  const turns = (options: Options): number => {
    const arena = new Arena({ objects: 4, threads: 4, waiters: 64, slots: 4, chains: 4 });
    return new Memory(arena).word(make({ ...options, arena }).handle.address + at('O_SPIN'));
  };
  const parks = others.some(([other]) => other === name);

  it('parks at once, or after its budget', () => {
    expect(turns({ policy: 'park' })).toBe(0);
    expect(turns({ policy: 'spin-then-park' })).toBe(parks ? -1 : 100);
    expect(turns({})).toBe(parks ? -1 : 100);
    expect(turns({ policy: 'spin-then-park', spin: 7 })).toBe(7);
    expect(turns({ spin: 0 })).toBe(0);
  });

  it('has no budget in another policy', () => {
    expect(() => turns({ policy: 'park', spin: 7 })).toThrow(
      new RangeError(`${name}: the policy "park" has no spin: leave spin out, or take "spin-then-park"`),
    );
  });

  it.each(['spin', 'yield'] as const)('%s is a budget of minutes, or refused', (policy) => {
    if (parks) {
      expect(() => turns({ policy })).toThrow(
        new RangeError(`${name}: policy must be "park" or "spin-then-park", got "${policy}"`),
      );
    } else expect(turns({ policy })).toBe(policy === 'spin' ? 2 ** 31 - 1 : 1 - 2 ** 31);
  });

  it.each(['', 'sleep', 1])('is not %o', (policy) => {
    expect(() => turns({ policy: policy as never })).toThrow(
      `${name}: policy must be ${parks ? '' : '"spin" or "yield" or '}"park" or "spin-then-park", got `,
    );
  });
});

describe.each([
  ['addressWaitUntil', (options: Options) => addressWaitUntil(1, () => true, options)],
  ['keyWait', (options: Options) => keyWait(1, keyMonitor(1, options) - 1n, options)],
  ['keyWaitLazy', (options: Options) => keyWaitLazy(1, -1n, options)],
  ['locationWait', (options: Options) => locationWait(1, options)],
] as const)('%s', (name, wait) => {
  it('has the same policies', () => {
    const arena = new Arena();
    for (const policy of ['spin', 'yield', 'park', 'spin-then-park'] as const) {
      wait({ arena: name === 'locationWait' ? new Arena() : arena, policy });
      if (policy !== 'spin-then-park') {
        expect(() => wait({ arena, policy, spin: 1 })).toThrow(`${name}: the policy "${policy}" has no spin`);
      }
    }
    expect(() => wait({ arena, policy: 'sleep' as never })).toThrow(
      `${name}: policy must be "spin" or "yield" or "park" or "spin-then-park", got "sleep"`,
    );
  });
});
