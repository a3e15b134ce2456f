/** A worker of chaos.mjs: makes requests of every kind, for one permit or many, until it is killed or has to stop. */
import process from 'node:process';
import { setImmediate, setTimeout } from 'node:timers';
import { parentPort, workerData } from 'node:worker_threads';
import { Semaphore, TimeoutError } from 'taketurns';
import { lastTicket } from 'taketurns/algorithms';
import {
  arenaOf,
  clear,
  count,
  grantOf,
  hasStopped,
  isEndExact,
  kinds,
  noteAdmission,
  noteRelease,
  noteWait,
  ON_PURPOSE,
  PLAIN,
  random,
} from './chaos-board.mjs';

const { board, handles, slot, seed } = workerData;
const draw = random(seed);
const upTo = (n) => Math.floor(draw() * n);
const STOP = 'stop';
const HALF_WRITTEN = 'half-written';
const never = new Int32Array(new SharedArrayBuffer(4));

// This runs before the library's own handler, which gives back permits of robust semaphores.
if (isEndExact) process.on('exit', () => clear(board, slot, semaphores[PLAIN]));

const semaphores = handles.map((handle) => Semaphore.from(handle));
const arena = arenaOf(semaphores[0]);
for (const semaphore of semaphores) {
  semaphore.onOwnerDied = (deaths) => {
    count(board, 'told', deaths);
    if (draw() < 0.1) throw HALF_WRITTEN;
  };
}
parentPort.postMessage({ thread: arena.thread });
parentPort.on('message', ({ reap }) => parentPort.postMessage({ reaped: arena.reap(reap) }));

/** Makes a request and counts its outcome. Returns the ticket if the request is admitted. */
async function attempt(ask) {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof TimeoutError) count(board, 'timedOut');
    else if (error === STOP) count(board, 'aborted');
    else if (error === HALF_WRITTEN) count(board, 'halfWritten');
    else throw error;
  }
  return undefined;
}

/** Makes a request without a limit of time, and records its wait. */
async function patiently(semaphore, ask) {
  const begun = performance.now();
  const grant = grantOf(semaphore);
  const ticket = await ask();
  noteWait(board, performance.now() - begun, Math.max(0, Number(ticket - grant)));
  return ticket;
}

function block(semaphore, n, how) {
  if (how < 0.4) {
    return patiently(semaphore, () => {
      semaphore.acquire(n);
      return lastTicket(arena);
    });
  }
  if (how < 0.85) semaphore.acquire(n, { timeout: draw() < 0.2 ? 0 : draw() * 4 });
  else if (!semaphore.tryAcquire(n)) {
    count(board, 'refused');
    return undefined;
  }
  return lastTicket(arena);
}

async function wait(semaphore, n, how) {
  // The call has already taken the ticket, which is the place in the queue.
  const queued = async (promise) => {
    const ticket = lastTicket(arena);
    await promise;
    return ticket;
  };
  if (how < 0.4) return patiently(semaphore, () => queued(semaphore.acquireAsync(n)));
  if (how < 0.7) return queued(semaphore.acquireAsync(n, { timeout: draw() * 6 }));
  const controller = new AbortController();
  const { signal } = controller;
  const asked = queued(semaphore.acquireAsync(n, draw() < 0.5 ? { signal } : { signal, timeout: draw() * 20 }));
  const abort = () => controller.abort(STOP);
  if (draw() < 0.3) queueMicrotask(abort);
  else if (draw() < 0.5) setImmediate(abort);
  else setTimeout(abort, upTo(6));
  return asked;
}

/** Makes one request, from its beginning to its end. */
async function use(i, blocks) {
  const semaphore = semaphores[i];
  const { least, most } = kinds[i];
  const n = least + upTo(most - least + 1);
  if (i === PLAIN) Atomics.add(board.asked, slot, n);
  const ticket = await attempt(async () => (blocks ? block : wait)(semaphore, n, draw()));
  if (ticket !== undefined) {
    noteAdmission(board, semaphore, i, n, ticket, slot);
    if (!blocks && draw() < 0.4) await new Promise((resolve) => setImmediate(resolve));
    else if (draw() < 0.2) Atomics.wait(never, 0, 0, draw());
    noteRelease(board, i, n, slot);
    if (draw() < 0.5) semaphore.release(n);
    else for (let k = 0; k < n; k++) semaphore.release();
  }
  if (i === PLAIN) Atomics.sub(board.asked, slot, n);
}

/** Opens a semaphore that all workers know by its name, uses it, and disposes of it. */
async function meet() {
  const semaphore = Semaphore.open('a meeting', 2, { arena, robust: true });
  const mine = draw() < 0.5 ? semaphore : new Semaphore(2, { arena, robust: draw() < 0.5 });
  try {
    mine.acquire(1, { timeout: 1 });
    const later = mine.acquireAsync(2, { timeout: 2 });
    mine.release();
    await later;
    mine.release(2);
  } catch (error) {
    if (!(error instanceof TimeoutError) && error.name !== 'DisposedError') throw error;
  }
  mine.dispose();
  if (draw() < 0.5) semaphore.dispose();
  count(board, 'disposed');
}

const pause = () => new Promise((resolve) => setImmediate(resolve));

/** Does one random action. */
async function act() {
  const what = draw();
  // While a worker blocks, it holds no permits and no promise may get it any. Otherwise two workers might wait for each
  // other.
  if (what < 0.45) await use(upTo(kinds.length), true);
  else if (what < 0.9) await Promise.all(Array.from({ length: 1 + upTo(4) }, () => use(upTo(kinds.length), false)));
  else if (what < 0.99) await meet();
  else if (isEndExact) {
    // The worker ends itself while a promise of it is queued or granted. The promise is of a robust semaphore, because
    // otherwise its permits would be lost.
    const asked = use(upTo(PLAIN), false);
    if (draw() < 0.5) process.exit(0);
    setImmediate(() => {
      throw new Error(ON_PURPOSE);
    });
    await asked;
  }
  await pause();
}

// The loop is not at the top level: Node 20 crashes when a worker is terminated as it begins a module that awaits.
(async () => {
  while (!hasStopped(board)) await act();
  process.exit(0);
})();
