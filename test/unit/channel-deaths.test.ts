/**
 * A receiver dies while the code of its codec decodes. What it had taken, and its program did not get, counts as lost;
 * a sender is told. What the program did get counts for nobody.
 */
import { Worker } from 'node:worker_threads';
import { Arena } from 'taketurns';
import { Channel, type Codec, receiving, select, selectAsync } from 'taketurns/channel';
import { describe, expect, it } from 'vitest';
import { until } from '../support/until.js';

const CAPACITY = 128;
const SENT = 100;

/** A receiver whose `decode` says that it has come to message `stop`, and goes no further. */
const RECEIVER = `
  const { Channel, receiving, select, selectAsync } = require('taketurns/channel');
  const { workerData } = require('node:worker_threads');
  const noted = new Int32Array(workerData.noted);
  const slow = {
    name: 'slow',
    encode() {},
    decode({ f64 }) {
      const value = f64[0];
      if (value === workerData.stop) {
        Atomics.store(noted, 0, 1);
        for (;;);
      }
      if (value === workerData.throws) throw new Error('this message cannot be decoded');
      if (value === workerData.nests) channel.receive();
      return value;
    },
  };
  const channel = Channel.from(workerData.handle, slow);
`;

const slow: Codec<number> = {
  name: 'slow',
  encode(value, { f64 }) {
    f64[0] = value;
    return 8;
  },
  decode: ({ f64 }) => f64[0] as number,
};

/**
 * The call, as the text of a program, and how many messages the thread has taken when it decodes the one it stops at.
 */
const calls: Record<string, readonly [text: string, stop: number, taken: number]> = {
  receive: ['channel.receive()', 0, 1],
  'receive, after others': ['for (;;) channel.receive()', 5, 1],
  'receive with a time-out': ['channel.receive({ timeout: 60_000 })', 0, 1],
  tryReceive: ['channel.tryReceive()', 0, 1],
  'receiveMany, at the first': ['channel.receiveMany(64)', 0, 64],
  'receiveMany, at the last': ['channel.receiveMany(64)', 63, 64],
  'receiveMany, of all': ['channel.receiveMany(65_536)', 50, SENT],
  for: ['for (const value of channel);', 7, 1],
  batches: ['for (const batch of channel.batches(16));', 20, 16],
  receiveAsync: ['channel.receiveAsync()', 0, 1],
  'receiveAsync, several': ['for (let i = 0; i < 3; i++) channel.receiveAsync()', 0, 1],
  receiveManyAsync: ['channel.receiveManyAsync(10)', 3, 10],
  'for await': ['(async () => { for await (const value of channel); })()', 7, 1],
  'for await of batches': ['(async () => { for await (const batch of channel.batches(16)); })()', 20, 16],
  select: ['for (;;) select([receiving(channel)])', 4, 1],
  selectAsync: ['(async () => { for (;;) await selectAsync([receiving(channel)]); })()', 4, 1],
};

function begin(text: string, data: object) {
  const arena = new Arena({ objects: 8, threads: 8, waiters: 64 });
  const channel = new Channel({ codec: slow, capacity: CAPACITY, arena });
  const told: number[] = [];
  channel.onReceiverDied = (count) => told.push(count);
  const noted = new Int32Array(new SharedArrayBuffer(4));
  const run = (): Worker =>
    new Worker(`${RECEIVER}${text}`, {
      eval: true,
      workerData: { handle: channel.handle, noted: noted.buffer, ...data },
    });
  return { channel, told, noted, run };
}

async function stops({ channel, told, noted, run }: ReturnType<typeof begin>, taken: number, before: number) {
  const worker = run();
  await until(() => Atomics.load(noted, 0) === 1, 'the receiver decodes');
  const gone = SENT - channel.size;
  expect(gone).toBe(before + taken);
  await worker.terminate();
  await until(() => channel.inspect().lost > 0, 'messages are lost');
  expect(channel.inspect().lost).toBe(taken);
  channel.send(0);
  expect(told).toEqual([taken]);
  expect(channel.inspect()).toMatchObject({ lost: taken, size: SENT - gone + 1, holes: 0 });
}

