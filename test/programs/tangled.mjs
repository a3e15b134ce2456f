/**
 * Threads that lock several objects in no order at all, so that they wait in circles again and again. The youngest
 * waiter of each circle gets a DeadlockError, and gives back what it holds. Each thread writes down what it holds and
 * what it waits for without a time limit. The thread with the error compares the error with that. Prints the counts.
 *
 * If a circle is missed, the program hangs. The first argument is the least number of milliseconds; the program also
 * goes on until some threads have got an error. With the second argument `noise`, the main thread cancels waiters
 * meanwhile.
 */
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { CancelledError, Mutex, Semaphore, TimeoutError } from 'taketurns';
import { DeadlockError, deadlocks, nameThread, report, watchDeadlocks } from 'taketurns/report';
import { Condition, RwLock } from 'taketurns/sync';

const THREADS = 6;
/** The words of a thread: how often it holds each object, what it waits for, and when it last left a queue early. */
const [WANTS, LEFT, WORDS] = [14, 15, 16];
/** The program goes on until so many errors were thrown; how many, says the last word. */
const ENOUGH = 3;

const mutexes = [0, 1, 2].map((i) => Mutex.open(`m${i}`));
const pool = Semaphore.open('pool', 3, { max: 3, robust: true });
const config = RwLock.open('config');
const rung = Condition.open('rung', mutexes[0]);
const names = ['m0', 'm1', 'm2', 'pool', 'config'];
const random = (n) => Math.floor(Math.random() * n);

const locks = [
  ...mutexes.map((mutex) => (options) => mutex.hold(options)),
  (options) => pool.hold(1 + random(2), options),
  (options) => [() => config.read(options), () => config.write(options), () => config.update(options)][random(3)](),
];
const time = () => Math.floor(performance.timeOrigin + performance.now() - workerData.begun);

function work({ i, written, end }) {
  const word = (thread, offset) => thread * WORDS + offset;
  const counts = { rounds: 0, thrown: 0, wrong: [], timeouts: 0, cancelled: 0 };
  const nap = new Int32Array(new SharedArrayBuffer(4));
  const nameOfThread = `${i}`;

  /** Waits for an object, and writes that down. */
  const wait = (object, call) => {
    const options = random(4) === 0 ? { timeout: random(20) } : {};
    Atomics.store(written, word(i, WANTS), options.timeout === undefined ? object + 1 : 0);
    try {
      return call(options);
    } catch (error) {
      if (error instanceof DeadlockError) check(error);
      else if (error instanceof CancelledError) counts.cancelled++;
      else if (error instanceof TimeoutError) counts.timeouts++;
      else throw error;
      Atomics.store(written, word(i, LEFT), time());
      return undefined;
    } finally {
      Atomics.store(written, word(i, WANTS), 0);
    }
  };

  const check = ({ deadlock: { edges, text } }) => {
    counts.thrown++;
    Atomics.add(written, THREADS * WORDS, 1);
    const mine = edges.find(({ thread }) => thread.name === nameOfThread);
    const is = edges.map(({ thread, holds, waitsFor }) => {
      const at = Number(thread.name);
      const waits = Atomics.load(written, word(at, WANTS)) === names.indexOf(waitsFor.name) + 1;
      // A writer that waits for readers has the turn, and not the lock.
      const hasTurn = holds.name === 'config' && waitsFor.name === 'config';
      const isHeld = hasTurn || Atomics.load(written, word(at, names.indexOf(holds.name))) > 0;
      if (waits && isHeld) return true;
      // This thread has left its queue, so others may have got what they waited for behind it.
      if (waitsFor.name === mine.waitsFor.name) return true;
      // A thread of two circles may have left the other one, and then this one is a circle no more.
      return time() - Atomics.load(written, word(at, LEFT)) < 200;
    });
    if (is.includes(false)) counts.wrong.push(`${is}: ${text}`);
  };

  const enter = (order, isOutermost = false) => {
    if (order.length === 0) {
      if (random(4) === 0) Atomics.wait(nap, 0, 0, random(4));
      return;
    }
    const [object, ...others] = order;
    const held = wait(object, locks[object]);
    if (held === undefined) return;
    Atomics.add(written, word(i, object), 1);
    if (object === 0 && isOutermost && random(4) === 0) {
      // While it waits it holds nothing, and nobody can know who will notify. Then it cannot leave the queue of the
      // mutex.
      Atomics.sub(written, word(i, object), 1);
      try {
        rung.wait({ timeout: 1 + random(5) });
      } catch {
        // Nobody has notified.
      }
      Atomics.add(written, word(i, object), 1);
    }
    enter(others);
    const upgraded = held.upgrade && random(2) === 0 ? wait(object, (options) => held.upgrade(options)) : undefined;
    upgraded?.unlock();
    Atomics.sub(written, word(i, object), 1);
    (held.release ?? held.unlock).call(held);
  };

  const isOver = () =>
    performance.timeOrigin + performance.now() >= end && Atomics.load(written, THREADS * WORDS) >= ENOUGH;
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
  const written = new Int32Array(new SharedArrayBuffer(4 * (WORDS * THREADS + 1))).fill(-1e6);
  written[WORDS * THREADS] = 0;
  for (let i = 0; i < THREADS; i++) written.fill(0, i * WORDS, i * WORDS + LEFT);
  const begun = performance.timeOrigin + performance.now();
  const all = [];
  let running = THREADS;
  for (let i = 0; i < THREADS; i++) {
    const data = { i, written, begun, end: begun + Number(milliseconds) };
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
  const [rounds, thrown, timeouts] = ['rounds', 'thrown', 'timeouts'].map(sum);
  console.log(JSON.stringify({ rounds, thrown, timeouts, wrong, left: report().waiting }));
} else {
  nameThread(`${workerData.i}`);
  const counts = work(workerData);
  const { parentPort } = await import('node:worker_threads');
  parentPort.postMessage(counts);
}
