/** The calls to wait and to wake by a key, in one thread; with others they are in stress/by-key.test.ts. */
import { runInThisContext } from 'node:vm';
import { Arena } from 'taketurns';
import * as algorithms from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { at, Memory } from '../support/memory.js';
import { Member } from '../support/team.js';

const { addressWaitUntil, keyMonitor, keySignal, keySignalPolite, keyWait, keyWaitLazy, locationWait } = algorithms;
const { addressSignal, addressSignalPolite, channelOf, locationOf, locationWakeAll, locationWakeAllPolite } =
  algorithms;

const calls: Record<string, (key: never, options: object) => unknown> = {
  addressWaitUntil: (key, options) => addressWaitUntil(key, () => true, options),
  addressSignal,
  addressSignalPolite,
  keyMonitor,
  keyWait: (key, options) => keyWait(key, -1n, options),
  keyWaitLazy: (key, options) => keyWaitLazy(key, -1n, options),
  keySignal,
  keySignalPolite,
  channelOf,
  locationWait,
  locationOf,
  locationWakeAll,
  locationWakeAllPolite,
};

describe.each(Object.entries(calls))('%s', (name, call) => {
  it.each([-1, 2 ** 32, 0.5, Number.NaN, '1', 1n, null])('refuses a key of %s', (key) => {
    expect(() => call(key as never, {})).toThrow(`${name}: key must be an integer from 0 to ${2 ** 32 - 1}, got `);
  });

  it.each([0, 7, 2 ** 31, 2 ** 32 - 1])('takes a key of %i', (key) => {
    call(key as never, { arena: new Arena({ slots: 2, chains: 2 }) });
  });

  it('refuses a value that is no arena', () => {
    expect(() => call(1 as never, { arena: {} as never })).toThrow(TypeError);
  });
});

it.each(['addressWaitUntil', 'keyWait', 'keyWaitLazy', 'channelOf', 'locationWait', 'locationOf'])(
  '%s checks its budget',
  (name) => {
    expect(() => calls[name]?.(1 as never, { spin: -1 })).toThrow(`${name}: spin must be an integer from 0 to 1000000`);
  },
);

describe('addressWaitUntil', () => {
  it('asks once if the condition holds', () => {
    let asked = 0;
    addressWaitUntil(1, () => ++asked > 0);
    expect(asked).toBe(1);
  });

  it.each([1, 'yes', 7n, true])('returns %s if the condition does, at whichever look', (value) => {
    // The last look before it sleeps comes when it has entered the chain.
    for (const [late, look] of [
      [1, 0],
      [2, 0],
      [2, 2],
      [3, 2],
      [4, 2],
    ] as const) {
      let asked = 0;
      expect(addressWaitUntil(1, () => ++asked >= late && value, { look })).toBe(value);
      expect(asked).toBe(late);
    }
  });

  it.each([0, 1, 3])('enters the chain after the first look and %i more', (look) => {
    const arena = new Arena();
    const entered: boolean[] = [];
    const condition = () => entered.push(new Memory(arena).chainWords('C_HEAD').some((word) => word !== 0)) > look + 1;
    expect(addressWaitUntil(1, condition, { arena, look })).toBe(true);
    expect(entered).toEqual([...Array.from({ length: look + 1 }, () => false), true]);
  });

  it.each([-1, 1_000_001, 0.5, '1', null])('does not look %s times', (look) => {
    expect(() => addressWaitUntil(1, () => true, { look: look as never })).toThrow(
      'addressWaitUntil: look must be an integer from 0 to 1000000, got ',
    );
  });

  it('leaves the chain when the condition comes true meanwhile, or throws', () => {
    const arena = new Arena();
    const head = () => new Memory(arena).chainWords('C_HEAD').filter((word) => word !== 0).length;
    let asked = 0;
    addressWaitUntil(1, () => ++asked === 2 && head() === 1, { arena });
    expect(asked).toBe(2);
    expect(head()).toBe(0);
    expect(() =>
      addressWaitUntil(
        1,
        () => {
          if (head() === 1) throw new Error('no');
          return false;
        },
        { arena },
      ),
    ).toThrow(new Error('no'));
    expect(head()).toBe(0);
  });

  it('leaves the chain after an interrupt of the condition, at the next iteration of the event loop', async () => {
    const arena = new Arena();
    const head = () => new Memory(arena).chainWords('C_HEAD').filter((word) => word !== 0).length;
    const interrupted = () =>
      addressWaitUntil(
        1,
        () => {
          while (head() === 1);
          return false;
        },
        { arena },
      );
    Object.assign(globalThis, { interrupted });
    expect(() => runInThisContext('interrupted()', { timeout: 50 })).toThrow(/timed out/);
    expect(head()).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(head()).toBe(0);
  });

  it('can wait inside a condition', () => {
    const arena = new Arena({ slots: 1, chains: 1 });
    let asked = 0;
    addressWaitUntil(
      1,
      () => {
        let inner = 0;
        addressWaitUntil(2, () => ++inner === 2, { arena });
        return ++asked === 2;
      },
      { arena },
    );
    expect(asked).toBe(2);
    const borrowed = new Memory(arena).elements.filter(({ state }) => state === at('BORROWED'));
    expect(borrowed.length).toBe(1);
    expect(new Memory(arena).chainWords('C_HEAD')).toEqual([0]);
  });
});

