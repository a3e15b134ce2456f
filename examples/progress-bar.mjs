// Workers tell by a channel how much they have done, and the main thread draws a bar. The channel has room for 16
// messages: a worker that tells faster than the main thread draws waits. (To show only the newest state, and never wait,
// use `Watch` of taketurns/channel.)
// Run: node node_modules/taketurns/examples/progress-bar.mjs
// In a clone of the repository: node examples/progress-bar.mjs
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Channel, number } from 'taketurns/channel';

const WORKERS = 4;
const ITEMS = 50;

if (isMainThread) {
  const done = new Channel({ codec: number, capacity: 16, senders: WORKERS }); // closes itself with the last worker
  for (let i = 0; i < WORKERS; i++) new Worker(new URL(import.meta.url), { workerData: done.handle });
  let [sum, shown] = [0, -1];
  for await (const count of done) {
    sum += count;
    const tenths = Math.floor((10 * sum) / (WORKERS * ITEMS));
    if (tenths === shown) continue;
    shown = tenths;
    const bar = `[${'#'.repeat(tenths).padEnd(10, '.')}] ${10 * tenths} %`;
    process.stdout.write(process.stdout.isTTY ? `\r${bar}` : `${bar}\n`);
  }
  if (process.stdout.isTTY) console.log();
} else {
  const done = Channel.from(workerData, number);
  const sender = done.sender();
  for (let i = 0; i < ITEMS; i++) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1); // the work
    done.send(1);
  }
  sender.leave();
}
