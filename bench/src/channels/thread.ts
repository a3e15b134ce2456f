// A thread of `bench channels`: it does its part of one run.

import { parentPort, workerData } from 'node:worker_threads';
import type { Item } from './loads.js';
import { type ChannelsOrder, type ChannelsReply, START } from './order.js';
import { channelsScriptRow, loadOf } from './rows.js';

const port = parentPort;
if (port === null) throw new Error('thread.js runs in a worker');
const tell = (reply: ChannelsReply): void => port.postMessage(reply);
const time = (): number => performance.timeOrigin + performance.now();

const { row, role, words, count, from, to, counts } = workerData as ChannelsOrder;
const { transport } = channelsScriptRow(row);
const load = loadOf(channelsScriptRow(row));
const receiver = from === undefined ? undefined : await transport.receiver(from, load);
const sender = to === undefined ? undefined : await transport.sender(to, load);
const { each } = receiver ?? { each: () => {} };
tell({ ready: true });
if (role !== 'compute') Atomics.wait(words, START, 0);

/** Checks the first message. */
let check = (message: unknown): void => {
  load.check(message);
  check = () => {};
};

if (role === 'compute') for (let x = 1; ; x = Math.imul(x, 1664525) + 1013904223) words[count] = x;
else if (role === 'send' && counts === undefined) {
  let i = 0;
  await sender?.run(() => load.make(i++));
} else if (role === 'send') {
  const [untimed, timed] = counts ?? [0, 0];
  for (let i = 0; i < untimed; i++) sender?.send(load.make(i));
  // The receiver says when it has all of them.
  Atomics.wait(words, START, 1);
  tell({ time: time() });
  for (let i = 0; i < timed; i++) sender?.send(load.make(i));
} else if (role === 'receive' && counts === undefined) {
  await each((message) => {
    check(message);
    Atomics.add(words, count, 1);
    return false;
  });
} else if (role === 'receive') {
  const [untimed, timed] = counts ?? [0, 0];
  let received = 0;
  await each((message) => {
    check(message);
    if (++received === untimed) {
      Atomics.store(words, START, 2);
      Atomics.notify(words, START);
    }
    return received === untimed + timed;
  });
  tell({ time: time() });
} else if (role === 'relay') {
  await each((message) => {
    const item = message as Item;
    sender?.send({ ...item, id: item.id + 1 });
    return false;
  });
} else if (role === 'answer') {
  await each((message) => {
    sender?.send(message);
    return false;
  });
} else {
  const [untimed, timed] = counts ?? [0, 0];
  const trips: number[] = [];
  let begun = performance.now();
  sender?.send(0);
  await each((message) => {
    check(message);
    const now = performance.now();
    trips.push((now - begun) * 1000);
    if (trips.length === untimed + timed) return true;
    begun = performance.now();
    sender?.send(trips.length);
    return false;
  });
  tell({ trips: trips.slice(untimed) });
}
