/**
 * The order of messages where another thread has granted a promise of this thread, and this thread has not settled the
 * promise yet. And promises that are granted while a `Message` or a `Place` of this thread is in use.
 */
import { Worker } from 'node:worker_threads';
import { Arena } from 'taketurns';
import { Channel, number, receiving, selectAsync } from 'taketurns/channel';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { membershipOf } from '../support/membership.js';

let arena: Arena;
beforeEach(() => {
  arena = new Arena({ objects: 32, threads: 8, waiters: 64, slots: 4 });
});
afterEach(() => arena.dispose());

const channelOf = (capacity = 2) => new Channel({ codec: number, capacity, arena });

/**
 * Runs a program in a worker. It has the channels by the names `channel` and `told`. `at(n)` blocks this thread, without
 * its event loop, until the worker has called `reach(n)`. `go(n)` lets the worker pass `pause(n)`.
 */
async function withWorker(channel: Channel<number>, program: string) {
  const told = new Channel({ codec: number, capacity: 64, arena });
  const words = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(
    `const { Channel, number } = require('taketurns/channel');
    const { workerData } = require('node:worker_threads');
    const [channel, told] = workerData.handles.map((handle) => Channel.from(handle, number));
    const { words } = workerData;
    const reach = (n) => { Atomics.store(words, 0, n); Atomics.notify(words, 0); };
    const pause = (n) => { while (Atomics.load(words, 1) < n) Atomics.wait(words, 1, Atomics.load(words, 1), 10); };
    reach(1);
    pause(1);
    ${program}`,
    { eval: true, workerData: { handles: [channel.handle, told.handle], words } },
  );
  onTestFinished(async () => {
    await worker.terminate();
  });
  const at = (n: number): void => {
    for (const end = Date.now() + 20_000; Atomics.load(words, 0) < n; ) {
      if (Date.now() > end) throw new Error(`the worker has not come to ${n}`);
      Atomics.wait(words, 0, Atomics.load(words, 0), 10);
    }
  };
  const go = (n: number): void => {
    Atomics.store(words, 1, n);
    Atomics.notify(words, 1);
  };
  at(1);
  return { told, at, go };
}

/** Calls that send a value, after a promise of the thread has been granted and not settled. */
const LATER: Record<string, (channel: Channel<number>, value: number) => unknown> = {
  send: (channel, value) => channel.send(value),
  'send with a time-out': (channel, value) => channel.send(value, { timeout: 10_000 }),
  trySend: (channel, value) => expect(channel.trySend(value)).toBe(true),
  sendAsync: (channel, value) => channel.sendAsync(value),
  sendMany: (channel, value) => channel.sendMany([value]),
  reserve(channel, value) {
    using place = channel.reserve();
    new DataView(place.bytes.buffer, place.bytes.byteOffset).setFloat64(0, value, true);
    place.commit(8);
  },
};

it.each(Object.entries(LATER))(
  'what %s sends comes behind what a promise of the thread was to send',
  async (_, send) => {
    const channel = channelOf(2);
    const { told, at, go } = await withWorker(
      channel,
      `told.send(channel.receive());
    told.send(channel.receive());
    reach(2);
    for (let i = 0; i < 2; i++) told.send(channel.receive());`,
    );
    channel.sendMany([1, 2]);
    const third = channel.sendAsync(3);
    go(1);
    at(2);
    const fourth = send(channel, 4);
    await Promise.all([third, fourth]);
    const all: number[] = [];
    while (all.length < 4) all.push(await told.receiveAsync());
    expect(all).toEqual([1, 2, 3, 4]);
  },
);

/** Calls that receive, after a promise of the thread has been granted and not settled. */
const EARLIER: Record<string, (channel: Channel<number>) => number | Promise<number>> = {
  receive: (channel) => channel.receive(),
  'receive with a time-out': (channel) => channel.receive({ timeout: 10_000 }),
  tryReceive: (channel) => channel.tryReceive()?.value as number,
  receiveAsync: (channel) => channel.receiveAsync(),
  receiveMany: (channel) => channel.receiveMany(1)[0] as number,
  take(channel) {
    using message = channel.take();
    return new DataView(message.bytes.buffer, message.bytes.byteOffset).getFloat64(0, true);
  },
  'for of'(channel) {
    for (const value of channel) return value;
    return Number.NaN;
  },
  receiveManyAsync: async (channel) => (await channel.receiveManyAsync(1))[0] as number,
  'for of batches'(channel) {
    for (const [value] of channel.batches(1)) return value as number;
    return Number.NaN;
  },
  selectAsync: async (channel) => (await selectAsync([receiving(channel)])).value as number,
};

it.each(Object.entries(EARLIER))('a promise that waits gets the message before %s', async (_, receive) => {
  const channel = channelOf(4);
  const { at, go } = await withWorker(channel, 'channel.sendMany([1, 2]); reach(2);');
  const first = channel.receiveAsync();
  go(1);
  at(2);
  expect(await Promise.all([first, receive(channel)])).toEqual([1, 2]);
});

it('a thread that blocks sends behind its promise, though both were granted while it slept', async () => {
  const channel = channelOf(2);
  const { told, go } = await withWorker(
    channel,
    `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    const got = Array.from({ length: 4 }, () => channel.receive());
    for (const value of got) told.send(value);`,
  );
  channel.sendMany([1, 2]);
  const third = channel.sendAsync(3);
  go(1);
  channel.send(4);
  await third;
  const all: number[] = [];
  while (all.length < 4) all.push(await told.receiveAsync());
  expect(all).toEqual([1, 2, 3, 4]);
});

it('within the scope of a message or a place, promises keep their order', async () => {
  const channel = channelOf(4);
  channel.send(0);
  const { at, go } = await withWorker(
    channel,
    `channel.sendMany([1, 2]);
    reach(2);
    pause(2);
    if (channel.receive() !== 3) throw new Error('not 3');
    channel.receive();
    reach(3);`,
  );
  let received: Promise<number>[];
  {
    using message = channel.take();
    expect(message.bytes.length).toBe(8);
    const first = channel.receiveAsync();
    go(1);
    at(2);
    received = [first, channel.receiveAsync()];
  }
  expect(await Promise.all(received)).toEqual([1, 2]);
  channel.sendMany([3, 4, 5]);
  let sent: Promise<void>[];
  {
    using place = channel.reserve();
    const first = channel.sendAsync(7);
    go(2);
    at(3);
    sent = [first, channel.sendAsync(8)];
    new DataView(place.bytes.buffer, place.bytes.byteOffset).setFloat64(0, 6, true);
    place.commit(8);
  }
  await Promise.all(sent);
  expect(channel.receiveMany(9)).toEqual([5, 6, 7, 8]);
});

it.each(['receiveAsync', 'selectAsync'])(
  'a promise that is granted just when %s queues up comes first',
  async (call) => {
    const channel = channelOf(4);
    const { at, go } = await withWorker(channel, 'channel.sendMany([1, 2]); reach(2);');
    const first = channel.receiveAsync();
    const core = membershipOf(arena).core as { arrive(...numbers: number[]): number };
    const { arrive } = core;
    core.arrive = (...numbers) => {
      core.arrive = arrive;
      go(1);
      at(2);
      return arrive(...numbers);
    };
    expect(await Promise.all([first, (EARLIER[call] as (channel: Channel<number>) => unknown)(channel)])).toEqual([
      1, 2,
    ]);
  },
);
