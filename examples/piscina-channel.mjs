// A work queue beside piscina. Piscina starts the threads, loads their module and ends them. The channel has what its queue
// lacks: it holds eight jobs and no more, so whoever makes jobs waits meanwhile. Each thread runs one task of piscina, a
// loop over the channel, and reports its progress by a second channel.
// Run: npm install piscina && node node_modules/taketurns/examples/piscina-channel.mjs
// In a clone of the repository: node examples/piscina-channel.mjs
import { isMainThread } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { Channel, number } from 'taketurns/channel';

const THREADS = 3;
const JOBS = 300;

if (isMainThread) {
  const jobs = new Channel({ codec: number, capacity: 8 });
  const progress = new Channel({ codec: number, capacity: 8 });
  const pool = new Piscina({ filename: import.meta.url, minThreads: THREADS, maxThreads: THREADS });
  const handles = { jobs: jobs.handle, progress: progress.handle };
  const tasks = Array.from({ length: THREADS }, () => pool.run(handles));

  const making = (async () => {
    for (let job = 1; job <= JOBS; job++) await jobs.sendAsync(job); // waits while eight jobs are there
    jobs.close();
  })();
  for (let done = 1; done <= JOBS; done++) {
    await progress.receiveAsync();
    if (done % 100 === 0) console.log(`${done} jobs done`);
  }
  await making;
  const sums = await Promise.all(tasks); // what each task returns
  console.log(`the jobs add up to ${sums.reduce((a, b) => a + b)}`);
  await pool.destroy();
}

/** Piscina runs this in each of its threads. */
export default function work(handles) {
  const progress = Channel.from(handles.progress, number);
  let sum = 0;
  for (const job of Channel.from(handles.jobs, number)) {
    sum += job;
    progress.send(job);
  }
  return sum;
}
