/**
 * What a careless or hostile program does to a channel: each misuse gets a clear error, and afterwards the channel works
 * as before. channel.test.ts has what one thread does wrong with places, codecs and handles one by one.
 */
import { Arena, DisposedError, TimeoutError } from 'taketurns';
import {
  Channel,
  ClosedError,
  type Codec,
  number,
  numbers,
  receiving,
  record,
  select,
  selectAsync,
  sending,
  text,
  value,
  Watch,
} from 'taketurns/channel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let arena: Arena;
beforeEach(() => {
  arena = new Arena({ objects: 64, threads: 8, waiters: 64, slots: 4, bytes: 1 << 20 });
});
afterEach(() => arena.dispose());

const failure = (run: () => unknown): Error => {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it throws nothing');
};

/** Whether everything is at rest, and a message goes through. */
function works<T>(channel: Channel<T>, message: T): void {
  expect(channel.inspect()).toMatchObject({
    size: 0,
    holes: 0,
    lost: 0,
    senders: { waiting: 0 },
    receivers: { waiting: 0 },
  });
  for (let i = 0; i < 2 * channel.capacity; i++) {
    channel.send(message);
    expect(channel.receive()).toEqual(message);
  }
}

describe('a message larger than its place', () => {
  it.each<[string, Codec<unknown>, unknown, unknown]>([
    ['bytes', undefined as never, new Uint8Array(49), Uint8Array.of(1)],
    ['numbers', numbers(7) as Codec<unknown>, new Float64Array(7), undefined],
    ['text', text as Codec<unknown>, 'x'.repeat(49), 'y'],
    ['text of many bytes', text as Codec<unknown>, 'ü'.repeat(25), 'ü'],
    ['record', record({ by: 'text60' }) as Codec<unknown>, { by: 'x'.repeat(60) }, undefined],
    ['value', value as Codec<unknown>, ['x'.repeat(60)], [1]],
  ])('of the codec %s is refused, and is not sent', async (_name, codec, large, small) => {
    const make = () => new Channel<unknown>({ ...(codec && { codec }), capacity: 2, arena } as never);
    // A codec of a fixed length that has no room may also refuse the channel.
    const channel = small === undefined ? undefined : make();
    if (channel === undefined) {
      expect(failure(() => make().send(large))).toBeInstanceOf(RangeError);
      return;
    }
    for (const send of [
      () => channel.send(large),
      () => channel.trySend(large),
      () => channel.sendMany([small, large]),
    ])
      expect(failure(send)).toBeInstanceOf(RangeError);
    await expect(channel.sendAsync(large)).rejects.toBeInstanceOf(RangeError);
    expect(failure(() => select([sending(channel, large)]))).toBeInstanceOf(RangeError);
    works(channel, small);
  });
});

it('an array whose own slice is longer writes no place but its own', async () => {
  const longer = <A extends typeof Float64Array | typeof Uint8Array>(Kind: A): A =>
    class extends (Kind as typeof Uint8Array) {
      static get [Symbol.species]() {
        return class extends (Kind as typeof Uint8Array) {
          constructor(length: number) {
            super(length + 100);
          }
        } as never;
      }
      override slice(): never {
        return new Kind(500).fill(7) as never;
      }
    } as unknown as A;
  const two = new Channel({ codec: numbers(2), capacity: 4, arena });
  const next = new Channel({ codec: number, capacity: 4, arena });
  const some = new Channel({ bytes: 100, capacity: 4, arena });
  next.sendMany([1, 2, 3, 4]);
  for (const _ of [1, 2, 3, 4]) {
    two.sendMany([new (longer(Float64Array))([5, 6])]);
    some.sendMany([new (longer(Uint8Array))([5, 6])]);
  }
  expect([two.receiveMany(4), some.receiveMany(4)].flat().map((all) => [...all])).toEqual(Array(8).fill([5, 6]));
  expect(next.receiveMany(4)).toEqual([1, 2, 3, 4]);
  works(next, 1);
});

