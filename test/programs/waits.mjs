/**
 * Threads that wait, and measure it. The first argument names what happens. The program prints, as JSON, the points of
 * the metrics of waits, by name, and what it has published.
 */
import diagnostics_channel from 'node:diagnostics_channel';
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Arena, Mutex, Semaphore } from 'taketurns';
import { metrics, publishEvents, startMetrics } from 'taketurns/metrics';
import { report, watchDeadlocks } from 'taketurns/report';
import { Barrier, Condition, Event, Latch, RwLock } from 'taketurns/sync';

const how = isMainThread ? process.argv[2] : workerData.how;
const accounts = Mutex.open('accounts');
const pool = Semaphore.open('pool', 1);
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const until = async (is) => {
  while (!is()) await sleep(2);
};
/** Waits until a thread sleeps for the object of this name. A wait counts only if the thread sleeps. */
const untilAsleep = (name) =>
  until(() =>
    report().threads.some(({ state, waits }) => state === 'asleep' && waits.some((one) => one.name === name)),
  );
const heard = [];
/** Waits until so much was heard, but for 10 seconds at most: the test then shows what was. */
const untilHeard = (count) => {
  const end = performance.now() + 10_000;
  return until(() => heard.length >= count || performance.now() > end);
};

/** Starts a worker that does what the functions of `threads` say. */
const start = () => new Worker(new URL(import.meta.url), { workerData: { how } });

const threads = {
  blocked() {
    accounts.lock();
    accounts.unlock();
    pool.acquire();
    pool.release();
  },
  timeout() {
    const [latch, barrier] = [Latch.open('latch', 1), Barrier.open('rounds', 2)];
    for (const call of [
      () => accounts.lock({ timeout: 20 }),
      () => pool.acquire(1, { timeout: 20 }),
      () => latch.wait({ timeout: 20 }),
      () => barrier.arriveAndWait({ timeout: 20 }),
      () => RwLock.open('config').lockRead({ timeout: 20 }),
    ]) {
      try {
        call();
      } catch (error) {
        if (error.name !== 'TimeoutError') throw error;
      }
    }
  },
  closed() {
    try {
      pool.acquire();
    } catch (error) {
      if (error.name !== 'DisposedError') throw error;
    }
  },
  deadlock() {
    Mutex.open('audit').lock();
    accounts.lock();
  },
  phases() {
    Latch.open('latch', 1).wait();
    RwLock.open('config').lockRead();
  },
  condition() {
    accounts.lock();
    Condition.open('changed', accounts).wait();
    accounts.unlock();
  },
  events: () => threads.blocked(),
  late() {
    for (let i = 0; i < 3; i++) {
      parentPort.postMessage('acquires');
      pool.acquire();
    }
  },
  deaths() {
    Mutex.open('audit').lock();
    parentPort.postMessage('locked');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },
  off: () => threads.blocked(),
};

