/**
 * Locks, and stays the owner, or asks for the lock by so many promises; `exit` says whether it unlocks when the thread
 * ends. It does not wait.
 */
import { Mutex } from 'taketurns';

const kept = [];

export default ({ handle, promises = 0, exit = false }) => {
  const mutex = Mutex.from(handle);
  kept.push(mutex);
  if (promises === 0) mutex.lock();
  for (let i = 0; i < promises; i++) mutex.lockAsync().catch(() => {});
  if (exit) process.on('exit', () => mutex.unlock());
};