describe('keyWait', () => {
  it('returns at once when a signal has come since', () => {
    const arena = new Arena();
    const sequence = keyMonitor(5, { arena });
    keySignal(5, { arena });
    keySignalPolite(5, { arena });
    keyWait(5, sequence, { arena });
    expect(keyMonitor(5, { arena })).toBe(sequence + 2n);
    expect(keyWaitLazy(5, -1n, { arena })).toBe(sequence + 2n);
  });
});

describe('channelOf', () => {
  it('is the channel of the calls by key', () => {
    const arena = new Arena();
    const channel = channelOf(5, { arena });
    const sequence = keyMonitor(5, { arena });
    expect(channel.monitor()).toBe(sequence);
    channel.signal();
    channel.signalPolite();
    expect(keyMonitor(5, { arena })).toBe(sequence + 2n);
    channel.wait(sequence);
    expect(channel.waitLazy(-1n)).toBe(sequence + 2n);
    keySignal(5, { arena });
    expect(channelOf(5, { arena }).monitor()).toBe(sequence + 3n);
    expect(keyMonitor(6, { arena })).toBe(0n);
  });

  it('waits with a bigint alone', () => {
    const channel = channelOf(5);
    expect(() => channel.wait(1 as never)).toThrow(new TypeError('WaitChannel.wait: sequence must be a bigint, got 1'));
    expect(() => channel.waitLazy(1 as never)).toThrow(
      new TypeError('WaitChannel.waitLazy: sequence must be a bigint, got 1'),
    );
  });
});

describe('the slots of keys', () => {
  // There are 4,096 chains. A stride of a power of two would meet few of them if keys were only masked.
  it.each([1, 2, 3, 8, 17, 64, 4096, 65536])('64 keys %i apart have channels and chains of their own', (stride) => {
    const arena = new Arena();
    const memory = new Memory(arena);
    for (let i = 0; i < 64; i++) keySignal(12345 + i * stride, { arena });
    expect(memory.chainWords('C_SEQUENCE').filter((count) => count === 1).length).toBe(64);
    const occupied = () => memory.chainWords('C_HEAD').findIndex((word) => word !== 0) + 1;
    const slot = addressWaitUntil(12345, occupied, { arena }) - 1;
    const before = memory.chainWords('C_SEQUENCE')[slot] as number;
    channelOf(12345, { arena }).signal();
    expect(memory.chainWords('C_SEQUENCE')[slot]).toBe(before + 1);
  });
});

