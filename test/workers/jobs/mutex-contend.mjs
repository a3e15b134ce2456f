/**
 * Locks `rounds` times, without a limit, with a short time-out or by trying. With the lock it adds 1 to both words, and
 * naps if `naps` is set. Returns how often it had the lock.
 */
import { Mutex } from 'taketurns';
import { nap } from '../attach.mjs';

export default ({ handle, shared, rounds, naps = false }) => {
  const mutex = Mutex.from(handle);
  let had = 0;
  for (let i = 0; i < rounds; i++) {
    if (i % 7 === 0) {
      try {
        mutex.lock({ timeout: (i % 5) / 20 });
      } catch (error) {
        if (error.name !== 'TimeoutError') throw error;
        continue;
      }
    } else if (i % 11 === 0) {
      if (!mutex.tryLock()) continue;
    } else mutex.lock();
    shared[0]++;
    if (shared[0] !== ++shared[1]) throw new Error('two threads have the lock');
    had++;
    if (naps) nap();
    mutex.unlock();
  }
  return had;
};
