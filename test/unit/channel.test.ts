/** Channel in one thread: its calls, its ends, its codecs, its errors. Other threads: test/stress/channel.test.ts. */
import { Arena, ArenaFullError, DisposedError, Mutex, Semaphore, TimeoutError } from 'taketurns';
import { bytes, Channel, type ChannelOptions, ClosedError, type Codec, json, number, numbers } from 'taketurns/channel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { until } from '../support/until.js';

let arena: Arena;
beforeEach(() => {
  arena = new Arena({ objects: 64, threads: 8, waiters: 64, slots: 4, bytes: 1 << 20 });
});
afterEach(() => {
  vi.restoreAllMocks();
  arena.dispose();
});

const ofNumbers = (capacity = 4) => new Channel({ codec: number, capacity, arena });
const failure = (run: () => unknown): Error => {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it throws nothing');
};

describe('sending and receiving', () => {
  it('hands messages out in order, many times round the ring', () => {
    const channel = ofNumbers();
    for (let lap = 0; lap < 50; lap++) {
      for (let i = 0; i < 3; i++) channel.send(10 * lap + i);
      expect(channel.size).toBe(3);
      for (let i = 0; i < 3; i++) expect(channel.receive()).toBe(10 * lap + i);
    }
    expect(channel.size).toBe(0);
  });

  it.each([NaN, -0, Infinity, 2 ** 53, 5e-324])('keeps the number %d', (x) => {
    const channel = ofNumbers();
    channel.send(x);
    expect(channel.receive()).toBe(x);
  });

  it('tries without waiting', () => {
    const channel = ofNumbers(2);
    expect(channel.tryReceive()).toBeUndefined();
    expect([channel.trySend(1), channel.trySend(2), channel.trySend(3)]).toEqual([true, true, false]);
    expect(channel.tryReceive()).toEqual({ value: 1 });
    expect(() => channel.send(3, { timeout: 0 })).not.toThrow();
    expect(failure(() => channel.send(4, { timeout: 0 }))).toBeInstanceOf(TimeoutError);
  });

  it('sends and receives several in one turn', () => {
    const channel = ofNumbers();
    channel.send(0);
    channel.receive();
    channel.sendMany([1, 2, 3, 4]);
    expect(failure(() => channel.sendMany([5], { timeout: 0 }))).toBeInstanceOf(TimeoutError);
    expect(channel.receiveMany(3)).toEqual([1, 2, 3]);
    channel.sendMany([]);
    channel.sendMany([5, 6]);
    expect(channel.receiveMany(65536)).toEqual([4, 5, 6]);
  });

  it('sends the values that an array has when it is given, whatever the codec does with the array', () => {
    const all: unknown[] = [{ toJSON: () => all.push(3) }, 2];
    const channel = new Channel({ codec: json, capacity: 2, arena });
    channel.sendMany(all, { timeout: 50 });
    expect(channel.receiveMany(9)).toEqual([3, 2]);
  });

  it('serves promises in their order, on both sides', async () => {
    const channel = ofNumbers(2);
    const got = [channel.receiveAsync(), channel.receiveAsync(), channel.receiveAsync()];
    expect(channel.inspect().receivers.waiting).toBe(3);
    channel.sendMany([1, 2]);
    channel.send(3);
    expect(await Promise.all(got)).toEqual([1, 2, 3]);
    const sent = [1, 2, 3, 4, 5].map((x) => channel.sendAsync(x));
    expect(channel.inspect().senders.waiting).toBe(3);
    for (const x of [1, 2, 3, 4, 5]) expect(channel.receive()).toBe(x);
    await Promise.all(sent);
  });

  it('serves 100,000 promises in linear time', async () => {
    const channel = ofNumbers(1);
    const MANY = 100_000;
    const sent = Array.from({ length: MANY }, (_, i) => channel.sendAsync(i));
    for (let i = 0; i < MANY; i++) if (channel.receive() !== i) throw new Error(`not ${i}`);
    await Promise.all(sent);
  });

  it('takes what the caller gives at the time of the call', async () => {
    const channel = new Channel({ capacity: 1, arena });
    channel.send(Uint8Array.of(0));
    const message = Uint8Array.of(1);
    const sent = channel.sendAsync(message);
    message[0] = 2;
    expect([...channel.receive(), ...channel.receive()]).toEqual([0, 1]);
    await sent;
  });

  it('does not keep a message that a promise with a signal did not take', async () => {
    const channel = ofNumbers();
    const control = new AbortController();
    const aborted = channel.receiveAsync({ signal: control.signal });
    const next = channel.receiveAsync();
    control.abort('enough');
    await expect(aborted).rejects.toBe('enough');
    channel.send(1);
    expect(await next).toBe(1);
    await expect(channel.receiveAsync({ timeout: 5 })).rejects.toThrow('timed out after 5 ms waiting for a message');
    channel.sendMany([1, 2, 3, 4]);
    await expect(channel.sendAsync(5, { timeout: 5 })).rejects.toThrow('waiting for a free place in the channel');
    expect(channel.receiveMany(9)).toEqual([1, 2, 3, 4]);
    expect(channel.inspect()).toMatchObject({ senders: { waiting: 0, timeouts: 1 }, receivers: { timeouts: 2 } });
  });
});

