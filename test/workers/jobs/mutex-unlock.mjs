/** Unlocks a mutex that the worker holds. With `other`, also locks and unlocks that. Returns false on a time-out. */
import { Mutex, TimeoutError } from 'taketurns';

export default ({ handle, other, timeout }) => {
  Mutex.from(handle).unlock();
  if (other === undefined) return true;
  const mutex = Mutex.from(other);
  try {
    mutex.lock({ timeout });
  } catch (error) {
    if (error instanceof TimeoutError) return false;
    throw error;
  }
  mutex.unlock();
  return true;
};