describe('a codec that throws half-way', () => {
  const odd: Codec<number> = {
    name: 'odd',
    encode(x, { view }) {
      view.setFloat64(0, x);
      if (x < 0) throw new Error(`cannot encode ${x}`);
      return 8;
    },
    decode({ view }) {
      const x = view.getFloat64(0);
      if (x > 100) throw new Error(`cannot decode ${x}`);
      return x;
    },
  };
  const make = () => new Channel({ codec: odd, capacity: 4, arena });

  it('has sent nothing, whichever way it was called', async () => {
    const channel = make();
    expect(failure(() => channel.send(-1)).message).toBe('cannot encode -1');
    expect(failure(() => channel.trySend(-1)).message).toBe('cannot encode -1');
    expect(failure(() => channel.sendMany([1, -1])).message).toBe('cannot encode -1');
    await expect(channel.sendAsync(-1)).rejects.toThrow('cannot encode -1');
    expect(failure(() => select([receiving(channel), sending(channel, -1)])).message).toBe('cannot encode -1');
    await expect(selectAsync([sending(channel, -1)])).rejects.toThrow('cannot encode -1');
    works(channel, 5);
  });

  it('has had one message, whichever way it was received', async () => {
    const channel = make();
    const receivers: (() => unknown)[] = [
      () => channel.receive(),
      () => channel.tryReceive(),
      () => channel.receiveMany(1),
      () => channel[Symbol.iterator]().next(),
      () => select([receiving(channel)]),
    ];
    for (const receive of receivers) {
      channel.sendMany([101, 7]);
      expect(failure(receive).message).toBe('cannot decode 101');
      expect(channel.receive()).toBe(7);
    }
    for (const receive of [() => channel.receiveAsync(), () => selectAsync([receiving(channel)])]) {
      const waits = receive();
      channel.sendMany([102, 8]);
      await expect(waits).rejects.toThrow('cannot decode 102');
      expect(channel.receive()).toBe(8);
    }
    works(channel, 5);
  });

  it('takes no message of another case of a select', () => {
    const [one, other] = [make(), make()];
    one.send(101);
    other.send(1);
    expect(failure(() => select([receiving(one), receiving(other)], { biased: true })).message).toBe(
      'cannot decode 101',
    );
    expect([one.size, other.receive()]).toEqual([0, 1]);
    works(one, 5);
  });
});

it('decodes what promises receive when the call that has let them have it is over', async () => {
  let isInside = false;
  const seen: boolean[] = [];
  const codec: Codec<number> = {
    name: 'watched',
    encode(x, { view }) {
      view.setFloat64(0, x);
      return 8;
    },
    decode({ view }) {
      seen.push(isInside);
      return view.getFloat64(0);
    },
  };
  const channel = new Channel({ codec, bytes: 4000, arena });
  const received = [1, 2, 3].map(() => channel.receiveAsync());
  isInside = true;
  channel.send(1);
  channel.sendMany([2, 3]);
  isInside = false;
  expect(seen).toEqual([]);
  expect(await Promise.all(received)).toEqual([1, 2, 3]);
  expect(seen).toEqual([false, false, false]);
  works(channel, 5);
});

it('gives a codec the whole room, however many messages are to be decoded', async () => {
  const seen: number[] = [];
  const codec: Codec<number> = {
    name: 'reads more than it has written',
    encode(x, { view }) {
      view.setFloat64(0, x);
      return 8;
    },
    decode({ bytes, view, f64, length }) {
      seen.push(bytes.length, view.byteLength, f64.length, length);
      return view.getFloat64(0);
    },
  };
  const channel = new Channel({ codec, arena });
  const received = [1, 2, 3].map(() => channel.receiveAsync());
  channel.sendMany([1, 2, 3]);
  expect(await Promise.all(received)).toEqual([1, 2, 3]);
  channel.sendMany([4, 5, 6]);
  expect(channel.receiveMany(3)).toEqual([4, 5, 6]);
  expect(seen).toEqual(Array.from({ length: 6 }, () => [48, 48, 6, 8]).flat());
});