describe('iteration', () => {
  it('ends when the channel is closed and empty', async () => {
    const channel = ofNumbers();
    channel.sendMany([1, 2, 3]);
    channel.close();
    expect([...channel]).toEqual([1, 2, 3]);
    expect([...channel]).toEqual([]);
    const other = ofNumbers();
    const all: number[] = [];
    const loop = (async () => {
      for await (const x of other) all.push(x);
    })();
    other.send(1);
    await until(() => all.length === 1, 'it is received');
    other.send(2);
    other.close();
    await loop;
    expect(all).toEqual([1, 2]);
  });

  /** Ways to leave a loop after the message 2. Each returns what its body was given. */
  const EARLY: Record<string, (channel: Channel<number>) => number[] | Promise<number[]>> = {
    'for, by break'(channel) {
      const seen: number[] = [];
      for (const x of channel) {
        seen.push(x);
        if (x === 2) break;
      }
      return seen;
    },
    'for, by return': (channel) => {
      const seen: number[] = [];
      for (const x of channel) {
        seen.push(x);
        if (x === 2) return seen;
      }
      throw new Error('the loop has ended');
    },
    'for, by a throw'(channel) {
      const seen: number[] = [];
      try {
        for (const x of channel) {
          seen.push(x);
          if (x === 2) throw new SyntaxError('the body fails');
        }
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError);
      }
      return seen;
    },
    destructuring(channel) {
      const [a, b, c] = channel;
      return [a, b, c] as number[];
    },
    'for await, by break': async (channel) => {
      const seen: number[] = [];
      for await (const x of channel) {
        seen.push(x);
        if (x === 2) break;
      }
      return seen;
    },
    'for await, by a throw': async (channel) => {
      const seen: number[] = [];
      const loop = async (): Promise<void> => {
        for await (const x of channel) {
          seen.push(x);
          if (x === 2) throw new SyntaxError('the body fails');
        }
      };
      await expect(loop()).rejects.toThrow('the body fails');
      return seen;
    },
    'batches, by break'(channel) {
      for (const batch of channel.batches(3)) return batch;
      return [];
    },
    'async batches, by break': async (channel) => {
      for await (const batch of channel.batches(3)) return batch;
      return [];
    },
  };

  it.each(Object.entries(EARLY))(
    '%s: a loop has taken no message but those that its body was given',
    async (_, loop) => {
      const channel = ofNumbers(128);
      channel.sendMany(Array.from({ length: 100 }, (_, i) => i));
      // The loop is fast, and it is not the first one.
      for (const x of channel) if (x === 19) break;
      channel.sendMany([0, 1, 2]);
      expect(channel.size).toBe(83);
      for (let i = 20; i < 100; i++) expect(channel.receive()).toBe(i);
      channel.sendMany([7, 8]);
      expect(await loop(channel)).toEqual([0, 1, 2]);
      expect([channel.size, channel.inspect().lost]).toEqual([2, 0]);
      expect(channel.receiveMany(9)).toEqual([7, 8]);
    },
  );

  it('a loop leaves each message to others until it comes to it', () => {
    const channel = ofNumbers(64);
    channel.sendMany(Array.from({ length: 64 }, (_, i) => i));
    channel.close();
    let left = 64;
    for (const x of channel) {
      expect(channel.size).toBe(--left);
      expect(x).toBe(63 - left);
    }
    expect(left).toBe(0);
  });

  it('in batches ends when the channel is closed and empty', async () => {
    const channel = ofNumbers(8);
    channel.sendMany([1, 2, 3, 4, 5]);
    const waiting = channel.sendAsync(6);
    await waiting;
    channel.close();
    expect([...channel.batches(4)]).toEqual([
      [1, 2, 3, 4],
      [5, 6],
    ]);
    expect([...channel.batches(4)]).toEqual([]);
    const other = ofNumbers(8);
    const all: number[][] = [];
    const loop = (async () => {
      for await (const batch of other.batches(2)) all.push(batch);
    })();
    other.send(1);
    await until(() => all.length === 1, 'it is received');
    other.sendMany([2, 3, 4]);
    await until(() => all.length === 3, 'they are received');
    other.close();
    await loop;
    expect(all).toEqual([[1], [2, 3], [4]]);
    for (const most of [0, 65537, 1.5]) expect(() => other.batches(most)).toThrow('Channel.batches: most');
    await expect(other.receiveManyAsync(0)).rejects.toThrow('Channel.receiveManyAsync: most');
  });

  it('a batch takes what is there, and leaves what promises wait for', async () => {
    const channel = ofNumbers(8);
    const batch = channel.receiveManyAsync(4);
    const one = channel.receiveAsync();
    channel.sendMany([1, 2, 3]);
    expect(await Promise.all([batch, one])).toEqual([[1], 2]);
    expect(channel.receiveMany(4)).toEqual([3]);
    const aborted = channel.receiveManyAsync(4, { timeout: 5 });
    await expect(aborted).rejects.toThrow('timed out after 5 ms waiting for a message');
    channel.send(4);
    expect(await channel.receiveManyAsync(4)).toEqual([4]);
  });
});

