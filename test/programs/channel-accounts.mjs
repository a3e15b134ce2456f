/**
 * Senders and receivers of one channel, of which one is killed every 50 ms, with a codec that takes its time. So most
 * kills come in the code of the codec. Each message is counted:
 *
 *     node test/programs/channel-accounts.mjs [seconds [seed]]
 *
 * A sender notes how many messages it has begun to send, and how many of its sends have returned. `decode` notes at its
 * end that a message is decoded, and the program notes that it has got the message. In the end the channel is closed
 * and drained. Then a message whose send had returned was got once, or it is missing. With so few exceptions as there
 * may be:
 *
 *     missing = lost      a receiver may die when all of its call is decoded, and its program has not noted it: then its
 *                         messages count as lost or not. A call that is killed while it decodes has no such message
 *     holes               as many as places were dropped, and one more at most for each message that a killed sender had
 *                         begun to send and nobody has got
 */
import process from 'node:process';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { Arena } from 'taketurns';
import { Channel, receiving, select, selectAsync, sending } from 'taketurns/channel';
import { comes, OFTEN, randomOf, Team, turn } from './workers/chaos-team.mjs';

/** The lives of senders, and of receivers, in each second: more than are killed. */
const LIVES_IN_A_SECOND = 12;
/** The messages that each sender sends at most. */
const MOST = 4096;
const SIDE = 3;
const SENDS = ['send', 'sendAsync', 'sendMany', 'trySend', 'timed', 'reserve', 'select', 'selectAsync'];
const RECEIVES = [
  ...['receive', 'tryReceive', 'timed', 'for', 'receiveMany', 'batches', 'take', 'select'],
  ...['receiveAsync', 'receiveManyAsync', 'for await', 'for await of batches', 'several promises', 'selectAsync'],
];
/** The most messages that a call of these receives. */
const MANY = 64;

/** A message that `decode` refuses: it is gone, and the program knows which one it was. */
class Refused extends Error {
  constructor(id) {
    super('this message cannot be decoded');
    this.id = id;
  }
}

function viewsOf({ stop, begun, sent, seen, decoded, counts }) {
  return {
    stop: new Int32Array(stop),
    begun: new Int32Array(begun),
    sent: new Int32Array(sent),
    seen: new Uint8Array(seen),
    decoded: new Int32Array(decoded),
    counts: new Int32Array(counts),
  };
}
/** What `counts` has: places that were about to be dropped, and that were; what senders were told; wrong ends. */
const [DROPPING, DROPPED, TOLD, WRONG] = [0, 1, 2, 3];

/** Takes some time that an engine cannot leave out. */
function spin(times) {
  let x = 1;
  for (let i = 0; i < times; i++) x = Math.imul(x, 1664525) + 1013904223;
  return x;
}

/** A codec of which both functions take up to so many steps. */
const codecOf = (random, steps, decodes) => ({
  name: 'accounts',
  encode(value, { f64 }) {
    spin(random(steps));
    f64[0] = value;
    return 8;
  },
  decode({ f64 }) {
    const message = f64[0];
    spin(random(steps));
    decodes(message);
    return message;
  },
});

if (isMainThread) await supervise();
else {
  parentPort.postMessage('begins');
  await (workerData.role === 'send' ? send : receive)(workerData);
}

