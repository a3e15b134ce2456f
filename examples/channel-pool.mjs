// A pool of threads in forty lines. Jobs go to whichever worker is free. Each job carries the handle of the channel for its
// result, and the results are put in the order of the jobs. While eight jobs are under way, the main thread waits. If a
// worker dies, the jobs whose results have not come are sent again.
// Run: node node_modules/taketurns/examples/channel-pool.mjs
// In a clone of the repository: node examples/channel-pool.mjs
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Channel, value } from 'taketurns/channel';

const WORKERS = 3;
const JOBS = 60;
const UNDER_WAY = 8;

if (isMainThread) {
  const jobs = new Channel({ codec: value, capacity: UNDER_WAY, bytes: 400 });
  // Eight jobs, and once more the eight of a dead worker: no worker waits for room, while the main thread waits to send.
  const results = new Channel({ codec: value, capacity: 2 * UNDER_WAY });
  const start = () => new Worker(new URL(import.meta.url), { workerData: jobs.handle });
  const workers = Array.from({ length: WORKERS }, start);
  const found = [];
  const waiting = new Set();
  const send = (job) => jobs.sendAsync({ job, reply: results.handle });
  const receive = async () => {
    const { job, result } = await results.receiveAsync();
    found[job] = result;
    waiting.delete(job);
  };
  // A job that a dead worker had in hand is lost: all whose results have not come are sent again. Meanwhile the last result
  // may come, and the channel may be closed.
  workers[0].once('exit', async () => {
    for (const job of [...waiting]) if (waiting.has(job)) await send(job).catch(() => {});
  });
  for (let job = 0; job < JOBS; job++) {
    while (waiting.size === UNDER_WAY) await receive();
    waiting.add(job);
    await send(job);
    if (job === JOBS / 2) workers[0].terminate();
  }
  while (waiting.size > 0) await receive();
  jobs.close(); // the workers' loops end
  console.log(`${found.length} results, ${found.filter((result, job) => result === job ** 2).length} in their places`);
} else {
  for (const { job, reply } of Channel.from(workerData, value))
    Channel.from(reply, value).send({ job, result: job ** 2 });
}
