/** Locks and unlocks once; returns whether that came to pass. */
import { Mutex } from 'taketurns';

export default ({ handle }) => {
  const mutex = Mutex.from(handle);
  mutex.lock();
  mutex.unlock();
  return true;
};
