/** Unlocks a lock that another thread holds. */
import { attach } from '../attach.mjs';

export default function misuseLock({ handle }) {
  const lock = attach(handle);
  if (lock.tryLock()) throw new Error('the lock was free');
  lock.unlock();
}
