/** A worker is the first thread to share an arena, so it starts the keeper, and the keeper ends with this worker. */
import { BroadcastChannel, isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const DEADLINE = 10_000;
const [scene, keeperAt] = process.argv.slice(2);

/** What a worker does. It posts what the scene waits for, and never turns its event loop after that. */
const parts = {
  async shares() {
    const { Mutex } = await import('taketurns');
    parentPort.postMessage(new Mutex().handle);
  },
  async attaches() {
    const { Mutex } = await import('taketurns');
    parentPort.postMessage(Mutex.from(workerData.handle).locked);
  },
  async locks() {
    const { Mutex } = await import('taketurns');
    Mutex.from(workerData.handle).lock();
    parentPort.postMessage(0);
  },
  /** Locks when it is told that another thread has the lock, and never turns its event loop. */
  async locksNext() {
    const { Mutex } = await import('taketurns');
    const mutex = Mutex.from(workerData.handle);
    const told = new Int32Array(new SharedArrayBuffer(4));
    parentPort.postMessage(told);
    Atomics.wait(told, 0, 0);
    mutex.lock({ timeout: DEADLINE });
    parentPort.postMessage(0);
  },
};

/** Starts a worker, and returns the worker and what it posts first. */
async function play(part, handle) {
  const worker = new Worker(new URL(import.meta.url), { workerData: { part, handle } });
  const said = await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  return { worker, said };
}

async function firstShared() {
  const { worker, said } = await play('shares');
  await worker.terminate();
  return said;
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const wordOf = (handle) => new Int32Array(handle.arena.memory.buffer, Number(keeperAt), 1);
/** A name of a keeper that no thread has, and a channel in which the thread is that has started this keeper. */
const NAME = 1_000_000;
const starter = () => new BroadcastChannel(`taketurns:starter:${NAME}`);

const scenes = {
  async ended() {
    const handle = await firstShared();
    const { Mutex } = await import('taketurns');
    const mutex = Mutex.from(handle);
    const { worker } = await play('locks', handle);
    worker.terminate();
    mutex.lock({ timeout: DEADLINE });
  },
  async workers() {
    const handle = await firstShared();
    const { worker: next, said: told } = await play('locksNext', handle);
    const { worker } = await play('locks', handle);
    const locked = new Promise((resolve) => next.once('message', resolve));
    Atomics.store(told, 0, 1);
    Atomics.notify(told, 0);
    worker.terminate();
    await locked;
    await next.terminate();
  },
  async blocked() {
    const handle = await firstShared();
    const word = wordOf(handle);
    Atomics.store(word, 0, NAME);
    const channel = starter();
    const { worker } = await play('attaches', handle);
    if (word[0] !== NAME) throw new Error('a keeper that lives is replaced');
    // The worker has told this keeper of itself. Messages to the keeper must not pile up in the worker.
    const door = new BroadcastChannel(`taketurns:keeper:${NAME}`);
    const symbol = Object.getOwnPropertySymbols(door).find(({ description }) => description === 'kHandle');
    if (door[symbol].postMessage(0)) throw new Error('a thread that blocks stays in the channel of the keeper');
    door.close();
    channel.close();
    await sleep(10);
    const { worker: other } = await play('attaches', handle);
    if (word[0] === NAME) throw new Error('a keeper that is dead stays');
    await Promise.all([worker.terminate(), other.terminate()]);
  },
  async unanswered() {
    const handle = await firstShared();
    const word = wordOf(handle);
    Atomics.store(word, 0, NAME);
    const channel = starter();
    const worker = new Worker(new URL(import.meta.url), { workerData: { part: 'attaches', handle, stays: true } });
    await new Promise((resolve) => worker.once('message', resolve));
    await sleep(300);
    if (word[0] !== NAME) throw new Error('a keeper that lives is replaced');
    channel.close();
    while (word[0] === NAME) await sleep(1);
    await worker.terminate();
  },
};

if (isMainThread) {
  await scenes[scene]();
  console.log('done');
} else {
  await parts[workerData.part]();
  if (workerData.stays) setInterval(() => {}, 1000);
  else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
