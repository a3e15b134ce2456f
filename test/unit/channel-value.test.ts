/** The codec `value` beside structuredClone: random values, the code that runs while they are read, and its errors. */
import { inspect } from 'node:util';
import fc from 'fast-check';
import { Arena } from 'taketurns';
import { Channel, json, number, record, text, value } from 'taketurns/channel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let arena: Arena;
let large: Channel<unknown>;
let small: Channel<unknown>;
beforeAll(() => {
  arena = new Arena({ objects: 64, threads: 8, waiters: 64, slots: 4, bytes: 1 << 23 });
  large = new Channel({ codec: value, bytes: 2_000_000, capacity: 2, arena });
  small = new Channel({ codec: value, bytes: 48, capacity: 2, arena });
});
afterAll(() => arena.dispose());

const through = (channel: Channel<unknown>, sent: unknown): unknown => {
  channel.send(sent);
  return channel.receive();
};

function failure(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it throws nothing');
}

/** Makes a value that is made in the same way each time. Code that runs while it is read writes into the log. */
type Make = (log: string[]) => unknown;

/** Makes an object, and puts properties into it, by their keys. */
type Property = readonly [
  key: string,
  value: Make,
  how: 'data' | 'hidden' | 'getter' | 'remover' | 'adder' | 'thrower',
];

function define(object: object, properties: readonly Property[], log: string[]): void {
  for (const [key, make, how] of properties) {
    const one = make(log);
    const get = (): unknown => {
      log.push(`get ${key}`);
      if (how === 'remover') for (const [other] of properties) if (other !== key) Reflect.deleteProperty(object, other);
      if (how === 'adder') Reflect.set(object, 'added', 1);
      if (how === 'thrower') throw new RangeError(`of ${key}`);
      return one;
    };
    Object.defineProperty(
      object,
      key,
      how === 'data' || how === 'hidden'
        ? { value: one, writable: true, configurable: true, enumerable: how === 'data' }
        : { get, configurable: true, enumerable: true },
    );
  }
}

const TEXTS = ['', 'a', 'é€😀', '\ud800', '\udc00x', '\ufeff', 'x'.repeat(60), 'ü'.repeat(100)];
const NUMBERS = [0, -0, 1, -1, 2 ** 30, -(2 ** 30), 2 ** 53, 1.5, Number.NaN, Infinity, -Infinity];
const PLAIN: unknown[] = [undefined, null, true, false, 0n, -1n, 2n ** 70n, -(10n ** 40n)];
const VIEWS = [
  ...[Uint8Array, Int8Array, Uint8ClampedArray, Uint16Array, Int16Array, Uint32Array, Int32Array],
  ...[Float32Array, Float64Array],
  ...('Float16Array' in globalThis
    ? [(globalThis as unknown as { Float16Array: typeof Float32Array }).Float16Array]
    : []),
];
const ERRORS = [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];

const leaf: fc.Arbitrary<Make> = fc.oneof(
  fc.constantFrom(...PLAIN, ...TEXTS, ...NUMBERS).map((one) => () => one),
  fc.oneof(fc.double(), fc.integer(), fc.bigInt(), fc.string({ unit: 'binary' })).map((one) => () => one),
  fc.constantFrom(Number.NaN, 0, 1.9, -1e15).map((time) => () => new Date(time)),
  fc
    .constantFrom('', 'g', 'giu', 'dsy')
    .map((flags) => () => Object.assign(/a+\/[b]/, { lastIndex: 2 }) && new RegExp('a/b', flags)),
  fc.tuple(fc.constantFrom(...VIEWS), fc.array(fc.integer({ min: 0, max: 99 }))).map(
    ([View, items]) =>
      () =>
        new View(items),
  ),
  fc.uint8Array().map((bytes) => () => new DataView(Uint8Array.from(bytes).buffer)),
  fc.uint8Array().map((bytes) => () => Uint8Array.from(bytes).buffer),
  fc.bigUint64Array().map((words) => () => BigUint64Array.from(words)),
  fc.tuple(fc.constantFrom(...ERRORS), fc.constantFrom(undefined, '', 'bad')).map(([Class, message]) => () => {
    const error = new Class(message);
    error.stack = 'a stack';
    return error;
  }),
);
/** What no clone has. */
const refused: fc.Arbitrary<Make> = fc.constantFrom<Make>(
  () => () => 1,
  () => Symbol('s'),
  () => new WeakMap(),
  () => Promise.resolve(),
);
const KEYS = ['b', 'a', '1', '0', '__proto__', 'constructor', 'toString', 'length', 'kind', 'generation', 'ü\ud800'];
const how = fc.constantFrom<Property[2]>(
  ...(['data', 'data', 'data', 'data', 'hidden', 'getter', 'getter', 'remover', 'adder', 'thrower'] as const),
);

