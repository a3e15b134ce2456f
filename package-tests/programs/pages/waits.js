/** Made for the web and run in Node: a promise keeps the process alive, and the process then ends. */
import { Semaphore } from 'taketurns';

const semaphore = new Semaphore(0);
setTimeout(() => semaphore.release(), 100).unref();
await semaphore.acquireAsync();
console.log('released');
