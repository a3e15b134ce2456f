/** Locks, unlocks, and returns true. */
import { Mutex } from 'taketurns';

export default ({ handle }) => {
  const mutex = Mutex.from(handle);
  mutex.lock();
  mutex.unlock();
  return true;
};
