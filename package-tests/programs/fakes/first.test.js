/**
 * Fake timers that are there before the library is loaded: in `beforeEach`, and perhaps from the start. `isOld` is of
 * the test that runs this.
 */
const assert = require('node:assert/strict');

beforeEach(() => jest.useFakeTimers({ legacyFakeTimers: globalThis.isOld }));

async function timeOuts() {
  const threads = require('taketurns');
  const tasks = require('taketurns/tasks');
  for (const { Mutex, Semaphore, TimeoutError } of [threads, tasks]) {
    await assert.rejects(new Semaphore(0).acquireAsync({ timeout: 5 }), TimeoutError);
    const mutex = new Mutex();
    await mutex.lockAsync();
    await assert.rejects(mutex.lockAsync({ timeout: 5 }), TimeoutError);
  }
  assert.throws(() => new threads.Semaphore(0).acquire({ timeout: 5 }), threads.TimeoutError);
  for (const { RateLimiter } of [require('taketurns/keyed'), tasks]) {
    const limiter = new RateLimiter(1, 20);
    await limiter.takeAsync();
    await limiter.takeAsync();
  }
  const semaphore = new threads.Semaphore(0);
  const acquired = semaphore.acquireAsync();
  semaphore.release();
  await acquired;
}

test('the first test loads the library, and its time-outs end', timeOuts);
test('the time-outs of later tests end', timeOuts);
test('so they do with the true timers', async () => {
  jest.useRealTimers();
  await timeOuts();
});
