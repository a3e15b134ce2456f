/**
 * Eight senders and eight receivers of one channel, of which one is killed every 50 ms:
 *
 *     node test/programs/channel-chaos.mjs [seconds [seed [messages]]]
 *
 * The program runs for so many seconds, and goes on until so many sends have returned.
 * `npm run chaos -w runtimes -- --channel` runs it in other runtimes.
 *
 * Each life of a sender has a number and counts its messages from 0 on. It says in shared memory how many of its sends
 * have returned. Each receiver marks the messages that it has received. In the end the channel is closed and drained.
 * Then:
 *
 *     no message was received twice, and each receiver got the messages of a sender in their order
 *     each message whose send had returned was received, or counts as lost with a receiver that died. A receiver may die
 *     after its receive and before it marks the message, or between the mark and the end of a `Message`. So the counts
 *     may differ by 1 for each receiver that was killed
 *     nobody waits, no message is left, no place is claimed, and all pages are free again
 */
import process from 'node:process';
import { isMainThread, workerData } from 'node:worker_threads';
import { Arena, Semaphore } from 'taketurns';
import { acquiring, Channel, number, receiving, select, selectAsync, sending } from 'taketurns/channel';
import { OFTEN, randomOf, Team, turn } from './workers/chaos-team.mjs';

/** The lives of senders, and the messages that each of them sends at most. */
const LIVES = 4096;
const MOST = 8192;
/** How many threads send, and how many receive. */
const SIDE = 8;
/** The ways to send and to receive. */
const SENDS = ['send', 'sendAsync', 'sendMany', 'trySend', 'timed', 'reserve', 'select', 'selectAsync'];
const RECEIVES = [
  ...['receive', 'for', 'receiveAsync', 'for await', 'receiveMany', 'take', 'timed'],
  ...['select', 'selectAsync'],
];

if (isMainThread) await supervise();
else if (workerData.role === 'send') await send(workerData);
else await receive(workerData);

function viewsOf({ stop, sent, seen, wrong }) {
  return {
    stop: new Int32Array(stop),
    sent: new Int32Array(sent),
    seen: new Uint8Array(seen),
    wrong: new Int32Array(wrong),
  };
}

async function supervise() {
  const begun = Date.now();
  const [seconds = 3, seed = Date.now() % 1e6, messages = 0] = process.argv.slice(2).map(Number);
  const random = randomOf(seed);
  const arena = new Arena({ objects: 8, threads: 64, waiters: 256, slots: random(2) ? 64 : 2, bytes: 65536 });
  const channel = new Channel({ codec: number, capacity: 2 ** random(6), arena });
  // Deno takes seconds to send so large a view of a buffer, and sends a buffer at once.
  const never = new Semaphore(0, { arena });
  const buffers = {
    handle: channel.handle,
    never: never.handle,
    stop: new SharedArrayBuffer(4),
    sent: new SharedArrayBuffer(4 * LIVES),
    seen: new SharedArrayBuffer(LIVES * MOST),
    wrong: new SharedArrayBuffer(4),
  };
  const shared = viewsOf(buffers);
  let life = 0;
  const team = new Team(new URL(import.meta.url), arena, random, { send: SIDE, receive: SIDE }, (role) => {
    if (role === 'send' && life === LIVES) return undefined;
    const way = role === 'send' ? SENDS[random(SENDS.length)] : RECEIVES[random(RECEIVES.length)];
    return { ...buffers, way, life: role === 'send' ? life++ : 0 };
  });
  const { killed, failures } = team;
  const end = Date.now() + seconds * 1000;
  await team.killUntil(() => Date.now() >= end && shared.sent.reduce((sum, count) => sum + count, 0) >= messages);
  Atomics.store(shared.stop, 0, 1);
  await team.end('send');
  channel.close();
  await team.end('receive');
  const { holes, lost, size, senders: s, receivers: r } = channel.inspect();
  let [sent, received, missing] = [0, 0, 0];
  const twice = [];
  for (let l = 0; l < life; l++) {
    sent += shared.sent[l];
    for (let k = 0; k < MOST; k++) {
      const times = shared.seen[l * MOST + k];
      received += times;
      if (times > 1) twice.push([l, k, times]);
      if (times === 0 && k < shared.sent[l]) missing++;
    }
  }
  if (twice.length > 0) failures.push(`received twice: ${JSON.stringify(twice.slice(0, 5))}`);
  if (shared.wrong[0] > 0) failures.push(`${shared.wrong[0]} messages out of order`);
  if (Math.abs(missing - lost) > killed.receive)
    failures.push(
      `${missing} messages are missing, and ${lost} count as lost; ${killed.receive} receivers were killed`,
    );
  if (size !== 0 || s.waiting + r.waiting !== 0)
    failures.push(`${size} messages are left, ${s.waiting + r.waiting} wait`);
  channel.dispose();
  never.dispose();
  // As many channels as there is room for, again and again.
  for (let i = 0; i < 40; i++) new Channel({ capacity: 512, arena }).dispose();
  const took = (Date.now() - begun) / 1000;
  console.log(JSON.stringify({ seed, seconds: took, killed, sent, received, missing, lost, holes, failures }));
  process.exit(failures.length > 0 ? 1 : 0);
}

