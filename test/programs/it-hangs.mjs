/** The programs whose output docs/it-hangs.md shows: `deadlock`, and `main`, whose main thread blocks. They hang. */
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Mutex } from 'taketurns';

const [accounts, audit] = [Mutex.open('accounts'), Mutex.open('audit')];
const start = async (data) => {
  const worker = new Worker(new URL(import.meta.url), { workerData: data });
  await once(worker, 'message');
  return worker;
};

function transfer([first, second]) {
  first.lock();
  parentPort.postMessage('has the first');
  const { go } = workerData;
  Atomics.wait(go, 0, 0);
  second.lock();
}

if (isMainThread && process.argv[2] === 'main') {
  await start({ keeps: true });
  await accounts.lock(); // was to be: await accounts.lockAsync()
} else if (isMainThread) {
  const go = new Int32Array(new SharedArrayBuffer(4));
  await start({ go, order: 0 });
  await start({ go, order: 1 }); // so the threads have their numbers in this order
  Atomics.store(go, 0, 1);
  Atomics.notify(go, 0);
} else if (workerData.keeps) {
  accounts.lock();
  parentPort.on('message', () => {}); // the thread lives on
  parentPort.postMessage('has it');
} else transfer(workerData.order === 0 ? [accounts, audit] : [audit, accounts]);
