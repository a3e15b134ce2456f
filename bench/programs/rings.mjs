/**
 * Measures how soon a deadlock is found: threads in a ring, each of which holds a mutex and waits for that of the next.
 * In each round one thread, and only one, must get a DeadlockError that names the whole ring. The time is counted from
 * the moment at which the last thread asks for its second mutex.
 *
 *     node bench/programs/rings.mjs [--sizes 2,3,8,64] [--rounds 250]
 *
 * Exits with 1 if a round has another end. `npm run build` must come before.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { median } from 'simple-statistics';
import { Mutex } from 'taketurns';
import { watchDeadlocks } from 'taketurns/report';
import { Barrier } from 'taketurns/sync';

const clock = () => performance.timeOrigin + performance.now();

if (isMainThread) {
  const { values } = parseArgs({
    options: { sizes: { type: 'string', default: '2,3,8,64' }, rounds: { type: 'string', default: '250' } },
  });
  const rounds = Number(values.rounds);
  watchDeadlocks(undefined, { deadlocks: 'throw' });
  console.log(`Node ${process.version}, load ${loadavg()[0].toFixed(1)}`);
  const measured = values.sizes.split(',').map(async (text) => {
    const size = Number(text);
    const times = [];
    let wrong = 0;
    /** What the threads of each round have told: when they asked, and the edges and time of an error. */
    const told = Array.from({ length: rounds }, () => []);
    const threads = Array.from({ length: size }, (_, i) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: { size, rounds, i } });
      worker.on('message', ({ round, ...one }) => told[round].push(one));
      return new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject));
    });
    await Promise.all(threads);
    for (const all of told) {
      const errors = all.filter(({ edges }) => edges !== undefined);
      if (all.length !== size || errors.length !== 1 || errors[0].edges !== size) wrong++;
      else times.push(errors[0].at - Math.max(...all.map(({ asked }) => asked)));
    }
    if (wrong > 0) process.exitCode = 1;
    const [least, middle, most] = [Math.min(...times), median(times), Math.max(...times)].map((ms) => ms.toFixed(0));
    console.log(`${size} threads: ${times.length} of ${rounds} named, after ${middle} ms (${least} to ${most})`);
  });
  await Promise.all(measured);
} else {
  const { size, rounds, i } = workerData;
  const of = (n) => Mutex.open(`ring of ${size}, ${n % size}`);
  const [mine, next] = [of(i), of(i + 1)];
  const meeting = Barrier.open(`ring of ${size}`, size);
  for (let round = 0; round < rounds; round++) {
    mine.lock();
    meeting.arriveAndWait();
    const said = { round, asked: clock() };
    try {
      next.lock();
      next.unlock();
    } catch (error) {
      if (error.name !== 'DeadlockError') throw error;
      Object.assign(said, { at: clock(), edges: error.deadlock.edges.length });
    }
    mine.unlock();
    parentPort.postMessage(said);
    meeting.arriveAndWait();
  }
  meeting.leave();
}
