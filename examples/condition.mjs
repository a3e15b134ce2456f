// A condition: threads wait until an account has the money that they want.
// While waitFor waits, the mutex is unlocked. After each notification waitFor locks it again and looks at the balance.
// Run: node node_modules/taketurns/examples/condition.mjs
// In a clone of the repository: node examples/condition.mjs
import { once } from 'node:events';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Mutex } from 'taketurns';
import { Condition } from 'taketurns/sync';

const CUSTOMERS = 3;
const WITHDRAWALS = 99; // each customer takes 1, 2, ... 9 in turn, which is 495 in all
const DEPOSITS = 297; // 5 each

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
  // Customers want different amounts, so all are notified, and each of them looks for itself.
  deposited.notifyAll();
}

function withdraw(account, amount) {
  mutex.lock();
  deposited.waitFor(() => account[0] >= amount);
  account[0] -= amount;
  account[1] = Math.min(account[0], account[1]);
  mutex.unlock();
}
