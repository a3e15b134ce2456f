// Runs as a process of its own for one row, one shape and one run. Prints the result as JSON (ChannelsFigures).
//
//   program.js ROW SHAPE SECONDS BUSY

import { type Transferable, Worker } from 'node:worker_threads';
import { Semaphore } from 'taketurns';
import { Channel, number } from 'taketurns/channel';
import { fairness, quantile, total } from '../statistics.js';
import { type ChannelsOrder, type ChannelsReply, COUNTS, LINE, START } from './order.js';
import type { ChannelsFigures } from './results.js';
import { BUSY_THREADS, channelsScriptRow, LOADED, loadOf, SHAPES } from './rows.js';

/** The threads are warm after so many milliseconds, or a third of the interval. */
const WARM_MS = 150;
/** An interval in which nothing comes lasts so long at most. */
const MOST_MS = 20_000;
/** How many messages are not timed, and how many are. */
const PIPELINE = [20_000, 100_000] as const;
const TRIPS = [500, 3000] as const;
const BUSY_TRIPS = [100, 500] as const;
const PERCENTILE = 0.99;

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

type Order = Pick<ChannelsOrder, 'role' | 'from' | 'to' | 'counts'> & { transfer?: readonly Transferable[] };

/** The threads of a run. */
class Team {
  readonly words: Int32Array;
  readonly #row: string;
  readonly #workers: Worker[];
  readonly #replies: Promise<ChannelsReply>[];
  readonly #ready: Promise<unknown>;

