/**
 * Locks and stays the owner, or asks for the lock by `promises` promises and does not await them. `exit`: the thread
 * unlocks when it ends. `told`: word 0 is 1 when the thread has locked. `abortsAtExit`: the thread asks by one promise,
 * ends at once, and aborts that promise in an exit handler.
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
