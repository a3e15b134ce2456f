/** A watch that another thread sets without a pause. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Arena, DisposedError } from 'taketurns';
import { Channel, number, Watch } from 'taketurns/channel';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../support/until.js';

const url = new URL('../../dist/node/channel.mjs', import.meta.url).href;

/** Starts a worker that runs a text, with `of(handle)` for the object of a handle. Resolves when the worker begins. */
async function start(kind: 'Channel' | 'Watch', handle: object, text: string): Promise<Worker> {
  const source = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(${JSON.stringify(url)}).then((library) => {
      const it = library[${JSON.stringify(kind)}].from(workerData, library.number);
      parentPort.postMessage('begins');
      ${text}
    });`;
  const worker = new Worker(source, { eval: true, workerData: handle });
  onTestFinished(async () => void (await worker.terminate()));
  await once(worker, 'message');
  return worker;
}

const SET_FOR_EVER = 'for (let i = 1; ; i++) it.set(i);';

it('has a whole value at each look, and none is older than the last', async () => {
  const watch = new Watch(0, { codec: number });
  await start('Watch', watch.handle, SET_FOR_EVER);
  let last = -1;
  for (let i = 0; i < 100_000; i++) {
    const { value, version } = watch.read();
    if (value !== version || version < last) expect([value, version]).toEqual([last, last]);
    last = version;
  }
  expect(watch.changed(last).version).toBeGreaterThan(last);
});

it('refuses to block behind a promise of the same thread, which could never be settled', async () => {
  const watch = new Watch(0, { codec: number });
  await start('Watch', watch.handle, SET_FOR_EVER);
  let error: unknown;
  while (error === undefined) {
    const set = watch.setAsync(-1);
    try {
      watch.set(-2);
    } catch (thrown) {
      error = thrown;
    }
    await set;
  }
  expect(String(error)).toBe(
    'SelfDeadlockError: Watch.set: a setAsync of this thread waits for its turn, so this thread would wait for itself: await setAsync()',
  );
});

it('takes no value from a thread that has left the arena', () => {
  const arena = new Arena({ objects: 8, bytes: 1 << 16 });
  const watch = new Watch(0, { codec: number, arena });
  expect(watch.handle.address).toBeGreaterThan(0);
  arena.dispose();
  expect(() => watch.set(1)).toThrow(DisposedError);
  expect(() => watch.get()).toThrow(DisposedError);
});

it('of a channel: it closes itself, although a thread that ends counts as more senders than are left', async () => {
  const channel = new Channel({ codec: number, capacity: 4, senders: 2 });
  const sender = channel.sender();
  const worker = await start(
    'Channel',
    channel.handle,
    "globalThis.kept = [it.sender(), it.sender()]; parentPort.postMessage('counts'); setInterval(() => {}, 1000);",
  );
  await once(worker, 'message');
  sender.leave();
  expect(channel.closed).toBe(false);
  await worker.terminate();
  await until(() => channel.closed, 'it closes itself');
});
