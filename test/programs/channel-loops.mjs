/**
 * Threads that go through channels by loops, and leave the loops by `break`, `return` and throws:
 *
 *     node test/programs/channel-loops.mjs [--minutes 1] [--seed 5]
 *
 * In each round some threads send jobs by a new channel, and others receive them, each by one way after another: `for`,
 * `for await`, `receive`, batches and so on. A receiver leaves its loop after some jobs, and begins another one. The
 * round ends by one stop message for each receiver, by `close`, with the last sender, or by `dispose` in the midst of
 * it. A receiver that has got its stop message lives on. Some jobs are pairs, each of which waits until another thread
 * has begun the other one. In the end of each round:
 *
 *     each job was received exactly once, by the body of a loop or by a call; after `dispose`, at most once
 *     nobody waits, and the channel is empty
 *
 * A round in which nothing moves for `--still` seconds is stuck: somebody waits for ever. At the first finding the
 * program prints the round, and exits with 1.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Arena } from 'taketurns';
import { bytes, Channel, number, receiving, select, selectAsync, value } from 'taketurns/channel';
import { randomOf } from './workers/chaos-team.mjs';

const STOP = -1;
const MOST_JOBS = 2000;
const [SENDERS, RECEIVERS] = [3, 4];

/** The ways to receive one message at a time, and those that receive several. */
const ONE = [
  'for',
  'for',
  'for',
  'for await',
  'receive',
  'receiveAsync',
  'tryReceive',
  'take',
  'select',
  'selectAsync',
];
const SEVERAL = ['batches', 'await batches', 'receiveMany', 'receiveManyAsync'];
const LEAVES = ['break', 'return', 'throw'];
const SENDS = ['send', 'sendAsync', 'sendMany', 'trySend', 'reserve'];
const ENDS = ['stops', 'stops', 'close', 'senders', 'dispose'];

/** How a job travels, by the name of the codec. */
const CODECS = {
  number: { codec: number, pack: (id) => id, unpack: (message) => message },
  value: { codec: value, pack: (id) => ({ id }), unpack: ({ id }) => id },
  bytes: {
    codec: bytes,
    pack: (id) => new Uint8Array(new Float64Array([id]).buffer),
    unpack: (message) => new Float64Array(message.slice().buffer)[0],
  },
};

if (isMainThread) await supervise();
else
  parentPort.on('message', async ({ role, ...round }) => {
    try {
      await (role === 'send' ? send(round) : receive(round));
      parentPort.postMessage({ role });
    } catch (error) {
      parentPort.postMessage({ role, error: `${error.name}: ${error.message}` });
    }
  });

/** Draws what happens in a round. */
function draw(random) {
  const end = ENDS[random(ENDS.length)];
  const receivers = 1 + random(RECEIVERS);
  const hasPairs = receivers > 1 && random(4) === 0;
  const capacity = 2 ** random(9);
  // Jobs of other pairs between those of a pair could keep all receivers busy.
  const senders = hasPairs && capacity === 1 ? 1 : 1 + random(SENDERS);
  // A batch may have the stop messages of other receivers, or both jobs of a pair.
  const ways = end === 'stops' || hasPairs || random(2) === 0 ? ONE : [...ONE, ...SEVERAL];
  return {
    end,
    receivers,
    senders,
    hasPairs,
    codec: Object.keys(CODECS)[random(3)],
    capacity,
    jobs: 2 * (1 + random(MOST_JOBS / 2)),
    ways,
    rests: random(3) === 0,
  };
}

async function supervise() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string', default: String(Date.now() % 1e6) },
      still: { type: 'string', default: '45' },
    },
  });
  const seed = Number(values.seed);
  const random = randomOf(seed);
  // A channel has two objects. A thread stays attached to the channel of its last round until it attaches to another
  // one, also if the channel is disposed of. So each worker may keep one of an earlier round, and this thread has one.
  const arena = new Arena({ objects: 2 * (SENDERS + RECEIVERS + 1), threads: 32, waiters: 256 });
  const shared = {
    seen: new Uint8Array(new SharedArrayBuffer(MOST_JOBS)),
    begun: new Int32Array(new SharedArrayBuffer(4 * MOST_JOBS)),
  };
  const workers = Array.from(
    { length: SENDERS + RECEIVERS },
    () => new Worker(new URL(import.meta.url), { workerData: shared }),
  );
  const end = performance.now() + Number(values.minutes) * 60_000;
  let [rounds, jobs] = [0, 0];
  let failure;
  while (failure === undefined && performance.now() < end) {
    const plan = draw(random);
    failure = await play(plan, random(2 ** 30), arena, workers, shared, Number(values.still) * 1000);
    if (failure !== undefined)
      failure += `, in round ${rounds} of seed ${seed}: ${JSON.stringify({ ...plan, ways: plan.ways.length > ONE.length })}`;
    rounds++;
    jobs += plan.jobs;
  }
  console.log(JSON.stringify({ seed, rounds, jobs, failures: failure === undefined ? [] : [failure] }));
  process.exit(failure === undefined ? 0 : 1);
}

