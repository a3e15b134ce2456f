/** Is bundled for the web and runs in Node. A promise keeps the process alive until it settles. Then the process ends. */
import { Semaphore } from 'taketurns';

const semaphore = new Semaphore(0);
setTimeout(() => semaphore.release(), 100).unref();
await semaphore.acquireAsync();
console.log('released');