/** What the main thread does. */
const main = {
  async blocked() {
    accounts.lock();
    pool.acquire();
    const worker = start();
    await untilAsleep('accounts');
    await sleep(20);
    accounts.unlock();
    await untilAsleep('pool');
    pool.release();
    await once(worker, 'exit');
  },
  async timeout() {
    accounts.lock();
    pool.acquire();
    const [, config] = [Latch.open('latch', 1), RwLock.open('config')];
    config.lockWrite();
    await once(start(), 'exit');
  },
  async closed() {
    pool.acquire();
    const worker = start();
    await untilAsleep('pool');
    pool.dispose();
    await once(worker, 'exit');
  },
  async deadlock() {
    watchDeadlocks(undefined, { deadlocks: 'throw', after: 50 });
    accounts.lock();
    start().on('error', () => {});
    await untilAsleep('accounts');
    try {
      Mutex.open('audit').lock();
    } catch (error) {
      heard.push(error.name);
    }
  },
  async promises() {
    accounts.lock();
    pool.acquire();
    const all = [accounts.lockAsync(), pool.acquireAsync(), pool.acquireAsync(1, { timeout: 20 })];
    await Promise.allSettled(all.slice(2));
    accounts.unlock();
    await all[0];
    pool.release();
    await all[1];
    const event = new Event();
    const set = [event.waitAsync(), event.waitAsync({ timeout: 1 }), event.waitAsync(), event.waitAsync()];
    await set[1];
    event.set();
    await Promise.all(set);
    const controller = new AbortController();
    const aborted = accounts.lockAsync({ signal: controller.signal });
    await null;
    controller.abort();
    await aborted.catch(() => {});
  },
  async phases() {
    const [latch, config] = [Latch.open('latch', 1), RwLock.open('config')];
    config.lockWrite();
    const worker = start();
    await untilAsleep('latch');
    latch.countDown();
    await untilAsleep('config');
    config.unlockWrite();
    await once(worker, 'exit');
  },
  async condition() {
    const changed = Condition.open('changed', accounts);
    const worker = start();
    await untilAsleep('changed');
    accounts.lock();
    changed.notify();
    accounts.unlock();
    await once(worker, 'exit');
  },
  // Metrics begin while the worker sleeps for the first time. It notices when it sleeps for the second time.
  async late() {
    pool.acquire();
    const worker = start();
    for (let i = 0; i < 3; i++) {
      await once(worker, 'message');
      await untilAsleep('pool');
      if (i === 0) startMetrics();
      pool.release();
    }
    await once(worker, 'exit');
  },
  // A subscriber that uses the library, and one that throws.
  async events() {
    publishEvents(diagnostics_channel);
    publishEvents(diagnostics_channel);
    process.on('uncaughtException', (error) => heard.push(error.message));
    for (const name of ['woken', 'gave-up'])
      diagnostics_channel.subscribe(`taketurns:${name}`, (message) => {
        accounts.lock();
        accounts.unlock();
        heard.push([name, message]);
        if (name === 'gave-up') throw new Error('thrown by a subscriber');
      });
    accounts.lock();
    const worker = start();
    await untilAsleep('accounts');
    accounts.unlock();
    await once(worker, 'exit');
    pool.acquire();
    try {
      pool.acquire(1, { timeout: 100 });
    } catch {}
    heard.push('the call has ended');
    // The event, and what its subscriber has thrown.
    await untilHeard(3);
    await sleep(5);
  },
  async 'throwing channel'() {
    const publish = () => {};
    const throwing = {
      get hasSubscribers() {
        throw new Error('thrown by the channel');
      },
      publish,
    };
    publishEvents({ channel: (name) => (/woken|up/.test(name) ? throwing : { hasSubscribers: false, publish }) });
    process.on('uncaughtException', (error) => heard.push(error.message));
    pool.acquire();
    try {
      pool.acquire(1, { timeout: 100 });
    } catch (error) {
      heard.push(error.name);
    }
    const granted = pool.acquireAsync();
    pool.release();
    heard.push('the call has ended');
    await granted;
    // What the channel has thrown, once for each event.
    await untilHeard(4);
    await sleep(5);
  },
  async deaths() {
    publishEvents(diagnostics_channel);
    const told = new Promise((resolve) => diagnostics_channel.subscribe('taketurns:owner-died', resolve));
    const worker = start();
    await once(worker, 'message');
    heard.push(Mutex.open('audit').locked);
    await worker.terminate();
    // Only a timer that does not keep the process alive looks for deaths.
    const timer = setInterval(() => {}, 1000);
    heard.push(await told);
    clearInterval(timer);
  },
  // Two workers lock two mutexes in turns.
  async 'told deadlock'() {
    publishEvents(diagnostics_channel);
    const told = new Promise((resolve) => diagnostics_channel.subscribe('taketurns:deadlock', resolve));
    start();
    heard.push((await told).edges.map(({ holds, waitsFor }) => [holds.name, waitsFor.name]));
  },
  async off() {
    await main.blocked();
  },
};

threads['told deadlock'] = () => {
  const [one, other] = [Mutex.open('one'), Mutex.open('other')];
  one.lock();
  new Worker(`import('taketurns').then(({ Mutex }) => { Mutex.open('other').lock(); Mutex.open('one').lock(); })`, {
    eval: true,
  });
  while (!other.locked);
  other.lock();
};

if (!isMainThread) await threads[how]();
else {
  if (!['events', 'late', 'off'].includes(how)) startMetrics();
  await main[how]();
  const points = {};
  for (const { name, points: its } of metrics().filter(({ name }) => /duration|failures/.test(name)))
    for (const { attributes, value } of its) {
      const of = `${attributes['taketurns.object.kind']} ${attributes['taketurns.object.name'] ?? ''}`.trim();
      points[of] ??= {};
      Object.assign(points[of], name.endsWith('failures') ? { failures: value } : value);
    }
  console.log(JSON.stringify({ points, heard, waits: Arena.default.stats().waiting }));
  process.exit();
}
