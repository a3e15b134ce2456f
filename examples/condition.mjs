// A condition: threads wait until an account has the money that they want.
// waitFor unlocks the mutex while it waits, and asks again, as the owner, whenever it has been notified.
// Run: node examples/condition.mjs
import { once } from 'node:events';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Mutex } from 'taketurns';
import { Condition } from 'taketurns/sync';

const CUSTOMERS = 3;
const WITHDRAWALS = 99; // of 1, 2, ... 9 in turn: 495 for each customer
const DEPOSITS = 297; // of 5

const mutex = Mutex.open('account');
const deposited = Condition.open('deposited', mutex);

if (isMainThread) {
  const account = new Int32Array(new SharedArrayBuffer(8)); // balance, lowest balance
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
  // Customers want different amounts, so each of them looks for itself.
  deposited.notifyAll();
}

function withdraw(account, amount) {
  mutex.lock();
  deposited.waitFor(() => account[0] >= amount);
  account[0] -= amount;
  account[1] = Math.min(account[0], account[1]);
  mutex.unlock();
}