  constructor(row: string, orders: readonly Order[]) {
    this.#row = row;
    this.words = new Int32Array(new SharedArrayBuffer(4 * (COUNTS + LINE * orders.length)));
    this.#workers = orders.map((order, i) => this.#start(order, COUNTS + LINE * i));
    for (const worker of this.#workers)
      worker.on('error', (error) => {
        console.error(error.message);
        process.exit(1);
      });
    // A thread first says that it is ready, and then what it has measured.
    const next = (worker: Worker): Promise<ChannelsReply> => new Promise((resolve) => worker.once('message', resolve));
    const ready = this.#workers.map(next);
    this.#replies = this.#workers.map((worker, i) => (ready[i] as Promise<unknown>).then(() => next(worker)));
    this.#ready = Promise.all(ready);
  }

  #start({ transfer = [], ...order }: Order, count: number): Worker {
    const workerData: ChannelsOrder = { ...order, row: this.#row, words: this.words, count };
    return new Worker(new URL('./thread.js', import.meta.url), { workerData, transferList: [...transfer] as never });
  }

  /** Starts the work of all threads at once. */
  async begin(): Promise<void> {
    await this.#ready;
    Atomics.store(this.words, START, 1);
    Atomics.notify(this.words, START);
  }

  reply(i: number): Promise<ChannelsReply> {
    return this.#replies[i] as Promise<ChannelsReply>;
  }

  received(i: number): number {
    return Atomics.load(this.words, COUNTS + LINE * i);
  }
}

const busy = (threads: number): Order[] => Array.from({ length: threads }, () => ({ role: 'compute' as const }));

/** Runs until it is measured, with what processor time and memory it takes. */
async function measured(name: string, shape: string, seconds: number, others: number): Promise<ChannelsFigures> {
  const row = channelsScriptRow(name);
  const load = loadOf(row);
  if (row.measure === 'alone') return alone(name, seconds);
  if (row.measure === 'trip') {
    const [there, back] = [await row.transport.connect(1, 1, load), await row.transport.connect(1, 1, load)];
    const isBusy = shape === LOADED[1];
    const [toAnswer, toAsk] = [there.receivers[0], back.receivers[0]];
    const team = new Team(name, [
      {
        ...{ role: 'ask', counts: isBusy ? BUSY_TRIPS : TRIPS, to: there.senders[0]?.shared, from: toAsk?.shared },
        transfer: [...(there.senders[0]?.transfer ?? []), ...(toAsk?.transfer ?? [])],
      },
      {
        ...{ role: 'answer', from: toAnswer?.shared, to: back.senders[0]?.shared },
        transfer: [...(toAnswer?.transfer ?? []), ...(back.senders[0]?.transfer ?? [])],
      },
      ...busy(isBusy ? BUSY_THREADS : others),
    ]);
    await team.begin();
    const { trips = [] } = await team.reply(0);
    return { microseconds: quantile(trips, 0.5), late: quantile(trips, PERCENTILE) };
  }
  if (row.measure !== 'rate') {
    const first = await row.transport.connect(1, 1, load);
    const last = row.measure === 'pipeline' ? await row.transport.connect(1, 1, load) : first;
    const relay: Order[] =
      row.measure === 'pipeline'
        ? [
            {
              ...{ role: 'relay', from: first.receivers[0]?.shared, to: last.senders[0]?.shared },
              transfer: [...(first.receivers[0]?.transfer ?? []), ...(last.senders[0]?.transfer ?? [])],
            },
          ]
        : [];
    const send = first.senders[0] ?? { shared: undefined };
    const receive = last.receivers[0] ?? { shared: undefined };
    const team = new Team(name, [
      { role: 'send', to: send.shared, counts: PIPELINE, transfer: send.transfer ?? [] },
      { role: 'receive', from: receive.shared, counts: PIPELINE, transfer: receive.transfer ?? [] },
      ...relay,
      ...busy(others),
    ]);
    await team.begin();
    const [begun, ended] = [await team.reply(0), await team.reply(1)];
    const took = ((ended.time ?? 0) - (begun.time ?? 0)) / 1000;
    return { perSecond: PIPELINE[1] / took, megabytes: process.resourceUsage().maxRSS / 1024 };
  }
  const [senders = 1, receivers = 1] = shape.split(':').map(Number);
  const connection = await row.transport.connect(senders, receivers, load);
  const team = new Team(name, [
    ...connection.receivers.map(({ shared, transfer = [] }) => ({ role: 'receive' as const, from: shared, transfer })),
    ...connection.senders.map(({ shared, transfer = [] }) => ({ role: 'send' as const, to: shared, transfer })),
    ...busy(others),
  ]);
  await team.begin();
  await sleep(Math.max(WARM_MS, (seconds * 1000) / 3));
  const counts = (): number[] => connection.receivers.map((_, i) => team.received(i));
  const [before, cpu, begun] = [counts(), process.cpuUsage(), performance.now()];
  const each = (): number[] => counts().map((now, i) => (now - (before[i] ?? 0)) >>> 0);
  // On a busy machine a short interval may pass before a thread runs.
  do await sleep(seconds * 1000);
  while (total(each()) === 0 && performance.now() - begun < MOST_MS);
  const { user, system } = process.cpuUsage(cpu);
  const received = each();
  const took = (performance.now() - begun) / 1000;
  const messages = total(received);
  if (messages === 0) throw new Error('no message was received in the interval');
  return {
    perSecond: messages / took,
    fairness: fairness(received),
    ...(others === 0 && { cpuMicroseconds: (user + system) / messages }),
    megabytes: process.memoryUsage().rss / 2 ** 20,
  };
}

/** A thread that sends to itself, or takes and gives back a permit. */
function alone(name: string, seconds: number): ChannelsFigures {
  const channel = new Channel({ codec: number });
  const semaphore = new Semaphore(1);
  const act = name.startsWith('Semaphore')
    ? () => {
        semaphore.acquire();
        semaphore.release();
      }
    : () => {
        channel.send(1);
        channel.receive();
      };
  const BATCH = 20_000;
  const run = (milliseconds: number): number => {
    const begun = performance.now();
    let operations = 0;
    for (; performance.now() - begun < milliseconds; operations += BATCH) for (let i = 0; i < BATCH; i++) act();
    return (operations * 1000) / (performance.now() - begun);
  };
  run(WARM_MS);
  return { perSecond: run(seconds * 1000) };
}

const [name = '', shape = SHAPES[0], seconds = '1', others = '0'] = process.argv.slice(2);
try {
  console.log(JSON.stringify(await measured(name, shape, Number(seconds), Number(others))));
  process.exit();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
