/** A pending promise with a time-out keeps the process alive until it cancels. Settled promises leave no timer. */
import { Semaphore } from 'taketurns';

const LONG = 600_000;
const semaphore = new Semaphore(0);
const { signal } = new AbortController();
await semaphore.acquireAsync(1, { timeout: 20 }).catch((error) => console.log(error.name));

const aborted = new AbortController();
const promises = [
  semaphore.acquireAsync(1, { timeout: LONG, signal }),
  semaphore.acquireAsync(2, { timeout: LONG, signal: aborted.signal }),
  semaphore.holdAsync(1, { timeout: LONG }),
  semaphore.acquireAsync(1, { timeout: LONG, signal }),
];
aborted.abort();
semaphore.release(2);
setImmediate(() => semaphore.dispose());
const outcomes = await Promise.allSettled(promises);
console.log(outcomes.filter(({ status }) => status === 'fulfilled').length);
