/** The thread that heartbeat.ts starts. It beats five times a lease for each session that the main thread has named. */
import { parentPort, workerData } from 'node:worker_threads';
import type { BeatData, BeatOrder } from './heartbeat.js';
import { driverFor } from './load.js';
import * as wire from './wire.js';

const { client, lease, sentAt } = workerData as BeatData;
const times = new BigInt64Array(sentAt);
const orders = new Map<number, BeatOrder>();
/** By how many milliseconds the main thread's clock is ahead of this thread's clock, at least. */
let ahead = -Infinity;

const { default: make } = (await import(client)) as { default: () => unknown };
const [driver, script] = await driverFor(await make());

async function beat(order: BeatOrder): Promise<void> {
  const { partition, sid, conn, keys, channel } = order;
  const at = performance.now() + ahead;
  const reply = await driver.run(script, keys, [...wire.call(sid, conn, channel), ...wire.beatAside()]);
  if (Array.isArray(reply) && wire.isBeat(reply[0]) && orders.get(partition) === order)
    Atomics.store(times, partition, BigInt(Math.floor(at * 1000)));
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

setInterval(() => {
  driver.connect?.();
  for (const order of orders.values()) beat(order).catch(() => {});
}, lease / 5);
