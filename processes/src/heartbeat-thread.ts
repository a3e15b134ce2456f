/**
 * The thread that heartbeat.ts starts. It beats five times a lease for each session that the main thread has named.
 *
 * Its connection may look connected and carry nothing. Or, after a failover, it may lead to another server than that of
 * the main thread. So the thread resets its connections when a beat is not answered in time, and when the server that
 * answers does not have the session.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { SILENT } from './beats.js';
import type { BeatData, BeatOrder } from './heartbeat.js';
import { driverFor } from './load.js';
import { eventsHandled } from './ticks.js';
import * as wire from './wire.js';

const { client, lease, sentAt } = workerData as BeatData;
const times = new BigInt64Array(sentAt);
const orders = new Map<number, BeatOrder>();
/** By how many milliseconds the main thread's clock is ahead of this thread's clock, at least. */
let ahead = -Infinity;
/** The beats that are not answered, and when each was sent, by this thread's clock. The oldest comes first. */
const owed = new Map<Promise<unknown>, number>();

const { default: make } = (await import(client)) as { default: () => unknown };
const [driver, script] = await driverFor(await make());

async function beat(order: BeatOrder): Promise<void> {
  const { partition, sid, conn, keys, channel } = order;
  const now = performance.now();
  const at = now + ahead;
  const answer = driver.run(script, keys, [...wire.call(sid, conn, channel), ...wire.beatAside()]);
  owed.set(answer, now);
  const reply = await answer.finally(() => owed.delete(answer));
  if (orders.get(partition) !== order) return;
  const [first] = [reply].flat();
  if (wire.isBeat(first)) Atomics.store(times, partition, BigInt(Math.floor(at * 1000)));
  else driver.reset(new Error('the server that has answered does not have the session'));
}

/** Resets the connections if the oldest beat is not answered in time. */
async function watch(): Promise<void> {
  const [oldest] = owed;
  if (!oldest) return;
  // An answer that came while the process stood still is read first.
  await eventsHandled();
  const [answer, since] = oldest;
  // The limit is that of beats.ts.
  if (owed.has(answer) && performance.now() - since > Math.max(250, lease / 6)) driver.reset(SILENT);
}

parentPort?.on('message', (order: BeatOrder) => {
  ahead = Math.max(ahead, order.at - performance.now());
  if (order.sid === '') orders.delete(order.partition);
  else orders.set(order.partition, order);
});

driver.watch({
  up: () => parentPort?.postMessage('up'),
  down: () => {},
});

setInterval(async () => {
  driver.connect?.();
  await watch();
  for (const order of orders.values()) beat(order).catch(() => {});
}, lease / 5);
