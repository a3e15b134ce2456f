/** KeyedMutex and KeyedSemaphore: tasks with the same key exclude one another, and nothing is left of a key. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { DisposedError, type Key, KeyedMutex, KeyedSemaphore, TimeoutError } from 'taketurns/tasks';
import { describe, expect, it } from 'vitest';
import { failure } from '../support/failure.js';
import { roundsInCi } from '../support/rounds.js';
import { isSettled } from '../support/settled.js';
import { reactions, turn } from '../support/until.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe('a key', () => {
  it('is held by one at a time, in the order of the calls', async () => {
    const table = new KeyedMutex();
    const order: string[] = [];
    const work = (key: Key, name: string) =>
      table.runExclusive(key, async () => {
        order.push(`${name} begins`);
        await turn();
        order.push(`${name} ends`);
      });
    await Promise.all([work('a', 'one'), work('a', 'two'), work('b', 'other'), work('a', 'three')]);
    expect(order.filter((entry) => !entry.startsWith('other'))).toEqual(
      ['one', 'two', 'three'].flatMap((name) => [`${name} begins`, `${name} ends`]),
    );
    expect(order.indexOf('other begins')).toBeLessThan(order.indexOf('one ends'));
    expect([table.size, table.waiting]).toEqual([0, 0]);
  });

  it('is compared exactly: a string is not a number, and no name of an object', async () => {
    const table = new KeyedMutex();
    const keys: Key[] = [
      1,
      '1',
      '',
      '__proto__',
      'constructor',
      'toString',
      0,
      '0',
      -1,
      2 ** 53 - 1,
      'a',
      'A',
      '\u00e9',
      'e\u0301',
    ];
    const held = keys.map((key) => table.tryHold(key));
    expect(held.map((guard) => guard?.held)).toEqual(keys.map(() => true));
    expect(table.size).toBe(keys.length);
    expect(table.tryHold(-0)).toBe(undefined);
    for (const guard of held) guard?.unlock();
    expect(table.size).toBe(0);
  });

  it.each([
    [undefined, TypeError, 'undefined'],
    [null, TypeError, 'null'],
    [{}, TypeError, 'an object (Object)'],
    [Symbol('s'), TypeError, 'Symbol(s)'],
    [1n, TypeError, '1n'],
    [true, TypeError, 'true'],
    [0.5, RangeError, '0.5'],
    [Number.NaN, RangeError, 'NaN'],
    [2 ** 53, RangeError, '9007199254740992'],
  ])('is not %s', async (key, Kind, shown) => {
    const table = new KeyedMutex();
    const named = (method: string) => `KeyedMutex.${method}: key must be a string or a safe integer, got ${shown}`;
    const calls = {
      holdAsync: () => table.holdAsync(key as never),
      tryHold: () => table.tryHold(key as never),
      runExclusive: () => table.runExclusive(key as never, () => 1),
      holdAllAsync: () => table.holdAllAsync(['a', key as never]),
    };
    for (const [method, call] of Object.entries(calls)) {
      const error = await failure(call);
      expect([error.constructor, error.message.replace(/: (write String|give what tells).*/, '')]).toEqual([
        Kind,
        named(method),
      ]);
    }
    expect(table.size).toBe(0);
  });

  it('has as many permits as a KeyedSemaphore says, in strict order', async () => {
    const table = new KeyedSemaphore(3);
    const held = await table.holdAsync('a', 2);
    const heavy = table.holdAsync('a', 3);
    const light = table.holdAsync('a');
    expect([await isSettled(heavy), await isSettled(light), table.tryHold('a')]).toEqual([false, false, undefined]);
    expect(table.inspect('a')).toEqual({ key: 'a', out: 2, waiting: 2 });
    expect(table.inspect('b')).toEqual({ key: 'b', out: 0, waiting: 0 });
    held.release(1);
    expect(await isSettled(heavy)).toBe(false);
    held.release();
    (await heavy).release(2);
    (await light).release();
    expect(table.inspect()).toMatchObject({ size: 1, waiting: 0, keys: [{ key: 'a', out: 1 }] });
    (await heavy).release();
    expect(table.size).toBe(0);
    expect((await failure(() => table.holdAsync('a', 4))).message).toContain('from 1 to 3 (its permits), got 4');
  });

  it('goes to those behind when the head leaves: by its time-out, its signal, or as it is woken', async () => {
    const table = new KeyedSemaphore(2);
    const first = await table.holdAsync('a');
    const late = failure(() => table.holdAsync('a', 2, { timeout: 5 }));
    const behind = table.holdAsync('a');
    expect((await late).message).toBe(
      'timed out after 5 ms waiting for 2 permits of the key "a" of the KeyedSemaphore (1 waiting)',
    );
    await behind;
    const controller = new AbortController();
    const aborted = failure(() => table.holdAsync('a', 1, { signal: controller.signal }));
    const next = table.holdAsync('a');
    await reactions();
    // In one turn the head is aborted and the permit comes free.
    controller.abort(new SyntaxError('enough'));
    first.release();
    expect((await aborted).name).toBe('SyntaxError');
    (await next).release();
    (await behind).release();
    expect(table.inspect()).toEqual({ size: 0, waiting: 0, timeouts: 2, keys: [] });
  });

  it('is given back once by a guard', async () => {
    const table = new KeyedMutex();
    const held = await table.holdAsync('a');
    const next = table.holdAsync('a');
    held.unlock();
    held.unlock();
    held[Symbol.dispose ?? Symbol.for('Symbol.dispose')]();
    const guard = await next;
    expect([held.held, guard.held, table.tryHold('a')]).toEqual([false, true, undefined]);
    guard.unlock();
    expect(table.size).toBe(0);
  });

  it('is the first argument of a limited function, which gets this and all arguments', async () => {
    const table = new KeyedMutex();
    const order: string[] = [];
    const owner = {
      name: 'owner',
      save: table.limit(async function (this: unknown, key: string, value: number) {
        order.push(`${key}${value}`);
        await turn();
        order.push(`${key}${value}`);
        return [(this as { name?: string }).name, value];
      }),
    };
    const results = await Promise.all([owner.save('a', 1), owner.save('a', 2), owner.save('b', 3)]);
    expect(results).toEqual([
      ['owner', 1],
      ['owner', 2],
      ['owner', 3],
    ]);
    expect(order.filter((entry) => entry.startsWith('a'))).toEqual(['a1', 'a1', 'a2', 'a2']);
  });

  it('is free again if the function throws, at once or later', async () => {
    const table = new KeyedMutex();
    const fails = () => {
      throw new SyntaxError('at once');
    };
    expect((await failure(() => table.runExclusive('a', fails))).message).toBe('at once');
    expect((await failure(() => table.runExclusive('a', async () => fails()))).message).toBe('at once');
    expect(table.size).toBe(0);
  });
});