describe('a receiver that dies while it decodes', () => {
  it.each(Object.entries(calls))('%s', async (_name, [text, stop, taken]) => {
    const scene = begin(text, { stop });
    for (let i = 0; i < SENT; i++) scene.channel.send(i);
    await stops(scene, taken, stop - (stop % taken));
  });

  it.each([
    ['receiveAsync', 'channel.receiveAsync()', 1],
    ['selectAsync', 'selectAsync([receiving(channel)])', 1],
    ['select', 'select([receiving(channel)])', 1],
    ['receive', 'channel.receive()', 1],
  ])('%s that has waited', async (_name, text, taken) => {
    const scene = begin(text, { stop: 0 });
    const { channel, noted, told } = scene;
    const worker = scene.run();
    await until(() => channel.inspect().receivers.waiting === 1, 'the receiver waits');
    channel.send(0);
    await until(() => Atomics.load(noted, 0) === 1, 'the receiver decodes');
    await worker.terminate();
    await until(() => channel.inspect().lost > 0, 'messages are lost');
    channel.send(0);
    expect([channel.inspect().lost, told]).toEqual([taken, [taken]]);
  });

  it('of a codec that receives by the same channel', async () => {
    const scene = begin('channel.receiveMany(4)', { stop: 4, nests: 2 });
    for (let i = 0; i < SENT; i++) scene.channel.send(i);
    await stops(scene, 5, 0);
  });
});

describe('what a receiver has got does not count as lost when its thread ends', () => {
  it.each([
    ['receive', 'channel.receive(); channel.receiveMany(10);', 11],
    ['a codec that throws', 'try { channel.receive() } catch {} try { channel.receiveMany(10) } catch {}', 11],
    ['a codec that receives', 'channel.receive(); channel.receive();', 3],
    [
      'promises',
      '(async () => { await channel.receiveAsync(); await channel.receiveManyAsync(3); await selectAsync([receiving(channel)]); })()',
      5,
    ],
    ['select and take', 'channel.receive(); select([receiving(channel)]); channel.take()[Symbol.dispose]();', 3],
  ])('%s', async (name, text, taken) => {
    const { channel, run } = begin(text, {
      throws: name.includes('throws') ? 5 : -1,
      nests: name.includes('receives') ? 1 : -1,
    });
    for (let i = 0; i < SENT; i++) channel.send(i);
    const worker = run();
    await new Promise((resolve) => worker.once('exit', resolve));
    expect(channel.inspect()).toMatchObject({ lost: 0, holes: 0, size: SENT - taken });
  });
});

describe('what `decode` leaves the arena with does not count as lost, since the call hands it over', () => {
  const receives: Record<string, (channel: Channel<number>) => unknown> = {
    receive: (channel) => [channel.receive()],
    receiveMany: (channel) => channel.receiveMany(2),
    receiveAsync: async (channel) => [await channel.receiveAsync()],
    'two receiveAsync': (channel) => Promise.all([channel.receiveAsync(), channel.receiveAsync()]),
    receiveManyAsync: (channel) => channel.receiveManyAsync(2),
    batches: (channel) => [...channel.batches(2)[Symbol.iterator]().next().value],
    select: (channel) => [select([receiving(channel)]).value],
    selectAsync: async (channel) => [(await selectAsync([receiving(channel)])).value],
  };
  const rows = Object.keys(receives).flatMap((name) => [
    // If the first of two calls leaves, the second one finds the arena disposed of.
    ...(name.startsWith('two') ? [] : [[name, false] as const]),
    ...(name.includes('Async') ? [[`${name}, which waits`, true] as const] : []),
  ]);
  it.each(rows)('%s', async (name, isEarly) => {
    const receive = receives[name.replace(', which waits', '')] as (channel: Channel<number>) => unknown;
    const arena = new Arena({ objects: 8, threads: 4 });
    let leaves = true;
    const codec: Codec<number> = {
      name: 'leaves',
      encode(value, { f64 }) {
        f64[0] = value;
        return 8;
      },
      decode({ f64 }) {
        if (leaves) arena.dispose();
        leaves = false;
        return f64[0] as number;
      },
    };
    const channel = new Channel({ codec, capacity: 8, arena });
    const { handle } = channel;
    const waits = isEarly ? receive(channel) : undefined;
    for (let i = 0; i < 5; i++) channel.send(i);
    const got = (await (waits ?? receive(channel))) as number[];
    expect(got).toEqual([0, 1].slice(0, got.length));
    const again = Channel.from(handle, codec);
    const rest = again.receiveMany(8);
    expect([...got, ...rest]).toEqual([0, 1, 2, 3, 4]);
    expect(again.inspect()).toMatchObject({ lost: 0, holes: 0, size: 0 });
  });
});
