/**
 * Locks, and stays the owner, or asks for the lock by so many promises; `exit` says whether it unlocks when the thread
 * ends. It does not wait. `abortsAtExit`: asks by one promise and ends at once, and aborts that in an exit handler.
 */
import { Mutex } from 'taketurns';

const kept = [];

export default ({ handle, promises = 0, exit = false, abortsAtExit = false }) => {
  const mutex = Mutex.from(handle);
  if (abortsAtExit) {
    const controller = new AbortController();
    mutex.lockAsync(controller).catch(() => {});
    process.on('exit', () => controller.abort());
    process.exit();
  }
  kept.push(mutex);
  if (promises === 0) mutex.lock();
  for (let i = 0; i < promises; i++) mutex.lockAsync().catch(() => {});
  if (exit) process.on('exit', () => mutex.unlock());
};
