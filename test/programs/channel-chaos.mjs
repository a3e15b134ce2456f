/**
 * Eight senders and eight receivers of one channel, of which one is killed every 50 ms:
 *
 *     node test/programs/channel-chaos.mjs [seconds [seed [messages]]]
 *
 * The program runs for so many seconds, and goes on until so many sends have returned. `npm run chaos:channel` runs it in
 * other runtimes. Each thread turns its event loop now and then, since Deno ends a thread only there.
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
import { setImmediate, setTimeout } from 'node:timers';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Arena } from 'taketurns';
import { Channel, number } from 'taketurns/channel';

/** The lives of senders, and the messages that each of them sends at most. */
const LIVES = 4096;
const MOST = 8192;
const KILLS_EVERY = 50;
/** How many threads send, and how many receive. */
const SIDE = 8;
/** After so many messages a thread turns its event loop. */
const OFTEN = 64;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** The ways to send and to receive. */
const SENDS = ['send', 'sendAsync', 'sendMany', 'trySend', 'timed', 'reserve'];
const RECEIVES = ['receive', 'for', 'receiveAsync', 'for await', 'receiveMany', 'take', 'timed'];

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
  let state = seed;
  const random = (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const arena = new Arena({ objects: 8, threads: 64, waiters: 256, slots: random(2) ? 64 : 2, bytes: 65536 });
  const channel = new Channel({ codec: number, capacity: 2 ** random(6), arena });
  // Deno takes seconds to send so large a view of a buffer, and sends a buffer at once.
  const buffers = {
    handle: channel.handle,
    stop: new SharedArrayBuffer(4),
    sent: new SharedArrayBuffer(4 * LIVES),
    seen: new SharedArrayBuffer(LIVES * MOST),
    wrong: new SharedArrayBuffer(4),
  };
  const shared = viewsOf(buffers);
  let life = 0;
  const killed = { send: 0, receive: 0 };
  const failures = [];
  const team = [];
  const start = (role) => {
    if (role === 'send' && life === LIVES) return undefined;
    const way = role === 'send' ? SENDS[random(SENDS.length)] : RECEIVES[random(RECEIVES.length)];
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { ...buffers, role, way, life: role === 'send' ? life++ : 0 },
    });
    // In Deno a death is proved by this alone.
    if ('Deno' in globalThis) arena.watch(worker);
    worker.on('error', (error) => failures.push(`${role} by ${way}: ${error.stack}`));
    const member = { role, way, worker, isOver: false };
    member.ended = new Promise((resolve) => worker.once('exit', resolve)).then(() => {
      member.isOver = true;
    });
    return member;
  };
  for (let i = 0; i < 2 * SIDE; i++) team.push(start(i % 2 ? 'send' : 'receive'));
  const end = Date.now() + seconds * 1000;
  const enough = () => Date.now() >= end && shared.sent.reduce((sum, count) => sum + count, 0) >= messages;
  while (!enough() && failures.length === 0 && life < LIVES) {
    await new Promise((resolve) => setTimeout(resolve, KILLS_EVERY));
    // A sender that has sent all its messages has ended.
    const over = team.findIndex(({ isOver }) => isOver);
    const i = over < 0 ? random(team.length) : over;
    const { role, worker, ended, isOver } = team[i];
    if (!isOver) killed[role]++;
    await worker.terminate();
    await ended;
    team[i] = start(role) ?? team[i];
  }
  Atomics.store(shared.stop, 0, 1);
  const deadline = new Promise((resolve) => setTimeout(resolve, 20_000, 'late'));
  const senders = team.filter(({ role }) => role === 'send').map(({ ended }) => ended);
  const late = (await Promise.race([Promise.all(senders), deadline])) === 'late';
  channel.close();
  const tooLate = (await Promise.race([Promise.all(team.map(({ ended }) => ended)), deadline])) === 'late';
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
  if (late || tooLate)
    failures.push(`${late ? 'a sender' : 'a receiver'} is stuck: ${team.map(({ role, way }) => `${role} ${way}`)}`);
  if (twice.length > 0) failures.push(`received twice: ${JSON.stringify(twice.slice(0, 5))}`);
  if (shared.wrong[0] > 0) failures.push(`${shared.wrong[0]} messages out of order`);
  if (Math.abs(missing - lost) > killed.receive)
    failures.push(
      `${missing} messages are missing, and ${lost} count as lost; ${killed.receive} receivers were killed`,
    );
  if (size !== 0 || s.waiting + r.waiting !== 0)
    failures.push(`${size} messages are left, ${s.waiting + r.waiting} wait`);
  channel.dispose();
  // As many channels as there is room for, again and again.
  for (let i = 0; i < 40; i++) new Channel({ capacity: 512, arena }).dispose();
  const took = (Date.now() - begun) / 1000;
  console.log(JSON.stringify({ seed, seconds: took, killed, sent, received, missing, lost, holes, failures }));
  process.exit(failures.length > 0 ? 1 : 0);
}

async function send({ handle, life, way, ...buffers }) {
  const { stop, sent } = viewsOf(buffers);
  const channel = Channel.from(handle, number);
  for (let [k, turns] = [0, 0]; k < MOST && Atomics.load(stop, 0) === 0; ) {
    if (++turns % OFTEN === 0) await turn();
    const message = life * MOST + k;
    let n = 1;
    if (way === 'send') channel.send(message);
    else if (way === 'sendAsync') await channel.sendAsync(message);
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

async function receive({ handle, way, ...buffers }) {
  const { seen, wrong } = viewsOf(buffers);
  const channel = Channel.from(handle, number);
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
        if (way === 'receive') got(channel.receive());
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