async function send({ handle, never, life, way, ...buffers }) {
  const { stop, sent } = viewsOf(buffers);
  const channel = Channel.from(handle, number);
  // No permit ever comes, so the other case happens.
  const other = acquiring(Semaphore.from(never));
  for (let [k, turns] = [0, 0]; k < MOST && Atomics.load(stop, 0) === 0; ) {
    if (++turns % OFTEN === 0) await turn();
    const message = life * MOST + k;
    let n = 1;
    if (way === 'send') channel.send(message);
    else if (way === 'sendAsync') await channel.sendAsync(message);
    else if (way === 'select') select([other, sending(channel, message)]);
    else if (way === 'selectAsync') await selectAsync([sending(channel, message), other]);
    else if (way === 'sendMany') {
      n = Math.min(channel.capacity, 3, MOST - k);
      channel.sendMany(Array.from({ length: n }, (_, i) => message + i));
    } else if (way === 'trySend') n = channel.trySend(message) ? 1 : 0;
    else if (way === 'timed') {
      try {
        channel.send(message, { timeout: 1 });
      } catch (error) {
        if (error.name !== 'TimeoutError') throw error;
        n = 0;
      }
    } else {
      const place = channel.reserve();
      new DataView(place.bytes.buffer, place.bytes.byteOffset).setFloat64(0, message, true);
      if (k % 7 === 3 && (k & 64) === 0) place[Symbol.dispose]();
      if (k % 7 === 3 && (k & 64) === 0) channel.send(message);
      else place.commit(8);
    }
    k += n;
    if (n > 0) Atomics.store(sent, life, k);
  }
}

async function receive({ handle, never, way, ...buffers }) {
  const { seen, wrong } = viewsOf(buffers);
  const channel = Channel.from(handle, number);
  const other = acquiring(Semaphore.from(never));
  const last = new Map();
  let count = 0;
  const got = (message) => {
    Atomics.add(seen, message, 1);
    const life = Math.floor(message / MOST);
    if ((last.get(life) ?? -1) >= message) Atomics.add(wrong, 0, 1);
    last.set(life, message);
    return ++count % OFTEN === 0;
  };
  try {
    if (way === 'for')
      for (const message of channel) {
        if (got(message)) await turn();
      }
    else if (way === 'for await') for await (const message of channel) got(message);
    else
      while (true) {
        if (count % OFTEN === 0) await turn();
        if (way.startsWith('select')) {
          const cases = [receiving(channel), other];
          const { value, closed } = way === 'select' ? select(cases) : await selectAsync(cases);
          if (closed) break;
          got(value);
        } else if (way === 'receive') got(channel.receive());
        else if (way === 'receiveAsync') got(await channel.receiveAsync());
        else if (way === 'receiveMany') for (const message of channel.receiveMany(5)) got(message);
        else if (way === 'take') {
          const message = channel.take();
          got(new DataView(message.bytes.buffer, message.bytes.byteOffset).getFloat64(0, true));
          message[Symbol.dispose]();
        } else {
          try {
            got(channel.receive({ timeout: 1 }));
          } catch (error) {
            if (error.name !== 'TimeoutError') throw error;
          }
        }
      }
  } catch (error) {
    if (error.name !== 'ClosedError') throw error;
  }
}
