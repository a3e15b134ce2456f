/**
 * Channels between real threads. test/programs/channel-chaos.mjs kills senders and receivers, and counts every message;
 * channel-accounts.mjs does so while slow codecs run, and accounts for each message. watch-chaos.mjs does the same for
 * a watch. In channel-loops.mjs threads leave their loops. All run for longer by hand. CHAOS_SECONDS and CHAOS_SEED set
 * the length and the seed.
 */
import { Worker } from 'node:worker_threads';
import { Arena } from 'taketurns';
import { Channel, number } from 'taketurns/channel';
import { expect, it } from 'vitest';
import { runProgram } from '../support/program.js';
import { roundsOf } from '../support/rounds.js';
import { team, together } from '../support/team.js';
import { until } from '../support/until.js';

const members = team(8);
const seconds = Number(process.env.CHAOS_SECONDS ?? roundsOf(12)) / 2;
const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 10_000);
const DEADLINE = seconds * 1000 + 60_000;

it.each([2 * seed, 2 * seed + 1])(
  'threads are killed, and every message is received once or counts as lost (seed %i)',
  { timeout: DEADLINE + 1000 },
  async (seed) => {
    const { code, out, err } = await runProgram('channel-chaos', [seconds, seed], DEADLINE);
    expect(err).toBe('');
    expect(JSON.parse(out)).toMatchObject({ failures: [] });
    expect(code).toBe(0);
  },
);

it('threads are killed while they decode, and what they had taken and not got counts as lost', {
  timeout: DEADLINE + 1000,
}, async () => {
  const { code, out, err } = await runProgram('channel-accounts', [seconds, seed], DEADLINE);
  expect(err).toBe('');
  expect(JSON.parse(out)).toMatchObject({ failures: [] });
  expect(code).toBe(0);
});

it('threads that set a watch and read it are killed, and every version is whole and comes in order', {
  timeout: DEADLINE + 1000,
}, async () => {
  const { code, out, err } = await runProgram('watch-chaos', [seconds, seed], DEADLINE);
  expect(err).toBe('');
  expect(JSON.parse(out)).toMatchObject({ failures: [] });
  expect(code).toBe(0);
});

it('threads leave their loops by break, return and throws, and each message is received exactly once', {
  timeout: DEADLINE + 1000,
}, async () => {
  const args = ['--minutes', seconds / 60, '--seed', seed];
  const { code, out, err } = await runProgram('channel-loops', args, DEADLINE);
  expect(err).toBe('');
  expect(JSON.parse(out)).toMatchObject({ failures: [] });
  expect(code).toBe(0);
});

it.each([1, 4, 256])(
  'four senders and four receivers, capacity %i: each message arrives once, in order',
  async (capacity) => {
    const each = roundsOf(8) * 1000;
    const channel = new Channel({ codec: number, capacity });
    const seen = new Int32Array(new SharedArrayBuffer(4 * 4 * each));
    const done = together<number>(members, 'send-and-receive', { handle: channel.handle, each, seen });
    const out = await done;
    expect(out.reduce((sum, wrong) => sum + wrong, 0)).toBe(0);
    expect(seen.every((times) => times === 1)).toBe(true);
    expect(channel.inspect()).toMatchObject({ size: 0, holes: 0, lost: 0, senders: { waiting: 0 } });
  },
);

it('tells a sender of the messages that died with a receiver, and a receiver of the holes of a sender', async () => {
  const arena = new Arena({ objects: 8, threads: 8, waiters: 64 });
  const channel = new Channel({ codec: number, capacity: 4, arena });
  const other = new Channel({ codec: number, arena });
  const take = `
    const { Channel, number } = require('taketurns/channel');
    const { workerData } = require('node:worker_threads');
    const channel = Channel.from(workerData.handle, number);
    globalThis.kept = workerData.sends ? channel.reserve() : channel.take();
    Channel.from(workerData.other, number).send(1);
    setInterval(() => {}, 1000);
  `;
  const lost: number[] = [];
  const holes: number[] = [];
  channel.onReceiverDied = (count) => lost.push(count);
  channel.onSenderDied = (count) => holes.push(count);
  const start = (sends: boolean): Worker =>
    new Worker(take, { eval: true, workerData: { handle: channel.handle, other: other.handle, sends } });
  channel.send(1);
  channel.send(2);
  const receiver = start(false);
  await other.receiveAsync();
  await receiver.terminate();
  await until(() => channel.inspect().lost === 1, 'the message is lost');
  channel.send(3);
  channel.send(4);
  expect(lost).toEqual([1]);
  const sender = start(true);
  await other.receiveAsync();
  await sender.terminate();
  await until(() => channel.inspect().holes === 1, 'a hole is left');
  const rest = [channel.receive()];
  expect(holes).toEqual([1]);
  channel.close();
  rest.push(...channel);
  expect(rest).toEqual([2, 3, 4]);
  expect(channel.inspect()).toMatchObject({ lost: 1, holes: 1, size: 0 });
  expect([lost, holes]).toEqual([[1], [1]]);
});

it('a thread that dies in a loop has taken no message but those that the body was given', async () => {
  const arena = new Arena({ objects: 8, threads: 8, waiters: 64 });
  const channel = new Channel({ codec: number, capacity: 256, arena });
  const LAST = 100;
  const code = `
    const { Channel, number } = require('taketurns/channel');
    const { workerData } = require('node:worker_threads');
    for (const x of Channel.from(workerData.handle, number)) if (x === workerData.last) process.exit();
  `;
  channel.sendMany(Array.from({ length: 256 }, (_, i) => i));
  const worker = new Worker(code, { eval: true, workerData: { handle: channel.handle, last: LAST } });
  await new Promise((resolve) => worker.once('exit', resolve));
  channel.close();
  expect([...channel]).toEqual(Array.from({ length: 255 - LAST }, (_, i) => LAST + 1 + i));
  expect(channel.inspect().lost).toBe(0);
});