/** Plays a round. Returns what is wrong. */
async function play(plan, seed, arena, workers, { seen, begun }, still) {
  const { codec } = CODECS[plan.codec];
  const senders = plan.end === 'senders' ? plan.senders : undefined;
  const channel = new Channel({ codec, capacity: plan.capacity, arena, ...(senders && { senders }) });
  seen.fill(0);
  begun.fill(0);
  let [sending, receives] = [plan.senders, plan.receivers];
  let sent;
  const allSent = new Promise((resolve) => {
    sent = resolve;
  });
  const errors = [];
  let over;
  const isOver = new Promise((resolve) => {
    over = resolve;
  });
  const told = ({ role, error }) => {
    if (error !== undefined) errors.push(`${role}: ${error}`);
    if (role === 'send' && --sending === 0) sent();
    if (role === 'receive') receives--;
    if (sending === 0 && receives === 0) over();
  };
  const team = workers.slice(0, plan.senders + plan.receivers);
  for (const [i, worker] of team.entries()) {
    worker.on('message', told);
    const isSender = i < plan.senders;
    const round = { ...plan, handle: channel.handle, seed: seed + i, index: i };
    worker.postMessage({ role: isSender ? 'send' : 'receive', ...round });
  }
  const ends = async () => {
    if (plan.end === 'dispose') {
      const count = () => seen.reduce((sum, times) => sum + times, 0);
      while (count() < plan.jobs / 2 && receives > 0) await new Promise((later) => setTimeout(later, 1));
      channel.close();
      channel.dispose();
      return;
    }
    await allSent;
    if (plan.end === 'stops') {
      const { pack } = CODECS[plan.codec];
      for (let i = 0; i < plan.receivers; i++) await channel.sendAsync(pack(STOP));
    } else if (plan.end === 'close') channel.close();
  };
  const ending = ends().catch((error) => errors.push(`the end: ${error.name}: ${error.message}`));
  let timer;
  const isStuck = new Promise((resolve) => {
    let [before, since] = ['', performance.now()];
    timer = setInterval(() => {
      const now = `${seen.join('')} ${sending} ${receives}`;
      if (now !== before) [before, since] = [now, performance.now()];
      else if (performance.now() - since > still) resolve(true);
    }, 100);
  });
  const stuck = await Promise.race([isOver.then(() => ending).then(() => false), isStuck]);
  clearInterval(timer);
  for (const worker of team) worker.off('message', told);
  const state = channel.disposed ? {} : channel.inspect();
  const waiting = channel.disposed ? 0 : state.senders.waiting + state.receivers.waiting;
  if (stuck)
    return `stuck: ${receives} receivers and ${sending} senders go on, size ${state.size}, ${waiting} wait, ${seen.slice(0, plan.jobs).filter((times) => times === 0).length} jobs were not received`;
  if (errors.length > 0) return errors.join('; ');
  const wrong = [...seen.slice(0, plan.jobs)].findIndex((times) => (plan.end === 'dispose' ? times > 1 : times !== 1));
  if (wrong >= 0) return `job ${wrong} was received ${seen[wrong]} times`;
  if (plan.end !== 'dispose' && (state.size !== 0 || waiting !== 0 || state.lost !== 0))
    return `${state.size} messages are left, ${waiting} wait, ${state.lost} are lost`;
  channel.dispose();
  return undefined;
}

/** Whether an error is due to the end of the round. */
const isEnd = ({ name }, end) => name === 'ClosedError' || (name === 'DisposedError' && end === 'dispose');

/** Sends each `senders`-th job; if jobs are pairs, each `senders`-th pair side by side. */
async function send({ handle, codec: name, seed, index, senders, jobs, hasPairs, end }) {
  const { codec, pack } = CODECS[name];
  const random = randomOf(seed);
  try {
    const channel = Channel.from(handle, codec);
    const sender = end === 'senders' ? channel.sender() : undefined;
    for (let pair = index; pair < jobs / 2; pair += senders) {
      const two = [pack(2 * pair), pack(2 * pair + 1)];
      const way = hasPairs ? 'sendMany' : SENDS[random(SENDS.length)];
      if (way === 'sendMany' && channel.capacity > 1) channel.sendMany(two);
      else
        for (const one of two) {
          if (way === 'sendAsync') await channel.sendAsync(one);
          else if (way === 'trySend') {
            while (!channel.trySend(one)) await new Promise(setImmediate);
          } else if (way === 'reserve') {
            // Now and then a place is dropped: a hole.
            if (random(4) === 0) channel.reserve()[Symbol.dispose]();
            channel.send(one);
          } else channel.send(one);
        }
    }
    sender?.leave();
  } catch (error) {
    if (!isEnd(error, end)) throw error;
  }
}

