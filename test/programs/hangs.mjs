/**
 * Programs that hang, as a new user writes them. The first argument names one. The program prints what a report says of
 * it, as JSON, and ends.
 */
// Before the library.
import './workers/counts-writes.mjs';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Mutex, Semaphore } from 'taketurns';
import { deadlocks, nameThread, report, watchDeadlocks } from 'taketurns/report';
import { Condition, RwLock } from 'taketurns/sync';
import { TOLD } from './workers/counts-writes.mjs';

const [, , name, count = '2', onDeadlock = 'warn', after = '100', onEnd] = isMainThread
  ? process.argv
  : workerData.argv;
const mutex = (i) => Mutex.open(`m${i}`);
const size = Number(count);

/** Tells main, and waits until main lets all threads go on. */
const meet = (i) => {
  const { gate } = workerData;
  Atomics.add(gate, 0, 1);
  Atomics.notify(gate, 0);
  Atomics.wait(gate, 1, 0);
  nameThread(`worker ${i}`);
};

/** What thread i does. */
const threads = {
  ring(i) {
    mutex(i).lock();
    meet(i);
    mutex((i + 1) % size).lock();
  },
  // The thread leaves the deadlock, and gives up what it holds.
  thrown(i) {
    mutex(i).lock();
    meet(i);
    try {
      mutex((i + 1) % size).lock();
      mutex((i + 1) % size).unlock();
    } catch (error) {
      parentPort.postMessage({ error: error.name, edges: error.deadlock.edges.length, message: error.message });
    }
    mutex(i).unlock();
    parentPort.postMessage({ done: i });
  },
  // The last thread to wait must lock its mutex again, so it cannot leave.
  'locks again'(i) {
    const changed = Condition.open('changed', mutex(0));
    if (i === 0) {
      mutex(1).lock();
      mutex(0).lock();
      meet(i);
      changed.wait(); // meanwhile the other thread locks mutex 0
      mutex(1).unlock();
    } else {
      meet(i);
      mutex(0).lock();
      try {
        mutex(1).lock();
      } catch (error) {
        const edges = error.deadlock.edges.map(({ thread, waited }) => ({ name: thread.name, waited }));
        parentPort.postMessage({ error: error.name, edges });
      }
    }
    mutex(0).unlock();
    parentPort.postMessage({ done: i });
  },
  forgotten(i) {
    if (i === 0) {
      mutex(0).lock(); // and never unlocks
      meet(i);
      return new Promise((later) => setTimeout(later, 1e6));
    }
    meet(i);
    mutex(0).lock();
  },
  'no owner'(i) {
    meet(i);
    Semaphore.open('pool', 0).acquire();
  },
  async 'self wait'(i) {
    meet(i);
    await mutex(0).lockAsync();
    await null;
    await mutex(0).lockAsync(); // the same task has the lock
  },
  'blocked main'(i) {
    mutex(0).lock();
    meet(i);
    mutex(1).lock();
  },
  'starved writer'(i) {
    const config = RwLock.open('config');
    if (i === 0) {
      config.lockRead();
      meet(i);
      mutex(0).lock();
      return;
    }
    mutex(0).lock();
    meet(i);
    config.lockWrite();
  },
  robust(i) {
    const pool = Semaphore.open('pool', 2, { robust: true });
    pool.acquire();
    meet(i);
    pool.acquire(); // both threads want a second permit
  },
  // One of them, or main, ends the circle.
  ended(i) {
    mutex(i).lock();
    meet(i);
    try {
      mutex((i + 1) % size).lock(onEnd === 'time-out' && i === 0 ? { timeout: 600 } : {});
    } catch (error) {
      parentPort.postMessage({ error: error.name });
    }
    // One mutex is disposed of, and its name is free.
    if (onEnd !== 'dispose') mutex(i).unlock();
    parentPort.postMessage({ done: i });
  },
  // A permit is free, but a thread stands in line before the last one, and asks for two.
  line(i) {
    const pool = Semaphore.open('pool', 3, { robust: true });
    if (i === 0) pool.acquire(2);
    if (i === 2) mutex(0).lock();
    meet(i);
    if (i === 0) mutex(0).lock();
    if (i === 1) pool.acquire(2);
    while (pool.waiting === 0);
    pool.acquire(1);
  },
  // Something that the look needs is broken.
  'broken look'(i) {
    mutex(i).lock();
    meet(i);
    globalThis.Map = class {
      constructor() {
        throw new RangeError('no memory');
      }
    };
    mutex((i + 1) % size).lock();
  },
};