async function supervise() {
  const begun = Date.now();
  const [seconds = 3, seed = Date.now() % 1e6] = process.argv.slice(2).map(Number);
  const random = randomOf(seed);
  const most = 128 + LIVES_IN_A_SECOND * Math.ceil(seconds);
  const arena = new Arena({ objects: 8, threads: 64, waiters: 512, slots: random(2) ? 64 : 2, bytes: 65536 });
  const steps = [100, 10_000, 200_000][random(3)];
  const channel = new Channel({
    codec: codecOf(random, 1, () => {}),
    capacity: 2 ** random(8),
    arena,
  });
  const words = (n) => new SharedArrayBuffer(4 * n);
  const buffers = {
    handle: channel.handle,
    stop: words(1),
    begun: words(most),
    sent: words(most),
    seen: new SharedArrayBuffer(most * MOST),
    decoded: words(most),
    counts: words(4),
  };
  const shared = viewsOf(buffers);
  const lives = { send: 0, receive: 0 };
  const team = new Team(
    new URL(import.meta.url),
    arena,
    random,
    { send: SIDE, receive: SIDE },
    (role) => {
      if (lives[role] === most) return undefined;
      const ways = role === 'send' ? SENDS : RECEIVES;
      return { ...buffers, way: ways[random(ways.length)], life: lives[role]++, steps, seed: random(2 ** 31) };
    },
    { tells: true },
  );
  const { killed, failures } = team;
  const end = Date.now() + seconds * 1000;
  await team.killUntil(() => Date.now() >= end);
  Atomics.store(shared.stop, 0, 1);
  await team.end('send');
  channel.close();
  await team.end('receive');
  const rest = channel.inspect().size;
  const account = () => {
    const { holes, lost } = channel.inspect();
    let [sent, got, missing, unsure] = [0, 0, 0, 0];
    const twice = [];
    for (let l = 0; l < lives.send; l++) {
      sent += shared.sent[l];
      for (let k = 0; k < MOST; k++) {
        const times = shared.seen[l * MOST + k];
        got += times;
        if (times > 1) twice.push([l, k, times]);
        if (times > 0) continue;
        if (k < shared.sent[l]) missing++;
        else if (k < shared.begun[l]) unsure++;
      }
    }
    const decoded = shared.decoded.reduce((sum, count) => sum + count, 0);
    const [dropping, dropped, told] = shared.counts;
    return { sent, got, missing, lost, holes, unsure, decoded, twice, dropping, dropped, told };
  };
  // The last deaths may be reaped later than they come.
  await comes(() => {
    const { missing, lost, decoded } = account();
    return missing - decoded <= lost;
  });
  const { twice, ...found } = account();
  const { missing, lost, holes, unsure, decoded, dropping, dropped, told } = found;
  if (twice.length > 0) failures.push(`got twice: ${JSON.stringify(twice.slice(0, 5))}`);
  if (missing - decoded > lost || lost > missing + unsure)
    failures.push(
      `${missing} messages are missing, and ${lost} count as lost; ${decoded} were decoded when their receivers died, ` +
        `and senders that died had begun to send ${unsure}`,
    );
  if (holes < dropped || holes > dropping + unsure)
    failures.push(`${holes} holes, but ${dropped} to ${dropping} dropped places, and ${unsure} messages begun`);
  if (told > lost) failures.push(`senders were told of ${told} lost messages, and ${lost} are lost`);
  if (shared.counts[WRONG] > 0) failures.push(`${shared.counts[WRONG]} receivers have ended in the midst of a call`);
  const { senders, receivers } = channel.inspect();
  if (rest !== 0 || senders.waiting + receivers.waiting !== 0)
    failures.push(`${rest} messages are left, ${senders.waiting + receivers.waiting} wait`);
  channel.dispose();
  const took = (Date.now() - begun) / 1000;
  console.log(JSON.stringify({ seed, seconds: took, killed, ...found, failures }));
  process.exit(failures.length > 0 ? 1 : 0);
}

async function send({ handle, life, way, steps, seed, ...buffers }) {
  const { stop, begun, sent, counts } = viewsOf(buffers);
  const random = randomOf(seed);
  const channel = Channel.from(
    handle,
    codecOf(random, steps, () => {}),
  );
  channel.onReceiverDied = (lost) => Atomics.add(counts, TOLD, lost);
  for (let [k, turns] = [0, 0]; k < MOST && Atomics.load(stop, 0) === 0; ) {
    if (++turns % OFTEN === 0) await turn();
    const message = life * MOST + k;
    let n = way === 'sendMany' ? Math.min(channel.capacity, 1 + random(8), MOST - k) : 1;
    Atomics.store(begun, life, k + n);
    if (way === 'send') channel.send(message);
    else if (way === 'sendAsync') await channel.sendAsync(message);
    else if (way === 'select') select([sending(channel, message)]);
    else if (way === 'selectAsync') await selectAsync([sending(channel, message)]);
    else if (way === 'sendMany') channel.sendMany(Array.from({ length: n }, (_, i) => message + i));
    else if (way === 'trySend') n = channel.trySend(message) ? 1 : 0;
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
      spin(random(steps));
      if (random(8) === 0) {
        Atomics.add(counts, DROPPING, 1);
        place[Symbol.dispose]();
        Atomics.add(counts, DROPPED, 1);
        n = 0;
      } else place.commit(8);
    }
    k += n;
    Atomics.store(sent, life, k);
    Atomics.store(begun, life, k);
  }
}