describe('closing', () => {
  it('refuses senders, and hands out what is there', async () => {
    const channel = ofNumbers(1);
    channel.send(1);
    const waiting = channel.sendAsync(2);
    expect(channel.closed).toBe(false);
    channel.close();
    channel.close();
    expect(channel.closed).toBe(true);
    await expect(waiting).rejects.toBeInstanceOf(ClosedError);
    for (const send of [() => channel.send(3), () => channel.trySend(3), () => channel.sendMany([3])])
      expect(failure(send)).toBeInstanceOf(ClosedError);
    expect(failure(() => channel.reserve())).toBeInstanceOf(ClosedError);
    await expect(channel.sendAsync(3)).rejects.toThrow('the channel is closed');
    const handle = channel.handle;
    expect(Channel.from(handle, number).receive()).toBe(1);
    expect(failure(() => channel.receive()).message).toBe('the channel is closed, and every message has been received');
    expect(failure(() => channel.tryReceive())).toBeInstanceOf(ClosedError);
    expect(failure(() => channel.receiveMany(2))).toBeInstanceOf(ClosedError);
    await expect(channel.receiveAsync()).rejects.toBeInstanceOf(ClosedError);
    expect(String(channel)).toBe('Channel(0 of 1, closed)');
  });

  it('ends the promises that wait for a message', async () => {
    const channel = ofNumbers();
    const waits = [channel.receiveAsync(), channel.receiveAsync({ timeout: 60_000 })];
    channel.close();
    for (const wait of waits) await expect(wait).rejects.toBeInstanceOf(ClosedError);
  });
});

