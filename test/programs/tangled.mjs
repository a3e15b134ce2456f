/**
 * Threads that lock several objects in no order at all, so that they wait in circles again and again. The youngest
 * waiter of each circle gets a DeadlockError, and gives back what it holds. Each thread writes down what it holds and
 * what it waits for without a time limit. The thread with the error compares the error with that (workers/notes.mjs).
 * Prints the counts.
 *
 * If a circle is missed, the program hangs. The first argument is the least number of milliseconds; the program also
 * goes on until some threads have got an error. With the second argument `noise`, the main thread cancels waiters
 * meanwhile.
 */
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { CancelledError, Mutex, Semaphore, TimeoutError } from 'taketurns';
import { DeadlockError, deadlocks, nameThread, report, watchDeadlocks } from 'taketurns/report';
import { Condition, RwLock } from 'taketurns/sync';
import { Notes } from './workers/notes.mjs';

const THREADS = 6;
/** The program goes on until so many errors were thrown. */
const ENOUGH = 3;

const mutexes = [0, 1, 2].map((i) => Mutex.open(`m${i}`));
const pool = Semaphore.open('pool', 3, { robust: true });
const config = RwLock.open('config');
const rung = Condition.open('rung', mutexes[0]);
const names = ['m0', 'm1', 'm2', 'pool', 'config'];
const random = (n) => Math.floor(Math.random() * n);

const locks = [
  ...mutexes.map((mutex) => (options) => mutex.hold(options)),
  (options) => pool.hold(1 + random(2), options),
  (options) => [() => config.read(options), () => config.write(options), () => config.update(options)][random(3)](),
];
/** @param thrown how many errors all threads have got. */
function work({ i, memory, thrown, end }) {
  const notes = new Notes(memory);
  const counts = { rounds: 0, thrown: 0, unsure: 0, wrong: [], timeouts: 0, cancelled: 0 };
  const nap = new Int32Array(new SharedArrayBuffer(4));
  /** The objects that the thread holds, as bits. */
  let holds = 0;
  const holdsNow = (object, is) => {
    holds = is ? holds | (1 << object) : holds & ~(1 << object);
    notes.write(i, holds);
  };

  /** Waits for an object, and writes that down. */
  const wait = (object, call) => {
    const options = random(4) === 0 ? { timeout: random(20) } : {};
    const begun = notes.write(i, holds, options.timeout === undefined ? object : undefined);
    try {
      return call(options);
    } catch (error) {
      notes.write(i, holds);
      if (error instanceof DeadlockError) check(error, begun);
      else if (error instanceof CancelledError) counts.cancelled++;
      else if (error instanceof TimeoutError) counts.timeouts++;
      else throw error;
      return undefined;
    }
  };

  const check = ({ deadlock: { edges, text } }, begun) => {
    counts.thrown++;
    Atomics.add(thrown, 0, 1);
    const isRing = edges.every(({ holds }, k) => holds.name === edges.at(k - 1).waitsFor.name);
    const isOwn = edges.some(({ thread }) => thread.name === `${i}`);
    const all = edges.map(({ thread, holds, waitsFor }) => {
      const [held, wanted] = [holds, waitsFor].map(({ name }) => names.indexOf(name));
      // A writer that waits for readers has the turn, and not the lock.
      const hasTurn = holds.name === 'config' && waitsFor.name === 'config';
      return [Number(thread.name), hasTurn ? undefined : held, wanted];
    });
    const { verdict, why } = notes.judge(all, begun);
    if (verdict === 'unsure') counts.unsure++;
    if (!isRing || !isOwn || verdict === 'wrong')
      counts.wrong.push(`ring ${isRing}, own ${isOwn}, ${verdict} ${why}: ${text}`);
  };

  const enter = (order, isOutermost = false) => {
    if (order.length === 0) {
      if (random(4) === 0) Atomics.wait(nap, 0, 0, random(4));
      return;
    }
    const [object, ...others] = order;
    const held = wait(object, locks[object]);
    if (held === undefined) return;
    holdsNow(object, true);
    if (object === 0 && isOutermost && random(4) === 0) {
      // While it waits it holds nothing, and nobody can know who will notify. Then it cannot leave the queue of the
      // mutex.
      holdsNow(object, false);
      try {
        rung.wait({ timeout: 1 + random(5) });
      } catch {
        // Nobody has notified.
      }
      holdsNow(object, true);
    }
    enter(others);
    const upgraded = held.upgrade && random(2) === 0 ? wait(object, (options) => held.upgrade(options)) : undefined;
    if (upgraded) notes.write(i, holds);
    upgraded?.unlock();
    holdsNow(object, false);
    (held.release ?? held.unlock).call(held);
  };

  const isOver = () => performance.timeOrigin + performance.now() >= end && Atomics.load(thrown, 0) >= ENOUGH;
  while (!isOver()) {
    const order = [...names.keys()].filter(() => random(2) === 0).sort(() => Math.random() - 0.5);
    if (random(3) === 0) rung.notifyAll();
    enter(order, true);
    counts.rounds++;
  }
  return counts;
}

if (isMainThread) {
  const [, , milliseconds = '1000', noise] = process.argv;
  watchDeadlocks(undefined, { deadlocks: 'throw', after: 5 });
  const memory = Notes.memory(THREADS);
  const notes = new Notes(memory);
  const thrown = new Int32Array(new SharedArrayBuffer(4));
  const begun = performance.timeOrigin + performance.now();
  const all = [];
  let running = THREADS;
  for (let i = 0; i < THREADS; i++) {
    notes.lend(i, []);
    const data = { i, memory, thrown, end: begun + Number(milliseconds) };
    const worker = new Worker(new URL(import.meta.url), { workerData: data });
    worker.on('message', (counts) => all.push(counts)).on('exit', () => running--);
  }
  while (running > 0) {
    await new Promise((later) => setTimeout(later, 3));
    deadlocks();
    report();
    if (noise === 'noise') [...mutexes, pool][random(4)].cancelAll();
  }
  const sum = (key) => all.reduce((total, counts) => total + counts[key], 0);
  const wrong = all.flatMap((counts) => counts.wrong);
  const [rounds, told, unsure, timeouts] = ['rounds', 'thrown', 'unsure', 'timeouts'].map(sum);
  console.log(JSON.stringify({ rounds, thrown: told, unsure, timeouts, wrong, left: report().waiting }));
} else {
  nameThread(`${workerData.i}`);
  const counts = work(workerData);
  const { parentPort } = await import('node:worker_threads');
  parentPort.postMessage(counts);
}
