// biome-ignore-all lint/suspicious/noThenProperty: these tests send what has a method `then`.
/**
 * `Channel` of `taketurns/tasks`: its options, its ends, and the traps of queues. comparison.test.ts compares it with the
 * shared class.
 */
import * as shared from 'taketurns/channel';
import { Channel, ClosedError, DisposedError, TimeoutError } from 'taketurns/tasks';
import { describe, expect, it } from 'vitest';
import { isSettled } from '../support/settled.js';

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

describe('options', () => {
  it.each([0, -1, 3, 1.5, 2 ** 17, Number.NaN])('refuses the capacity %d', (capacity) => {
    expect(() => new Channel({ capacity })).toThrow(
      /^Channel: capacity must be (an integer|a power of two) from 1 to 65536/,
    );
  });

  it('refuses what is no option, and what is of the wrong type', () => {
    expect(() => new Channel({ capacity: '8' as never })).toThrow(TypeError);
    expect(() => new Channel({ size: 8 } as never)).toThrow(/size/);
    expect(() => new Channel(null as never)).toThrow(TypeError);
  });

  it.each([{ timeout: -1 }, { timeout: '1' }, { signal: {} }, { time: 1 }, null, 7])(
    'of a call: refuses %j',
    async (options) => {
      const channel = new Channel<number>({ capacity: 1 });
      for (const call of [() => channel.sendAsync(1, options as never), () => channel.receiveAsync(options as never)])
        await expect(call()).rejects.toThrow(/^Channel\.(send|receive)Async: /);
      expect([channel.size, channel.waiting]).toEqual([0, 0]);
    },
  );
});

describe('messages', () => {
  it('are any values, and no copies', async () => {
    const channel = new Channel<unknown>();
    const object = { a: 1 };
    for (const message of [object, undefined, null, 0, '', Symbol.iterator]) {
      await channel.sendAsync(message);
      expect(channel.tryReceive()).toEqual({ value: message });
    }
    channel.trySend(object);
    expect(await channel.receiveAsync()).toBe(object);
  });

  it('come in order, many times round the ring, with tasks that wait on both sides', async () => {
    const channel = new Channel<number>({ capacity: 4 });
    const sends = upTo(11).map((i) => channel.sendAsync(i));
    expect([channel.size, channel.inspect().senders.waiting]).toEqual([4, 7]);
    const got: (number | undefined)[] = upTo(6).map(() => channel.tryReceive()?.value);
    const receives = upTo(9).map(() => channel.receiveAsync());
    for (let i = 11; i < 15; i++) channel.trySend(i);
    expect([...got, ...(await Promise.all(receives))]).toEqual(upTo(15));
    await Promise.all(sends);
    expect(channel.inspect()).toMatchObject({ size: 0, senders: { waiting: 0 }, receivers: { waiting: 0 } });
  });
});

describe('what a promise cannot be fulfilled with', () => {
  const thenable = { then: (resolve: (value: number) => void) => resolve(1) };
  const callable = Object.assign(() => {}, { then() {} });
  it.each([
    ['a promise', Promise.resolve(1)],
    ['an object with a method then', thenable],
    ['a function with a method then', callable],
  ])('is refused: %s', async (_name, message) => {
    const channel = new Channel<unknown>({ capacity: 1 });
    const waits = channel.receiveAsync();
    await expect(channel.sendAsync(message)).rejects.toThrow(/^Channel.sendAsync: value must be no promise .*wrap it/);
    expect(() => channel.trySend(message)).toThrow(/^Channel.trySend: value must be no promise/);
    expect([channel.size, channel.waiting]).toEqual([0, 1]);
    const wrapped = { message };
    channel.trySend(wrapped);
    expect(await waits).toBe(wrapped);
  });

  it('is no value whose then is no method', async () => {
    const channel = new Channel<unknown>();
    for (const message of [{ then: 1 }, { then: undefined }, Object.create(null)]) {
      channel.trySend(message);
      expect(await channel.receiveAsync()).toBe(message);
    }
  });

  it('is asked for its then before the channel changes, by a getter that calls back or throws', async () => {
    const channel = new Channel<unknown>({ capacity: 2 });
    const calls = {
      get then() {
        channel.trySend(1);
        return undefined;
      },
    };
    channel.trySend(calls);
    expect([channel.tryReceive()?.value, channel.tryReceive()?.value]).toEqual([1, calls]);
    const throws = {
      get then(): unknown {
        throw new Error('by then');
      },
    };
    await expect(channel.sendAsync(throws)).rejects.toThrow('by then');
    expect(() => channel.trySend(throws)).toThrow('by then');
    expect(channel.size).toBe(0);
  });
});

