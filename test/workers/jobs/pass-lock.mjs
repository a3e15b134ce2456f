/** Locks, notes when it has the lock, and unlocks. */
import { attach, note } from '../attach.mjs';

export default function passLock({ handle, log, entry }) {
  const lock = attach(handle);
  lock.lock();
  if (log) note(log, entry);
  lock.unlock();
}
