/** The tests of both files, for each host: vitest, Jest or node:test. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { Arena, Mutex, Semaphore, TimeoutError } from 'taketurns';

// vitest and Jest have globals.
const { mock, test } = 'test' in globalThis ? globalThis : await import('node:test');
const mockTimers = { useFakeTimers: () => mock.timers.enable(), useRealTimers: () => mock.timers.reset() };

const start = (workerData) => new Worker(new URL('./worker.js', import.meta.url), { workerData });

async function expectTimeouts(semaphore) {
  assert.throws(() => semaphore.acquire(1, { timeout: 5 }), TimeoutError);
  await assert.rejects(semaphore.acquireAsync(1, { timeout: 5 }), TimeoutError);
}

/** @param fake the fake timers of the host, if it is not node:test. */
export function tests(fake = mockTimers) {
  test('objects are made, shared with a worker and disposed of', async () => {
    const semaphore = new Semaphore(0);
    const worker = start({ done: semaphore.handle });
    await semaphore.acquireAsync();
    await once(worker, 'exit');
    assert.equal(Arena.from(semaphore.handle.arena).threads, 1);
    semaphore.dispose();
  });

  test('a handle that has been sent stands for the same object', () => {
    const mutex = new Mutex();
    const { port1, port2 } = new MessageChannel();
    port1.postMessage(mutex.handle);
    const same = Mutex.from(receiveMessageOnPort(port2).message);
    port1.close();
    mutex.lock();
    assert.throws(() => same.lock({ timeout: 1000 }), /would wait for itself/);
    same.unlock();
  });

  test('the lock of a worker that is terminated comes back while this thread blocks', () => {
    const [mutex, done] = [new Mutex(), new Semaphore(0)];
    const worker = start({ done: done.handle, held: mutex.handle });
    done.acquire();
    worker.terminate();
    mutex.lock({ timeout: 10_000 });
    mutex.unlock();
  });

  test('a time-out ends', () => expectTimeouts(new Semaphore(0)));

  test('a time-out ends while the timers of the host stand still', async () => {
    fake.useFakeTimers();
    const before = Date.now();
    try {
      await expectTimeouts(new Semaphore(0));
      assert.equal(Date.now(), before);
    } finally {
      fake.useRealTimers();
    }
  });
}