describe('the end', () => {
  it('of another channel does not end a loop', async () => {
    const [channel, other] = [new Channel<unknown>(), new Channel<unknown>()];
    other.close();
    const foreign = await other.receiveAsync().catch((error) => error);
    const message: Record<string, unknown> = {};
    channel.trySend(message);
    channel.close();
    // It gets a method `then` after it was sent.
    message.then = (_: unknown, reject: (error: unknown) => void) => reject(foreign);
    const loop = (async () => {
      for await (const _ of channel);
    })();
    await expect(loop).rejects.toBe(foreign);
  });

  it('refuses senders, and hands out what is there', async () => {
    const channel = new Channel<number>({ capacity: 2 });
    for (const x of [1, 2]) channel.trySend(x);
    const waits = channel.sendAsync(3);
    channel.close();
    channel.close();
    await expect(waits).rejects.toThrow(ClosedError);
    await expect(channel.sendAsync(4)).rejects.toThrow('the channel is closed');
    expect(() => channel.trySend(5)).toThrow(ClosedError);
    const seen: number[] = [];
    for await (const x of channel) seen.push(x);
    expect(seen).toEqual([1, 2]);
    expect(() => channel.tryReceive()).toThrow('the channel is closed, and every message has been received');
    expect([channel.closed, String(channel)]).toEqual([true, 'Channel(0 of 2, closed, 0 waiting)']);
  });

  it('by dispose comes at once', async () => {
    const channel = new Channel<number>({ capacity: 1 });
    channel.trySend(1);
    const waits = [channel.sendAsync(2)];
    channel.dispose();
    channel.dispose();
    for (const wait of waits) await expect(wait).rejects.toThrow(DisposedError);
    for (const call of [() => channel.trySend(1), () => channel.tryReceive(), () => channel.inspect()])
      expect(call).toThrow('the Channel has been disposed of');
    await expect(channel.receiveAsync()).rejects.toThrow(DisposedError);
    expect([channel.closed, channel.size, channel.waiting, String(channel)]).toEqual([true, 0, 0, 'Channel(disposed)']);
    channel.close();
  });

  it('is told by errors that the shared class knows too, and the other way round', async () => {
    const channel = new Channel<number>();
    channel.close();
    const error = await channel.receiveAsync().catch((thrown) => thrown);
    expect(error).toBeInstanceOf(shared.ClosedError);
    expect(error.name).toBe('ClosedError');
  });

  it('of a loop comes by break as well, and the rest stays', async () => {
    const channel = new Channel<number>();
    for (const x of upTo(5)) channel.trySend(x);
    for await (const x of channel) if (x === 1) break;
    expect([channel.size, channel.tryReceive()?.value]).toEqual([3, 2]);
  });
});

describe('giving up', () => {
  it('by a time-out loses no message, on both sides', async () => {
    const channel = new Channel<number>({ capacity: 1 });
    await expect(channel.receiveAsync({ timeout: 1 })).rejects.toThrow('waiting for a message of the Channel');
    channel.trySend(1);
    await expect(channel.sendAsync(2, { timeout: 1 })).rejects.toThrow('waiting for a free place in the Channel');
    await expect(channel.sendAsync(3, { timeout: 0 })).rejects.toThrow(TimeoutError);
    expect([channel.tryReceive(), channel.tryReceive()]).toEqual([{ value: 1 }, undefined]);
    expect(channel.inspect()).toMatchObject({ senders: { timeouts: 2 }, receivers: { timeouts: 1 } });
  });

  it('by a signal lets the next in line go on', async () => {
    const channel = new Channel<number>({ capacity: 1 });
    channel.trySend(0);
    const abort = new AbortController();
    const first = channel.sendAsync(1, { signal: abort.signal });
    const second = channel.sendAsync(2);
    abort.abort(new SyntaxError('enough'));
    await expect(first).rejects.toThrow('enough');
    expect([await channel.receiveAsync(), await channel.receiveAsync()]).toEqual([0, 2]);
    await second;
  });

  it('by a signal that calls back, in the middle of the call, does no harm', async () => {
    const channel = new Channel<number>({ capacity: 1 });
    channel.trySend(0);
    const { signal } = new AbortController();
    const add = signal.addEventListener.bind(signal);
    let taken: unknown;
    Object.defineProperty(signal, 'addEventListener', {
      value: (...given: Parameters<typeof add>) => {
        taken ??= [channel.tryReceive(), channel.tryReceive(), channel.trySend(5)];
        add(...given);
      },
    });
    await channel.sendAsync(1, { signal });
    expect(taken).toEqual([{ value: 0 }, { value: 1 }, true]);
    expect(channel.tryReceive()).toEqual({ value: 5 });
  });
});

it('100,000 tasks that wait, on each side, are served in linear time', async () => {
  const MANY = 100_000;
  const channel = new Channel<number>({ capacity: 1 });
  const receives = upTo(MANY).map(() => channel.receiveAsync());
  expect(channel.waiting).toBe(MANY);
  for (let i = 0; i < MANY; i++) channel.trySend(i);
  expect(await Promise.all(receives)).toEqual(upTo(MANY));
  const sends = upTo(MANY).map((i) => channel.sendAsync(i));
  for (let i = 0; i < MANY; i++) expect(channel.tryReceive()?.value).toBe(i);
  await Promise.all(sends);
  const waits = channel.receiveAsync();
  expect(await isSettled(waits)).toBe(false);
  channel.trySend(7);
  expect(await waits).toBe(7);
});