describe('dispose', () => {
  it('ends every wait and every later call', async () => {
    const channel = ofNumbers(1);
    channel.send(1);
    const sends = channel.sendAsync(2);
    const other = ofNumbers(1);
    const receives = other.receiveAsync();
    channel.dispose();
    other[Symbol.dispose]();
    channel.dispose();
    for (const wait of [sends, receives]) await expect(wait).rejects.toBeInstanceOf(DisposedError);
    const calls: (() => unknown)[] = [
      () => channel.send(1),
      () => channel.trySend(1),
      () => channel.sendMany([1]),
      () => channel.receive(),
      () => channel.tryReceive(),
      () => channel.receiveMany(1),
      () => channel.reserve(),
      () => channel.take(),
      () => channel.handle,
      () => channel.inspect(),
      () => channel[Symbol.iterator]().next(),
    ];
    for (const call of calls) expect(failure(call), String(call)).toBeInstanceOf(DisposedError);
    await expect(channel.sendAsync(1)).rejects.toBeInstanceOf(DisposedError);
    await expect(channel.receiveAsync()).rejects.toBeInstanceOf(DisposedError);
    channel.close();
    expect([channel.closed, channel.size, String(channel)]).toEqual([true, 0, 'Channel(disposed)']);
  });

  it('gives the objects and the pages back, also for many channels in one turn', () => {
    for (let i = 0; i < 500; i++) {
      const channel = new Channel({ capacity: 64, bytes: 1000, arena });
      channel.send(Uint8Array.of(i & 255));
      channel.dispose();
    }
    expect(arena.stats().objects.used).toBe(0);
  });

  it('lets a thread use the place and the message that it has', () => {
    const channel = new Channel({ arena });
    channel.send(Uint8Array.of(1, 2, 3));
    const message = channel.take();
    const place = channel.reserve();
    channel.dispose();
    for (let i = 0; i < 8; i++) {
      using other = new Channel({ capacity: 128, bytes: 1000, arena });
      other.send(new Uint8Array(1000).fill(7));
    }
    expect([...message.bytes]).toEqual([1, 2, 3]);
    message[Symbol.dispose]();
    expect(failure(() => place.commit(1))).toBeInstanceOf(DisposedError);
    const { used } = arena.stats().objects;
    new Channel({ arena }).dispose();
    expect(arena.stats().objects.used).toBe(used);
  });

  it('settles a promise that waits for the place of its own thread', async () => {
    const channel = new Channel({ capacity: 4, arena });
    const place = channel.reserve();
    const late = channel.sendAsync(Uint8Array.of(1));
    channel.dispose();
    await expect(late).rejects.toBeInstanceOf(DisposedError);
    place[Symbol.dispose]();
  });

  it('is seen by another library object of the thread', () => {
    const channel = ofNumbers();
    const other = Channel.from(channel.handle, number);
    other.send(1);
    channel.dispose();
    expect(other.disposed).toBe(true);
    expect(failure(() => other.receive())).toBeInstanceOf(DisposedError);
    expect(failure(() => Channel.from(channel.handle))).toBeInstanceOf(DisposedError);
  });
});

describe('zero copy', () => {
  it('writes and reads messages where they lie', () => {
    const channel = new Channel({ capacity: 2, bytes: 100, arena });
    {
      using place = channel.reserve();
      expect(place.bytes.length).toBe(112);
      place.bytes.set([1, 2, 3]);
      place.commit(3);
    }
    using message = channel.take();
    expect([...message.bytes]).toEqual([1, 2, 3]);
  });

  it('makes a hole of a place that is dropped, which nobody sees', async () => {
    const channel = new Channel({ capacity: 2, arena });
    channel.reserve()[Symbol.dispose]();
    channel.send(Uint8Array.of(5));
    expect(channel.inspect().holes).toBe(1);
    expect([...channel.receive()]).toEqual([5]);
    channel.reserve()[Symbol.dispose]();
    expect(channel.tryReceive()).toBeUndefined();
    const wait = channel.receiveAsync();
    channel.reserve()[Symbol.dispose]();
    channel.send(Uint8Array.of(6));
    expect([...(await wait)]).toEqual([6]);
    channel.reserve()[Symbol.dispose]();
    channel.close();
    expect([...channel]).toEqual([]);
  });

  it('refuses misuse, and tears nothing', async () => {
    const channel = new Channel({ capacity: 2, arena });
    const place = channel.reserve();
    const other = Channel.from(channel.handle);
    for (const send of [() => channel.reserve(), () => other.send(Uint8Array.of(1)), () => other.trySend(bytesOf(1))])
      expect(failure(send).message).toContain('this thread has reserved a place of the channel');
    for (const length of [-1, 49, 1.5, NaN, '1'])
      expect(failure(() => place.commit(length as number)).message).toContain('Place.commit: length');
    const late = channel.sendAsync(bytesOf(2));
    place.bytes[0] = 1;
    place.commit(1);
    await late;
    expect(failure(() => place.commit(1)).message).toContain('has been committed');
    place[Symbol.dispose]();
    const message = channel.take();
    for (const receive of [() => channel.take(), () => other.receive(), () => channel.tryReceive()])
      expect(failure(receive).message).toContain('this thread has taken a message of the channel');
    const waits = channel.receiveAsync();
    message[Symbol.dispose]();
    message[Symbol.dispose]();
    expect([...(await waits)]).toEqual([2]);
    expect(channel.inspect()).toMatchObject({ size: 0, holes: 0 });
  });
});

