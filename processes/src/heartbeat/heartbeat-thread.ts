/**
 * The thread that heartbeat.ts starts. It beats ten times a lease for each session that the main thread has named.
 *
 * Its connection may look connected and carry nothing. So the thread probes its connections when a beat is not answered
 * in time. Until the answer comes or the connection is lost, the thread sends no further beat for this session: it would
 * only keep a server busy that cannot follow. After a failover, the connection may also lead to another server than that of the main thread. So the thread
 * resets its connections when the server that answers does not have the session.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { AnswerTimes } from '../drivers/answer-times.js';
import type { Driver, Script } from '../drivers/driver.js';
import { SilentError } from '../drivers/link.js';
import { driverFor } from '../drivers/load.js';
import { eventsHandled } from '../runtime/ticks.js';
import * as wire from '../script/wire.js';
import type { BeatData, BeatOrder } from './heartbeat.js';

const { client, lease, sentAt, options } = workerData as BeatData;
const times = new BigInt64Array(sentAt);
const orders = new Map<number, BeatOrder>();
/** By how many milliseconds the main thread's clock is ahead of this thread's clock, at least. */
let ahead = -Infinity;
/** The beats that are not answered, with the prefix of the channel, and when each was sent. The oldest comes first. */
const owed = new Map<Promise<unknown>, readonly [channel: string, sentAt: number]>();
const answers = new AnswerTimes(lease);

start();

async function start(): Promise<void> {
  const { default: make } = (await import(client)) as { default: () => unknown };
  const [driver, script] = await driverFor(await make(), options);
  parentPort?.on('message', (order: BeatOrder) => {
    ahead = Math.max(ahead, order.at - performance.now());
    if (order.sid === '') orders.delete(order.partition);
    else orders.set(order.partition, order);
  });
  driver.watch({ up: () => parentPort?.postMessage('up'), down: () => {} }, answers);
  setInterval(async () => {
    driver.connect?.();
    // An answer that came while the process stood still is read first.
    if (owed.size > 0) await eventsHandled();
    for (const order of orders.values()) {
      if (isLate(order)) driver.probe(order.channel, new SilentError());
      else beat(driver, script, order).catch(() => {});
    }
  }, lease / 10);
}

async function beat(driver: Driver, script: Script, order: BeatOrder): Promise<void> {
  const { partition, sid, conn, keys, channel } = order;
  const now = performance.now();
  const at = now + ahead;
  const answer = driver.run(script, keys, [...wire.call(sid, conn, channel), ...wire.beatAside()]);
  owed.set(answer, [channel, now]);
  const reply = await answer.finally(() => owed.delete(answer));
  answers.answered(now);
  if (orders.get(partition) !== order) return;
  const [first] = [reply].flat();
  if (wire.isBeat(first)) Atomics.store(times, partition, BigInt(Math.floor(at * 1000)));
  else driver.reset(new Error('the server that has answered does not have the session'));
}

/** Whether a beat for this partition is not answered in time. */
function isLate({ channel }: BeatOrder): boolean {
  for (const [of, since] of owed.values()) if (of === channel) return performance.now() - since > answers.patience;
  return false;
}
