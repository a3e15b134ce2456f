/** Promises have waited, and none waits any more: nothing keeps the process alive. */
import { Semaphore } from 'taketurns';

const semaphore = new Semaphore(1, { max: 2 });
const other = new Semaphore(0);
await semaphore.acquireAsync();
const promises = [semaphore.acquireAsync(), semaphore.acquireAsync(), other.acquireAsync()];
semaphore.release(2);
other.dispose();
await Promise.allSettled(promises);
const again = semaphore.acquireAsync();
semaphore.release();
await again;
console.log('done');
