/**
 * Sixteen workers acquire and release in every way, and one of them is killed every 50 ms. At the end every permit must
 * be free again, and no thread may be stuck. The program prints a report as JSON, and exits with 1 if anything is
 * wrong. test/stress/chaos.test.ts runs it for a while. By hand you can run it on Node, Deno or Bun:
 *
 *     node test/programs/chaos.mjs [seconds [seed]]
 */
import process from 'node:process';
import { clearInterval, setInterval, setTimeout } from 'node:timers';
import { Worker } from 'node:worker_threads';
import { Arena, Semaphore } from 'taketurns';
import { lastTicket } from 'taketurns/algorithms';
import { tuned } from '../support/tuned.mjs';
import {
  clear,
  countsOf,
  faultsOf,
  isEndExact,
  kinds,
  longestWait,
  makeBoard,
  noteAdmission,
  ON_PURPOSE,
  PLAIN,
  random,
  SLOTS,
  stop,
} from './workers/chaos-board.mjs';

const seconds = Number(process.argv[2] ?? 5);
const seed = Number(process.argv[3] ?? Date.now() % 100_000);
const KILL_EVERY = 50;
/** How many milliseconds the program waits for events that must come. */
const DEADLINE = 30_000;

const draw = random(seed);
const upTo = (n) => Math.floor(draw() * n);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
// The arena has room for many objects, because nobody frees the objects of a worker that was killed before it disposed
// of them. It has no keeper: a permit that a keeper gives back would be in use again before the board knows that its
// holder is dead.
const arena = new Arena({
  watch: false,
  objects: 8192,
  threads: 64,
  waiters: 1024,
  slots: seed % 2 ? 2 : 64,
});
const semaphores = kinds.map(({ permits, robust }) =>
  tuned(new Semaphore(permits, { arena, robust, max: 2 ** 31 - 1 }), { spin: seed % 3 ? 0 : 200 }),
);
const board = makeBoard();
const wrong = [];
let [started, ended, killed, reapedByOthers, unsure] = [0, 0, 0, 0, 0];
let stopping = false;

// The worker of each slot, which reports its `thread`. Some workers are not watched. Another thread reaps these by
// their handles.
const crowd = Array.from({ length: SLOTS }, (_, slot) => start(slot));

function start(slot) {
  const worker = new Worker(new URL('./workers/chaos.mjs', import.meta.url), {
    workerData: { slot, seed: seed * 100 + started, board, handles: semaphores.map(({ handle }) => handle) },
  });
  const isWatched = !isEndExact || draw() < 0.7;
  const member = { worker, isWatched, thread: undefined };
  started++;
  worker.on('message', ({ thread, reaped }) => {
    if (thread) member.thread = thread;
    else if (reaped) reapedByOthers++;
  });
  worker.on('error', (error) => {
    if (error.message !== ON_PURPOSE) wrong.push(`a worker has failed: ${error.stack}`);
  });
  worker.on('exit', () => {
    member.worker = undefined;
    // This runs before the worker is reaped, while no other thread has its permits.
    if (isEndExact) unsure += clear(board, slot, semaphores[PLAIN]);
    if (!isWatched && member.thread) reapByAnother(member.thread);
  });
  if (isWatched) arena.watch(worker);
  worker.on('exit', () => {
    ended++;
    if (!stopping) crowd[slot] = start(slot);
  });
  return member;
}

/** Lets another worker reap the thread. If that worker dies first, this thread reaps it. */
function reapByAnother(thread) {
  crowd[upTo(SLOTS)].worker?.postMessage({ reap: thread });
  setTimeout(() => arena.reap(thread), 100);
}

function kill() {
  const { worker, isWatched, thread } = crowd[upTo(SLOTS)];
  if (!worker || !(isWatched || thread)) return;
  killed++;
  worker.terminate();
}

/** Waits for a semaphore without a limit, again and again. Returns how often it was admitted. */
async function queue(semaphore, i) {
  const { least, most } = kinds[i];
  let admissions = 0;
  while (!stopping) {
    const n = least + upTo(most - least + 1);
    const asked = semaphore.acquireAsync(n);
    const ticket = lastTicket(arena);
    await asked;
    noteAdmission(board, semaphore, i, n, ticket);
    admissions++;
    semaphore.release(n);
    await sleep(1);
  }
  return admissions;
}

/** Returns whether the condition becomes true before the deadline. */
async function comes(condition) {
  const end = performance.now() + DEADLINE;
  while (!condition() && performance.now() < end) await sleep(5);
  return condition();
}

let admissions;
Promise.all(semaphores.map(queue)).then((counts) => {
  admissions = counts;
});
const killing = setInterval(kill, KILL_EVERY);
await sleep(seconds * 1000);
clearInterval(killing);
stopping = true;
stop(board);
// Permits of the semaphore that is not robust may be lost. These permits are enough for all that still wait.
const plain = semaphores[PLAIN];
plain.release(kinds[PLAIN].permits);

if (!(await comes(() => ended === started && admissions))) {
  wrong.push(
    `stuck: ${JSON.stringify({ arena: arena.stats(), semaphores: semaphores.map((each) => each.inspect()) })}`,
  );
} else if (!(await comes(() => arena.threads === 1)))
  wrong.push(`not reaped: ${JSON.stringify(arena.stats().threads)}`);

const lost = 2 * kinds[PLAIN].permits - plain.available;
if (lost < 0) wrong.push(`${-lost} permits have been made`);
if (isEndExact && lost > unsure) wrong.push(`${lost} permits are lost, and ${unsure} may be`);
for (const [i, semaphore] of semaphores.entries()) {
  const { permits, robust, name } = kinds[i];
  const { available, waiting, cancelled, holders } = semaphore.inspect();
  if (robust && available !== permits) wrong.push(`${name}: ${available} of ${permits} permits are there`);
  if (waiting || cancelled || holders.length)
    wrong.push(`${name}: ${waiting} wait, ${cancelled} are cancelled, ${holders.length} hold permits`);
}
for (const [fault, times] of Object.entries(faultsOf(board))) if (times) wrong.push(`${fault}: ${times} times`);
const ownerDeaths = semaphores.reduce((sum, semaphore) => sum + semaphore.inspect().ownerDeaths, 0);
const counts = countsOf(board);
if (counts.told > ownerDeaths) wrong.push(`${counts.told} deaths were told, and ${ownerDeaths} have been`);
for (const semaphore of semaphores) semaphore.dispose();
// Two elements belong to this thread.
const { used } = arena.stats().elements;
if (used > 2) wrong.push(`${used} elements are in use`);

console.log(
  JSON.stringify({
    ...{ seconds, seed, started, killed, reapedByOthers, ...counts, ownerDeaths, admissions, lost },
    ...{ longestWait: longestWait(board), wrong },
  }),
);
process.exit(wrong.length ? 1 : 0);