class Left extends Error {}

async function receive({ handle, codec: name, seed, ways, end, hasPairs, rests }) {
  const { codec, unpack } = CODECS[name];
  const random = randomOf(seed);
  const { seen, begun } = workerData;
  let isDone = false;
  try {
    const channel = Channel.from(handle, codec);
    /** Does a job. Returns whether the loop is to be left: after a stop message, or after some jobs. */
    const does = (message) => {
      const id = unpack(message);
      if (id === STOP) {
        isDone = true;
        return true;
      }
      Atomics.add(seen, id, 1);
      if (hasPairs) {
        Atomics.store(begun, id, 1);
        Atomics.notify(begun, id);
        while (Atomics.load(begun, id ^ 1) === 0) {
          const isOver = Atomics.wait(begun, id ^ 1, 0, 100) === 'timed-out' && end === 'dispose' && channel.closed;
          if (isOver) return true;
        }
      }
      return random(8) === 0;
    };
    while (!isDone) {
      const way = ways[random(ways.length)];
      const leave = LEAVES[random(LEAVES.length)];
      if (await goThrough(channel, name, way, leave, does, random)) return;
      if (rests && random(4) === 0) await new Promise((later) => setTimeout(later, 1));
      else if (random(64) === 0) await new Promise(setImmediate);
    }
  } catch (error) {
    if (!isEnd(error, end)) throw error;
  }
}

/** Receives one way, until `does` says that the loop is to be left. Returns whether the channel has ended. */
async function goThrough(channel, codecName, way, leave, does, random) {
  /** A body of a loop: leaves by what it returns, or by a throw. */
  const body = (message) => {
    const isLeft = does(message);
    if (isLeft && leave === 'throw') throw new Left();
    return isLeft;
  };
  try {
    if (way === 'for') return overMessages(channel, leave, body);
    if (way === 'for await') return await overMessagesAsync(channel, leave, body);
    if (way === 'batches') {
      for (const batch of channel.batches(1 + random(9))) if (doesAll(batch, does)) return false;
      return true;
    }
    if (way === 'await batches') {
      for await (const batch of channel.batches(1 + random(9))) if (doesAll(batch, does)) return false;
      return true;
    }
    if (way === 'receiveMany') doesAll(channel.receiveMany(1 + random(9)), does);
    else if (way === 'receiveManyAsync') doesAll(await channel.receiveManyAsync(1 + random(9)), does);
    else if (way === 'receive') body(channel.receive());
    else if (way === 'receiveAsync') body(await channel.receiveAsync());
    else if (way === 'tryReceive') {
      const received = channel.tryReceive();
      if (received !== undefined) body(received.value);
    } else if (way === 'take') body(taken(channel, codecName));
    else {
      const cases = [receiving(channel)];
      const { value: message, closed } = way === 'select' ? select(cases) : await selectAsync(cases);
      if (closed) return true;
      body(message);
    }
    return false;
  } catch (error) {
    if (!(error instanceof Left)) throw error;
    return false;
  }
}

/** Does all jobs of a batch. Returns whether to leave. */
function doesAll(batch, does) {
  let isLeft = false;
  for (const message of batch) isLeft = does(message) || isLeft;
  return isLeft;
}

/** Returns whether the channel has ended. */
function overMessages(channel, leave, body) {
  let isLeft = false;
  for (const message of channel) {
    isLeft = body(message);
    if (isLeft && leave === 'return') return false;
    if (isLeft) break;
  }
  return !isLeft;
}

async function overMessagesAsync(channel, leave, body) {
  let isLeft = false;
  for await (const message of channel) {
    isLeft = body(message);
    if (isLeft && leave === 'return') return false;
    if (isLeft) break;
  }
  return !isLeft;
}

/** Takes a message without a copy, where its bytes are those of a number, and returns what `receive` would return. */
function taken(channel, codecName) {
  if (codecName === 'value') return channel.receive();
  const message = channel.take();
  const id = new DataView(message.bytes.buffer, message.bytes.byteOffset).getFloat64(0, true);
  message[Symbol.dispose]();
  return CODECS[codecName].pack(id);
}
