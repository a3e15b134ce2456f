// A condition variable, built of a mutex and a semaphore: threads wait until an account has the money that they want.
// The mutex guards the count of waiters. A thread that notifies gives back one permit for each waiter that it counts
// off, so no wake-up is lost, also if it comes before the waiter sleeps. Permits are granted in the order of the
// requests, so a thread that waits later cannot take the wake-up of one that sleeps already.
// Run: node examples/condition.mjs
import { once } from 'node:events';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Mutex, Semaphore } from 'taketurns';

const CUSTOMERS = 3;
const WITHDRAWALS = 99; // of 1, 2, ... 9 in turn: 495 for each customer
const DEPOSITS = 297; // of 5

const mutex = Mutex.open('account');
const wakeUps = Semaphore.open('wake-ups', 0);

if (isMainThread) {
  const account = new Int32Array(new SharedArrayBuffer(12)); // balance, lowest balance, waiters
  const workers = Array.from(
    { length: CUSTOMERS },
    () => new Worker(new URL(import.meta.url), { workerData: account }),
  );
  const ended = Promise.all(workers.map((worker) => once(worker, 'exit')));
  for (let i = 0; i < DEPOSITS; i++) await mutex.runExclusive(() => deposit(account, 5));
  await ended;
  console.log(`${account[0]} left, never below ${account[1]}`);
} else {
  for (let i = 0; i < WITHDRAWALS; i++) withdraw(workerData, 1 + (i % 9));
}

function deposit(account, amount) {
  account[0] += amount;
  notifyAll(account);
}

function withdraw(account, amount) {
  mutex.lock();
  while (account[0] < amount) wait(account);
  account[0] -= amount;
  account[1] = Math.min(account[0], account[1]);
  mutex.unlock();
}

/** Called with the mutex held. Waits for a notification, and holds the mutex again when it returns. */
function wait(account) {
  account[2]++;
  mutex.unlock();
  wakeUps.acquire();
  mutex.lock();
}

/** Called with the mutex held. */
function notifyAll(account) {
  if (account[2] === 0) return;
  wakeUps.release(account[2]);
  account[2] = 0;
}