const bytesOf = (...all: number[]): Uint8Array => Uint8Array.from(all);

describe('codecs', () => {
  it('bytes takes any Uint8Array, of any length', () => {
    const channel = new Channel({ capacity: 2, bytes: 300, arena });
    const most = channel.bytes;
    for (const length of [0, 1, 31, 32, 33, most]) {
      const message = new Uint8Array(length).map((_, i) => i);
      channel.send(message);
      expect(channel.receive()).toEqual(message);
    }
    channel.send(Buffer.from('abc'));
    expect(Buffer.from(channel.receive()).toString()).toBe('abc');
    expect(failure(() => channel.send(new Uint8Array(most + 1))).message).toBe(
      `the message has ${most + 1} bytes, and the channel takes ${most}: make it with { bytes: ${most + 1} }`,
    );
    for (const bad of [undefined, 'text', [1], new Uint16Array(2), { length: 1 }])
      expect(failure(() => channel.send(bad as never))).toBeInstanceOf(TypeError);
  });

  it('believes the array, and not what its properties say', () => {
    const channel = new Channel({ arena });
    const array = new Uint8Array(4000);
    Object.defineProperty(array, 'length', { value: 1 });
    Object.defineProperty(array, 'byteLength', { value: 1 });
    expect(failure(() => channel.send(array))).toBeInstanceOf(RangeError);
    expect(channel.size).toBe(0);
  });

  it.each([16, 100])('takes the %d bytes of an array whose buffer may grow', async (length) => {
    const channel = new Channel({ capacity: 2, bytes: 1000, arena });
    const buffer = new SharedArrayBuffer(length, { maxByteLength: 1000 } as never);
    const array = new Uint8Array(buffer).fill(7);
    channel.send(array);
    const other = new Channel({ codec: numbers(length / 4), capacity: 2, bytes: 1000, arena });
    const doubles = new Float64Array(new SharedArrayBuffer(2 * length, { maxByteLength: 4000 } as never)).fill(0.5);
    other.send(doubles);
    for (const kept of [channel.sendAsync(array), other.sendAsync(doubles)]) await kept;
    for (let i = 0; i < 2; i++) {
      expect(channel.receive()).toEqual(new Uint8Array(length).fill(7));
      expect(other.receive()).toEqual(new Float64Array(length / 4).fill(0.5));
    }
  });

  it('numbers takes arrays of its length', () => {
    const channel = new Channel({ codec: numbers(6), arena });
    channel.send(Float64Array.of(1, 2, 3, 4, 5, 6));
    expect(channel.receive()).toEqual(Float64Array.of(1, 2, 3, 4, 5, 6));
    expect(failure(() => channel.send(Float64Array.of(1))).message).toBe('the message must have 6 numbers, got 1');
    expect(failure(() => channel.send([1] as never))).toBeInstanceOf(TypeError);
    expect(failure(() => numbers(0)).message).toContain('numbers: count');
    const small = new Channel({ codec: numbers(7), arena });
    expect(failure(() => small.send(new Float64Array(7))).message).toContain('has 56 bytes, and the channel takes 48');
  });

  it('number takes numbers alone', () => {
    const channel = ofNumbers();
    for (const bad of [undefined, '1', 1n, null]) {
      expect(failure(() => channel.send(bad as never)).message).toContain('the message must be a number');
      expect(failure(() => channel.trySend(bad as never))).toBeInstanceOf(TypeError);
    }
  });

  const words: Codec<string> = {
    name: 'words',
    encode(value, { bytes, room }) {
      if (value === 'throws') throw new Error('half-way');
      if (value === 'lies') return room + 1;
      for (let i = 0; i < value.length; i++) bytes[i] = value.charCodeAt(i);
      return value.length;
    },
    decode({ bytes, length }) {
      const text = String.fromCharCode(...bytes.subarray(0, length));
      if (text === 'bad') throw new Error('cannot decode');
      return text;
    },
  };

  it('one of the user travels, and may throw without harm', async () => {
    const channel = new Channel({ codec: words, capacity: 2, bytes: 200, arena });
    const long = 'x'.repeat(200);
    channel.sendMany(['abc', long]);
    expect(channel.receiveMany(2)).toEqual(['abc', long]);
    for (const value of ['throws', 'lies']) {
      expect(failure(() => channel.send(value)).message).toMatch(/half-way|the length that codec words returns/);
      await expect(channel.sendAsync(value)).rejects.toThrow();
      expect(failure(() => channel.sendMany(['a', value]))).toBeInstanceOf(Error);
    }
    expect(channel.inspect()).toMatchObject({ size: 0, holes: 0 });
    channel.send('bad');
    channel.send('good');
    expect(failure(() => channel.receive()).message).toBe('cannot decode');
    expect(channel.receive()).toBe('good');
  });

  it('one that calls the channel itself does no harm', () => {
    const nested: Codec<number> = {
      name: 'nested',
      encode(value, { view }) {
        view.setInt32(0, value);
        if (value > 1) channel.send(value - 1);
        return 4;
      },
      decode({ view }) {
        const value = view.getInt32(0);
        const before = value === 1 ? channel.tryReceive()?.value : undefined;
        return before === undefined ? value : 10 * value + before;
      },
    };
    const channel: Channel<number> = new Channel({ codec: nested, capacity: 4, arena });
    channel.send(3);
    expect([channel.receive(), channel.receive()]).toEqual([12, 3]);
  });

  it('tells threads of another codec', () => {
    const channel = new Channel({ codec: words, arena });
    expect(failure(() => Channel.from(channel.handle)).message).toBe(
      'Channel.from: the Channel has another codec, and not "bytes": write Channel.from(handle, codec)',
    );
    channel.send('still there');
    expect(channel.receive()).toBe('still there');
    Channel.open('words', { codec: words, arena });
    expect(failure(() => Channel.open('words', { codec: number, arena })).message).toContain('another codec');
    for (const codec of [null, {}, { name: 'x' }, { ...bytes, decode: 1 }])
      expect(
        failure(() => new Channel({ codec: codec as never, arena })),
        String(codec),
      ).toBeInstanceOf(TypeError);
  });
});

