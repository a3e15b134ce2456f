/** The codecs `text`, `json`, `record` and `value`. Those of numbers and bytes are in channel.test.ts. */

import fc from 'fast-check';
import { Arena, Mutex, Semaphore } from 'taketurns';
import { Channel, type ChannelHandle, type Codec, json, number, record, text, value } from 'taketurns/channel';
import { Condition } from 'taketurns/sync';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let arena: Arena;
beforeEach(() => {
  arena = new Arena({ objects: 64, threads: 8, waiters: 64, slots: 4, bytes: 1 << 21 });
});
afterEach(() => arena.dispose());

/** Sends values through a channel of this codec, and returns them as they come out. */
function through<T>(codec: Codec<T>, bytes = 4000, capacity = 2): (value: T) => T {
  const channel = new Channel({ codec, bytes, capacity, arena });
  return (value) => {
    channel.send(value);
    return channel.receive();
  };
}

function failure(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it throws nothing');
}

describe('text', () => {
  it('keeps every well-formed text', () => {
    const send = through(text);
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (s) => send(s) === s));
    for (const s of ['', '\ufeffx', '\0', 'ü'.repeat(1000), 'x'.repeat(4000)]) expect(send(s)).toBe(s);
  });

  it('keeps halves of surrogate pairs, alone and between others', () => {
    const send = through(text);
    const parts = ['a', 'é', '€', '\ufffd', '\ufeff', '😀', '\ud800', '\udbff', '\udc00', '\udfff', 'x'.repeat(60)];
    const mixed = fc.array(fc.constantFrom(...parts), { maxLength: 12 }).map((some) => some.join(''));
    fc.assert(fc.property(mixed, (s) => send(s) === s));
    const exact = through(text, 48);
    expect(exact('\ud800'.repeat(16))).toBe('\ud800'.repeat(16));
    expect(failure(() => exact('\ud800'.repeat(17)))).toBeInstanceOf(RangeError);
  });

  it('keeps a short text with another character anywhere', () => {
    const send = through(text, 112);
    const letters = 'abcdefghijklmnopqrstuvwxyzabcdef';
    for (let length = 0; length <= letters.length; length++) {
      const sent = letters.slice(0, length);
      expect(send(sent)).toBe(sent);
      for (let at = 0; at <= length; at++) {
        const other = `${sent.slice(0, at)}é${sent.slice(at)}`;
        expect(send(other)).toBe(other);
      }
    }
  });

  it('refuses what is no text or is too long', () => {
    const send = through(text, 48);
    for (const long of ['x'.repeat(49), 'ü'.repeat(25)]) expect(failure(() => send(long)).message).toContain('48');
    expect(send('ü'.repeat(24))).toBe('ü'.repeat(24));
    for (const bad of [1, undefined, {}]) expect(failure(() => send(bad as never))).toBeInstanceOf(TypeError);
  });
});

describe('json', () => {
  it('keeps what JSON keeps', () => {
    const send = through(json);
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (json) => {
        expect(send(json)).toEqual(JSON.parse(JSON.stringify(json)));
      }),
    );
    expect(failure(() => send(undefined)).message).toContain('something that JSON can tell');
    expect(failure(() => send('x'.repeat(5000)))).toBeInstanceOf(RangeError);
  });
});

describe('record', () => {
  const fields = { id: 'u32', at: 'f64', ok: 'bool', name: 'text8', big: 'i64', small: 'i8', half: 'f32' } as const;
  const one = { id: 2 ** 32 - 1, at: -0.5, ok: true, name: 'Ädöß', big: -(2n ** 63n), small: -128, half: 0.5 };

  it('keeps its fields', () => {
    const send = through(record(fields));
    expect(send(one)).toEqual(one);
    expect(send({ ...one, more: 1 } as typeof one)).toEqual(one);
    expect(Object.keys(send(one))).toEqual(Object.keys(fields));
  });

  it.each([
    ['id', -1, 'the message: id must be an integer from 0 to 4294967295, got -1'],
    ['id', 1.5, 'the message: id must be an integer'],
    ['at', '1', 'the message: at must be a number'],
    ['ok', 1, 'the message: ok must be true or false'],
    ['name', '123456789', 'the message: name must be a string of at most 8 bytes of UTF-8'],
    ['name', undefined, 'the message: name must be a string'],
    ['big', 2n ** 63n, 'the message: big must be a bigint from'],
    ['big', 1, 'the message: big must be a bigint from'],
    ['half', 1e39, 'the message: half must be a number of at most 3.4028234663852886e38, Infinity or NaN, got 1e+39'],
    ['small', 128, 'the message: small must be an integer from -128 to 127'],
  ])('refuses %s: %s', (name, bad, message) => {
    const channel = new Channel({ codec: record(fields), capacity: 2, arena });
    expect(failure(() => channel.send({ ...one, [name]: bad } as typeof one)).message).toContain(message);
    expect(channel.inspect()).toMatchObject({ size: 0, holes: 0 });
  });

  it('refuses bad fields, and a channel with other fields', () => {
    for (const bad of [
      {},
      null,
      { a: 'u33' },
      { a: 'text' },
      { a: 'text0' },
      { a: 'text65536' },
      { a: 'toString' },
      ['u8'],
    ])
      expect(failure(() => record(bad as never)).message, JSON.stringify(bad)).toContain('record: ');
    const channel = new Channel({ codec: record({ a: 'u8' }), arena });
    expect(failure(() => Channel.from(channel.handle, record({ a: 'u16' }))).message).toContain('another codec');
    expect(failure(() => through(record({ a: 'text50' }), 48)({ a: '' })).message).toContain('52 bytes');
  });

  it('sets no prototype', () => {
    const codec = record({ ['__proto__']: 'u8' });
    const got = through(codec)(JSON.parse('{"__proto__": 7}'));
    expect(Object.getPrototypeOf(got)).toBe(Object.prototype);
    expect(Object.getOwnPropertyDescriptor(got, '__proto__')?.value).toBe(7);
  });
});