describe('a codec that uses the channel itself while many messages are decoded', () => {
  const calls = (uses: () => void): Codec<number> => {
    let isFirst = true;
    return {
      name: 'calls',
      encode(x, { view }) {
        view.setFloat64(0, x);
        return 8;
      },
      decode({ view }) {
        const x = view.getFloat64(0);
        if (isFirst) {
          isFirst = false;
          uses();
        }
        return x;
      },
    };
  };

  it('and receives: each message comes once', async () => {
    const seen: unknown[] = [];
    const codec = calls(() => seen.push(channel.tryReceive()?.value));
    const channel: Channel<number> = new Channel({ codec, capacity: 4, arena });
    channel.sendMany([1, 2, 3, 4]);
    expect(channel.receiveMany(3)).toEqual([1, 2, 3]);
    expect(seen).toEqual([4]);
    const next = channel.receiveAsync();
    channel.send(5);
    expect(await next).toBe(5);
    works(channel, 1);
  });

  it('and takes a message, or sends: the places are free by then', () => {
    const codec = calls(() => {
      expect(channel.trySend(4)).toBe(true);
      using message = channel.take();
      expect(message.bytes.length).toBe(8);
    });
    const channel: Channel<number> = new Channel({ codec, capacity: 4, arena });
    channel.sendMany([1, 2, 3, 9]);
    expect(channel.receiveMany(4)).toEqual([1, 2, 3, 9]);
    works(channel, 1);
  });

  it('and disposes of it: all messages are there', () => {
    const channel: Channel<number> = new Channel({ codec: calls(() => channel.dispose()), capacity: 4, arena });
    channel.sendMany([1, 2, 3]);
    expect(channel.receiveMany(3)).toEqual([1, 2, 3]);
  });
});

describe('a codec that ends the channel itself', () => {
  const ends = (end: () => void): Codec<number> => ({
    name: 'ends',
    encode(x, { view }) {
      view.setFloat64(0, x);
      if (x === 1) end();
      return 8;
    },
    decode({ view }) {
      const x = view.getFloat64(0);
      if (x === 2) end();
      return x;
    },
  });

  it('by close: nothing is sent, and a message that was received is there', () => {
    const channel: Channel<number> = new Channel({ codec: ends(() => channel.close()), arena });
    channel.send(2);
    expect(channel.receive()).toBe(2);
    expect(failure(() => channel.send(3))).toBeInstanceOf(ClosedError);
    const other: Channel<number> = new Channel({ codec: ends(() => other.close()), arena });
    expect(failure(() => other.send(1))).toBeInstanceOf(ClosedError);
    expect([...other]).toEqual([]);
  });

  it('by dispose: the same', async () => {
    const channel: Channel<number> = new Channel({ codec: ends(() => channel.dispose()), arena });
    channel.send(2);
    expect(channel.receive()).toBe(2);
    const other: Channel<number> = new Channel({ codec: ends(() => other.dispose()), arena });
    expect(failure(() => other.send(1))).toBeInstanceOf(DisposedError);
    await expect(other.sendAsync(3)).rejects.toBeInstanceOf(DisposedError);
    const watch: Watch<number> = new Watch(0, { codec: ends(() => watch.dispose()), arena });
    expect(failure(() => watch.set(1))).toBeInstanceOf(DisposedError);
    expect(arena.stats().objects.used).toBe(0);
  });
});