describe('locationWait', () => {
  it.each([0, 'true', null])('does not alternate with %s', (alternating) => {
    const options = { alternating: alternating as never };
    expect(() => locationWait(1, options)).toThrow('locationWait: alternating must be true or false, got ');
    expect(() => locationOf(1, options)).toThrow('locationOf: alternating must be true or false, got ');
  });

  it('is woken politely, and by the location as a value', () => {
    const arena = new Arena({ slots: 1, chains: 1 });
    const emplaced = () => new Memory(arena).chainWords('C_LOCATION_HEAD')[0] !== 0;
    const location = locationOf(1, { arena });
    const wakes = [
      () => locationWakeAllPolite(1, { arena }),
      () => locationWakeAll(1, { arena }),
      () => location.wakeAll(),
      () => location.wakeAllPolite(),
    ];
    for (const [i, wake] of wakes.entries()) {
      const wait = i % 2 ? () => location.wait() : () => locationWait(1, { arena });
      wake();
      wait();
      expect(emplaced()).toBe(true);
      wake();
      expect(emplaced()).toBe(false);
      wait();
      expect(emplaced()).toBe(false);
    }
  });

  it('goes on with a second element, and does not wait for the first to come off its location', () => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const borrowed = () => memory.elementsIn(at('BORROWED'));
    const options = { arena, alternating: true };
    locationWait(1, options);
    const [first] = borrowed() as [number];
    // Another thread detaches the chain, and is preempted before it opens the gate.
    const slot = memory.chainWords('C_LOCATION_HEAD').indexOf(first);
    memory.write(memory.chainAt(slot) + at('C_CHANNEL_HEAD'), 0n);
    locationWait(2, options);
    const [second] = borrowed().filter((e) => e !== first) as [number];
    expect(memory.chainWords('C_LOCATION_HEAD').filter((word) => word !== 0)).toEqual([second]);
    // The other thread goes on.
    memory.store(first + at('E_GATE'), at('OPEN'));
    locationWait(3, options);
    expect(memory.chainWords('C_LOCATION_HEAD').filter((word) => word !== 0)).toEqual([first]);
    locationWait(4, options);
    expect(memory.chainWords('C_LOCATION_HEAD').filter((word) => word !== 0)).toEqual([second]);
    expect(borrowed().length).toBe(2);
  });

  it.each([false, true])('leaves nothing behind at the end of the thread (alternating: %s)', async (alternating) => {
    const arena = new Arena();
    const member = new Member();
    await member.run('emplace', { arena: arena.handle, keys: [1, 2, 3], alternating });
    const memory = new Memory(arena);
    expect(memory.elementsIn(at('BORROWED')).length).toBe(alternating ? 2 : 1);
    expect(memory.chainWords('C_LOCATION_HEAD').filter((word) => word !== 0).length).toBe(1);
    // It has taken no others in the meantime.
    expect(memory.elements.filter(({ epoch, state }) => epoch > 0n || state === at('BORROWED')).length).toBe(
      alternating ? 2 : 1,
    );
    await member.leave();
    expect(memory.elementsIn(at('BORROWED')).length).toBe(0);
    expect(memory.chainWords('C_LOCATION_HEAD').every((word) => word === 0)).toBe(true);
  });

  it('returns the first time, and again when all have been woken', () => {
    const arena = new Arena({ slots: 1, chains: 1 });
    const heads = () => new Memory(arena).chainWords('C_LOCATION_HEAD');
    locationWait(1, { arena });
    expect(heads()).not.toEqual([0]);
    locationWakeAll(1, { arena });
    locationWait(1, { arena });
    expect(heads()).toEqual([0]);
  });

  it('removes an abandoned element from one location before it enters another', () => {
    // There are so many slots that no key shares one with the key before: there the second call would sleep.
    const arena = new Arena({ slots: 1024, chains: 1024 });
    const heads = () => new Memory(arena).chainWords('C_LOCATION_HEAD').filter((word) => word !== 0);
    for (let key = 0; key < 64; key++) {
      locationWait(key, { arena });
      expect(heads().length).toBe(1);
      if (key % 2) locationWakeAll(key, { arena });
    }
  });
});