describe('value', () => {
  it('tells keys apart that differ in halves of surrogate pairs', () => {
    const send = through(value, 1000);
    const keys = ['\ud800', '\ud801', '\ufffd', 'a\udc00'];
    expect(send(Object.fromEntries(keys.map((key, i) => [key, i])))).toEqual(
      Object.fromEntries(keys.map((key, i) => [key, i])),
    );
    expect(send(new Set(keys))).toEqual(new Set(keys));
  });

  it('keeps what it takes', () => {
    const send = through(value, 100_000);
    const anything = fc.anything({
      maxDepth: 3,
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
    });
    fc.assert(
      fc.property(anything, (any) => {
        expect(send(any)).toEqual(any);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    -0,
    NaN,
    2 ** 30,
    -(2 ** 30),
    -1,
    2 ** 53,
    -(10n ** 60n),
    '\ufeff€',
    'x'.repeat(42),
    'x'.repeat(43),
    'ü'.repeat(2000),
    new Date(NaN),
    new Date(7),
    /a+\/b/giu,
    new DataView(Uint8Array.of(1, 2).buffer),
    new Uint16Array([1, 65535]),
    Uint8Array.of(5, 6).buffer,
    Object.create(null),
  ])('keeps %s', (one) => {
    const got = through(value, 8000)(one);
    expect(got).toEqual(one);
    if (typeof one === 'number') expect(Object.is(got, one)).toBe(true);
  });

  it.each([1, -1])('keeps a bigint of half a million digits (%d)', (sign) => {
    const [send, large] = [through(value, 500_100, 1), BigInt(sign) * (2n ** 2_000_000n - 3n)];
    expect(send(large) === large).toBe(true);
  });

  it('keeps errors, with their class, cause and stack', () => {
    const send = through(value, 20_000);
    const error = new RangeError('too large', { cause: new Error('inner') });
    const got = send(error) as RangeError;
    expect(got).toBeInstanceOf(RangeError);
    expect([got.message, got.stack, (got.cause as Error).message]).toEqual(['too large', error.stack, 'inner']);
    class OwnError extends Error {
      override name = 'OwnError';
    }
    expect(String(send(new OwnError('mine')))).toBe('OwnError: mine');
  });

  it('refuses what cannot travel, and says what to do', () => {
    const send = through(value);
    const circle: { self?: unknown } = {};
    circle.self = circle;
    class Own {}
    const bad: unknown[] = [
      () => 1,
      Symbol('s'),
      new SharedArrayBuffer(8),
      new Uint8Array(new SharedArrayBuffer(8)),
      new DataView(new SharedArrayBuffer(8)),
      new Own(),
      new WeakMap(),
      Promise.resolve(),
    ];
    for (const one of [...bad, { in: [Symbol('s')] }])
      expect(failure(() => send(one)).message).toContain('the message must be of');
    expect(failure(() => send(circle)).message).toContain('goes round in a circle');
    expect(failure(() => send(new Semaphore(1, { arena }) as never)).message).toContain('send its .handle');
    for (const long of ['x'.repeat(5000), new Array(6000).fill(1), new Uint8Array(6000)])
      expect(failure(() => send(long)).message).toMatch(/^the message has \d+ bytes, and the channel takes 4016: /);
    expect(send('again')).toBe('again');
  });

  it('sets no prototype', () => {
    const got = through(value)(JSON.parse('{"__proto__": {"evil": 1}}')) as object;
    expect(Object.getPrototypeOf(got)).toBe(Object.prototype);
    expect('evil' in got).toBe(false);
  });

  it('carries handles, so that a request carries its reply channel', () => {
    const requests = new Channel({ codec: value, bytes: 500, arena });
    const replies = new Channel({ codec: number, arena });
    const mutex = new Mutex({ arena });
    const condition = new Condition(mutex);
    requests.send({ reply: replies.handle, all: [condition.handle] });
    const got = requests.receive() as { reply: ChannelHandle; all: [Condition['handle']] };
    expect(got.reply).toEqual(replies.handle);
    Channel.from(got.reply, number).send(7);
    expect(replies.receive()).toBe(7);
    expect(Condition.from(got.all[0]).waiting).toBe(0);
    const other = new Arena({ objects: 2, threads: 1, waiters: 8, slots: 1, chains: 1 });
    const far = new Semaphore(1, { arena: other });
    expect(failure(() => requests.send(far.handle as never)).message).toContain('of another arena');
    other.dispose();
  });
});
