/** Locks, and then waits for ever for another mutex, if there is one. */
import { parentPort } from 'node:worker_threads';
import { Mutex } from 'taketurns';

export default ({ handle, other }) => {
  const mutex = Mutex.from(handle);
  mutex.lock();
  if (other === undefined) return;
  parentPort.postMessage('locked');
  Mutex.from(other).lock();
};
