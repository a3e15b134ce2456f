/**
 * Locks and stays the owner, or asks for the lock by so many promises, and does not wait. `exit`: it unlocks when the
 * thread ends. `told`: word 0 is 1 when it has locked. `abortsAtExit`: it asks by one promise, ends at once, and aborts
 * that promise in an exit handler.
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