describe('a promise that has a permit, but not its turn', () => {
  const reasons = [
    ['its time-out', () => ({ timeout: 5 }), expect.any(TimeoutError)],
    ['its signal', () => ({ signal: later() }), 'enough'],
  ] as const;
  function later(): AbortSignal {
    const control = new AbortController();
    setTimeout(() => control.abort('enough'), 1);
    return control.signal;
  }

  it.each(reasons)('ends by %s, and others get the permit', async (_name, options, reason) => {
    const channel = new Channel({ codec: number, capacity: 4, arena });
    channel.sendMany([1, 2]);
    const message = channel.take();
    const receives = channel.receiveAsync(options());
    await expect(receives).rejects.toEqual(reason);
    const later = channel.receiveAsync();
    message[Symbol.dispose]();
    expect(await later).toBe(2);
    channel.sendMany([1, 2, 3]);
    const place = channel.reserve();
    await expect(channel.sendAsync(5, options())).rejects.toEqual(reason);
    place[Symbol.dispose]();
    expect(channel.receiveMany(4)).toEqual([1, 2, 3]);
    channel.send(4);
    expect(channel.receive()).toBe(4);
    expect(channel.inspect()).toMatchObject({ size: 0, senders: { waiting: 0 }, receivers: { waiting: 0 } });
    for (let i = 0; i < 4; i++) expect(channel.trySend(i)).toBe(true);
  });

  it.each(reasons)('that it has got while it waited ends by %s', async (_name, options, reason) => {
    const channel = new Channel({ codec: number, arena });
    channel.send(1);
    const message = channel.take();
    const receives = channel.receiveAsync(options());
    channel.send(2);
    await expect(receives).rejects.toEqual(reason);
    message[Symbol.dispose]();
    expect(channel.receive()).toBe(2);
    works(channel, 5);
  });

  it('is fulfilled in its turn if that comes first, and listens to its signal no more', async () => {
    const channel = new Channel({ codec: number, arena });
    channel.sendMany([1, 2]);
    const message = channel.take();
    const control = new AbortController();
    const receives = channel.receiveAsync({ signal: control.signal });
    message[Symbol.dispose]();
    control.abort();
    expect(await receives).toBe(2);
    works(channel, 5);
  });
});

describe('a place', () => {
  it('that was reserved before the channel is closed is delivered', () => {
    const channel = new Channel({ arena });
    const place = channel.reserve();
    channel.close();
    place.bytes[0] = 7;
    place.commit(1);
    expect([...channel].map((message) => [...message])).toEqual([[7]]);
  });

  it('that is never committed holds back those behind it, until its scope ends', async () => {
    const channel = new Channel({ codec: number, capacity: 4, arena });
    const place = channel.reserve();
    const late = channel.sendAsync(1);
    expect(channel.tryReceive()).toBeUndefined();
    expect(failure(() => channel.receive({ timeout: 2 }))).toBeInstanceOf(TimeoutError);
    place[Symbol.dispose]();
    await late;
    expect(channel.receive()).toBe(1);
    expect(failure(() => place.commit(1)).message).toContain('its scope has ended');
    expect(channel.inspect()).toMatchObject({ size: 0, holes: 1 });
  });

  it('has no length that its bytes have not', () => {
    const channel = new Channel({ arena });
    const place = channel.reserve();
    expect(failure(() => place.commit(place.bytes.length + 1))).toBeInstanceOf(RangeError);
    place.commit(place.bytes.length);
    expect(channel.receive().length).toBe(48);
  });
});

it('sendMany without a time to wait sends what there is room for, and tells that the channel has ended', () => {
  const channel = new Channel({ codec: number, capacity: 4, arena });
  const atOnce = { timeout: 0 };
  channel.sendMany([1], atOnce);
  channel.sendMany([2, 3], atOnce);
  for (const all of [
    [4, 5],
    [4, 5, 6, 7],
  ])
    expect(failure(() => channel.sendMany(all, atOnce))).toBeInstanceOf(TimeoutError);
  expect(channel.receiveMany(4)).toEqual([1, 2, 3]);
  channel.close();
  for (const all of [[2], [2, 3]]) expect(failure(() => channel.sendMany(all, atOnce))).toBeInstanceOf(ClosedError);
  channel.dispose();
  for (const all of [[2], [2, 3]]) expect(failure(() => channel.sendMany(all, atOnce))).toBeInstanceOf(DisposedError);
});

it('a handle of one end is no handle of the other, or of another class', () => {
  const channel = new Channel({ codec: number, arena });
  const watch = new Watch(0, { codec: number, arena });
  const step = 128;
  for (let address = channel.handle.address - step; address <= watch.handle.address + 2 * step; address += step) {
    const forged = { ...channel.handle, address };
    if (address !== channel.handle.address)
      expect(failure(() => Channel.from(forged, number)).message).toMatch(/disposed of|no Channel/);
    if (address !== watch.handle.address)
      expect(failure(() => Watch.from({ ...forged, kind: 'Watch' }, number)).message).toMatch(/disposed of|no Watch/);
  }
  works(channel, 1);
  expect(watch.get()).toBe(0);
});
