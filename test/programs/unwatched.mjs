/**
 * Workers, and workers that they start in turn, use objects of all classes: they lock, read, write, acquire, hold
 * tasks, wait for an event and on a condition, meet at a barrier, count a latch down, and run a function once. One of
 * the workers is killed every 50 ms. Nobody calls `watch` or `reap`.
 *
 * At the end every permit must be free again, every task done and no lock held. No record of a thread may be in use
 * except that of the main thread. No two threads may ever have been in one section. The program prints a report as
 * JSON, and exits with 1 if anything is wrong. test/stress/unwatched.test.ts runs it for a while.
 * `npm run chaos -w runtimes` runs it on any runtime:
 *
 *     node test/programs/unwatched.mjs [seconds [milliseconds between two kills [seed]]]
 */
import process from 'node:process';
import { clearInterval, setInterval, setTimeout } from 'node:timers';
import { Worker } from 'node:worker_threads';
import { Arena, Mutex, Semaphore } from 'taketurns';
import { Condition, Event, RwLock, WaitGroup } from 'taketurns/sync';
import { faultsOf, get, newWords, ON_PURPOSE, put, random, SLOTS } from './workers/unwatched-board.mjs';

const [seconds = 5, every = 50, seed = Date.now() % 100_000] = process.argv.slice(2).map(Number);
/** How many milliseconds the program waits for events that must come. */
const DEADLINE = 30_000;
const PERMITS = [1, 5];

const draw = random(seed);
const upTo = (n) => Math.floor(draw() * n);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// The arena has room for few threads, so records that do not come back are soon missing.
const arena = new Arena({ threads: 8 * SLOTS, waiters: 1024, objects: 256 });
const mutex = new Mutex({ arena });
const semaphores = PERMITS.map((permits) => new Semaphore(permits, { arena, robust: true }));
const group = new WaitGroup({ arena });
const event = new Event({ arena });
const condition = new Condition(mutex);
const lock = new RwLock({ arena });
const handles = {
  arena: arena.handle,
  mutex: mutex.handle,
  semaphores: semaphores.map(({ handle }) => handle),
  group: group.handle,
  event: event.handle,
  condition: condition.handle,
  lock: lock.handle,
};
const words = newWords();
const wrong = [];
let [started, running] = [0, 0];
let stopping = false;

const crowd = Array.from({ length: SLOTS }, (_, slot) => start(slot));

function start(slot) {
  put(words, 'up', 0, slot);
  const workerData = { slot, depth: 0, seed: seed + started++, words, handles };
  const worker = new Worker(new URL('./workers/unwatched.mjs', import.meta.url), { workerData });
  running++;
  worker.on('error', (error) => {
    if (error.message !== ON_PURPOSE) wrong.push(`a worker has failed: ${error.stack ?? error.message}`);
  });
  worker.once('exit', () => {
    running--;
    if (!stopping) crowd[slot] = start(slot);
  });
  return worker;
}

let killed = 0;

/** Kills a worker that is up, or tells it to kill the worker that it has started. */
function kill() {
  const up = crowd.map((_, slot) => slot).filter((slot) => get(words, 'up', slot) === 1);
  const slot = up[upTo(up.length)];
  if (slot === undefined) return;
  if (draw() < 0.5) {
    put(words, 'killChild', 1, slot);
    return;
  }
  put(words, 'up', 0, slot);
  killed++;
  crowd[slot].terminate();
}

/** Returns whether the condition becomes true before the deadline. */
async function comes(condition) {
  for (const end = performance.now() + DEADLINE; !condition(); await sleep(5))
    if (performance.now() > end) return false;
  return true;
}

const rss = [];
const kills = setInterval(kill, every);
for (let quarter = 0; quarter < 4; quarter++) {
  await sleep(250 * seconds);
  rss.push(Math.round(process.memoryUsage().rss / 2 ** 20));
}
// On a slow machine the workers may hardly be up by now.
await comes(() => {
  const counts = [killed, ...['killed', 'sections'].map((what) => get(words, what))];
  return Math.min(...counts) > 0 && get(words, 'rounds') + get(words, 'openings') + get(words, 'last done') > 0;
});
clearInterval(kills);
stopping = true;
put(words, 'stop', 1);
if (!(await comes(() => running === 0))) wrong.push(`${running} workers are stuck`);
await comes(() => arena.threads === 1);
const recordsLost = arena.threads - 1;
const permitsLost = semaphores.reduce((sum, { available }, i) => sum + PERMITS[i] - available, Number(mutex.locked));
if (recordsLost) wrong.push(`${recordsLost} records of threads are lost: ${JSON.stringify(arena.stats().threads)}`);
const tasksLost = group.pending;
if (tasksLost) wrong.push(`${tasksLost} tasks are never done: ${JSON.stringify(group.inspect())}`);
if (event.waiting) wrong.push(`${event.waiting} calls wait for the event`);
if (condition.waiting) wrong.push(`${condition.waiting} calls wait on the condition`);
const { readers, writer, waiters } = lock.inspect();
if (readers.length > 0 || writer !== undefined || lock.writing || waiters.length > 0)
  wrong.push(`the lock is not free: ${JSON.stringify(lock.inspect())}`);
if (!lock.tryLockWrite()) wrong.push('nobody has the lock, and it cannot be had');
if (permitsLost) wrong.push(`${permitsLost} permits are lost`);
// A remainder of the last cancelled wait may stay in line until the next wait, or until the condition is disposed of.
condition.dispose();
const { waiting, cancelled } = arena.stats();
if (waiting || cancelled) wrong.push(`${waiting} requests wait, ${cancelled} are cancelled`);
for (const [fault, times] of Object.entries(faultsOf(words))) if (times) wrong.push(`${fault}: ${times} times`);

console.log(
  JSON.stringify({
    ...{ seconds, every, seed, started: started + get(words, 'started'), killed, killedChildren: get(words, 'killed') },
    ...{
      sections: get(words, 'sections'),
      rounds: get(words, 'rounds'),
      openings: get(words, 'openings'),
      done: get(words, 'last done'),
      ownerDeaths: mutex.inspect().ownerDeaths,
      taskDeaths: group.deaths,
      writerDeaths: lock.inspect().deaths,
      permitsLost,
      tasksLost,
      recordsLost,
      rss,
      wrong,
    },
  }),
);
process.exit(wrong.length ? 1 : 0);
