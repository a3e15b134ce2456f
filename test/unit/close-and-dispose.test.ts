/**
 * `close` and then `dispose` in one turn: who waited when the channel or the watch was closed gets what `close` gives,
 * in this thread and in others, as in taketurns/tasks. A call that comes later gets a DisposedError.
 */
import { Worker } from 'node:worker_threads';
import { Arena } from 'taketurns';
import { Channel, changing, number, receiving, selectAsync, sending, Watch } from 'taketurns/channel';
import { Channel as TasksChannel } from 'taketurns/tasks';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../support/until.js';

let arena: Arena;
beforeEach(() => {
  arena = new Arena({ objects: 32, threads: 8, waiters: 64, slots: 4 });
});
afterEach(() => arena.dispose());

/** What a wait has come to: `end`, or the name of an error. */
const outcome = async (wait: () => Promise<unknown>): Promise<unknown> => {
  try {
    return (await wait()) ?? 'end';
  } catch (error) {
    return (error as Error).name;
  }
};
const loop = async (values: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of values);
};

interface Ends {
  close(): void;
  dispose(): void;
}

const closeAndDispose = async (object: Ends, wait: () => Promise<unknown>): Promise<unknown> => {
  const waits = outcome(wait);
  await new Promise(setImmediate);
  object.close();
  object.dispose();
  return waits;
};

describe('in this thread', () => {
  it.each(['tasks', 'threads'])('receivers and senders of %s', async (kind) => {
    const make = (): Channel<number> | TasksChannel<number> =>
      kind === 'tasks' ? new TasksChannel<number>({ capacity: 1 }) : new Channel({ codec: number, capacity: 1, arena });
    const full = () => {
      const channel = make();
      channel.trySend(1);
      return channel;
    };
    const [a, b, c, d] = [make(), make(), full(), full()];
    expect(await closeAndDispose(a, () => loop(a))).toBe('end');
    expect(await closeAndDispose(b, () => b.receiveAsync())).toBe('ClosedError');
    expect(await closeAndDispose(c, () => c.sendAsync(2))).toBe('ClosedError');
    expect(await closeAndDispose(d, () => d.sendAsync(2, { timeout: 60_000 }))).toBe('ClosedError');
    for (const channel of [a, c]) {
      expect(await outcome(() => loop(channel))).toBe('DisposedError');
      expect(await outcome(() => channel.sendAsync(1))).toBe('DisposedError');
    }
    // Without `close`, who waits gets a DisposedError.
    const [e, f] = [make(), full()];
    const waits = [outcome(() => loop(e)), outcome(() => f.sendAsync(2))];
    e.dispose();
    f.dispose();
    expect(await Promise.all(waits)).toEqual(['DisposedError', 'DisposedError']);
  });

  it('batches and selects', async () => {
    const make = () => new Channel({ codec: number, capacity: 1, arena });
    const [a, b, c, d] = [make(), make(), make(), make()];
    d.send(1);
    expect(await closeAndDispose(a, () => loop(a.batches(3)))).toBe('end');
    expect(await closeAndDispose(b, () => b.receiveManyAsync(3))).toBe('ClosedError');
    expect(await closeAndDispose(c, () => selectAsync([receiving(c)]))).toMatchObject({ closed: true });
    expect(await closeAndDispose(d, () => selectAsync([sending(d, 2)]))).toBe('ClosedError');
  });

  it('a watch', async () => {
    const make = () => new Watch(0, { codec: number, arena });
    const [a, b, c, d] = [make(), make(), make(), make()];
    expect(await closeAndDispose(a, () => loop(a))).toBe('end');
    expect(await closeAndDispose(b, () => b.changedAsync())).toBe('ClosedError');
    expect(await closeAndDispose(c, () => selectAsync([changing(c)]))).toMatchObject({ closed: true });
    const waits = outcome(() => loop(d));
    await new Promise(setImmediate);
    d.set(1); // admits the loop, which has not looked yet when the watch is gone
    d.close();
    d.dispose();
    expect(await waits).toBe('end');
    const e = make();
    const changed = outcome(() => e.changedAsync());
    e.dispose();
    expect(await changed).toBe('DisposedError');
  });

  it('a promise that the end of the arena ends, at a channel that is open', async () => {
    const own = new Arena({ objects: 8, threads: 4 });
    const channel = new Channel({ codec: number, arena: own });
    const waits = outcome(() => channel.receiveAsync());
    own.dispose();
    expect(await waits).toBe('DisposedError');
  });
});