const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const until = async (is) => {
  for (let left = 2000; left > 0 && !is(); left--) await sleep(5);
};

if (!isMainThread) {
  await threads[name](workerData.i);
} else {
  watchDeadlocks(undefined, { deadlocks: onDeadlock, after: Number(after) });
  const gate = new Int32Array(new SharedArrayBuffer(12));
  const threadCount = name === 'blocked main' ? 1 : size;
  const heard = [];
  const workers = Array.from({ length: threadCount }, (_, i) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { argv: process.argv, i, gate } });
    worker.on('message', (message) => heard.push(message));
    return worker;
  });
  await until(() => Atomics.load(gate, 0) === threadCount);
  if (name === 'blocked main') {
    mutex(1).lock();
    // Another thread reports while main blocks, and ends the process.
    new Worker(
      `import(require('node:worker_threads').workerData.url).then(async ({ report }) => {
         let seen;
         while ((seen = report()).deadlocks.length === 0) await new Promise((later) => setTimeout(later, 20));
         require('node:fs').writeSync(1, JSON.stringify(seen));
         process.kill(process.pid, 'SIGKILL');
       });`,
      { eval: true, workerData: { url: import.meta.resolve('taketurns/report') } },
    );
    await sleep(300);
    Atomics.store(gate, 1, 1);
    Atomics.notify(gate, 1);
    mutex(0).lock();
  }
  Atomics.store(gate, 1, 1);
  Atomics.notify(gate, 1);
  if (name === 'locks again') {
    await until(() => report().objects.find((one) => one.name === 'm1').waiting === 1);
    await sleep(50);
    Condition.open('changed', mutex(0)).notify();
  }
  if (name === 'thrown' || name === 'locks again') {
    await until(() => heard.filter(({ done }) => done !== undefined).length === size);
    console.log(JSON.stringify({ heard, left: report().waiting }));
    process.exit();
  }
  if (name === 'ended') {
    const found = () => deadlocks().certain.length;
    let most = 0;
    const isDone = (some) => () => {
      most = Math.max(most, found());
      return heard.filter(({ done }) => done !== undefined).length >= some;
    };
    if (onEnd !== 'time-out') await until(() => found() === 1);
    if (onEnd === 'cancelAll') mutex(0).cancelAll();
    if (onEnd === 'dispose') mutex(0).dispose();
    if (onEnd === 'death') await workers[0].terminate();
    if (onEnd !== 'time-out') await until(() => found() === 0);
    await until(isDone(onEnd === 'death' ? 1 : size));
    // What a dead thread waited for may still be taken back.
    await until(() => report().waiting === 0);
    const { waiting, suspected } = report();
    console.log(JSON.stringify({ errors: heard.flatMap(({ error }) => error ?? []), most, waiting, suspected }));
    process.exit();
  }
  const waits = name === 'forgotten' ? size - 1 : threadCount;
  const isStuck = () => {
    const { threads, waiting, suspected } = report();
    if (name === 'self wait') return suspected.length > 0;
    return waiting === waits && threads.filter(({ state }) => state === 'asleep').length === waits;
  };
  await until(isStuck);
  if (onDeadlock === 'warn' && name !== 'broken look' && deadlocks().certain.length > 0)
    await until(() => Atomics.load(gate, TOLD) > 0);
  // A second warning would be an error.
  if (onDeadlock === 'warn') await sleep(Number(onEnd ?? 300));
  console.log(JSON.stringify({ ...report(), found: deadlocks() }));
  await Promise.all(workers.map((worker) => worker.terminate()));
  process.exit();
}
