/**
 * Locks, and stays the owner, or asks for the lock by so many promises; `exit` says whether it unlocks when the thread
 * ends. It does not wait. Word 0 of `told` is 1 when it has locked. `abortsAtExit`: asks by one promise and ends at once, and aborts that in an exit handler.
 */
import { Mutex } from 'taketurns';

const kept = [];

export default ({ handle, promises = 0, exit = false, abortsAtExit = false, told }) => {
  const mutex = Mutex.from(handle);
  if (abortsAtExit) {
    const controller = new AbortController();
    mutex.lockAsync(controller).catch(() => {});
    process.on('exit', () => controller.abort());
    process.exit();
  }
  kept.push(mutex);
  if (promises === 0) mutex.lock();
  if (told) Atomics.store(told, 0, 1);
  for (let i = 0; i < promises; i++) mutex.lockAsync().catch(() => {});
  if (exit) process.on('exit', () => mutex.unlock());
};