/** Waits of another thread: the code, and what it comes to. `end` stands for the end of a loop, or of a case. */
const RECEIVERS: Record<string, [string, string]> = {
  receive: ['channel.receive()', 'ClosedError'],
  'receive with a time-out': ['channel.receive({ timeout: 60_000 })', 'ClosedError'],
  receiveMany: ['channel.receiveMany(3)', 'ClosedError'],
  take: ['channel.take()', 'ClosedError'],
  for: ['for (const _ of channel);', 'end'],
  batches: ['for (const _ of channel.batches(3));', 'end'],
  select: ['if (!select([receiving(channel)]).closed) throw 1', 'end'],
  receiveAsync: ['await channel.receiveAsync()', 'ClosedError'],
  'for await': ['for await (const _ of channel);', 'end'],
  'async batches': ['for await (const _ of channel.batches(3));', 'end'],
  selectAsync: ['if (!(await selectAsync([receiving(channel)])).closed) throw 1', 'end'],
};
const SENDERS: Record<string, [string, string]> = {
  send: ['channel.send(2)', 'ClosedError'],
  sendMany: ['channel.sendMany([2])', 'ClosedError'],
  reserve: ['channel.reserve()', 'ClosedError'],
  sendAsync: ['await channel.sendAsync(2)', 'ClosedError'],
  'select that sends': ['select([sending(channel, 2)])', 'ClosedError'],
};
const WATCHERS: Record<string, [string, string]> = {
  changed: ['watch.changed()', 'ClosedError'],
  'for of a watch': ['for (const _ of watch);', 'end'],
  changedAsync: ['await watch.changedAsync()', 'ClosedError'],
  'for await of a watch': ['for await (const _ of watch);', 'end'],
  'select that waits for a change': ['if (!select([changing(watch)]).closed) throw 1', 'end'],
};

describe('in another thread', () => {
  const wait = (code: string, handles: object): Promise<unknown> => {
    const worker = new Worker(
      `const { Channel, Watch, number, select, selectAsync, receiving, sending, changing } = require('taketurns/channel');
      const { workerData, parentPort } = require('node:worker_threads');
      const channel = workerData.channel && Channel.from(workerData.channel, number);
      const watch = workerData.watch && Watch.from(workerData.watch, number);
      (async () => { ${code} })().then(() => 'end', (error) => error.name).then((answer) => parentPort.postMessage(answer));`,
      { eval: true, workerData: handles },
    );
    onTestFinished(async () => {
      await worker.terminate();
    });
    return new Promise((resolve) => worker.once('message', resolve));
  };

  it.each(Object.entries({ ...RECEIVERS, ...SENDERS }))('%s', async (name, [code, expected]) => {
    const channel = new Channel({ codec: number, capacity: 1, arena });
    if (name in SENDERS) channel.send(1);
    const waits = wait(code, { channel: channel.handle });
    await until(() => channel.waiting === 1, 'the thread waits');
    channel.close();
    channel.dispose();
    expect(await waits).toBe(expected);
  });

  it.each(Object.entries(WATCHERS))('%s', async (_, [code, expected]) => {
    const watch = new Watch(0, { codec: number, arena });
    const waits = wait(code, { watch: watch.handle });
    await until(() => watch.waiting === 1, 'the thread waits');
    watch.close();
    watch.dispose();
    expect(await waits).toBe(expected);
  });

  it.each(['receive', 'for', 'receiveAsync', 'send', 'sendAsync'])('%s, disposed of without close', async (name) => {
    const channel = new Channel({ codec: number, capacity: 1, arena });
    const [code] = (RECEIVERS[name] ?? SENDERS[name]) as [string, string];
    if (name in SENDERS) channel.send(1);
    const waits = wait(code, { channel: channel.handle });
    await until(() => channel.waiting === 1, 'the thread waits');
    channel.dispose();
    expect(await waits).toBe('DisposedError');
  });
});
