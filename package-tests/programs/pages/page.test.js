/** What a test does with the library if the test runner simulates a page, or a part of a page. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ArenaFullError, CancelledError, DisposedError, Mutex, Semaphore, TimeoutError } from 'taketurns';
import { Event } from 'taketurns/sync';

const { test } = globalThis;
const fake = import.meta.jest ?? globalThis.vi;

test('two promises wait for a release each', async () => {
  const semaphore = new Semaphore(0);
  const waits = [semaphore.acquireAsync(), semaphore.acquireAsync()];
  semaphore.release();
  semaphore.release();
  await Promise.all(waits);
  assert.equal(`${semaphore}`, 'Semaphore(0 available, 0 waiting)');
});

test('runExclusive three times at once', async () => {
  const mutex = new Mutex();
  let inside = 0;
  const run = async () => {
    assert.equal(++inside, 1);
    await null;
    inside--;
  };
  await Promise.all([1, 2, 3].map(() => mutex.runExclusive(run)));
});

test('a worker inherits the default arena', async () => {
  const semaphore = Semaphore.open('of the page', 0);
  // In a page, Vite takes a `new URL` for an address on its server.
  const path = fileURLToPath(import.meta.url).replace('page.test', 'worker');
  const worker = new Worker(path, { workerData: 'of the page' });
  const failed = once(worker, 'error').then(([error]) => Promise.reject(error));
  await Promise.race([semaphore.acquireAsync(), failed]);
  semaphore.dispose();
});

test('time-outs end while the timers of the page stand still', async () => {
  fake.useFakeTimers();
  try {
    await assert.rejects(new Semaphore(0).acquireAsync({ timeout: 5 }), TimeoutError);
    assert.throws(() => new Semaphore(0).acquire({ timeout: 5 }), TimeoutError);
    assert.equal(await new Event().waitAsync({ timeout: 5 }), false);
    const semaphore = new Semaphore(0);
    const waits = semaphore.acquireAsync();
    semaphore.release();
    await waits;
  } finally {
    fake.useRealTimers();
  }
});

test('a signal of the page cancels, with its reason', async () => {
  const mutex = new Mutex();
  mutex.lock();
  const controller = new AbortController();
  const waits = [mutex.lockAsync({ signal: controller.signal }), new Event().waitAsync({ signal: controller.signal })];
  controller.abort();
  for (const wait of [...waits, mutex.holdAsync({ signal: controller.signal })]) {
    const reason = await wait.catch((error) => error);
    assert.equal(reason.name, 'AbortError');
    if ('reason' in controller.signal) assert.equal(reason, controller.signal.reason);
  }
  assert.equal(mutex.waiting, 0);
  assert.throws(
    () => mutex.lockAsync.call(mutex, controller.signal).catch(() => {}) && mutex.hold(controller.signal),
    TypeError,
  );
});

test('errors are known by their classes', async () => {
  const mutex = new Mutex();
  assert.throws(() => new Mutex({ bypass: -1 }), RangeError);
  assert.throws(() => new Mutex({ by: 1 }), TypeError);
  const semaphore = new Semaphore(0);
  const [cancelled, disposed] = [semaphore.acquireAsync(), mutex.waitForUnlockAsync()];
  semaphore.cancelAll();
  await assert.rejects(cancelled, CancelledError);
  await disposed;
  mutex.dispose();
  assert.throws(() => mutex.lock(), DisposedError);
  assert.equal(new DisposedError() instanceof ArenaFullError, false);
});