async function receive({ handle, life, way, steps, seed, ...buffers }) {
  const { seen, decoded, counts } = viewsOf(buffers);
  const random = randomOf(seed);
  const isBatch = /atches|Many/.test(way);
  let [count, isNested] = [0, false];
  const got = (message) => {
    Atomics.add(seen, message, 1);
    Atomics.sub(decoded, life, 1);
    return ++count % OFTEN === 0;
  };
  const channel = Channel.from(
    handle,
    codecOf(random, steps, (message) => {
      if (!isNested && random(16) === 0) {
        isNested = true;
        try {
          const next = channel.tryReceive();
          if (next !== undefined) got(next.value);
        } catch (error) {
          if (error instanceof Refused) got(error.id);
          else if (error.name !== 'ClosedError') throw error;
        } finally {
          isNested = false;
        }
      }
      Atomics.add(decoded, life, 1);
      // Of a batch nobody would know which messages are gone.
      if (message % 97 === 5 && (isNested || !isBatch)) throw new Refused(message);
    }),
  );
  const once = {
    receive: () => got(channel.receive()),
    tryReceive() {
      const next = channel.tryReceive();
      if (next !== undefined) got(next.value);
    },
    timed() {
      try {
        got(channel.receive({ timeout: 1 }));
      } catch (error) {
        if (error.name !== 'TimeoutError') throw error;
      }
    },
    async for() {
      for (const message of channel) if (got(message)) await turn();
      return true;
    },
    receiveMany: () => channel.receiveMany(1 + random(MANY)).forEach(got),
    async batches() {
      for (const batch of channel.batches(MANY)) if (batch.map(got).includes(true)) await turn();
      return true;
    },
    take() {
      const message = channel.take();
      const id = new DataView(message.bytes.buffer, message.bytes.byteOffset).getFloat64(0, true);
      spin(random(steps));
      Atomics.add(decoded, life, 1);
      message[Symbol.dispose]();
      got(id);
    },
    select() {
      const { value, closed } = select([receiving(channel)]);
      if (!closed) got(value);
      return closed;
    },
    async selectAsync() {
      const { value, closed } = await selectAsync([receiving(channel)]);
      if (!closed) got(value);
      return closed;
    },
    async receiveAsync() {
      got(await channel.receiveAsync());
    },
    async receiveManyAsync() {
      (await channel.receiveManyAsync(1 + random(MANY))).forEach(got);
    },
    async 'for await'() {
      for await (const message of channel) got(message);
      return true;
    },
    async 'for await of batches'() {
      for await (const batch of channel.batches(MANY)) batch.forEach(got);
      return true;
    },
    async 'several promises'() {
      const one = async () => {
        try {
          got(await channel.receiveAsync());
        } catch (error) {
          if (error instanceof Refused) got(error.id);
          else throw error;
        }
      };
      const all = await Promise.allSettled(Array.from({ length: 3 }, one));
      for (const { status, reason } of all) if (status === 'rejected') throw reason;
    },
  }[way];
  while (true) {
    try {
      if (count % OFTEN === 0) await turn();
      if ((await once()) === true) break;
    } catch (error) {
      if (error instanceof Refused) got(error.id);
      else if (error.name === 'ClosedError') break;
      else throw error;
    }
  }
  if (Atomics.load(decoded, life) !== 0) Atomics.add(counts, WRONG, 1);
}
