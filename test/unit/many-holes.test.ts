/** Tens of thousands of holes in a row, and as many promises: no call takes more stack for each of them. */
import { Worker } from 'node:worker_threads';
import { Arena } from 'taketurns';
import { bytes, Channel, type Codec, number, receiving, select, selectAsync, trySelect } from 'taketurns/channel';
import { Channel as TasksChannel } from 'taketurns/tasks';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../support/until.js';

const HOLES = 60_000;

let arena: Arena;
beforeAll(() => {
  arena = new Arena({ objects: 64, threads: 8, waiters: 1024, bytes: 2 ** 26 });
});
afterAll(() => arena.dispose());

type Any = Channel<unknown>;

/** Reserves places and drops them. */
function dropPlaces(channel: Any, count: number): void {
  for (let i = 0; i < count; i++) channel.reserve()[Symbol.dispose]();
}

const RECEIVE: Record<string, (channel: Any) => unknown> = {
  receive: (channel) => channel.receive(),
  'receive with a time-out': (channel) => channel.receive({ timeout: 60_000 }),
  tryReceive: (channel) => channel.tryReceive()?.value,
  receiveAsync: (channel) => channel.receiveAsync(),
  receiveMany: (channel) => channel.receiveMany(2)[0],
  receiveManyAsync: async (channel) => (await channel.receiveManyAsync(2))[0],
  for: (channel) => [...channel].at(0),
  batches: (channel) => [...channel.batches(2)].flat().at(0),
  take(channel) {
    using message = channel.take();
    return message.bytes.length === 8 ? 7 : message.bytes;
  },
  select: (channel) => select([receiving(channel)]).value,
  selectAsync: async (channel) => (await selectAsync([receiving(channel)])).value,
  trySelect: (channel) => trySelect([receiving(channel)])?.value,
};

const CODECS: readonly [Codec<unknown>, unknown][] = [
  [number as Codec<unknown>, 7],
  [bytes as Codec<unknown>, new Uint8Array(8).fill(7)],
];

describe.each(CODECS)('holes before a message (%o)', (codec, message) => {
  it.each(Object.entries(RECEIVE))('%s', async (_, receive) => {
    using channel = new Channel<unknown>({ codec, capacity: 65536, arena });
    dropPlaces(channel, HOLES);
    channel.send(message);
    channel.close();
    const got = await receive(channel);
    expect(got === 7 ? 7 : got).toEqual(got === 7 ? 7 : message);
    expect(channel.inspect().holes).toBe(HOLES);
  });

  it.each(['receiveAsync', 'receiveManyAsync', 'selectAsync'])('%s that waits meanwhile', async (name) => {
    using channel = new Channel<unknown>({ codec, capacity: 16, arena });
    const got = RECEIVE[name]?.(channel);
    for (let i = 0; i < HOLES / 10; i += 16) {
      dropPlaces(channel, 16);
      await new Promise(setImmediate);
    }
    channel.send(message);
    expect(await got).toEqual(message);
  });
});

it.each(['channel.receive()', 'channel.receiveMany(1)[0]', 'select([receiving(channel)]).value'])(
  'a thread that blocks in %s',
  async (call) => {
    using channel = new Channel({ codec: number, capacity: 65536, arena });
    const worker = new Worker(
      `const { Channel, number, receiving, select } = require('taketurns/channel');
      const { workerData, parentPort } = require('node:worker_threads');
      const channel = Channel.from(workerData, number);
      parentPort.postMessage(${call});`,
      { eval: true, workerData: channel.handle },
    );
    onTestFinished(async () => {
      await worker.terminate();
    });
    const told = new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
    await until(() => channel.waiting === 1, 'the thread waits');
    dropPlaces(channel as Any, HOLES);
    channel.send(7);
    expect(await told).toBe(7);
  },
);

it.each(['threads', 'tasks'])(
  'as many promises that send, and a loop that lets each of them go on (%s)',
  async (of) => {
    using channel =
      of === 'tasks' ? new TasksChannel<number>({ capacity: 1 }) : new Channel({ codec: number, capacity: 1, arena });
    const sent = Promise.all(Array.from({ length: HOLES / 10 }, (_, i) => channel.sendAsync(i)));
    let next = 0;
    for await (const x of channel) {
      expect(x).toBe(next++);
      if (next === HOLES / 10) break;
    }
    await sent;
    const receives = Promise.all(Array.from({ length: HOLES / 10 }, () => channel.receiveAsync()));
    for (let i = 0; i < HOLES / 10; i++) if (!channel.trySend(i)) await channel.sendAsync(i);
    expect(await receives).toEqual(Array.from({ length: HOLES / 10 }, (_, i) => i));
  },
);