describe('holdAllAsync', () => {
  it('takes the keys in one order, whatever the order of the call, so that nobody deadlocks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('0', '1', 'a')), { maxLength: 5 }), {
          maxLength: 12,
        }),
        async (calls) => {
          const table = new KeyedMutex();
          const inside = new Map<Key, number>();
          await Promise.all(
            calls.map(async (keys) => {
              const held = await table.holdAllAsync(keys);
              expect(held.keys.length).toBe(new Set(keys).size);
              expect(new Set(held.keys)).toEqual(new Set(keys));
              for (const key of held.keys) inside.set(key, (inside.get(key) ?? 0) + 1);
              for (const key of held.keys) expect(inside.get(key)).toBe(1);
              await reactions();
              for (const key of held.keys) inside.set(key, 0);
              held.unlock();
              held.unlock();
            }),
          );
          expect(table.size).toBe(0);
        },
      ),
    );
  });

  it('holds nothing if one of the keys does not come free in time, and says which', async () => {
    const table = new KeyedMutex();
    const held = await table.holdAsync('b');
    const error = await failure(() => table.holdAllAsync(['c', 'b', 'a', 1], { timeout: 5 }));
    expect([error instanceof TimeoutError, error.message]).toEqual([
      true,
      'timed out after 5 ms waiting for the key "b" of the KeyedMutex (0 waiting)',
    ]);
    expect(table.inspect().keys).toEqual([{ key: 'b', out: 1, waiting: 0 }]);
    held.unlock();
    expect((await table.holdAllAsync(['b', 'a', 10, 9])).keys).toEqual([9, 10, 'a', 'b']);
    expect((await failure(() => table.holdAllAsync('ab' as never))).message).toBe(
      'KeyedMutex.holdAllAsync: keys must be an array, got "ab": write holdAllAsync([first, second])',
    );
  });

  it('takes -0 and 0 as one key', async () => {
    const table = new KeyedMutex();
    using held = await table.holdAllAsync([-0, 0, 1]);
    expect(held.keys.map((key) => Object.is(key, -0))).toEqual([false, false]);
    const other = new KeyedSemaphore(1);
    using zero = other.tryHold(-0);
    expect([zero?.held, other.tryHold(0), other.inspect().keys[0]?.key]).toEqual([true, undefined, 0]);
    expect(table.inspect().keys).toEqual([0, 1].map((key) => ({ key, out: 1, waiting: 0 })));
  });

  it('looks at all keys before it waits for one', async () => {
    const table = new KeyedMutex();
    using held = table.tryHold(1);
    for (const [bad, shown] of [
      [[1, 1.5], '1.5'],
      [['b', Symbol('a'), Symbol('b')], 'Symbol(a)'],
      [[1, undefined], 'undefined'],
      [[2 ** 53, 1, Number.NaN], '9007199254740992'],
    ] as const) {
      expect((await failure(() => table.holdAllAsync(bad as never))).message).toContain(
        `KeyedMutex.holdAllAsync: key must be a string or a safe integer, got ${shown}`,
      );
    }
    expect([held?.held, table.size, table.waiting]).toEqual([true, 1, 0]);
    expect(() => table.inspect(Number.NaN)).toThrow(
      'KeyedMutex.inspect: key must be a string or a safe integer, got NaN',
    );
  });

  // Where each key moved all those that were taken before, this would take minutes.
  it('takes and gives back very many keys at once', async () => {
    const table = new KeyedMutex();
    const keys = Array.from({ length: roundsInCi(1_000_000, 200_000) }, (_, i) => i);
    const held = await table.holdAllAsync(keys);
    expect([table.size, held.keys.length]).toEqual([keys.length, keys.length]);
    held.unlock();
    expect(table.size).toBe(0);
  });

  it('counts the time for all keys together', async () => {
    const table = new KeyedMutex();
    const [one, two] = [await table.holdAsync(1), await table.holdAsync(2)];
    const all = failure(() => table.holdAllAsync([1, 2], { timeout: 40 }));
    await new Promise((resolve) => setTimeout(resolve, 20));
    one.unlock();
    expect((await all).name).toBe('TimeoutError');
    two.unlock();
    expect(table.size).toBe(0);
  });
});

