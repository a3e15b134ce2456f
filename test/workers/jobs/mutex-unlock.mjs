/** Unlocks what this worker has locked before; then locks and unlocks another mutex, if it is told of one. Whether it could. */
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
