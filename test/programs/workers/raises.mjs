/**
 * Raises a number a hundred times, in steps that are not atomic, under a mutex that it finds by its name. The first
 * thing that it does with the library may be a statement that the program gives.
 */
import { parentPort, workerData } from 'node:worker_threads';
import * as taketurns from 'taketurns';

const { number, first = '' } = workerData;
try {
  new Function(...Object.keys(taketurns), first)(...Object.values(taketurns));
  const mutex = taketurns.Mutex.open('of all workers');
  for (let i = 0; i < 100; i++) {
    mutex.lock();
    const before = number[0];
    // The other worker runs meanwhile, if it can.
    Atomics.wait(number, 1, 0, 1);
    number[0] = before + 1;
    mutex.unlock();
  }
} catch (error) {
  parentPort.postMessage(error.message);
}