const { any } = fc.letrec<{ any: Make }>((tie) => {
  const property = fc.tuple(fc.constantFrom(...KEYS), tie('any'), how);
  const properties = fc.uniqueArray(property, { selector: ([key]) => key, maxLength: 5 });
  // A hidden item travels, though structuredClone leaves it out: docs/channels.md says so.
  const shown = how.filter((one) => one !== 'hidden');
  const item = fc.tuple(fc.nat(12).map(String), tie('any'), shown);
  const items = fc.uniqueArray(item, { selector: ([key]) => key, maxLength: 8 });
  return {
    any: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      { weight: 6, arbitrary: leaf },
      { weight: 1, arbitrary: refused },
      {
        weight: 4,
        arbitrary: fc.tuple(properties, fc.boolean()).map(([all, hasNone]) => (log: string[]) => {
          const object: object = hasNone ? Object.create(null) : {};
          define(object, all, log);
          Reflect.set(object, Symbol.iterator, 1);
          return object;
        }),
      },
      { weight: 3, arbitrary: fc.array(tie('any')).map((all) => (log: string[]) => all.map((make) => make(log))) },
      {
        weight: 3,
        arbitrary: fc
          .tuple(items, fc.constantFrom(0, 1, 13, 1000, 200_000_000, 2 ** 32 - 1))
          .map(([all, length]) => (log: string[]) => {
            const array: unknown[] = [];
            define(array, all, log);
            array.length = Math.max(array.length, length);
            return array;
          }),
      },
      {
        weight: 2,
        arbitrary: fc
          .array(fc.tuple(tie('any'), tie('any')))
          .map((all) => (log: string[]) => new Map(all.map(([key, one]) => [key(log), one(log)]))),
      },
      {
        weight: 2,
        arbitrary: fc.array(tie('any')).map((all) => (log: string[]) => new Set(all.map((make) => make(log)))),
      },
    ),
  };
});

/** What becomes of a value: its clone, in words that tell holes, -0, classes and the order of keys; or an error. */
function outcome(make: Make, clone: (value: unknown) => unknown): { log: string[]; result: string } {
  const log: string[] = [];
  const made = make(log);
  try {
    const text = inspect(clone(made), { depth: Infinity, maxArrayLength: 1000, maxStringLength: null });
    return { log, result: text };
  } catch (error) {
    const { name, message } = error as Error;
    const isOwn = name === 'RangeError' && message.startsWith('of ');
    return {
      log,
      result: isOwn ? message : name === 'DataCloneError' || name === 'TypeError' ? 'refused' : String(error),
    };
  }
}

