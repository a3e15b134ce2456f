/**
 * Fake timers that are there before the library is loaded. The argument names the tool. Prints the errors of time-outs
 * while the timers stand still, and after the tool has given the true ones back.
 */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Each returns a function that gives the true timers back. */
const TOOLS = {
  sinon: () => {
    const clock = require('@sinonjs/fake-timers').install();
    return () => clock.uninstall();
  },
  node: () => {
    const { mock } = require('node:test');
    mock.timers.enable();
    return () => mock.timers.reset();
  },
  bun: () => {
    const { jest } = require('bun:test');
    jest.useFakeTimers();
    return () => jest.useRealTimers();
  },
};
const restore = TOOLS[process.argv[2]]();

const threads = await import('taketurns');
const { report } = await import('taketurns/report');
const { metrics, startMetrics } = await import('taketurns/metrics');
const { RateLimiter } = await import('taketurns/keyed');
const tasks = await import('taketurns/tasks');

async function timeOuts() {
  for (const { Semaphore, Mutex } of [threads, tasks]) {
    await assert.rejects(new Semaphore(0).acquireAsync({ timeout: 5 }), /timed out after 5 ms/);
    const mutex = new Mutex();
    await mutex.lockAsync();
    await assert.rejects(mutex.lockAsync({ timeout: 5 }), { name: 'TimeoutError' });
  }
  assert.throws(() => new threads.Semaphore(0).acquire({ timeout: 5 }), { name: 'TimeoutError' });
  for (const Limiter of [RateLimiter, tasks.RateLimiter]) {
    const limiter = new Limiter(1, 20);
    await limiter.takeAsync();
    await limiter.takeAsync();
  }
  const semaphore = new threads.Semaphore(0);
  const acquired = semaphore.acquireAsync();
  semaphore.release();
  await acquired;
}

/** The false clock begins in 1970. A time that one clock has written and another one reads is decades long. */
async function times() {
  const DECADE = 10 * 365 * 86_400;
  startMetrics();
  const mutex = new threads.Mutex();
  await mutex.lockAsync();
  const locked = mutex.lockAsync();
  assert.ok(report().at > 1000 * DECADE);
  assert.ok(report().longestWait < 1000 * DECADE);
  await assert.rejects(new threads.Semaphore(0).acquireAsync({ timeout: 20 }), { name: 'TimeoutError' });
  mutex.unlock();
  await locked;
  const { points } = metrics().find(({ name }) => name === 'taketurns.wait.duration');
  const [sum] = points.filter((one) => one.attributes['taketurns.object.kind'] === 'Mutex').map((one) => one.value.sum);
  // The promise has waited for as long as the time-out of another one lasts.
  assert.ok(sum >= 0.01 && sum < DECADE, `${sum}`);
}

await timeOuts();
await times();
console.log('while they stand still');
restore();
await timeOuts();
console.log('after that');
