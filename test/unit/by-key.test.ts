/** The calls to wait and to wake by a key, in one thread; with others they are in stress/by-key.test.ts. */
import { Arena } from 'taketurns';
import * as algorithms from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { at, Memory } from '../support/memory.js';

const { addressWaitUntil, keyMonitor, keySignal, keySignalPolite, keyWait, keyWaitLazy, locationWait } = algorithms;
const { addressSignal, addressSignalPolite, locationWakeAll } = algorithms;

const calls: Record<string, (key: never, options: object) => unknown> = {
  addressWaitUntil: (key, options) => addressWaitUntil(key, () => true, options),
  addressSignal,
  addressSignalPolite,
  keyMonitor,
  keyWait: (key, options) => keyWait(key, -1n, options),
  keyWaitLazy: (key, options) => keyWaitLazy(key, -1n, options),
  keySignal,
  keySignalPolite,
  locationWait,
  locationWakeAll,
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

it.each(['addressWaitUntil', 'keyWait', 'keyWaitLazy', 'locationWait'])('%s checks its budget', (name) => {
  expect(() => calls[name]?.(1 as never, { spin: -1 })).toThrow(`${name}: spin must be an integer from 0 to 1000000`);
});

describe('addressWaitUntil', () => {
  it('asks once if the condition holds', () => {
    let asked = 0;
    addressWaitUntil(1, () => ++asked > 0);
    expect(asked).toBe(1);
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

describe('locationWait', () => {
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
