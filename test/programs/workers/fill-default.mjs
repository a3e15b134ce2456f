import { parentPort } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const made = [];
try {
  while (made.length < 10) made.push(new Semaphore(1).handle);
  parentPort.postMessage('never full');
} catch (error) {
  parentPort.postMessage(error.name === 'ArenaFullError' ? `full after ${made.length}` : error.message);
}
