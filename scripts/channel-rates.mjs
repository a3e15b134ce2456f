/**
 * How many messages a second go through a channel, beside postMessage:
 *
 *     node scripts/channel-rates.mjs [--pairs 1,4] [--seconds 0.5] [--runs 5]
 *
 * A pair is a thread that sends and a thread that receives. All pairs share one channel; with postMessage each pair has a
 * MessageChannel of its own, with at most 1,024 messages under way. All rows of one run are measured in turn. The columns
 * are medians. "fairness" is the least of the receivers' counts over the most. The last line is the round trip of a
 * number between two threads that block, in microseconds. `npm run build` must come before.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, MessageChannel, parentPort, Worker, workerData } from 'node:worker_threads';
import { median } from 'simple-statistics';
import { bytes, Channel, number } from '../dist/node/channel.js';

const COUNTS = 16;
const STEP = 16;
const UNDER_WAY = 1024;
const WARM_UP = 150;
const ROUNDS = 3000;
const KILOBYTE = 1024;

/** name: [codec, bytes of a message, how it is received]; of postMessage: [undefined, bytes]. */
const ROWS = {
  'postMessage, a number': [undefined, 0],
  'Channel, a number': [number, 0, 'receive'],
  'Channel, a number, received by for': [number, 0, 'for'],
  'postMessage, 16 bytes': [undefined, 16],
  'Channel, 16 bytes': [bytes, 16, 'receive'],
  'postMessage, 1 KB': [undefined, KILOBYTE],
  'Channel, 1 KB': [bytes, KILOBYTE, 'receive'],
};

if (isMainThread) await measure();
else if (workerData.row === undefined) answer(workerData);
else work(workerData);

async function measure() {
  const { values } = parseArgs({
    options: {
      pairs: { type: 'string', default: '1,4' },
      seconds: { type: 'string', default: '0.5' },
      runs: { type: 'string', default: '5' },
    },
  });
  const rates = new Map();
  for (let run = 0; run < Number(values.runs); run++)
    for (const pairs of values.pairs.split(',').map(Number))
      for (const row of Object.keys(ROWS)) {
        const key = `${pairs}:${pairs} ${row}`;
        rates.set(key, [...(rates.get(key) ?? []), await rate(row, pairs, Number(values.seconds))]);
      }
  console.log(`Node ${process.version}, load ${loadavg()[0].toFixed(1)}`);
  let base = 1;
  for (const [key, all] of rates) {
    const messages = median(all.map(([count]) => count));
    if (key.includes('postMessage')) base = messages;
    const fairness = median(all.map(([, fair]) => fair)).toFixed(2);
    console.log(
      `${key.padEnd(40)} ${(messages / 1e6).toFixed(3)} M/s ${(messages / base).toFixed(1)} times, fairness ${fairness}`,
    );
  }
  console.log(`round trip of a number ${(await roundTrip()).toFixed(1)} us`);
}

async function rate(row, pairs, seconds) {
  const [codec, size] = ROWS[row];
  const channel = codec && new Channel({ codec, bytes: Math.max(size, 8) });
  const words = new Int32Array(new SharedArrayBuffer(4 * (COUNTS + pairs * STEP)));
  const workers = Array.from({ length: 2 * pairs }, () => undefined);
  for (let i = 0; i < pairs; i++) {
    const { port1, port2 } = new MessageChannel();
    for (const [k, port] of [port1, port2].entries())
      workers[2 * i + k] = new Worker(new URL(import.meta.url), {
        workerData: { row, sends: k === 0, count: COUNTS + i * STEP, words, handle: channel?.handle, port },
        transferList: [port],
      });
  }
  await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('message', resolve))));
  Atomics.store(words, 0, 1);
  Atomics.notify(words, 0);
  const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  const counts = () => Array.from({ length: pairs }, (_, i) => Atomics.load(words, COUNTS + i * STEP));
  await sleep(WARM_UP);
  const [before, begun] = [counts(), performance.now()];
  await sleep(seconds * 1000);
  const took = (performance.now() - begun) / 1000;
  const each = counts().map((count, i) => count - before[i]);
  await Promise.all(workers.map((worker) => worker.terminate()));
  channel?.dispose();
  return [each.reduce((sum, count) => sum + count, 0) / took, Math.min(...each) / Math.max(...each)];
}

function work({ row, sends, count, words, handle, port }) {
  const [codec, size, how] = ROWS[row];
  const bytes = new Uint8Array(size).fill(1);
  const message = (i) => (size === 0 ? i : bytes);
  parentPort.postMessage('ready');
  Atomics.wait(words, 0, 0);
  if (codec === undefined) {
    let sent = 0;
    const more = () => {
      for (; sent - Atomics.load(words, count) < UNDER_WAY; sent++) port.postMessage(message(sent));
      setImmediate(more);
    };
    if (sends) more();
    else port.on('message', () => Atomics.add(words, count, 1));
    return;
  }
  const channel = Channel.from(handle, codec);
  if (sends) for (let i = 0; ; i++) channel.send(message(i));
  if (how === 'for') for (const _ of channel) words[count]++;
  for (;;) {
    channel.receive();
    words[count]++;
  }
}

async function roundTrip() {
  const [there, back] = [new Channel({ codec: number }), new Channel({ codec: number })];
  const worker = new Worker(new URL(import.meta.url), { workerData: { there: there.handle, back: back.handle } });
  const times = [];
  for (let i = 0; i < ROUNDS; i++) {
    const begun = performance.now();
    there.send(i);
    back.receive();
    times.push((performance.now() - begun) * 1000);
  }
  await worker.terminate();
  return median(times);
}

function answer({ there, back }) {
  const to = Channel.from(back, number);
  for (const i of Channel.from(there, number)) to.send(i);
}