describe('the end', () => {
  it('refuses all who wait, and later calls, and takes back what is held', async () => {
    const table = new KeyedMutex();
    const held = await table.holdAsync('a');
    const all = failure(() => table.holdAllAsync(['b', 'a', 'c']));
    const waits = ['a', 'a'].map((key) => failure(() => table.holdAsync(key)));
    table.dispose();
    for (const error of [...(await Promise.all(waits)), await all]) expect(error).toBeInstanceOf(DisposedError);
    held.unlock();
    expect((await failure(() => table.holdAsync('b'))).message).toBe('the KeyedMutex has been disposed of');
    expect([table.size, table.waiting, String(table)]).toEqual([0, 0, 'KeyedMutex(disposed)']);
    expect(() => table.inspect()).toThrow(DisposedError);
  });

  it('of all present waits is cancelAll', async () => {
    const table = new KeyedMutex();
    const held = [await table.holdAsync('a'), await table.holdAsync('b')];
    const waits = ['a', 'a', 'b'].map((key) => failure(() => table.holdAsync(key)));
    table.cancelAll(new SyntaxError('enough'));
    expect((await Promise.all(waits)).map(({ name, cause }) => [name, (cause as Error).name])).toEqual(
      waits.map(() => ['CancelledError', 'SyntaxError']),
    );
    const later = table.holdAsync('a');
    for (const guard of held) guard.unlock();
    (await later).unlock();
    expect(table.inspect()).toMatchObject({ size: 0, timeouts: 3 });
  });
});

describe('many keys', () => {
  it('leave nothing: a million, one after the other', async () => {
    const table = new KeyedMutex();
    const use = async (from: number, to: number): Promise<void> => {
      for (let i = from; i < to; i++) {
        if (i % 1000 === 0) await table.runExclusive(`key ${i}`, () => {});
        else table.tryHold(`key ${i}`)?.unlock();
      }
    };
    await use(0, 100_000);
    collect();
    const before = process.memoryUsage().heapUsed;
    await use(100_000, 1_000_000);
    collect();
    expect([table.size, table.waiting, table.inspect().keys]).toEqual([0, 0, []]);
    // A key of which something were left would take 50 bytes at least.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(900_000);
  });

  it('leave nothing: 100,000 at a time, each with two who wait', async () => {
    const table = new KeyedSemaphore(1);
    const keys = Array.from({ length: 100_000 }, (_, i) => i);
    const held = keys.map((key) => table.tryHold(key));
    const waits = keys.flatMap((key) => [table.runExclusive(key, () => {}), table.runExclusive(key, () => {})]);
    expect([table.size, table.waiting, table.inspect().keys.length]).toEqual([100_000, 200_000, 100]);
    for (const guard of held) guard?.release();
    await Promise.all(waits);
    expect([table.size, table.waiting]).toEqual([0, 0]);
  });
});
