/** Prints how many listeners and timers there are as requests that may cancel come and go. */
import { getEventListeners } from 'node:events';
import { Semaphore } from 'taketurns';

const LONG = 600_000;
const controller = new AbortController();
const { signal } = controller;
const print = (when) => {
  const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
  console.log(`${when}: ${getEventListeners(signal, 'abort').length}, ${timers.length}`);
};

print('at first');
const semaphore = new Semaphore(0);
const promises = [1, 2, 3, 4].map(() => semaphore.acquireAsync(1, { timeout: LONG, signal }));
const settled = Promise.allSettled(promises);
print('four wait');
semaphore.release();
print('one has its permit');
await semaphore.acquireAsync(1, { timeout: 1, signal }).catch((error) => console.log(error.name));
print('one has cancelled, and one timer keeps the process alive for those who wait');
semaphore.dispose();
await settled;
print('disposed of');
const another = new Semaphore(0);
const aborted = another.acquireAsync(1, { timeout: LONG, signal }).catch((error) => console.log(error.name));
print('one waits');
controller.abort();
await aborted;
print('aborted');
