/**
 * Programs that hang, as a new user writes them: they know nothing of reports. The first argument names one. They run
 * until they are killed.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Mutex, Semaphore } from 'taketurns';
import { RwLock } from 'taketurns/sync';

const [accounts, audit, stock] = ['accounts', 'audit', 'stock'].map((name) => Mutex.open(name));
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const how = isMainThread ? process.argv[2] : workerData.how;
const start = (part) => new Worker(new URL(import.meta.url), { workerData: { how, part } });
/** Lets all workers have locked their first mutex. */
const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);

const main = {
  'AB-BA': () => [0, 1].map(start),
  ring: () => [0, 1, 2].map(start),
  'forgotten release'() {
    start(0).on('message', () => Semaphore.open('connections', 1).acquireAsync());
  },
  'forgotten release, robust'() {
    start(0).on('message', () => Semaphore.open('connections', 1, { robust: true }).acquireAsync());
  },
  async 'self-wait'() {
    setInterval(() => {}, 1000);
    await accounts.lockAsync();
    await book();
    accounts.unlock();
  },
  'blocked main'() {
    const worker = start(0);
    // The worker goes on when it hears of this message.
    worker.on('message', () => {
      worker.postMessage('go on');
      accounts.lock();
    });
  },
  'starved writer'() {
    start(0).on('message', () => start(1));
  },
};

const workers = {
  'AB-BA': (part) => transfer(...(part === 0 ? [accounts, audit] : [audit, accounts])),
  ring: (part) =>
    transfer(
      ...[
        [accounts, audit],
        [audit, stock],
        [stock, accounts],
      ][part],
    ),
  'forgotten release'() {
    Semaphore.open('connections', 1).acquire();
    parentPort.postMessage('acquired');
    setInterval(() => {}, 1000);
  },
  'forgotten release, robust'() {
    Semaphore.open('connections', 1, { robust: true }).acquire();
    parentPort.postMessage('acquired');
    setInterval(() => {}, 1000);
  },
  async 'blocked main'() {
    accounts.lock();
    parentPort.postMessage('locked');
    await fetchRates();
    accounts.unlock();
  },
  'starved writer'(part) {
    const config = RwLock.open('config');
    if (part === 0) {
      config.lockRead();
      parentPort.postMessage('reads');
      setInterval(() => {}, 1000);
    } else config.lockWrite();
  },
};

function transfer(from, to) {
  from.lock();
  pause();
  to.lock();
  to.unlock();
  from.unlock();
}

async function book() {
  await sleep(1);
  await accounts.lockAsync();
  accounts.unlock();
}

/** Needs the main thread, which answers by a message. */
function fetchRates() {
  return new Promise((done) => parentPort.on('message', (message) => message === 'rates' && done()));
}

if (isMainThread) await main[how]();
else await workers[how](workerData.part);