describe('names and handles', () => {
  it('opens one channel by its name', () => {
    const one = Channel.open('jobs', { codec: number, capacity: 8, arena });
    const other = Channel.open('jobs', { codec: number, capacity: 8, arena });
    one.send(1);
    expect(other.receive()).toBe(1);
    expect(String(other)).toContain('0 of 8');
    const differs: [ChannelOptions<number>, string][] = [
      [{ capacity: 4 }, 'capacity 8, not 4'],
      [{ capacity: 8, bytes: 100 }, 'bytes 48, not 112'],
      [{ capacity: 16, bytes: 9000 }, 'capacity 8, not 16; bytes 48, not 9008'],
    ];
    for (const [options, text] of differs)
      expect(failure(() => Channel.open('jobs', { codec: number, arena, ...options })).message).toBe(
        `Channel.open: name "jobs": it exists already with ${text}`,
      );
    other.send(2);
    expect(one.receive()).toBe(2);
    expect(failure(() => Mutex.open('jobs', { arena })).message).toContain('give the Mutex another one');
    new Semaphore(1, { arena });
    Semaphore.open('pool', 1, { arena });
    expect(failure(() => Channel.open('pool', { arena })).message).toContain('give the Channel another one');
  });

  it('refuses handles that are none', () => {
    const { handle } = ofNumbers();
    for (const bad of [undefined, {}, { ...handle, kind: 'Mutex' }, { ...handle, address: 1.5 }])
      expect(failure(() => Channel.from(bad as never, number)).message).toContain('Channel.from: handle');
    for (const forged of [{ address: handle.address + 128 }, { address: 64 }, { generation: handle.generation + 1 }])
      expect(failure(() => Channel.from({ ...handle, ...forged }, number)).message).toMatch(/disposed of|no Channel/);
  });
});

