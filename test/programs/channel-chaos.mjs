/**
 * Senders and receivers of one channel, of which one is killed every 50 ms:
 *
 *     node test/programs/channel-chaos.mjs [seconds] [seed]
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
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Arena } from 'taketurns';
import { Channel, number } from 'taketurns/channel';

/** The lives of senders, and the messages that each of them sends at most. */
const LIVES = 4096;
const MOST = 8192;
const KILLS_EVERY = 50;

/** The ways to send and to receive. */
const SENDS = ['send', 'sendAsync', 'sendMany', 'trySend', 'timed', 'reserve'];
const RECEIVES = ['receive', 'for', 'receiveAsync', 'for await', 'receiveMany', 'take', 'timed'];

if (isMainThread) await supervise();
else if (workerData.role === 'send') await send(workerData);
else await receive(workerData);

async function supervise() {
  const [seconds = 3, seed = Date.now() % 1e6] = process.argv.slice(2).map(Number);
  let state = seed;
  const random = (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const arena = new Arena({ objects: 8, threads: 64, waiters: 256, slots: random(2) ? 64 : 2, bytes: 65536 });
  const channel = new Channel({ codec: number, capacity: 2 ** random(6), arena });
  const shared = {
    handle: channel.handle,
    stop: new Int32Array(new SharedArrayBuffer(4)),
    sent: new Int32Array(new SharedArrayBuffer(4 * LIVES)),
    seen: new Uint8Array(new SharedArrayBuffer(LIVES * MOST)),
    wrong: new Int32Array(new SharedArrayBuffer(4)),
  };
  let life = 0;
  const killed = { send: 0, receive: 0 };
  const failures = [];
  const team = [];
  const start = (role) => {
    if (role === 'send' && life === LIVES) return undefined;
    const way = role === 'send' ? SENDS[random(SENDS.length)] : RECEIVES[random(RECEIVES.length)];
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { ...shared, role, way, life: role === 'send' ? life++ : 0 },
    });
    worker.on('error', (error) => failures.push(`${role} by ${way}: ${error.stack}`));
    return { role, way, worker, ended: new Promise((resolve) => worker.once('exit', resolve)) };
  };
  for (let i = 0; i < 8; i++) team.push(start(i % 2 ? 'send' : 'receive'));
  const end = Date.now() + seconds * 1000;
  while (Date.now() < end && failures.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, KILLS_EVERY));
    const i = random(team.length);
    const { role, worker, ended } = team[i];
    killed[role]++;
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
  console.log(JSON.stringify({ seed, killed, sent, received, missing, lost, holes, failures }));
  process.exit(failures.length > 0 ? 1 : 0);
}

async function send({ handle, stop, sent, life, way }) {
  const channel = Channel.from(handle, number);
  for (let k = 0; k < MOST && Atomics.load(stop, 0) === 0; ) {
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

async function receive({ handle, seen, wrong, way }) {
  const channel = Channel.from(handle, number);
  const last = new Map();
  const got = (message) => {
    Atomics.add(seen, message, 1);
    const life = Math.floor(message / MOST);
    if ((last.get(life) ?? -1) >= message) Atomics.add(wrong, 0, 1);
    last.set(life, message);
  };
  try {
    if (way === 'for') for (const message of channel) got(message);
    else if (way === 'for await') for await (const message of channel) got(message);
    else
      while (true) {
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