describe('value', () => {
  it('clones random values as structuredClone does: holes, order of keys, getters, errors of their code', () => {
    fc.assert(
      fc.property(any, (make) => {
        expect(outcome(make, (one) => through(large, one))).toEqual(outcome(make, (one) => structuredClone(one)));
      }),
      { numRuns: 1500 },
    );
  });

  it('tells what is too long from errors of code that runs meanwhile, and from what cannot travel', () => {
    fc.assert(
      fc.property(any, (make) => {
        const [got, wanted] = [outcome(make, (one) => through(small, one)), outcome(make, structuredClone)];
        const isLong = /^RangeError: the message has (more than )?\d+ bytes, and the channel takes 48: /.test(
          got.result,
        );
        if (isLong) expect(wanted.result).not.toMatch(/^of |^refused$/);
        else expect(got.result).toEqual(wanted.result);
        expect(got.log).toEqual(wanted.log);
      }),
      { numRuns: 1000 },
    );
  });

  it('tells texts and keys apart that are kept in one place: they begin and end alike', () => {
    // The third text has as many bytes as the others, of fewer characters.
    const texts = ['a12345z', 'a54321z', 'aü234z', 'a12345z', ''];
    for (const one of [...texts, ...texts]) expect(through(large, { [one]: one })).toEqual({ [one]: one });
    const keys = texts.map((one) => ({ [one]: 1, __proto__: null }));
    expect(through(large, keys)).toEqual(keys);
  });

  it('takes sparse arrays of any length, and keeps their holes', () => {
    for (const length of [3, 200_000_000, 2 ** 32 - 1]) {
      const sparse: unknown[] = [];
      sparse[1] = 'x';
      sparse.length = length;
      const got = through(small, sparse) as unknown[];
      expect([got.length, Object.keys(got), got[1]]).toEqual([length, ['1'], 'x']);
    }
    const [many, ticks] = [new Channel({ codec: value, arena }), new Channel({ codec: number, arena })];
    expect(failure(() => many.sendMany(new Array(200_000_000))).message).toContain('at most 256 (the capacity)');
    expect(failure(() => ticks.send(new Array(200_000_000) as never)).message).toContain('a number, got an array');
    const holey: unknown[] = [1];
    holey[2] = 3;
    many.sendMany(holey);
    expect(many.receiveMany(3)).toEqual([1, undefined, 3]);
  });

  it('lets each error of code of the user through, in each codec, and has sent nothing', () => {
    const own = new RangeError('my own');
    const fails = {
      get x(): never {
        throw own;
      },
    };
    const records = new Channel({ codec: record({ x: 'text8' }), arena });
    const mine = new Channel({ codec: { name: 'mine', encode: () => fails.x, decode: () => 0 }, arena });
    const json8 = new Channel({ codec: json, bytes: 48, arena });
    const digits = {
      get price() {
        return (1).toFixed(101);
      },
    };
    for (const channel of [large, small, json8, records, mine] as Channel<unknown>[]) {
      expect(failure(() => channel.send(fails))).toBe(own);
      expect(failure(() => channel.sendMany([{ x: 'a' }, fails]))).toBe(own);
      expect(channel.inspect()).toMatchObject({ size: 0, holes: 0 });
    }
    expect(own.message).toBe('my own');
    for (const channel of [large, small, json8]) {
      expect(failure(() => channel.send(['x'.repeat(30), digits])).message).toContain('toFixed');
    }
    const like = new TypeError(' must not be changed');
    expect(failure(() => json8.send({ toJSON: () => fails.x }))).toBe(own);
    expect(
      failure(() =>
        records.send({
          get x(): string {
            throw like;
          },
        }),
      ),
    ).toBe(like);
    expect(like.message).toBe(' must not be changed');
  });

  it('says how long a message is, and the advice works', () => {
    const sent = {
      all: Array.from({ length: 30 }, (_, i) => i),
      text: 'ü'.repeat(40),
      at: 1.5,
    };
    for (const [codec, one] of [
      [value, sent],
      [json, sent],
      [text, 'ü\ud800😀'.repeat(20)],
    ] as const) {
      const channel = new Channel<never>({ codec: codec as never, bytes: 48, arena });
      const { message } = failure(() => channel.send(one as never));
      const [, bytes] =
        /^the message has (\d+) bytes, and the channel takes 48: make it with { bytes: (?:\d+) }$/.exec(message) ?? [];
      const made = new Channel<unknown>({ codec: codec as never, bytes: Number(bytes), arena });
      made.send(one);
      expect(made.receive()).toEqual(one);
    }
    let doubled: unknown = 1;
    for (let i = 0; i < 60; i++) doubled = [doubled, doubled];
    expect(failure(() => small.send(doubled)).message).toMatch(
      /more than \d+ bytes, and the channel takes 48: send less at once/,
    );
  });

  it('tells a circle from what is deep, and from what is too long, in a channel for short messages too', () => {
    const long = { text: 'x'.repeat(100), next: {} as unknown };
    long.next = [new Map([[1, { long }]])];
    let deep: unknown[] = [];
    for (let i = 0; i < 300; i++) deep = [deep];
    for (const channel of [large, small]) {
      expect(failure(() => channel.send(long)).message).toContain('goes round in a circle');
      expect(failure(() => channel.send(deep)).message).toContain('more than 200 deep');
    }
  });

  it('runs each getter once, also those of the names of a handle', () => {
    const log: string[] = [];
    const object = {};
    for (const key of ['kind', 'arena', 'address', 'generation'])
      Object.defineProperty(object, key, { enumerable: true, get: () => log.push(key) });
    expect(through(large, object)).toEqual({ kind: 1, arena: 2, address: 3, generation: 4 });
    expect(log).toEqual(['kind', 'arena', 'address', 'generation']);
  });

  it('clones what a getter returns that takes its own property away', () => {
    const make = (): object => ({
      get once() {
        Reflect.deleteProperty(this, 'once');
        return 1;
      },
      behind: 2,
    });
    expect(through(large, make())).toEqual(structuredClone(make()));
    expect(through(large, make())).toEqual({ once: 1, behind: 2 });
  });

  it('clones errors with what they have of their own', () => {
    const bare = through(large, new TypeError()) as TypeError;
    expect([bare.name, Object.hasOwn(bare, 'message'), Object.hasOwn(bare, 'cause')]).toEqual([
      'TypeError',
      false,
      false,
    ]);
    const caused = through(large, new Error('a', { cause: undefined })) as Error;
    expect([Object.hasOwn(caused, 'cause'), Object.keys(caused)]).toEqual([true, []]);
    const all = through(large, new AggregateError([new RangeError('b'), 7], 'several')) as AggregateError;
    expect(all).toBeInstanceOf(AggregateError);
    expect([all.message, (all.errors[0] as Error).message, all.errors[1]]).toEqual(['several', 'b', 7]);
    const aborted = through(large, new DOMException('stop', 'AbortError')) as Error;
    expect([aborted.name, aborted.message]).toEqual(['AbortError', 'stop']);
  });

  it('differs from structuredClone in these ways', () => {
    const shared = { a: 1 };
    const [one, two] = through(large, [shared, shared]) as object[];
    expect(one === two).toBe(false);
    class Own {
      x = 1;
    }
    for (const refusedHere of [new Own(), new Number(1), Object('a'), new SharedArrayBuffer(8)])
      expect(failure(() => large.send(refusedHere))).toBeInstanceOf(TypeError);
    const match = through(large, 'ab'.match(/b/)) as RegExpMatchArray;
    expect([match[0], match.length, 'index' in match]).toEqual(['b', 1, false]);
    expect(through(large, new Proxy({ a: 1 }, {}))).toEqual({ a: 1 });
    class Late extends Error {
      override name = 'Late';
      code = 7;
    }
    const late = through(large, new Late('x')) as Late;
    expect([late.name, late.constructor, late.code]).toEqual(['Late', Error, undefined]);
    const part = through(large, new Uint8Array(100).subarray(10, 12)) as Uint8Array;
    expect([part.byteOffset, part.buffer.byteLength]).toEqual([0, 2]);
    const hidden = Object.defineProperty([1], 0, { enumerable: false });
    expect(through(large, hidden)).toEqual([1]);
    if ('resizable' in ArrayBuffer.prototype) {
      const resizable = new (ArrayBuffer as unknown as new (n: number, o: object) => ArrayBuffer)(4, {
        maxByteLength: 8,
      });
      expect((through(large, resizable) as { resizable?: boolean }).resizable).toBe(false);
    }
  });

  it('takes objects that only claim to be of a class', () => {
    for (const tag of ['ArrayBuffer', 'Date', 'Error', 'Map', 'Number', 'RegExp', 'Set', 'Other'])
      expect(through(large, { [Symbol.toStringTag]: tag, a: 1 })).toEqual({ a: 1 });
    const given = (
      function () {
        // biome-ignore lint/complexity/noArguments: structuredClone takes it, too.
        return arguments;
      } as (...all: unknown[]) => unknown
    )(7, 8);
    expect(through(large, given)).toEqual({ 0: 7, 1: 8 });
  });
});