describe('options', () => {
  it.each([
    { capacity: 3 },
    { capacity: 0 },
    { capacity: 131072 },
    { bytes: 7 },
    { bytes: 2 ** 24 + 1 },
    { capcity: 4 },
  ])('refuses %j', (options) => {
    expect(failure(() => new Channel({ arena, ...(options as object) })).message).toMatch(/^Channel: /);
  });

  it('says how to make room for messages', () => {
    const error = failure(() => new Channel({ capacity: 65536, bytes: 4096, arena }));
    expect(error).toBeInstanceOf(ArenaFullError);
    expect(error.message).toContain('new Arena({ bytes:');
    expect(arena.stats().objects.used).toBe(0);
    const none = new Arena({ objects: 2, threads: 1, waiters: 8, slots: 1, chains: 1, bytes: 0 });
    expect(failure(() => new Channel({ capacity: 65536, arena: none }))).toBeInstanceOf(ArenaFullError);
    none.dispose();
    for (const bytes of [-1, 0.5, 2 ** 30 + 1, '1'])
      expect(failure(() => new Arena({ bytes: bytes as number })).message).toContain('bytes must be');
  });

  it('rounds bytes up to whole lines', () => {
    const sizes = [8, 48, 49, 1008].map((bytes) => new Channel({ bytes, arena }).bytes);
    expect(sizes).toEqual([48, 48, 112, 1008]);
  });
});

describe('a channel that closes itself', () => {
  const withSenders = (senders: number) => new Channel({ codec: number, capacity: 4, senders, arena });

  it('does so when its last sender has left', async () => {
    const channel = withSenders(2);
    const [one, other] = [channel.sender(), channel.sender()];
    const next = channel.receiveAsync();
    channel.send(1);
    expect(await next).toBe(1);
    one.leave();
    one[Symbol.dispose]();
    const last = channel.receiveAsync();
    expect([channel.closed, channel.inspect().sendersLeft]).toEqual([false, 1]);
    other[Symbol.dispose]();
    await expect(last).rejects.toBeInstanceOf(ClosedError);
    expect([channel.closed, channel.inspect().sendersLeft]).toEqual([true, 0]);
    expect(failure(() => channel.sender())).toBeInstanceOf(ClosedError);
    expect(failure(() => channel.send(2))).toBeInstanceOf(ClosedError);
  });

  it('hands out what is there, and ends the senders that wait', async () => {
    const channel = withSenders(1);
    const sender = channel.sender();
    channel.sendMany([1, 2, 3, 4]);
    const late = channel.sendAsync(5);
    sender[Symbol.dispose]();
    await expect(late).rejects.toBeInstanceOf(ClosedError);
    expect([...channel]).toEqual([1, 2, 3, 4]);
  });

  it('counts a name once, and each task of a thread', () => {
    const options = { codec: number, senders: 2, arena };
    const [one, other] = [Channel.open('results', options), Channel.open('results', { ...options, senders: 9 })];
    for (const channel of [one, other]) {
      using _sender = channel.sender();
      channel.send(1);
    }
    expect([[...one], other.closed]).toEqual([[1, 1], true]);
  });

  it('may be closed or disposed of before', () => {
    const channel = withSenders(2);
    const [one, other] = [channel.sender(), channel.sender()];
    channel.close();
    one[Symbol.dispose]();
    channel.dispose();
    other[Symbol.dispose]();
    expect(failure(() => channel.sender())).toBeInstanceOf(DisposedError);
    expect(arena.stats().objects.used).toBe(0);
  });

  it.each([0, -1, 1.5, '1', 2 ** 20 + 1])('refuses %j senders', (senders) => {
    expect(failure(() => withSenders(senders as number)).message).toContain('Channel: senders must be');
  });

  it('takes no message from a thread that has left the arena', () => {
    const own = new Arena({ objects: 8, bytes: 1 << 16 });
    const channel = new Channel({ codec: number, capacity: 4, arena: own });
    expect(channel.handle.address).toBeGreaterThan(0);
    own.dispose();
    for (const call of [() => channel.send(1), () => channel.trySend(1), () => channel.receive()])
      expect(failure(call)).toBeInstanceOf(DisposedError);
  });

  it('says when there is nobody to count', () => {
    expect(failure(() => ofNumbers().sender()).message).toBe(
      'Channel.sender: the channel was made without senders: make it with { senders: n }',
    );
  });
});

it('describes itself', () => {
  const channel = ofNumbers();
  channel.send(1);
  expect(channel.inspect()).toEqual({
    capacity: 4,
    bytes: 48,
    size: 1,
    closed: false,
    holes: 0,
    lost: 0,
    sendersLeft: 0,
    senders: { waiting: 0, longestWait: 0, timeouts: 0, waiters: [] },
    receivers: { waiting: 0, longestWait: 0, timeouts: 0, waiters: [] },
  });
  expect(Object.prototype.toString.call(channel)).toBe('[object Channel]');
});
